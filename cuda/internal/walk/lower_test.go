package walk

import (
	"errors"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// A program that kernels don't know is refused by the name of the operation, so that another engine may take it.
func TestRefusals(t *testing.T) {
	p := enginetest.MLP(t, 6, 5, 3)
	p.Forward[0].Op = compile.Opaque
	var unsupported *engine.UnsupportedError
	if _, err := Lower(p); !errors.As(err, &unsupported) || unsupported.Operation != "opaque" {
		t.Errorf("an operation that kernels don't know: %v", err)
	}
	p = enginetest.MLP(t, 6, 5, 3)
	p.Predict = append(p.Predict, compile.Instruction{Op: compile.UnaryBack, Out: p.Predict[0].Out})
	if _, err := Lower(p); !errors.As(err, &unsupported) {
		t.Errorf("a derivative in a prediction: %v", err)
	}
	for _, back := range []bool{false, true} {
		p = &compile.Program{Values: []compile.Value{{Name: "x"}, {Name: "z"}}}
		in := compile.Instruction{Op: compile.MaxPool, Window: &compile.Window{KH: 1, KW: 1 << 15}}
		if p.Forward = []compile.Instruction{in}; back {
			in.Op, in.In = compile.MaxPoolBack, []compile.ID{0, 1}
			p.Forward, p.Backward = nil, []compile.Instruction{in}
		}
		if _, err := Lower(p); !errors.As(err, &unsupported) || unsupported.Operation != in.Op.String() {
			t.Errorf("a window of 2^15 columns: %v", err)
		}
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

// A stride or a dilation that is never taken may be anything, though kernels go through all remainders of strides.
func TestStepsThatAreNeverTaken(t *testing.T) {
	lower := func(stride, dilation int) *Program {
		w := &compile.Window{C: 1, H: 4, W: 4, KH: 4, KW: 1, OutC: 1, OutH: 1, OutW: 1, StrideH: stride, StrideW: stride, DilationH: 1, DilationW: dilation}
		p, err := Lower(&compile.Program{
			Inputs: []compile.Tensor{{Name: "x", Shape: []int{16}, Size: 16, Value: 0}},
			Params: []compile.Tensor{{Name: "w", Shape: []int{4}, Size: 4, Value: 1}},
			Values: []compile.Value{
				{Name: "x", Kind: compile.Input, Shape: []int{16}, Size: 16},
				{Name: "w", Kind: compile.Param, Shape: []int{4}, Size: 4},
				{Name: "z", Shape: []int{1}, Size: 1}, {Name: "dx", Shape: []int{16}, Size: 16},
			},
			Forward:  []compile.Instruction{{Op: compile.Conv, In: []compile.ID{0, 1}, Out: 2, Where: compile.None, Window: w}},
			Backward: []compile.Instruction{{Op: compile.ConvBack, In: []compile.ID{2, 1}, Out: 3, Where: compile.None, Window: w}},
			Output:   compile.Tensor{Value: compile.None},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want, got := lower(1, 1), lower(1<<30, 1<<30)
	if !slices.Equal(got.Gradient.Code, want.Gradient.Code) || !slices.Equal(got.tables, want.tables) {
		t.Errorf("%v with %v, want %v with %v", got.Gradient.Code, got.tables, want.Gradient.Code, want.tables)
	}
	if strides := want.Gradient.Code[WordStrideH:]; len(want.tables) == 0 || len(strides) < Words {
		t.Errorf("the program is %v", want.Gradient.Code)
	}
}
