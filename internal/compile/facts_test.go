package compile_test

import (
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// evaluated runs Gorgonia's machine on a graph whose only input is x, bound to values, and returns draw's result.
func evaluated(t *testing.T, shape []int, values []float64, draw func(g *gorgonia.ExprGraph, x node) node) []float64 {
	t.Helper()
	g := gorgonia.NewGraph()
	x := gorgonia.NewTensor(g, tensor.Float64, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName("x"),
		gorgonia.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(slices.Clone(values)))))
	n := draw(g, x)
	m := gorgonia.NewTapeMachine(g)
	defer m.Close()
	if err := m.RunAll(); err != nil {
		t.Fatal(err)
	}
	switch d := n.Value().Data().(type) {
	case float64:
		return []float64{d}
	case []float64:
		return d
	}
	t.Fatalf("the result is %T", n.Value().Data())
	return nil
}

// Gorgonia's machine confirms the statements about Gorgonia in the list of operations.
func TestReasonsAreTrue(t *testing.T) {
	must := gorgonia.Must
	// The cost Σ (x ⊗ v)² has the gradient 2x·Σv².
	v := func() node {
		return gorgonia.NewConstant(tensor.New(tensor.WithShape(2), tensor.WithBacking([]float64{3, 0.5})))
	}
	cost := func(x node) node { return must(gorgonia.Sum(must(gorgonia.Square(must(gorgonia.OuterProd(x, v())))))) }
	at := []float64{2, -1, 0.25}
	right := true
	func() {
		defer func() {
			if p := recover(); p != nil {
				right = false
			}
		}()
		g := gorgonia.NewGraph()
		x := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(3), gorgonia.WithName("x"), gorgonia.WithValue(tensor.New(tensor.WithBacking(slices.Clone(at)))))
		grads, err := gorgonia.Grad(cost(x), x)
		if err != nil {
			right = false
			return
		}
		m := gorgonia.NewTapeMachine(g)
		defer m.Close()
		if m.RunAll() != nil {
			right = false
			return
		}
		got, _ := grads[0].Value().Data().([]float64)
		for k := range at {
			right = right && len(got) == len(at) && math.Abs(got[k]-2*at[k]*9.25) < 1e-9
		}
	}()
	if right {
		t.Error("Gorgonia's gradient of the outer product is right: give it a rule")
	}

	// Ones averaged over windows of 2×1 are ones; in an image three wide Gorgonia computes other values.
	ones := evaluated(t, []int{1, 1, 4, 3}, slices.Repeat([]float64{1}, 12), func(_ *gorgonia.ExprGraph, x node) node {
		return must(gorgonia.AveragePool2D(x, tensor.Shape{2, 1}, []int{0, 0}, []int{2, 1}))
	})
	if slices.Max(ones) == 1 && slices.Min(ones) == 1 {
		t.Error("average pooling of ones gives ones")
	}

	// Every second of five numbers is three numbers, or two.
	every := func(axis int, shape ...int) (counted, taken int) {
		all := evaluated(t, shape, make([]float64, 10), func(_ *gorgonia.ExprGraph, x node) node {
			ranges := make([]tensor.Slice, 2)
			ranges[axis] = gorgonia.S(0, 5, 2)
			s := must(gorgonia.Slice(x, ranges...))
			counted = s.Shape()[axis]
			return must(gorgonia.Tanh(s))
		})
		return counted, len(all) / 2
	}
	for axis, want := range [][2]int{{2, 2}, {2, 3}} {
		shape := []int{2, 2}
		shape[axis] = 5
		if counted, taken := every(axis, shape...); [2]int{counted, taken} != want {
			t.Errorf("every second of five on axis %d: Gorgonia counts %d and takes %d", axis, counted, taken)
		}
	}

	draw := func() []float64 {
		return evaluated(t, []int{1, 3}, at, func(g *gorgonia.ExprGraph, x node) node {
			return must(gorgonia.Add(x, gorgonia.UniformRandomNode(g, tensor.Float64, 0, 1, 1, 3)))
		})
	}
	if slices.Equal(draw(), draw()) {
		t.Error("a random node draws the same numbers twice")
	}

	for name, op := range map[string]func(x node) (node, error){
		"At":       func(x node) (node, error) { return gorgonia.At(x, 1) },
		"DiagFlat": gorgonia.DiagFlat,
	} {
		if differentiable(op) {
			t.Errorf("%s has a gradient", name)
		}
	}
}

// differentiable reports whether Gorgonia differentiates an operation on a vector.
func differentiable(op func(x node) (node, error)) (yes bool) {
	defer func() { _ = recover() }()
	g := enginetest.NewG(1, 1)
	x := g.Param("x", 3)
	n, err := op(x)
	if err != nil {
		return false
	}
	if !n.IsScalar() {
		n = gorgonia.Must(gorgonia.Sum(n))
	}
	_, err = gorgonia.Grad(n, x)
	return err == nil
}

// If operands are equal, the first has the gradient of maximum and minimum; otherwise the result's operand has it.
func TestGradientOfTheLarger(t *testing.T) {
	for _, c := range []struct {
		f    compile.Func
		a, b float64
		want [2]float64
	}{
		{compile.Maximum, 2, 2, [2]float64{1, 0}}, {compile.Maximum, 3, 2, [2]float64{1, 0}}, {compile.Maximum, 2, 3, [2]float64{0, 1}},
		{compile.Minimum, 2, 2, [2]float64{1, 0}}, {compile.Minimum, 3, 2, [2]float64{0, 1}}, {compile.Minimum, 2, 3, [2]float64{1, 0}},
	} {
		z := c.f.Binary(c.a, c.b)
		if got := [2]float64{c.f.BinaryDerivative(0, c.a, c.b, z), c.f.BinaryDerivative(1, c.a, c.b, z)}; got != c.want {
			t.Errorf("%v of %v and %v has slopes %v, want %v", c.f, c.a, c.b, got, c.want)
		}
	}
}
