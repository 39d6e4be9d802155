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

// Arithmetic on integers is an error that names the operation; integers are never read as floating-point numbers.
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
