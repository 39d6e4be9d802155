package compile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/enginetest"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// tokens is a graph that looks two rows of a table up by an input of integers: cost Σ e[ids]².
func tokens(batch int, of tensor.Dtype) (compile.Source, error) {
	g := enginetest.NewG(batch, 1)
	ids := gorgonia.NewMatrix(g.Graph, of, gorgonia.WithShape(batch, 2), gorgonia.WithName("ids"))
	table := g.Param("e", 3, 2)
	picked := g.Do(gorgonia.ByIndices(table, g.Do(gorgonia.Reshape(ids, tensor.Shape{batch * 2})), 0))
	src, err := g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(picked)))))
	src.Inputs = gorgonia.Nodes{ids}
	return src, err
}

// An input of integers is a column of them. No rule reads one yet, so that the graph is evaluated as it stands: the
// gradient of e is 2e, once for each time that a row is picked.
func TestIntegerInputs(t *testing.T) {
	src, err := tokens(1, tensor.Int)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	if p.Inputs[0].Type != compile.Int32 || p.Values[p.Inputs[0].Value].Type != compile.Int32 || p.Params[0].Type != compile.Float32 {
		t.Errorf("the input is of type %v, the parameter of %v", p.Inputs[0].Type, p.Params[0].Type)
	}
	if p.Missing() == nil {
		t.Fatal("there is a rule for integers now: hold it against differences")
	}
	e := []float32{1, 2, 3, 4, 5, 6}
	got, err := p.Reference().Gradient(bind(t, p.Reference(), [][]float32{e}), [][]float32{{2, 2}})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{0, 0, 0, 0, 20, 24} {
		if got[0][k] != want {
			t.Errorf("gradient %v, want 2e, twice for the last row", got[0])
			break
		}
	}
	if src, err = tokens(4, tensor.Int); err != nil {
		t.Fatal(err)
	}
	var rule *compile.RuleError
	if _, err := compile.Compile(src); !errors.As(err, &rule) || !strings.Contains(err.Error(), "batch of one") {
		t.Errorf("with a batch of four: %v", err)
	}
}

// Integers that would be computed with are named, not read as floating-point numbers.
func TestIntegersAreNotRead(t *testing.T) {
	g := enginetest.NewG(4, 1)
	x, ids := g.In("x", 3), gorgonia.NewMatrix(g.Graph, tensor.Int, gorgonia.WithShape(4, 2), gorgonia.WithName("ids"))
	h := g.Do(gorgonia.Sum(g.Do(gorgonia.Mul(x, g.Param("w", 3, 2)))))
	src, err := g.Done(g.Do(gorgonia.Reshape(ids, tensor.Shape{4, 1, 2})), h)
	if err != nil {
		t.Fatal(err)
	}
	src.Inputs = append(src.Inputs, ids)
	if _, err := compile.Compile(src); err == nil || !strings.Contains(err.Error(), "it reads integers") {
		t.Errorf("got %v", err)
	}
	g = enginetest.NewG(4, 1)
	flags := gorgonia.NewMatrix(g.Graph, tensor.Bool, gorgonia.WithShape(4, 2), gorgonia.WithName("flags"))
	if src, err = g.Squares(g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2)))); err != nil {
		t.Fatal(err)
	}
	src.Inputs = append(src.Inputs, flags)
	if _, err := compile.Compile(src); !errors.Is(err, compile.ErrSource) || !strings.Contains(err.Error(), `"flags" is of type bool`) {
		t.Errorf("got %v", err)
	}
}
