package enginetest

import (
	"fmt"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// randomGraphs checks random graphs against Gorgonia: chains of products, biases, scales, elementwise functions,
// softmax, products over rows within a sample, convolutions and lookups, which reuse weights and earlier values at
// random.
func (s Suite) randomGraphs(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		recipe := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 2, 7).Draw(r, "recipe")
		clip := rapid.Float64Range(0.05, 20).Draw(r, "clip")
		s.CheckGraph(r, func(batch int) (compile.Source, error) { return randomGraph(batch, recipe) }, clip, nil)
	})
}

// width is the number of values that each node of a random graph has for one sample, so that any two nodes can be
// combined.
const width = 12

func randomGraph(batch int, recipe []int) (compile.Source, error) {
	g := NewG(batch, uint64(recipe[0]))
	h, ids := g.In("x", width), g.Ids("ids", 4)
	past := []*gorgonia.Node{h}
	weights := map[string][]*gorgonia.Node{}
	// weight returns a new parameter, or, one time in three, an earlier one of the same shape.
	weight := func(pick int, shape ...int) *gorgonia.Node {
		key := fmt.Sprint(shape)
		if old := weights[key]; len(old) > 0 && pick%3 == 0 {
			return old[pick/3%len(old)]
		}
		w := g.Param(fmt.Sprintf("w%d", len(g.src.Params)), shape...)
		weights[key] = append(weights[key], w)
		return w
	}
	reshape := func(n *gorgonia.Node, shape ...int) *gorgonia.Node {
		return g.Do(gorgonia.Reshape(n, append(tensor.Shape{}, shape...)))
	}
	h = g.Do(gorgonia.Mul(h, weight(1, width, width)))
	for _, code := range recipe {
		pick := code / 16
		switch code % 12 {
		case 0:
			h = g.Do(gorgonia.Mul(h, weight(pick, width, width)))
		case 1:
			h = g.Do(gorgonia.BroadcastAdd(h, weight(pick, 1, width), nil, []byte{0}))
		case 2:
			h = g.Do(gorgonia.BroadcastHadamardProd(h, weight(pick, 1, width), nil, []byte{0}))
		case 3:
			h = g.Do(gorgonia.Tanh(h))
		case 4:
			h = g.Do(gorgonia.Sigmoid(h))
		case 5:
			h = g.Do(gorgonia.SoftMax(h))
		case 6:
			h = g.Do(gorgonia.Add(h, past[pick%len(past)]))
		case 7:
			h = g.Do(gorgonia.HadamardProd(h, past[pick%len(past)]))
		case 8: // four rows, each of three
			h = g.Do(gorgonia.Mul(reshape(h, batch*4, 3), weight(pick, 3, 3)))
			h = reshape(h, batch, width)
		case 9: // two channels of 2×3
			h = reshape(h, batch, 2, 2, 3)
			h = g.Do(gorgonia.Conv2d(h, weight(pick, 2, 2, 3, 3), tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))
			h = reshape(h, batch, width)
		case 10:
			h = g.Do(gorgonia.Mul(h, gorgonia.NewConstant(float32(pick%5)-1.5)))
		case 11: // four rows, each of three, by a weight that a product may use too
			h = g.Do(gorgonia.Add(h, reshape(g.gather(weight(pick, 3, 3), ids, 4), batch, width)))
		}
		past = append(past, h)
	}
	return g.Squares(g.Do(gorgonia.Tanh(h)))
}
