package walk

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// A program that kernels don't know is refused by the name of the operation, so that another engine may take it.
func TestRefusals(t *testing.T) {
	p := enginetest.MLP(t, 6, 5, 3)
	p.Forward[0].Op = 200
	var unsupported *engine.UnsupportedError
	if _, err := Lower(p); !errors.As(err, &unsupported) || unsupported.Operation != "operation 200" {
		t.Errorf("an operation that kernels don't know: %v", err)
	}
	p = enginetest.MLP(t, 6, 5, 3)
	p.Predict = append(p.Predict, compile.Instruction{Op: compile.UnaryBack, Out: p.Predict[0].Out})
	if _, err := Lower(p); !errors.As(err, &unsupported) || unsupported.Why == "" {
		t.Errorf("a derivative in a prediction: %v", err)
	}
	images := func(code ...compile.Instruction) *compile.Program {
		return &compile.Program{Forward: code, Values: []compile.Value{{Name: "x"}, {Name: "z"}, {Name: "places", Type: compile.Int32}, {Name: "w", Kind: compile.Param}}}
	}
	pool := compile.Instruction{Op: compile.MaxPool, In: []compile.ID{0}, Out: 1, Where: 2, Window: &compile.Window{
		C: 1, H: 1, W: 1 << 15, KH: 1, KW: 1 << 15, OutC: 1, OutH: 1, OutW: 1, StrideH: 1, StrideW: 1, DilationH: 1, DilationW: 1,
	}}
	if _, err := Lower(images(pool)); !errors.As(err, &unsupported) || unsupported.Operation != "maxpool" {
		t.Errorf("a window of 2^15 columns: %v", err)
	}
	back, other := compile.Instruction{Op: compile.MaxPoolBack, In: []compile.ID{1, 2}, Out: 0, Where: compile.None}, *pool.Window
	pool.Window.KW, other.KW = 2, 1
	back.Window = &other
	if _, err := Lower(images(pool, back)); !errors.As(err, &unsupported) || unsupported.Operation != "∂maxpool" {
		t.Errorf("back by another window: %v", err)
	}
	back.Window = pool.Window
	if _, err := Lower(images(pool, back)); err != nil {
		t.Errorf("back by the same window: %v", err)
	}
	conv := compile.Instruction{Op: compile.Conv, In: []compile.ID{0, 3}, Out: 1, Where: compile.None, Window: &compile.Window{
		C: 1, H: 1, W: 1, KH: 1, KW: 1, PadH: 1 << 15, PadW: 1 << 15, StrideH: 1 << 15, StrideW: 1 << 15, DilationH: 1, DilationW: 1, OutC: 1, OutH: 3, OutW: 3,
	}}
	if _, err := Lower(images(conv)); !errors.As(err, &unsupported) || !strings.Contains(unsupported.Why, "padding") {
		t.Errorf("2^32 values with padding: %v", err)
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
			long.Inputs[i].Size = 1 << 30 // and twice as many for equals
		}
	}
	if _, err := Lower(long); !errors.As(err, &unsupported) || unsupported.Operation != "input" {
		t.Errorf("2^30 integers of a sample: %v", err)
	}
}

// A stride or a dilation that is never taken may have any value, though kernels loop over all remainders of strides.
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
