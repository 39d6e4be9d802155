package compile_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
)

// Lifetimes by hand: a kept value outlives the last instruction, a value that an instruction adds to is needed before
// it, and an operand that a derivative doesn't read isn't needed.
func TestLifetimes(t *testing.T) {
	const input, weight, h, z, dz, dh, g = 0, 1, 2, 3, 4, 5, 6
	code := []compile.Instruction{
		{Op: compile.MatMul, In: []compile.ID{input, weight}, Out: h, Where: compile.None, Rows: 1, K: 1, N: 1},
		{Op: compile.Unary, Func: compile.Tanh, In: []compile.ID{h}, Out: z, Where: compile.None},
		{Op: compile.Fill, Out: dz, Where: compile.None, Scalar: 1},
		{Op: compile.UnaryBack, Func: compile.Tanh, In: []compile.ID{dz, h, z}, Out: dh, Where: compile.None},
		{Op: compile.UnaryBack, Func: compile.Tanh, In: []compile.ID{dz, h, z}, Out: dh, Where: compile.None, Accumulate: true},
		{Op: compile.GradMatMul, In: []compile.ID{dh, input}, Out: g, Where: compile.None, Rows: 1, K: 1, N: 1},
	}
	want := []compile.Lifetime{{input, -1, 5}, {weight, -1, 0}, {h, 0, 1}, {z, 1, 4}, {dz, 2, 4}, {dh, 3, 5}, {g, 5, 6}}
	if got := compile.Lifetimes(code, []compile.ID{g}); !reflect.DeepEqual(got, want) {
		t.Errorf("lifetimes %v, want %v", got, want)
	}
	for at, inPlace := range []compile.ID{compile.None, h, compile.None, dz, compile.None, compile.None} {
		if code[at].InPlace() != inPlace {
			t.Errorf("%v may write over its operand: %v", code[at], code[at].InPlace())
		}
	}
	for at, reads := range [][]compile.ID{{input, weight}, {h}, nil, {dz, z}, {dz, z, dh}, {dh, input}} {
		if got := code[at].Reads(); !slices.Equal(got, reads) {
			t.Errorf("%v reads %v, want %v", code[at], got, reads)
		}
	}
	square := compile.Instruction{Op: compile.Binary, Func: compile.Mul, In: []compile.ID{h, h}, Out: z, Where: compile.None}
	if square.InPlace() != compile.None {
		t.Errorf("%v may write over what it reads twice", square)
	}
}
