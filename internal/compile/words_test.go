package compile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A cost divided by the graph's own batch size would be divided again by training, which would then hardly move.
func TestConstantBatchSize(t *testing.T) {
	const batch = 32
	for name, cost := range map[string]func(g *enginetest.G, h *gorgonia.Node) *gorgonia.Node{
		"divided": func(g *enginetest.G, h *gorgonia.Node) *gorgonia.Node {
			return g.Do(gorgonia.Div(g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))), g.Number(batch)))
		},
		"multiplied by its inverse": func(g *enginetest.G, h *gorgonia.Node) *gorgonia.Node {
			return g.Do(gorgonia.Mul(g.Number(1./batch), g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h))))))
		},
		"divided, then negated": func(g *enginetest.G, h *gorgonia.Node) *gorgonia.Node {
			return g.Do(gorgonia.Neg(g.Do(gorgonia.Div(g.Do(gorgonia.Sum(h)), g.Number(batch)))))
		},
		"divided before the sum": func(g *enginetest.G, h *gorgonia.Node) *gorgonia.Node {
			return g.Do(gorgonia.Sum(g.Do(gorgonia.Div(g.Do(gorgonia.Square(h)), g.Number(batch)))))
		},
	} {
		for _, rows := range []int{batch, batch + 1} {
			g := enginetest.NewG(rows, 1)
			h := g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2)))
			src, err := g.Done(h, cost(g, h))
			if err != nil {
				t.Fatal(err)
			}
			_, err = compile.Compile(src)
			switch {
			case rows != batch && err != nil:
				t.Errorf("%s: another number is refused: %v", name, err)
			case rows == batch && (!errors.Is(err, compile.ErrSource) || !strings.Contains(err.Error(), "expected batch size")):
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}

// Thirty-two classes are not a batch of thirty-two.
func TestMeanWithinASampleIsNoBatchSize(t *testing.T) {
	g := enginetest.NewG(32, 1)
	h := g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 32)))
	src, err := g.Done(h, g.Do(gorgonia.Sum(g.Do(gorgonia.Mean(g.Do(gorgonia.Square(h)), 1)))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compile.Compile(src); err != nil {
		t.Error(err)
	}
}

func TestNamelessNodes(t *testing.T) {
	matrix := func(g *gorgonia.ExprGraph, rows, columns int) *gorgonia.Node {
		return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(rows, columns),
			gorgonia.WithValue(tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(make([]float32, rows*columns)))))
	}
	g := enginetest.NewG(1, 1)
	x, w, v := g.In("x", 3), matrix(g.Graph, 3, 2), matrix(g.Graph, 2, 4)
	src, err := g.Squares(g.Do(gorgonia.Mul(g.Do(gorgonia.Mul(x, w)), v)))
	if err != nil {
		t.Fatal(err)
	}
	src.Params = gorgonia.Nodes{w, v}
	_, err = compile.Compile(src)
	if err == nil || !strings.Contains(err.Error(), "parameter 0 has no name") || !strings.Contains(err.Error(), "WithName") || strings.Contains(err.Error(), "%!") {
		t.Errorf("parameter without a name: %v", err)
	}
	g = enginetest.NewG(1, 1)
	x = matrix(g.Graph, 1, 3)
	if src, err = g.Squares(g.Do(gorgonia.Mul(x, g.Param("w", 3, 2)))); err == nil {
		src.Inputs = gorgonia.Nodes{x}
		_, err = compile.Compile(src)
	}
	if err == nil || !strings.Contains(err.Error(), "input 0 has no name") {
		t.Errorf("input without a name: %v", err)
	}
}

// A slice of the whole batch is the batch.
func TestSliceOfTheWholeBatch(t *testing.T) {
	g := enginetest.NewG(4, 1)
	h := g.Do(gorgonia.Slice(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2))), gorgonia.S(0, 4)))
	src, err := g.Squares(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compile.Compile(src); err != nil {
		t.Error(err)
	}
}

// An unlisted value isn't treated as a constant, and a constant is.
func TestValuesThatNobodyLists(t *testing.T) {
	for _, op := range []func(*gorgonia.Node) (*gorgonia.Node, error){
		gorgonia.Tanh,
		func(n *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Max(n, 1) },
	} {
		g := enginetest.NewG(1, 1)
		x, w := g.In("x", 3), g.Param("w", 3, 2)
		forgotten := g.Param("forgotten", 1, 2)
		h := g.Do(op(g.Do(gorgonia.BroadcastAdd(g.Do(gorgonia.Mul(x, w)), forgotten, nil, []byte{0}))))
		src, err := g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(h)))))
		if err != nil {
			t.Fatal(err)
		}
		src.Params = src.Params[:1]
		_, err = compile.Compile(src)
		if !errors.Is(err, compile.ErrSource) || !strings.Contains(err.Error(), `"forgotten" holds a value`) || !strings.Contains(err.Error(), "Constants") {
			t.Errorf("got %v", err)
		}
	}
	g := enginetest.NewG(4, 1)
	fixed := gorgonia.NewConstant(tensor.New(tensor.WithShape(3, 2), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6})))
	src, err := g.Squares(g.Do(gorgonia.Mul(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 3))), fixed)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compile.Compile(src); err != nil {
		t.Errorf("a constant matrix: %v", err)
	}
}
