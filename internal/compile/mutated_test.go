package compile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// softmaxOfProduct compiles a graph with a batch of four whose cost is made of p = softmax(x·w).
func softmaxOfProduct(t *testing.T, cost func(p, y *gorgonia.Node) *gorgonia.Node) error {
	t.Helper()
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, 2), gorgonia.WithName("x"))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, 3), gorgonia.WithName("y"))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, 3), gorgonia.WithName("w"), gorgonia.WithInit(gorgonia.Zeroes()))
	p := gorgonia.Must(gorgonia.SoftMax(gorgonia.Must(gorgonia.Mul(x, w))))
	_, err := compile.Compile(compile.Source{Inputs: gorgonia.Nodes{x, y}, Params: gorgonia.Nodes{w}, Cost: cost(p, y)})
	return err
}

// Log of a softmax changes the softmax itself. A graph with another use of the softmax is refused; a graph that uses
// the logarithm alone isn't.
func TestChangedSoftmaxIsRefused(t *testing.T) {
	must, one := gorgonia.Must, gorgonia.NewConstant(float32(1))
	sum := func(n *gorgonia.Node, err error) *gorgonia.Node { return must(gorgonia.Sum(must(n, err))) }
	refused := map[string]func(p, y *gorgonia.Node) *gorgonia.Node{
		"entropy": func(p, _ *gorgonia.Node) *gorgonia.Node {
			return sum(gorgonia.HadamardProd(must(gorgonia.Neg(p)), must(gorgonia.Log(p))))
		},
		"entropy, other sign": func(p, _ *gorgonia.Node) *gorgonia.Node {
			return sum(gorgonia.HadamardProd(p, must(gorgonia.Neg(must(gorgonia.Log(p))))))
		},
		"focal": func(p, _ *gorgonia.Node) *gorgonia.Node {
			return sum(gorgonia.HadamardProd(must(gorgonia.Sub(one, p)), must(gorgonia.Log(p))))
		},
		"square and logarithm": func(p, _ *gorgonia.Node) *gorgonia.Node {
			s := must(gorgonia.Square(p))
			return sum(gorgonia.Add(s, must(gorgonia.Log(p))))
		},
		"a logarithm that nobody uses": func(p, _ *gorgonia.Node) *gorgonia.Node {
			c := sum(gorgonia.Square(p))
			must(gorgonia.Log(p))
			return c
		},
		// The second softmax may be meant, as in a cost by classes beside a cross-entropy.
		"two weights": func(p, y *gorgonia.Node) *gorgonia.Node {
			l := must(gorgonia.Log(p))
			return must(gorgonia.Add(sum(gorgonia.HadamardProd(y, l)), sum(gorgonia.HadamardProd(must(gorgonia.Square(y)), p))))
		},
		"added to a product with its Exp": func(p, y *gorgonia.Node) *gorgonia.Node {
			l := must(gorgonia.Log(p))
			return sum(gorgonia.Add(must(gorgonia.HadamardProd(y, l)), must(gorgonia.HadamardProd(must(gorgonia.Sub(l, y)), must(gorgonia.Add(l, y))))))
		},
		"squared error beside a mean of logarithms": func(p, y *gorgonia.Node) *gorgonia.Node {
			c := sum(gorgonia.Square(must(gorgonia.Sub(p, y))))
			return must(gorgonia.Sub(c, sum(gorgonia.Mean(must(gorgonia.Log(p)), 1))))
		},
		"two weights, one by an Exp of something else": func(p, y *gorgonia.Node) *gorgonia.Node {
			l := must(gorgonia.Log(p))
			return sum(gorgonia.Add(must(gorgonia.HadamardProd(y, l)), must(gorgonia.HadamardProd(must(gorgonia.Exp(y)), l))))
		},
		"two weights, one after a sum along no classes": func(p, y *gorgonia.Node) *gorgonia.Node {
			l := must(gorgonia.Log(p))
			again := must(gorgonia.Sum(must(gorgonia.Reshape(l, tensor.Shape{4, 1, 3})), 1))
			return must(gorgonia.Add(sum(gorgonia.HadamardProd(y, l)), sum(gorgonia.HadamardProd(must(gorgonia.Square(y)), again))))
		},
		"two weights, one after a sum along an axis of length one": func(p, y *gorgonia.Node) *gorgonia.Node {
			l := must(gorgonia.Log(p))
			again := must(gorgonia.Sum(must(gorgonia.Reshape(l, tensor.Shape{4, 3, 1})), 2))
			return must(gorgonia.Add(sum(gorgonia.HadamardProd(y, l)), sum(gorgonia.HadamardProd(must(gorgonia.Square(y)), again))))
		},
		"the same behind a sign": func(p, _ *gorgonia.Node) *gorgonia.Node {
			c := sum(gorgonia.Square(must(gorgonia.Neg(p))))
			must(gorgonia.Log(p))
			return c
		},
	}
	for name, cost := range refused {
		if err := softmaxOfProduct(t, cost); !errors.Is(err, compile.ErrSource) || !strings.Contains(err.Error(), "a softmax may be meant") {
			t.Errorf("%s: error %v, want that a softmax may be meant", name, err)
		}
	}
	taken := map[string]func(p, y *gorgonia.Node) *gorgonia.Node{
		"cross entropy": func(p, y *gorgonia.Node) *gorgonia.Node {
			return sum(gorgonia.HadamardProd(y, must(gorgonia.Neg(must(gorgonia.Log(p))))))
		},
		"entropy by Exp": func(p, _ *gorgonia.Node) *gorgonia.Node {
			l := must(gorgonia.Log(p))
			return sum(gorgonia.HadamardProd(must(gorgonia.Exp(l)), l))
		},
		"smoothed labels, behind signs and shapes": func(p, y *gorgonia.Node) *gorgonia.Node {
			l := must(gorgonia.Log(p))
			smooth := must(gorgonia.Mean(must(gorgonia.Reshape(must(gorgonia.Neg(l)), tensor.Shape{4, 1, 3})), 2))
			return must(gorgonia.Sub(sum(smooth, nil), sum(gorgonia.HadamardProd(y, l))))
		},
		"divergence from another softmax": func(p, y *gorgonia.Node) *gorgonia.Node {
			l := must(gorgonia.Log(p))
			return must(gorgonia.Sub(sum(gorgonia.HadamardProd(must(gorgonia.Exp(l)), must(gorgonia.Sub(l, y)))), sum(gorgonia.HadamardProd(y, l))))
		},
		"smoothed labels in one sum": func(p, y *gorgonia.Node) *gorgonia.Node {
			l := must(gorgonia.Log(p))
			return sum(gorgonia.Add(l, must(gorgonia.HadamardProd(y, l))))
		},
		"weights of classes": func(p, y *gorgonia.Node) *gorgonia.Node {
			weights := gorgonia.NewConstant(tensor.New(tensor.WithShape(1, 3), tensor.WithBacking([]float32{1, 2, 3})), gorgonia.In(p.Graph()))
			l := must(gorgonia.Log(p))
			return sum(gorgonia.HadamardProd(y, must(gorgonia.BroadcastHadamardProd(l, weights, nil, []byte{0}))))
		},
		"a softmax alone": func(p, y *gorgonia.Node) *gorgonia.Node {
			return sum(gorgonia.Square(must(gorgonia.Sub(p, y))))
		},
	}
	for name, cost := range taken {
		if err := softmaxOfProduct(t, cost); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// To Gorgonia, LogSoftMax(h) after SoftMax(h) is the softmax p. Costs that read it as a logarithm are refused, whatever
// the softmax was taken for; others aren't.
func TestLogSoftmaxAfterSoftmaxIsRefused(t *testing.T) {
	must := gorgonia.Must
	type costs = map[string]func(g *enginetest.G, x, y, p, l *gorgonia.Node) *gorgonia.Node
	refused := costs{
		"cross-entropy, not the output": func(_ *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Neg(must(gorgonia.HadamardProd(y, l))))
		},
		"weighed by class": func(g *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.BroadcastHadamardProd(must(gorgonia.HadamardProd(y, l)), g.Constant("weights", []float32{2, 3, 4, 5}, 1, 4), nil, []byte{0}))
		},
		"focal": func(g *enginetest.G, _, y, p, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.HadamardProd(must(gorgonia.Square(must(gorgonia.Sub(g.Constant("one", []float32{1, 1, 1, 1, 1, 1, 1, 1}, 2, 4), p)))), must(gorgonia.HadamardProd(y, l))))
		},
		"entropy": func(_ *enginetest.G, _, _, p, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.HadamardProd(p, l))
		},
		"divergence": func(_ *enginetest.G, _, y, p, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.HadamardProd(p, must(gorgonia.Sub(l, y))))
		},
		"smoothed labels": func(g *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Add(must(gorgonia.HadamardProd(y, l)), must(gorgonia.Mul(g.Number(.1), l))))
		},
		"chosen by a product": func(g *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			one := must(gorgonia.Reshape(l, tensor.Shape{g.Batch, 1, 4}))
			return must(gorgonia.BatchedMatMul(one, must(gorgonia.Reshape(y, tensor.Shape{g.Batch, 4, 1}))))
		},
		"one class": func(_ *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			class := func(n *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Slice(n, nil, gorgonia.S(1))) }
			return must(gorgonia.HadamardProd(class(y), class(l)))
		},
		"in columns": func(g *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			columns := func(n *gorgonia.Node) *gorgonia.Node {
				return must(gorgonia.Transpose(must(gorgonia.Reshape(n, tensor.Shape{g.Batch, 2, 2})), 0, 2, 1))
			}
			return must(gorgonia.HadamardProd(columns(y), columns(l)))
		},
		"several labels": func(g *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			labels := must(gorgonia.Reshape(y, tensor.Shape{g.Batch, 4, 1}))
			each := must(gorgonia.Reshape(l, tensor.Shape{g.Batch, 1, 4}))
			return must(gorgonia.BroadcastHadamardProd(labels, each, []byte{2}, []byte{1}))
		},
		"weighed by what is trained": func(g *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Mul(g.Param("s"), must(gorgonia.Sum(must(gorgonia.HadamardProd(y, l)), 1))))
		},
		"square of a cross-entropy by a product": func(g *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			one := must(gorgonia.Reshape(l, tensor.Shape{g.Batch, 1, 4}))
			return must(gorgonia.Square(must(gorgonia.BatchedMatMul(one, must(gorgonia.Reshape(y, tensor.Shape{g.Batch, 4, 1}))))))
		},
		"clipped ratio": func(_ *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.MinBetween(must(gorgonia.Exp(must(gorgonia.Sub(l, y)))), y))
		},
		"trained teacher, not the output": func(g *enginetest.G, x, _, _, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.HadamardProd(must(gorgonia.SoftMax(must(gorgonia.Mul(x, g.Param("teacher", 5, 4))))), l))
		},
		"ratio of probabilities": func(_ *enginetest.G, _, y, _, l *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.HadamardDiv(must(gorgonia.Exp(must(gorgonia.Sub(l, y)))), must(gorgonia.Exp(y))))
		},
	}
	taken := costs{
		"squared error": func(_ *enginetest.G, _, y, p, _ *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Square(must(gorgonia.Sub(p, y))))
		},
		"squared error by a product": func(_ *enginetest.G, _, y, p, _ *gorgonia.Node) *gorgonia.Node {
			d := must(gorgonia.Sub(p, y))
			return must(gorgonia.HadamardProd(d, d))
		},
		"mixture": func(g *enginetest.G, x, _, p, _ *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.HadamardProd(p, must(gorgonia.Mul(x, g.Param("experts", 5, 4)))))
		},
		"mixture with one scale for all": func(g *enginetest.G, _, _, p, _ *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.BroadcastHadamardProd(p, g.Param("experts", 1, 4), nil, []byte{0}))
		},
		"attention": func(g *enginetest.G, _, _, p, _ *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Mul(p, g.Param("values", 4, 2)))
		},
		"logarithm of a label's probability, not the output": func(_ *enginetest.G, _, y, p, _ *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Log(must(gorgonia.Sum(must(gorgonia.HadamardProd(y, p)), 1))))
		},
		"softmax in the denominator": func(_ *enginetest.G, _, y, p, _ *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.HadamardDiv(y, p))
		},
		"softmax over a trained scale": func(g *enginetest.G, x, _, p, _ *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.HadamardDiv(p, must(gorgonia.Exp(must(gorgonia.Mul(x, g.Param("scale", 5, 4)))))))
		},
		"output alone": func(g *enginetest.G, x, _, _, _ *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Mul(x, g.Param("another", 5, 2)))
		},
	}
	for _, list := range []costs{refused, taken} {
		for name, cost := range list {
			g := enginetest.NewG(2, 1)
			x, y := g.In("x", 5), g.In("y", 4)
			h := g.Do(gorgonia.Mul(x, g.Param("w", 5, 4)))
			p := g.Do(gorgonia.SoftMax(h))
			output := p
			if strings.Contains(name, "not the output") {
				output = h
			}
			src, err := g.Done(output, g.Do(gorgonia.Sum(cost(g, x, y, p, g.Do(gorgonia.LogSoftMax(h))))))
			if err != nil {
				t.Fatal(err)
			}
			_, err = compile.Compile(src)
			if want := refused[name] != nil; want != (err != nil && strings.Contains(err.Error(), "take LogSoftMax first")) || !want && err != nil {
				t.Errorf("%s: error %v, refused: %v", name, err, want)
			}
		}
	}
}

// Gorgonia takes slices of one node for one if their bounds differ by a multiple of 256.
func TestSlicesThatMayBeTwoAreRefused(t *testing.T) {
	const long = 600
	for _, c := range []struct {
		length int
		slices []int // starts and ends
		want   bool  // taken
	}{
		{300, []int{255, 258}, true}, {300, []int{256, 258}, false},
		{300, []int{42, 44}, false}, {300, []int{43, 45}, true},
		{300, []int{0, 300}, true}, {255, []int{0, 3, 251, 255}, true},
		{long, []int{0, 300, 300, long}, true}, {long, []int{300, long, 0, 10, 10, 300}, true},
		{long, []int{0, 300, 299, long}, false}, {long, []int{0, 300, 301, long}, false}, {long, []int{0, 599}, true},
		{long, []int{0, 300}, false}, {long, []int{0, 300, 300, 599}, false},
	} {
		g := enginetest.NewG(2, 1)
		x := g.In("x", c.length)
		z := g.In("z", 2, long) // whole, another node, along another axis
		front, back := g.Do(gorgonia.Slice(z, nil, nil, gorgonia.S(0, 300))), g.Do(gorgonia.Slice(z, nil, nil, gorgonia.S(300, long)))
		of := g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(front, back)), 1, 2))
		cost := g.Do(gorgonia.Sum(of))
		for i := 0; i < len(c.slices); i += 2 {
			part := g.Do(gorgonia.Slice(x, nil, gorgonia.S(c.slices[i], c.slices[i+1])))
			n := g.Do(gorgonia.Mul(part, g.Param(fmt.Sprint("w", i), c.slices[i+1]-c.slices[i], 2)))
			cost = g.Do(gorgonia.Add(cost, g.Do(gorgonia.Sum(n))))
		}
		src, err := g.Done(nil, cost)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Compile(src); (err == nil) != c.want || err != nil && !strings.Contains(err.Error(), "begin 256 apart") {
			t.Errorf("%d, %v: error %v, taken: %v", c.length, c.slices, err, c.want)
		}
	}
}

// scaledMax returns a graph whose cost is k times a sum of maxima.
func scaledMax(k float32) compile.Source {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(1, 2), gorgonia.WithName("x"))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, 2), gorgonia.WithName("w"), gorgonia.WithInit(gorgonia.Zeroes()))
	top := gorgonia.Must(gorgonia.Max(gorgonia.Must(gorgonia.Mul(x, w)), 1))
	return compile.Source{Inputs: gorgonia.Nodes{x}, Params: gorgonia.Nodes{w},
		Cost: gorgonia.Must(gorgonia.Mul(gorgonia.NewConstant(k), gorgonia.Must(gorgonia.Sum(top))))}
}

// Digests differ if and only if graphs compute different things. Names don't count.
func TestDigests(t *testing.T) {
	type build = func() compile.Source
	// of builds a graph with x, y and the parameters v and w, all of one shape, and a cost of them.
	of := func(dtype tensor.Dtype, swap bool, cost func(x, y, v, w *gorgonia.Node) *gorgonia.Node) build {
		return func() compile.Source {
			g := gorgonia.NewGraph()
			leaf := func(name string, opts ...gorgonia.NodeConsOpt) *gorgonia.Node {
				return gorgonia.NewMatrix(g, dtype, append([]gorgonia.NodeConsOpt{gorgonia.WithShape(3, 3), gorgonia.WithName(name)}, opts...)...)
			}
			x, y := leaf("x"), leaf("y")
			v, w := leaf("v", gorgonia.WithInit(gorgonia.Zeroes())), leaf("w", gorgonia.WithInit(gorgonia.Zeroes()))
			src := compile.Source{Inputs: gorgonia.Nodes{x, y}, Params: gorgonia.Nodes{v, w}, Cost: cost(x, y, v, w)}
			if swap {
				slices.Reverse(src.Params)
			}
			return src
		}
	}
	must := gorgonia.Must
	product := func(f func(a, b *gorgonia.Node) *gorgonia.Node) func(x, y, v, w *gorgonia.Node) *gorgonia.Node {
		return func(x, _, v, w *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Sum(f(must(gorgonia.Mul(x, v)), must(gorgonia.Mul(x, w)))))
		}
	}
	sub := func(a, b *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Sub(must(gorgonia.Square(a)), b)) }
	large := func(middle float32) build {
		return func() compile.Source {
			var c *gorgonia.Node
			src := of(tensor.Float32, false, func(x, _, v, _ *gorgonia.Node) *gorgonia.Node {
				values := make([]float32, 3*900)
				values[1234] = middle
				c = gorgonia.NewMatrix(x.Graph(), tensor.Float32, gorgonia.WithName("c"), gorgonia.WithShape(3, 900),
					gorgonia.WithValue(tensor.New(tensor.WithShape(3, 900), tensor.WithBacking(values))))
				return must(gorgonia.Sum(must(gorgonia.Mul(must(gorgonia.Mul(x, v)), c))))
			})()
			src.Constants = gorgonia.Nodes{c}
			return src
		}
	}
	graphs := map[string]build{
		"a² - b":             of(tensor.Float32, false, product(sub)),
		"b - a²":             of(tensor.Float32, false, product(func(a, b *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Sub(b, must(gorgonia.Square(a)))) })),
		"parameters swapped": of(tensor.Float32, true, product(sub)),
		"double precision":   of(tensor.Float64, false, product(sub)),
		"tanh":               of(tensor.Float32, false, product(func(a, b *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Sub(must(gorgonia.Tanh(a)), b)) })),
		"sigmoid":            of(tensor.Float32, false, product(func(a, b *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Sub(must(gorgonia.Sigmoid(a)), b)) })),
		"other input": of(tensor.Float32, false, func(_, y, v, w *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Sum(sub(must(gorgonia.Mul(y, v)), must(gorgonia.Mul(y, w)))))
		}),
		"large constant":     large(1),
		"other middle":       large(2),
		"maximum":            func() compile.Source { return scaledMax(1) },
		"maximum, negative":  func() compile.Source { return scaledMax(-1) },
		"maximum, a hundred": func() compile.Source { return scaledMax(100) },
	}
	seen := map[[32]byte]string{}
	for name, build := range graphs {
		p, err := compile.Compile(build())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again, err := compile.Compile(build()); err != nil || again.Digest() != p.Digest() {
			t.Errorf("%s: another digest the second time (%v)", name, err)
		}
		if other, twice := seen[p.Digest()]; twice {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[p.Digest()] = name
	}
}

func TestValuesThatWouldBeReadWrong(t *testing.T) {
	with := func(value tensor.Tensor) error {
		g := gorgonia.NewGraph()
		x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, 3), gorgonia.WithName("x"))
		w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(3, 2), gorgonia.WithName("w"), gorgonia.WithValue(value))
		_, err := compile.Compile(compile.Source{Inputs: gorgonia.Nodes{x}, Params: gorgonia.Nodes{w},
			Cost: gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Mul(x, w))))})
		return err
	}
	six := func() []float32 { return []float32{1, 2, 3, 4, 5, 6} }
	if err := with(tensor.New(tensor.WithShape(3, 2), tensor.WithBacking(six()))); err != nil {
		t.Error(err)
	}
	if err := with(tensor.New(tensor.WithShape(3, 2), tensor.AsFortran(six()))); !errors.Is(err, compile.ErrSource) {
		t.Errorf("column-major order: error %v", err)
	}
	wrong := six()
	wrong[4] /= 0 * wrong[0]
	if err := with(tensor.New(tensor.WithShape(3, 2), tensor.WithBacking(wrong))); !errors.Is(err, compile.ErrSource) {
		t.Errorf("infinite value: error %v", err)
	}
}
