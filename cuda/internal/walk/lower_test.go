package walk

import (
	"errors"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// What kernels don't know is refused by its name, so that another engine may take it.
func TestRefusals(t *testing.T) {
	p := enginetest.MLP(t, 6, 5, 3)
	p.Forward[0].Op = compile.Opaque
	var unsupported *engine.UnsupportedError
	if _, err := Lower(p); !errors.As(err, &unsupported) || unsupported.Operation != "opaque" {
		t.Errorf("an operation that kernels don't know: %v", err)
	}
	// Kernels count in 32 bits.
	many := enginetest.MLP(t, 6, 5, 3)
	many.Params[0].Size = 1 << 31
	if _, err := Lower(many); !errors.As(err, &unsupported) || unsupported.Operation != "program" {
		t.Errorf("2^31 parameters: %v", err)
	}
	long := enginetest.MLP(t, 6, 5, 3)
	long.Inputs[0].Size = 1 << 31
	if _, err := Lower(long); err == nil {
		t.Error("2^31 values of a sample are taken")
	}
	long = enginetest.Zoo()["an index a sample"].Program(t, 1)
	for i, in := range long.Inputs {
		if in.Type == compile.Int32 {
			long.Inputs[i].Size = 1 << 30 // and twice as many that say which are equal
		}
	}
	if _, err := Lower(long); !errors.As(err, &unsupported) || unsupported.Operation != "input" {
		t.Errorf("2^30 integers of a sample: %v", err)
	}
}
