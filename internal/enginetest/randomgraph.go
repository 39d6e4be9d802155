package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// width is the number of values that each node of a random graph has for one sample, so that any two nodes can be
// combined.
const width = 12

// randomGraphs checks random graphs against Gorgonia: chains of the operations of links, and dropout, which reuse
// weights and earlier values at random.
func (s Suite) randomGraphs(t *testing.T) {
	dropping := append(slices.Clone(links), func(c *chain) *gorgonia.Node {
		return c.g.Do(gorgonia.Dropout(c.h, []float64{0.5, 0.1, 0.9}[c.pick%3]))
	})
	rapid.Check(t, func(r *rapid.T) {
		recipe := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 2, 7).Draw(r, "recipe")
		clip := rapid.Float64Range(0.05, 20).Draw(r, "clip")
		build := chained(recipe, dropping).Build
		s.unlessTied(r, func(t TB) { s.CheckGraph(t, build, clip, nil) }, func(move float64) [][]float64 {
			single, err := build(1)
			if err != nil {
				r.Fatal(err)
			}
			o := newOracle(r, single)
			o.at = nudged(o.at, move)
			ran := o.run(RandomData(o.p, graphSamples, graphSeed), clip)
			// A sum hides the jump of a small sample.
			return slices.AppendSeq(slices.Concat(ran.sum, ran.automatic), slices.Chunk(ran.squared, 1))
		})
	})
}

// strangeGraphs checks a few graphs, always the same, against central differences, with operations too whose gradient
// Gorgonia gets wrong.
func (s Suite) strangeGraphs(t *testing.T) {
	all := append(slices.Clone(links), strangeLinks...)
	draw := rand.New(rand.NewPCG(26, 1))
	for range 12 {
		recipe := []int{draw.IntN(1 << 16), draw.IntN(1 << 16), draw.IntN(1 << 16), draw.IntN(1 << 16)}
		t.Run(fmt.Sprint(recipe), func(t *testing.T) { s.CheckDifferences(t, chained(recipe, all), true) })
	}
}

// unlessTied runs a check and reports what it finds, unless gradient jumps, the clipped sum's or a sample's norm: two
// values are nearly equal there, and single precision may take the other one for their maximum, or lose the difference.
func (s Suite) unlessTied(r *rapid.T, check func(TB), gradient func(move float64) [][]float64) {
	found := Reports(check)
	if len(found) > 0 && s.jumps(gradient) {
		r.Skip("a near tie")
	}
	for _, text := range found {
		r.Error(text)
	}
}

// jumps reports whether the oracle's gradient changes by more than half the tolerance when parameters move by 2⁻²⁰. The
// oracle's rounding and the engine's then may differ by the whole.
func (s Suite) jumps(gradient func(move float64) [][]float64) bool {
	s.Tolerance /= 2
	want := gradient(0)
	for _, move := range []float64{-0x1p-20, 0x1p-20} {
		for i, part := range gradient(move) {
			scale := 0.0
			for _, v := range want[i] {
				scale = math.Max(scale, math.Abs(v))
			}
			for k, v := range part {
				if !s.near(v, want[i][k], scale) {
					return true
				}
			}
		}
	}
	return false
}

// nudged returns parameters of which each is changed by its own share of move, relative to it.
func nudged(params [][]float32, move float64) [][]float32 {
	draw := rand.New(rand.NewPCG(26, 2))
	out := make([][]float32, len(params))
	for i, p := range params {
		out[i] = make([]float32, len(p))
		for k, v := range p {
			out[i][k] = float32(float64(v) * (1 + move*(2*draw.Float64()-1)))
		}
	}
	return out
}

// chained returns the graph that a recipe makes of operations.
func chained(recipe []int, links []link) Graph {
	return Graph{uint64(recipe[0]), func(g *G) (compile.Source, error) { return randomGraph(g, recipe, links) }}
}

// link adds an operation to a chain and returns a value of as many elements as before.
type link = func(c *chain) *gorgonia.Node

// randomGraph draws a chain by a recipe.
func randomGraph(g *G, recipe []int, links []link) (compile.Source, error) {
	c := &chain{g: g, weights: map[string][]*gorgonia.Node{}}
	c.h, c.ids = g.In("x", width), g.Ids("ids", 4)
	c.past = []*gorgonia.Node{c.h}
	c.pick = 1
	c.h = g.Do(gorgonia.Mul(c.h, c.weight(width, width)))
	for _, code := range recipe {
		c.pick = code / len(links)
		c.h = links[code%len(links)](c)
		if g.err != nil {
			return compile.Source{}, g.err
		}
		c.past = append(c.past, c.h)
	}
	end := g.Do(gorgonia.Tanh(c.h))
	switch recipe[len(recipe)-1] / 7 % 4 {
	case 0:
		return weighed(g, c.h)
	case 1:
		return g.Done(end, g.Do(gorgonia.Mul(g.Number(5), g.Do(gorgonia.Mean(g.Do(gorgonia.Square(end)))))))
	case 2:
		loss := g.Do(gorgonia.HadamardProd(g.Do(gorgonia.LogSoftMax(end)), g.Do(gorgonia.Sigmoid(c.past[len(recipe)/2]))))
		return g.Done(end, g.Do(gorgonia.Neg(g.Do(gorgonia.Sum(loss)))))
	}
	return g.Squares(end)
}

// chain is a random graph that grows.
type chain struct {
	g       *G
	h, ids  *gorgonia.Node // the latest value, of width elements, and the input of integers
	pick    int            // by which a link chooses
	past    []*gorgonia.Node
	weights map[string][]*gorgonia.Node // by shape
}

// earlier returns an earlier value, or h itself.
func (c *chain) earlier() *gorgonia.Node { return c.past[c.pick%len(c.past)] }

// weight returns a new parameter, or, one time in three, an earlier one of the same shape.
func (c *chain) weight(shape ...int) *gorgonia.Node {
	key := fmt.Sprint(shape)
	if old := c.weights[key]; len(old) > 0 && c.pick%3 == 0 {
		return old[c.pick/3%len(old)]
	}
	w := c.g.Param(fmt.Sprintf("w%d", len(c.g.src.Params)), shape...)
	c.weights[key] = append(c.weights[key], w)
	return w
}

// own returns a value with a sample's values in another shape.
func (c *chain) own(n *gorgonia.Node, shape ...int) *gorgonia.Node {
	return c.g.Do(gorgonia.Reshape(n, append(tensor.Shape{c.g.Batch}, shape...)))
}

// folded returns a value with rows of samples along its first axis.
func (c *chain) folded(n *gorgonia.Node, rows int, shape ...int) *gorgonia.Node {
	return c.g.Do(gorgonia.Reshape(n, append(tensor.Shape{c.g.Batch * rows}, shape...)))
}

func (c *chain) mul(a, b *gorgonia.Node) *gorgonia.Node { return c.g.Do(gorgonia.Mul(a, b)) }
func (c *chain) turned(a *gorgonia.Node, axes ...int) *gorgonia.Node {
	return c.g.Do(gorgonia.Transpose(a, axes...))
}

// batched is a product of bounded values, so that a chain of them doesn't overflow in single precision.
func (c *chain) batched(a, b *gorgonia.Node, turn ...bool) *gorgonia.Node {
	return c.g.Do(gorgonia.BatchedMatMul(c.bend(a), c.bend(b), turn...))
}
func (c *chain) cut(a *gorgonia.Node, s ...tensor.Slice) *gorgonia.Node {
	return c.g.Do(gorgonia.Slice(a, s...))
}
func (c *chain) bend(a *gorgonia.Node) *gorgonia.Node { return c.g.Do(gorgonia.Tanh(a)) }
func (c *chain) join(axis int, n ...*gorgonia.Node) *gorgonia.Node {
	return c.g.Do(gorgonia.Concat(axis, n...))
}

// conv is a convolution with 3×3 filters that keeps the image's size.
func (c *chain) conv(x, f *gorgonia.Node) *gorgonia.Node {
	return c.g.Do(gorgonia.Conv2d(x, f, tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))
}
