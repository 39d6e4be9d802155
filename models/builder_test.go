package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/models"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Errors name the layer and this file's line, and panics say so.
func TestBuildErrors(t *testing.T) {
	x3 := func(b *models.Builder) *G.Node { return b.Input("x", 5, 4) }
	for want, f := range map[string]func(b *models.Builder) *G.Node{
		"linear a: x has shape (2), want [batch, …, inputs]":      func(b *models.Builder) *G.Node { return b.Linear("a", b.Input("x"), 3) },
		"layer norm a: x has shape (2), want [batch, …, width]":   func(b *models.Builder) *G.Node { return b.LayerNorm("a", b.Input("x")) },
		"embedding a: ids of type float32, want integers":         func(b *models.Builder) *G.Node { return b.Embedding("a", x3(b), 9, 2) },
		"lstm a: x has shape (2, 5), want [batch, steps, inputs]": func(b *models.Builder) *G.Node { return b.LSTM("a", b.Input("x", 5), 3, nil) },
		"gru a: mask of shape (2, 4), want [2 5]":                 func(b *models.Builder) *G.Node { return b.GRU("a", x3(b), 3, b.Input("m", 4)) },
		"attention a: x has shape (2, 5), want [batch, tokens, width]": func(b *models.Builder) *G.Node {
			return b.Attention("a", b.Input("x", 5), 1, models.AttentionOptions{})
		},
		"attention a: 3 heads don't divide a width of 4": func(b *models.Builder) *G.Node {
			return b.Attention("a", x3(b), 3, models.AttentionOptions{})
		},
		"attention a: 0 heads don't divide a width of 4": func(b *models.Builder) *G.Node {
			return b.Attention("a", x3(b), 0, models.AttentionOptions{})
		},
		"attention a: mask of shape (2, 5, 1), want [2 5]": func(b *models.Builder) *G.Node {
			return b.Attention("a", x3(b), 2, models.AttentionOptions{Mask: b.Input("m", 5, 1)})
		},
		"cross-entropy: logits of shape (2), want [batch, …, classes]": func(b *models.Builder) *G.Node {
			return b.CrossEntropy(b.Input("x"), b.Integers("y"), nil)
		},
		"cross-entropy: integers of shape (2), want [2 5]":     func(b *models.Builder) *G.Node { return b.CrossEntropy(x3(b), b.Integers("y"), nil) },
		"cross-entropy: classes of shape (2, 4), want [2 5 4]": func(b *models.Builder) *G.Node { return b.CrossEntropy(x3(b), b.Input("y", 4), nil) },
		"cross-entropy: mask of shape (2), want [2 5]": func(b *models.Builder) *G.Node {
			return b.CrossEntropy(x3(b), b.Integers("y", 5), b.Input("m"))
		},
		"cross-entropy: integers of 4097 classes, want at most 4096; use an input of one-hot rows": func(b *models.Builder) *G.Node {
			return b.CrossEntropy(b.Input("x", 4097), b.Integers("y"), nil)
		},
		"add: shapes (2, 5, 4) and (1, 4), want as many axes, at most 4": func(b *models.Builder) *G.Node {
			return b.Add(x3(b), b.Parameter("p", models.Value(0), 1, 4))
		},
		"add: shapes (2, 1, 1, 1, 1) and (2, 1, 1, 1, 1), want as many axes, at most 4": func(b *models.Builder) *G.Node {
			x := b.Input("x", 1, 1, 1, 1)
			return b.Add(x, x)
		},
		"cross-entropy: Gorgonia takes the LogSoftMax of logits for a SoftMax that was made of them before; make the cross-entropy first, and the softmax as Exp of a LogSoftMax": func(b *models.Builder) *G.Node {
			x := b.Input("x", 4)
			b.Do(G.SoftMax(x, 1))
			return b.CrossEntropy(x, b.Integers("y"), nil)
		},
		`parameter "p" has no initialiser`:      func(b *models.Builder) *G.Node { return b.Parameter("p", nil, 1, 3) },
		"3 values of a constant of shape [2 2]": func(b *models.Builder) *G.Node { return b.Constant([]float32{1, 2, 3}, 2, 2) },
		"multiply: shape (1, 3) doesn't broadcast to (2, 4)": func(b *models.Builder) *G.Node {
			return b.Multiply(b.Input("x", 4), b.Parameter("p", models.Value(0), 1, 3))
		},
		"panic: runtime error: index out of range [2] with length 2": func(b *models.Builder) *G.Node {
			shape := []int{1, 2}
			return b.Input("x", shape[len(shape)])
		},
		"panic: Unhandled": func(b *models.Builder) *G.Node { return b.Do(G.Div(x3(b), b.Input("y", 4))) },
	} {
		_, err := models.Build(2, func(b *models.Builder) (*G.Node, *G.Node) {
			out := f(b)
			return out, out
		})
		if err == nil || !strings.HasPrefix(err.Error(), "build a model: builder_test.go:") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	// The errors of Gorgonia's operations, of no layer after one that was added.
	_, err := models.Build(2, func(b *models.Builder) (*G.Node, *G.Node) {
		b.Linear("a", b.Input("x", 4), 3)
		return nil, b.Do(G.Mul(b.Input("y", 3), b.Input("z", 3)))
	})
	if err == nil || !strings.Contains(err.Error(), "builder_test.go:") || strings.Contains(err.Error(), "linear") || strings.Contains(err.Error(), "panic") {
		t.Errorf("error %v", err)
	}
	if _, err = models.Build(0, nil); err == nil || !strings.HasSuffix(err.Error(), "a batch of 0, want 1 or more") {
		t.Errorf("error %v", err)
	}
	// An error inside a layer names it too, be it Gorgonia's.
	_, err = models.Build(2, func(b *models.Builder) (*G.Node, *G.Node) { return nil, b.Linear("a", b.Integers("x", 3), 3) })
	if err == nil || !strings.Contains(err.Error(), "linear a: ") {
		t.Errorf("error %v", err)
	}
}

// A name that is used twice would share a parameter.
func TestNamesAreTheirOwn(t *testing.T) {
	m, err := models.Build(2, func(b *models.Builder) (*G.Node, *G.Node) {
		x := b.Linear("a", b.Linear("a", b.Input("x", 3), 3), 3)
		return x, b.Do(G.Sum(x))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compile.Compile(source(m)); err == nil || !strings.Contains(err.Error(), `parameter "a.weight" is listed twice`) {
		t.Errorf("error %v", err)
	}
}

// Inputs and parameters are in the order of the calls, and initial values are PyTorch's: uniform within 1/√inputs, or
// 1/√width for recurrent layers, √(6/(inputs+outputs)) for attention's first matrix; normal embeddings; a normalisation
// that changes nothing. A mean of n uniform values is beyond five standard errors with a probability below 10⁻⁶; the
// seed is fixed.
func TestInitialValues(t *testing.T) {
	m, err := models.Build(2, func(b *models.Builder) (*G.Node, *G.Node) {
		mask, ids := b.Input("mask", 3), b.Integers("ids", 3)
		x := b.LayerNorm("norm", b.Embedding("words", ids, 300, 64))
		x = b.Attention("attention", x, 4, models.AttentionOptions{Mask: mask})
		x = b.Linear("linear", b.GRU("gru", b.LSTM("lstm", x, 50, mask), 40, nil), 30)
		x = b.Add(x, b.Parameter("p", models.Uniform(7), 1, 1, 30))
		x = b.Add(x, b.Parameter("q", models.Normal(3), 1, 3, 30))
		x = b.Add(x, b.Parameter("r", models.Value(0.5), 1, 3, 1))
		return x, b.CrossEntropy(x, b.Integers("classes", 3), mask)
	})
	if err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(labels(m.Inputs), " "); names != "mask ids classes" {
		t.Errorf("inputs %s", names)
	}
	uniform := func(bound float64) [2]float64 { return [2]float64{bound, bound / math.Sqrt(3)} }
	lstm, gru, linear := uniform(1/math.Sqrt(50)), uniform(1/math.Sqrt(40)), uniform(1/math.Sqrt(40))
	same := func(v float64) [2]float64 { return [2]float64{v, v} }
	want := []struct {
		name  string
		shape tensor.Shape
		of    [2]float64 // the maximum and the root of the mean square
	}{
		{"words.weight", tensor.Shape{300, 64}, [2]float64{6, 1}}, {"norm.weight", tensor.Shape{1, 64}, same(1)}, {"norm.bias", tensor.Shape{1, 64}, same(0)},
		{"attention.in_proj_weight", tensor.Shape{64, 192}, uniform(math.Sqrt(6. / (64 + 192)))}, {"attention.in_proj_bias", tensor.Shape{1, 192}, same(0)},
		{"attention.out_proj.weight", tensor.Shape{64, 64}, uniform(1. / 8)}, {"attention.out_proj.bias", tensor.Shape{1, 64}, same(0)},
		{"lstm.weight_ih_l0", tensor.Shape{64, 200}, lstm}, {"lstm.weight_hh_l0", tensor.Shape{50, 200}, lstm},
		{"lstm.bias_ih_l0", tensor.Shape{1, 200}, lstm}, {"lstm.bias_hh_l0", tensor.Shape{1, 200}, lstm},
		{"gru.weight_ih_l0", tensor.Shape{50, 120}, gru}, {"gru.weight_hh_l0", tensor.Shape{40, 120}, gru},
		{"gru.bias_ih_l0", tensor.Shape{1, 120}, gru}, {"gru.bias_hh_l0", tensor.Shape{1, 120}, gru},
		{"linear.weight", tensor.Shape{40, 30}, linear}, {"linear.bias", tensor.Shape{1, 30}, linear},
		{"p", tensor.Shape{1, 1, 30}, uniform(7)}, {"q", tensor.Shape{1, 3, 30}, [2]float64{15, 3}}, {"r", tensor.Shape{1, 3, 1}, same(0.5)},
	}
	if len(want) != len(m.Parameters) {
		t.Fatalf("parameters %v", labels(m.Parameters))
	}
	values, again := m.Initial(rand.NewPCG(1, 2)), m.Initial(rand.NewPCG(1, 2))
	for i, p := range m.Parameters {
		w := want[i]
		if p.Name() != w.name || !slices.Equal(p.Shape(), w.shape) || len(values[i]) != w.shape.TotalSize() {
			t.Errorf("%s of shape %v, %d values; want %s of %v", p.Name(), p.Shape(), len(values[i]), w.name, w.shape)
		}
		largest, n := 0.0, float64(len(values[i]))
		for _, v := range values[i] {
			largest = max(largest, math.Abs(float64(v)))
		}
		root := norm(values[i]) / math.Sqrt(n)
		if largest > w.of[0]+1e-7 || !(math.Abs(root-w.of[1]) <= 5*w.of[1]/math.Sqrt(2*n)) || w.of[0] == w.of[1] && root != w.of[1] {
			t.Errorf("%s: values up to %v, their root mean square %v, want %v", p.Name(), largest, root, w.of)
		}
		if !slices.Equal(values[i], again[i]) {
			t.Errorf("%s: another draw of the same key", p.Name())
		}
	}
}

func labels(nodes G.Nodes) (names []string) {
	for _, n := range nodes {
		names = append(names, n.Name())
	}
	return names
}

// The compiler makes one instruction of a layer normalisation.
func TestLayerNormIsOneInstruction(t *testing.T) {
	for _, name := range []string{"layer norm", "block"} {
		_, m := built(t, layers[name])
		p, err := compile.Compile(source(m))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, in := range p.Forward {
			switch in.Op {
			case compile.Normalize:
				found++
			case compile.Unary:
				if in.Func == compile.Sqrt {
					t.Errorf("%s: a root is left", name)
				}
			}
		}
		if want := map[string]int{"layer norm": 1, "block": 2}[name]; found != want {
			t.Errorf("%s has %d normalisations", name, found)
		}
	}
}

// Constants keep their values apart, though Gorgonia's prints of long ones are alike and it takes them for one.
func TestConstants(t *testing.T) {
	const long = 100
	values := make([]float32, long)
	for i := range values {
		values[i] = float32(i)
	}
	first, middle, last := slices.Clone(values), slices.Clone(values), slices.Clone(values)
	first[0], middle[long/2], last[long-1] = -1, -1, -1
	m, err := models.Build(2, func(b *models.Builder) (*G.Node, *G.Node) {
		x := b.Multiply(b.Input("x", long), b.Parameter("w", models.Value(1), 1, long))
		for _, v := range [][]float32{values, first, middle, last, values} {
			own := slices.Clone(v)
			x = b.Add(x, b.Constant(own, 1, long))
			clear(own)
		}
		return x, b.Do(G.Sum(x))
	})
	if err != nil {
		t.Fatal(err)
	}
	out := predicted(t, m, [][]float32{make([]float32, long)}, [][]float32{make([]float32, long)})
	for i, v := range out {
		if want := 2*values[i] + first[i] + middle[i] + last[i]; v != want {
			t.Errorf("the sum at %d is %v, want %v", i, v, want)
		}
	}
}
