package compile_test

import (
	"bytes"
	"errors"
	"log"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An operation that keeps state, draws, logs or has a wrong gradient is refused by name, with a replacement, even at a
// batch of one.
func TestImpureOperationsAreRefused(t *testing.T) {
	image := func(g *enginetest.G) *gorgonia.Node {
		h := g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, 32)))
		return g.Do(gorgonia.Reshape(h, tensor.Shape{1, 2, 4, 4}))
	}
	row := func(g *enginetest.G) *gorgonia.Node { return g.Do(gorgonia.Mul(g.In("x", 4), g.Param("w", 4, 6))) }
	vector := func(g *enginetest.G) *gorgonia.Node { return g.Do(gorgonia.Reshape(row(g), tensor.Shape{6})) }
	type node = *gorgonia.Node
	for name, c := range map[string]struct {
		build func(g *enginetest.G) (node, error)
		want  string
	}{
		"GroupNorm": {func(g *enginetest.G) (node, error) {
			return gorgonia.GroupNorm(image(g), g.Param("s", 1, 2, 1, 1), g.Param("b", 1, 2, 1, 1), 1, 2, 1e-5)
		}, "logs every sample's gradient"},
		"Dropout":   {func(g *enginetest.G) (node, error) { return gorgonia.Dropout(row(g), 0.5) }, "draws"},
		"OuterProd": {func(g *enginetest.G) (node, error) { return gorgonia.OuterProd(vector(g), g.Param("v", 3)) }, "gradient is wrong"},
		"Tensordot": {func(g *enginetest.G) (node, error) {
			return gorgonia.Tensordot([]int{1}, []int{0}, row(g), g.Param("v", 6, 2))
		}, "Reshape and Mul"},
		"Sparsemax": {func(g *enginetest.G) (node, error) { return gorgonia.Sparsemax(row(g)) }, "use SoftMax"},
		"average": {func(g *enginetest.G) (node, error) {
			return gorgonia.AveragePool2D(image(g), tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2})
		}, "Mean"},
		"global": {func(g *enginetest.G) (node, error) { return gorgonia.GlobalAveragePool2D(image(g)) }, "Mean"},
		"At":     {func(g *enginetest.G) (node, error) { return gorgonia.At(row(g), 0, 1) }, "Slice and Sum"},
		"random node": {func(g *enginetest.G) (node, error) {
			return gorgonia.Add(row(g), gorgonia.UniformRandomNode(g.Graph, tensor.Float32, 0, 1, 1, 6))
		}, "draws"},
		"log2 before Max":         {func(g *enginetest.G) (node, error) { return gorgonia.Log2(g.Do(gorgonia.Exp(row(g)))) }, "use Log"},
		"inverse root before Max": {func(g *enginetest.G) (node, error) { return gorgonia.InverseSqrt(g.Do(gorgonia.Exp(row(g)))) }, "Inverse of Sqrt"},
		"power of a softmax": {func(g *enginetest.G) (node, error) {
			return gorgonia.Pow(g.Do(gorgonia.SoftMax(row(g))), gorgonia.NewConstant(float32(2)))
		}, "use Square"},
		"indices along the second axis": {func(g *enginetest.G) (node, error) {
			return gorgonia.ByIndices(row(g), gorgonia.NewConstant(tensor.New(tensor.WithShape(2), tensor.WithBacking([]int{1, 0}))), 1)
		}, "first of two axes"},
		"unequal padding": {func(g *enginetest.G) (node, error) {
			return gorgonia.MaxPool2D(image(g), tensor.Shape{2, 2}, []int{1, 0, 0, 1}, []int{1, 1})
		}, "padding"},
	} {
		t.Run(name, func(t *testing.T) {
			g := enginetest.NewG(1, 1)
			h := g.Do(c.build(g))
			if !h.IsScalar() {
				h = g.Do(gorgonia.Max(h)) // has no rule
			}
			src, err := g.Done(nil, g.Do(gorgonia.Square(h)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = compile.Compile(src)
			var refused *compile.RefusedError
			if !errors.As(err, &refused) || !errors.Is(err, compile.ErrSource) {
				t.Fatalf("got %v, want a RefusedError", err)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "; use ") {
				t.Errorf("%v: doesn't say %q, or what to use", err, c.want)
			}
		})
	}
}

// The operation that the error about batch norm recommends isn't refused itself.
func TestBatchNormAdvice(t *testing.T) {
	g := enginetest.NewG(1, 1)
	x, s, b := g.In("x", 2, 3, 3), g.Param("s", 1, 2, 3, 3), g.Param("b", 1, 2, 3, 3)
	h, _, _, _, err := gorgonia.BatchNorm(x, s, b, 0.9, 1e-5)
	src, err := g.Squares(g.Do(h, err))
	if err != nil {
		t.Fatal(err)
	}
	_, err = compile.Compile(src)
	if err == nil || !strings.Contains(err.Error(), "normalised by Mean") {
		t.Errorf("got %v", err)
	}
}

// Iop is an operation of another package that has the name of Gorgonia's identity and multiplies by ten.
type Iop struct{ gorgonia.Iop }

func (Iop) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	x := v[0].(*tensor.Dense)
	return x.MulScalar(float32(10), true)
}

// An operation is identified by its package too.
func TestOperationsOfOtherPackagesAreRefused(t *testing.T) {
	for _, batch := range []int{1, 4} {
		g := enginetest.NewG(batch, 1)
		h := g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2)))
		src, err := g.Squares(g.Do(gorgonia.ApplyOp(Iop{}, h)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = compile.Compile(src)
		var refused *compile.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "internal/compile_test.Iop") {
			t.Errorf("batch %d: got %v, want a RefusedError with the type's package", batch, err)
		}
	}
}

// Gorgonia's own identity is taken.
func TestIdentity(t *testing.T) {
	for _, batch := range []int{1, 4} {
		g := enginetest.NewG(batch, 1)
		h := g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2)))
		src, err := g.Squares(g.Do(gorgonia.ApplyOp(gorgonia.Iop{}, h)))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := compile.Compile(src); err != nil || p.Missing() != nil {
			t.Errorf("batch %d: %v", batch, err)
		}
	}
}

// part is a slice that its caller can change.
type part struct{ from, to int }

func (p *part) Start() int { return p.from }
func (p *part) End() int   { return p.to }
func (p *part) Step() int  { return 1 }
