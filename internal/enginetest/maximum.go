package enginetest

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// maximum replaces Gorgonia's Max in a copied graph. Gorgonia's gradient goes to every one of several equal maxima in
// full, so that equal rows count twice; maximum's goes to the first. All else is the original operation's.
type maximum struct{ gorgonia.Op }

// DiffWRT and SymDiff make maximum differentiable.
func (m maximum) DiffWRT(int) []bool { return []bool{true} }

func (m maximum) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	x := inputs[0]
	back := gorgonia.NewUniqueNode(gorgonia.WithType(x.Type()), gorgonia.WithOp(maximumBack(m)),
		gorgonia.WithChildren(gorgonia.Nodes{x, grad}), gorgonia.In(x.Graph()), gorgonia.WithShape(x.Shape()...))
	return gorgonia.Nodes{back}, nil
}

// maximumBack is the gradient of maximum. Its operands are maximum's operand and the result's gradient.
type maximumBack struct{ gorgonia.Op }

func alongOf(op gorgonia.Op) []int { return graph.FieldsOf(op).Ints("Op", "along") }

// reduce folds axes of a node's operand. Package tensor's own reductions (v0.9.24) are wrong over some inner axes of
// tensors with four axes and more.
func reduce(n *gorgonia.Node, v gorgonia.Value, along []int, from float64, fold func(a, b float64) float64) (gorgonia.Value, error) {
	x, err := graph.Doubles(v)
	if err != nil {
		return nil, err
	}
	total := make([]float64, max(1, n.Shape().TotalSize()))
	for i := range total {
		total[i] = from
	}
	for i, to := range folded(v.Shape(), along) {
		total[to] = fold(total[to], x[i])
	}
	return valueLike(n, v.Dtype(), total), nil
}

// spread sends the gradient of each maximum to the maximum's first occurrence.
func spread(n *gorgonia.Node, v, grad gorgonia.Value, along []int) (gorgonia.Value, error) {
	x, err := graph.Doubles(v)
	if err != nil {
		return nil, err
	}
	g, err := graph.Doubles(grad)
	if err != nil {
		return nil, err
	}
	to := folded(v.Shape(), along)
	first := slices.Repeat([]int{-1}, len(g))
	for i, v := range x {
		if best := &first[to[i]]; *best < 0 || v > x[*best] || math.IsNaN(v) && !math.IsNaN(x[*best]) {
			*best = i
		}
	}
	out := make([]float64, len(x))
	for k, i := range first {
		out[i] = g[k]
	}
	return valueLike(n, v.Dtype(), out), nil
}

// folded returns, for each element of a tensor in row-major order, the index of the result's element that it
// contributes to when the axes along are folded.
func folded(shape, along []int) []int {
	out := make([]int, max(1, tensor.Shape(shape).TotalSize()))
	index := make([]int, len(shape))
	for i := range out {
		for d, k := range index {
			if !slices.Contains(along, d) {
				out[i] = out[i]*shape[d] + k
			}
		}
		increment(index, shape)
	}
	return out
}

// increment steps a row-major multi-index.
func increment(index, shape []int) {
	for d := len(shape) - 1; d >= 0; d-- {
		index[d]++
		if index[d] < shape[d] {
			return
		}
		index[d] = 0
	}
}
