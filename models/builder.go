package models

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Initialiser draws one initial value of a parameter, from its argument alone, which depends on a run's key.
type Initialiser = networks.Initialiser

// Uniform draws from U(−bound, bound).
func Uniform(bound float64) Initialiser { return networks.Uniform(bound) }

// Normal draws from N(0, deviation²).
func Normal(deviation float64) Initialiser { return networks.Normal(deviation) }

// Value is v, without a draw.
func Value(v float64) Initialiser { return networks.Value(v) }

// Builder adds inputs, parameters and layers to the graph of one model, and any operation of Gorgonia by [Builder.Do].
// The batch is the first axis of all values that depend on samples. A Builder is valid in the function that [Build]
// calls. An error of any method ends that function.
type Builder struct {
	graph *networks.Graph
	batch int
	layer string // that is being added, or ""
}

// Build builds a model: f adds to b's graph and returns the output, or nil, and the cost, as [train.Model] describes
// them. batch is the graph's batch size, at least 1. The model's inputs are in the order in which f adds them.
//
// The first error of an operation ends f. It names the layer and the line that called it. A panic in f, by Gorgonia or
// by f itself, is such an error too, and says panic.
func Build(batch int, f func(b *Builder) (output, cost *gorgonia.Node)) (train.Model, error) {
	b := &Builder{graph: networks.NewGraph(batch, tensor.Float32), batch: batch}
	return b.graph.Build(func() (output, cost *gorgonia.Node) {
		b.check(batch > 0, "a batch of %d, want 1 or more", batch)
		return f(b)
	}, b.located)
}

// located adds to an error the layer, and the caller's line, while a panic unwinds the stack. It knows this package and
// networks by their files, because inlined functions have names of the caller's package.
func (b *Builder) located(err error) error {
	if b.layer != "" {
		err = fmt.Errorf("%s: %w", b.layer, err)
	}
	stack := make([]uintptr, 64)
	frames := runtime.CallersFrames(stack[:runtime.Callers(1, stack)])
	at, more := frames.Next()
	ours := filepath.Dir(at.File)
	under := filepath.Join(filepath.Dir(ours), "internal", "networks")
	for more && (strings.HasPrefix(at.Function, "runtime.") || strings.HasPrefix(at.Function, "gorgonia.org/") ||
		filepath.Dir(at.File) == under || filepath.Dir(at.File) == ours && !strings.HasSuffix(at.File, "_test.go")) {
		at, more = frames.Next()
	}
	return fmt.Errorf("build a model: %s:%d: %w", filepath.Base(at.File), at.Line, err)
}

// Do returns n, unless err ends the function that [Build] calls. It takes the results of any operation, as in
// b.Do(gorgonia.Tanh(x)).
func (b *Builder) Do(n *gorgonia.Node, err error) *gorgonia.Node { return networks.Do(n, err) }

func (b *Builder) check(ok bool, format string, args ...any) { networks.Require(ok, format, args...) }

// in adds a layer. If add panics, the layer's name stays for the error.
func (b *Builder) in(layer string, add func() *gorgonia.Node) *gorgonia.Node {
	outer := b.layer
	b.layer = layer
	n := add()
	b.layer = outer
	return n
}

// Input adds an input of numbers, [batch, shape…].
func (b *Builder) Input(name string, shape ...int) *gorgonia.Node {
	return b.graph.Input(name, tensor.Float32, shape...)
}

// Integers adds an input of integers, [batch, shape…]: ids for [Builder.Embedding], or classes for
// [Builder.CrossEntropy]. No operation computes with them.
func (b *Builder) Integers(name string, shape ...int) *gorgonia.Node {
	return b.graph.Input(name, tensor.Int, shape...)
}

// Parameter adds a parameter, which is trained. No other parameter or input has its name.
func (b *Builder) Parameter(name string, initial Initialiser, shape ...int) *gorgonia.Node {
	b.check(initial != nil, "parameter %q has no initialiser", name)
	return b.graph.Parameter(name, initial, shape...)
}

// Constant adds a copy of values that aren't trained, in row-major order: frozen weights, or a mask for all samples.
// gorgonia.NewConstant adds a single number.
func (b *Builder) Constant(values []float32, shape ...int) *gorgonia.Node {
	b.check(len(values) == tensor.ProdInts(shape), "%d values of a constant of shape %v", len(values), shape)
	value := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(slices.Clone(values)))
	n := gorgonia.NewTensor(b.graph.Expr, tensor.Float32, len(shape), gorgonia.WithShape(shape...), gorgonia.WithValue(value),
		gorgonia.WithName(fmt.Sprintf("constant %d", len(b.graph.Constants))))
	b.graph.Constants = append(b.graph.Constants, n)
	return n
}

// number returns a constant without axes.
func number(v float32) *gorgonia.Node { return gorgonia.NewConstant(v) }

// Add returns x + y, with y repeated along the axes in which it has length one, such as a bias [1, width] beside x
// [batch, width], or positions [1, tokens, width] beside x [batch, tokens, width]. x and y have as many axes, at most
// four.
func (b *Builder) Add(x, y *gorgonia.Node) *gorgonia.Node {
	return b.broadcast("add", gorgonia.BroadcastAdd, x, y)
}

// Multiply returns the product of x and y, element by element, with y repeated as in [Builder.Add].
func (b *Builder) Multiply(x, y *gorgonia.Node) *gorgonia.Node {
	return b.broadcast("multiply", gorgonia.BroadcastHadamardProd, x, y)
}

func (b *Builder) broadcast(name string, op func(x, y *gorgonia.Node, left, right []byte) (*gorgonia.Node, error), x, y *gorgonia.Node) *gorgonia.Node {
	b.check(x.Dims() == y.Dims() && x.Dims() <= 4, "%s: shapes %v and %v, want as many axes, at most 4", name, x.Shape(), y.Shape())
	var axes []byte
	for i, n := range y.Shape() {
		b.check(n == 1 || n == x.Shape()[i], "%s: shape %v doesn't broadcast to %v", name, y.Shape(), x.Shape())
		if n != x.Shape()[i] {
			axes = append(axes, byte(i))
		}
	}
	return b.Do(op(x, y, nil, axes))
}

func (b *Builder) reshape(x *gorgonia.Node, shape ...int) *gorgonia.Node {
	if slices.Equal(x.Shape(), shape) {
		return x
	}
	return b.Do(gorgonia.Reshape(x, shape))
}

// rows returns x [batch, …, width] as a matrix [batch·…, width].
func (b *Builder) rows(x *gorgonia.Node) *gorgonia.Node {
	return b.reshape(x, x.Shape().TotalSize()/last(x), last(x))
}

// part returns part k of n equal parts of an axis of x. Gorgonia (v0.9.18) takes two slices for one if their bounds
// differ by 256, so part slices an axis of the parts, of which there are fewer.
func (b *Builder) part(x *gorgonia.Node, axis, k, n int) *gorgonia.Node {
	if n == 1 { // Gorgonia panics at some of these
		return x
	}
	b.check(n <= 255, "%d steps, want at most 255", n)
	shape := x.Shape().Clone()
	shape[axis] /= n
	ranges := make([]tensor.Slice, axis+1)
	ranges[axis] = gorgonia.S(k)
	if shape[axis] > 1 {
		x = b.reshape(x, slices.Insert(shape.Clone(), axis, n)...)
	}
	return b.reshape(b.Do(gorgonia.Slice(x, ranges...)), shape...)
}

// last returns the length of the last axis.
func last(x *gorgonia.Node) int { return x.Shape()[x.Dims()-1] }
