package compile_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The compiler must not confuse ten samples with ten classes.
func TestBatchIsNotASize(t *testing.T) {
	g := enginetest.NewG(10, 1)
	x, w, b := g.In("x", 10), g.Param("w", 10, 10), g.Param("b", 1, 10)
	h := g.Do(gorgonia.BroadcastAdd(g.Do(gorgonia.Mul(x, w)), b, nil, []byte{0}))
	src, err := g.Squares(g.Do(gorgonia.Sum(h, 1)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	if p.Output.Size != 1 {
		t.Errorf("the sum over a sample's ten values has size %d", p.Output.Size)
	}
}

// An output of several rows for each sample has the values of the same output with the batch as an axis of its own, for
// any batch of the graph, and those of its definition. Each sample has three tokens of two features, and the output is
// tanh(x·w + b), of four values a token.
func TestOutputOfRows(t *testing.T) {
	const tokens, features, values, samples = 3, 2, 4, 150
	for _, batch := range []int{1, 2, 3, 12} {
		build := func(shape ...int) *compile.Program {
			g := enginetest.NewG(batch, 5)
			x, w, b := g.In("x", tokens, features), g.Param("w", features, values), g.Param("b", 1, values)
			rows := g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(x, tensor.Shape{batch * tokens, features})), w))
			rows = g.Do(gorgonia.Tanh(g.Do(gorgonia.BroadcastAdd(rows, b, nil, []byte{0}))))
			output := rows
			if shape != nil {
				output = g.Do(gorgonia.Reshape(rows, append(tensor.Shape{batch}, shape...)))
			}
			src, err := g.Done(output, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(rows)))))
			return program(t, src, err)
		}
		p := build()
		if !slices.Equal(p.Output.Shape, []int{tokens, values}) || p.Output.Size != tokens*values {
			t.Errorf("batch %d: the output has shape %v and size %d a sample", batch, p.Output.Shape, p.Output.Size)
		}
		data := enginetest.RandomData(p, samples, 6)
		got := predictedAll(t, p, data)
		for _, shape := range [][]int{{tokens, values}, {tokens * values}} {
			if want := predictedAll(t, build(shape...), data); !slices.Equal(got, want) {
				t.Errorf("batch %d: rows have other values than the shape %v a sample", batch, shape)
			}
		}
		var want []float64
		x, w, b := data.Columns[0].Floats, p.Initial()[0], p.Initial()[1]
		for row := range samples * tokens {
			for k := range values {
				want = append(want, math.Tanh(float64(x[2*row])*float64(w[k])+float64(x[2*row+1])*float64(w[values+k])+float64(b[k])))
			}
		}
		if !near(wide(got), want) {
			t.Errorf("batch %d: outputs %v, want %v", batch, got, want)
		}
	}
}

// A graph may leave its parameters unbound, and compiles to the same program.
func TestUnboundParameters(t *testing.T) {
	for name, op := range map[string]func(*gorgonia.Node) (*gorgonia.Node, error){
		"tanh":    gorgonia.Tanh,
		"maximum": func(n *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Max(n, 1) },
	} {
		build := func(bound bool) *compile.Program {
			g := gorgonia.NewGraph()
			x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(1, 3), gorgonia.WithName("x"))
			var params gorgonia.Nodes
			h := x
			for _, p := range []string{"v", "w"} {
				opts := []gorgonia.NodeConsOpt{gorgonia.WithShape(3, 3), gorgonia.WithName(p)}
				if bound {
					opts = append(opts, gorgonia.WithInit(gorgonia.Zeroes()))
				}
				n := gorgonia.NewMatrix(g, tensor.Float32, opts...)
				params = append(params, n)
				h = gorgonia.Must(gorgonia.Mul(h, n))
			}
			p, err := compile.Compile(compile.Source{Inputs: gorgonia.Nodes{x}, Params: params, Cost: gorgonia.Must(gorgonia.Sum(gorgonia.Must(op(h))))})
			if err != nil {
				t.Fatalf("%s, bound %v: %v", name, bound, err)
			}
			return p
		}
		bound, free := build(true), build(false)
		if free.Initial() != nil || len(bound.Initial()) != 2 {
			t.Errorf("%s: initial values %v of unbound parameters, %v of bound ones", name, free.Initial(), bound.Initial())
		}
		if bound.Digest() != free.Digest() || !reflect.DeepEqual(bound.Forward, free.Forward) {
			t.Errorf("%s: bound and unbound parameters make two programs", name)
		}
	}
}

// A parameter is read through strides, or through a copy where strides can't express a rearrangement.
func TestRearrangedParameters(t *testing.T) {
	for name, c := range map[string]struct {
		shape  []int // of the used part of the transposed parameter
		copied bool
	}{
		"an axis split":        {[]int{1, 2, 2, 3}, false},
		"an axis of one more":  {[]int{1, 4, 1, 3}, false},
		"axes merged":          {[]int{1, 12}, true},
		"axes split elsewhere": {[]int{1, 2, 6}, true},
	} {
		g := enginetest.NewG(4, 1)
		v := g.Do(gorgonia.Reshape(g.Do(gorgonia.Transpose(g.Param("v", 3, 4))), append(tensor.Shape{}, c.shape...)))
		h := g.Do(gorgonia.Mul(g.In("x", 5), g.Param("w", 5, 12)))
		h = g.Do(gorgonia.Reshape(h, append(tensor.Shape{4}, c.shape[1:]...)))
		src, err := g.Squares(g.Do(gorgonia.BroadcastAdd(h, v, nil, []byte{0})))
		if err != nil {
			t.Fatal(err)
		}
		p, err := compile.Compile(src)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if copied := len(p.Prepare) > 0; copied != c.copied {
			t.Errorf("%s: copied %v:\n%v", name, copied, p)
		}
	}
}

// A refused operation stays refused after other operations, also at a batch of one.
func TestRefusedBehindOtherOperations(t *testing.T) {
	for want, build := range map[string]func(g *enginetest.G) (compile.Source, error){
		"average pooling": func(g *enginetest.G) (compile.Source, error) {
			x, w := g.In("x", 1, 5, 5), g.Do(gorgonia.Tanh(g.Param("w", 2, 1, 2, 2)))
			h := g.Do(gorgonia.Conv2d(x, w, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
			return g.Squares(g.Do(gorgonia.AveragePool2D(h, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2})))
		},
		"mixes the samples": func(g *enginetest.G) (compile.Source, error) {
			x, s, b := g.In("x", 2, 3, 3), g.Do(gorgonia.Tanh(g.Param("s", 1, 2, 3, 3))), g.Param("b", 1, 2, 3, 3)
			h, _, _, _, err := gorgonia.BatchNorm(x, s, b, 0.9, 1e-5)
			return g.Squares(g.Do(h, err))
		},
	} {
		src, err := build(enginetest.NewG(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Compile(src); !errors.Is(err, compile.ErrSource) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestBadSources(t *testing.T) {
	good := func() compile.Source {
		g := enginetest.NewG(2, 1)
		x, w := g.In("x", 3), g.Param("w", 3, 2)
		src, err := g.Squares(g.Do(gorgonia.Mul(x, w)))
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	for want, spoil := range map[string]func(*compile.Source){
		"no inputs":     func(s *compile.Source) { s.Inputs = nil },
		"no parameters": func(s *compile.Source) { s.Params = nil },
		"no cost":       func(s *compile.Source) { s.Cost = nil },
		"to a scalar":   func(s *compile.Source) { s.Cost = s.Output },
		"listed twice":  func(s *compile.Source) { s.Params = append(s.Params, s.Params[0]) },
		"is computed":   func(s *compile.Source) { s.Inputs[0] = s.Output },
		`output "w" doesn't have the batch as its first axis`: func(s *compile.Source) { s.Output = s.Params[0] },
		`"v" has no value bound and parameter "w" has`: func(s *compile.Source) {
			s.Params = append(s.Params, gorgonia.NewMatrix(s.Cost.Graph(), tensor.Float32, gorgonia.WithShape(3, 2), gorgonia.WithName("v")))
		},
		`"v" is of type int`: func(s *compile.Source) {
			s.Params = append(s.Params, gorgonia.NewMatrix(s.Cost.Graph(), tensor.Int, gorgonia.WithShape(3, 2), gorgonia.WithName("v")))
		},
		`constant "w" is listed as an input or a parameter too`: func(s *compile.Source) { s.Constants = s.Params[:1] },
		`constant "c" is computed, or has no value`: func(s *compile.Source) {
			s.Constants = gorgonia.Nodes{gorgonia.NewMatrix(s.Cost.Graph(), tensor.Float32, gorgonia.WithShape(3, 2), gorgonia.WithName("c"))}
		},
		"constant 0 has no name": func(s *compile.Source) {
			s.Constants = gorgonia.Nodes{gorgonia.NewMatrix(s.Cost.Graph(), tensor.Float32, gorgonia.WithShape(3, 2))}
		},
		`constant "c" is listed twice`: func(s *compile.Source) { // Gorgonia takes two of one name and shape for one
			for _, v := range []float32{1, 100} {
				s.Constants = append(s.Constants, gorgonia.NewVector(s.Cost.Graph(), tensor.Float32, gorgonia.WithShape(1), gorgonia.WithName("c"),
					gorgonia.WithValue(tensor.New(tensor.WithShape(1), tensor.WithBacking([]float32{v})))))
			}
		},
		"constant 0 is nil": func(s *compile.Source) { s.Constants = gorgonia.Nodes{nil} },
		"depend on any parameter": func(s *compile.Source) {
			s.Cost = gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(s.Inputs[0]))))
		},
	} {
		src := good()
		spoil(&src)
		_, err := compile.Compile(src)
		if !errors.Is(err, compile.ErrSource) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
