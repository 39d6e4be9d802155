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

// Gorgonia's own identity is accepted.
func TestIdentity(t *testing.T) {
	for _, batch := range []int{1, 4} {
		g := enginetest.NewG(batch, 1)
		h := g.Do(gorgonia.Mul(g.In("x", 3), g.Param("w", 3, 2)))
		src, err := g.Squares(g.Do(gorgonia.ApplyOp(gorgonia.Iop{}, h)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compile.Compile(src); err != nil {
			t.Errorf("batch %d: %v", batch, err)
		}
	}
}
