package walk

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
)

// derived returns a program that multiplies samples by tanh(w)·scale, and predicts by w alone. Its Prepare also
// computes an unused value.
func derived(scale float32) *compile.Program {
	value := func(name string, k compile.Kind, n int) compile.Value {
		return compile.Value{Name: name, Kind: k, Shape: []int{n}, Size: n}
	}
	once := func(op compile.Op, x, z compile.ID) compile.Instruction {
		return compile.Instruction{Op: op, In: []compile.ID{x}, Out: z, Where: compile.None}
	}
	tanh, scaled, unread := once(compile.Unary, 1, 2), once(compile.BinaryScalar, 2, 3), once(compile.Unary, 2, 4)
	tanh.Func, unread.Func = compile.Tanh, compile.Sin
	scaled.Func, scaled.Scalar = compile.Mul, scale
	product := func(y, z compile.ID) compile.Instruction {
		return compile.Instruction{Op: compile.MatMul, In: []compile.ID{0, y}, Out: z, Where: compile.None, Rows: 1, K: 3, N: 40}
	}
	square := once(compile.Unary, 5, 6)
	square.Func = compile.SquareOf
	return &compile.Program{
		Inputs: []compile.Tensor{{Name: "x", Shape: []int{3}, Size: 3, Value: 0}},
		Params: []compile.Tensor{{Name: "w", Shape: []int{120}, Size: 120, Value: 1}},
		Values: []compile.Value{
			value("x", compile.Input, 3), value("w", compile.Param, 120), value("a", compile.Derived, 120), value("b", compile.Derived, 120),
			value("c", compile.Derived, 120), value("y", compile.Buffer, 40), value("z", compile.Buffer, 40),
		},
		Prepare: []compile.Instruction{tanh, scaled, unread},
		Predict: []compile.Instruction{product(1, 5)},
		Forward: []compile.Instruction{product(3, 5), square},
		Output:  compile.Tensor{Name: "y", Shape: []int{40}, Size: 40, Value: 5},
	}
}

// A list begins with exactly the instructions that prepare the values it reads. Nothing overwrites their results.
func TestPreparedFirst(t *testing.T) {
	p := derived(2)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	l, err := Lower(p)
	if err != nil {
		t.Fatal(err)
	}
	if l.Prediction.Prepared != 0 || len(l.Prediction.Code) != Words {
		t.Errorf("a prediction that reads nothing derived has %d instructions of %d", l.Prediction.Prepared, len(l.Prediction.Code)/Words)
	}
	code := slices.Collect(slices.Chunk(l.Gradient.Code, Words))
	var ops []int32
	for _, w := range code {
		ops = append(ops, w[WordOp])
	}
	if !slices.Equal(ops, []int32{OpUnary, OpScalar, OpMatmul, OpUnary}) || l.Gradient.Prepared != 2 {
		t.Fatalf("the operations are %v, of which %d prepare", ops, l.Gradient.Prepared)
	}
	if code[2][WordWait] != 1 {
		t.Error("nothing waits for what is prepared")
	}
	kept := code[1]
	if code[1][WordOut] != InBuffer || code[0][WordSize] != 120 || code[1][WordIn0] != InBuffer ||
		code[2][WordIn1] != InDerived || code[2][WordIn1+1] != kept[WordOut+1] {
		t.Errorf("the instructions are %v", code)
	}
	// 120 elements, of minTile samples or more, take 15 of each, and the buffers of two values of 40 follow.
	for _, w := range code[2:] {
		if from := w[WordOut+1]; from < kept[WordOut+1]+15 && kept[WordOut+1] < from+40 {
			t.Errorf("a buffer at %d overwrites what is derived at %d", from, kept[WordOut+1])
		}
	}
}

// The digest, which the keys of draws depend on, changes with the values that Prepare computes.
func TestDigestHasWhatIsPrepared(t *testing.T) {
	digest := func(p *compile.Program) [32]byte {
		l, err := Lower(p)
		if err != nil {
			t.Fatal(err)
		}
		return l.digest
	}
	if digest(derived(2)) == digest(derived(3)) {
		t.Error("a number in Prepare changes nothing")
	}
	p := derived(2)
	p.Prepare[0].Func = compile.Sin
	if digest(derived(2)) == digest(p) {
		t.Error("a function in Prepare changes nothing")
	}
	if one, again := digest(derived(2)), digest(derived(2)); one != again {
		t.Error("one program has two digests")
	}
}

// Draws are a part of the bytecode, and with it of the digest.
func TestDropoutWords(t *testing.T) {
	p := func(draws, draw int, keep float32) *Program {
		v := compile.Value{Name: "x", Shape: []int{5}, Size: 5}
		x := v
		x.Kind = compile.Input
		l, err := Lower(&compile.Program{
			Inputs: []compile.Tensor{{Name: "x", Shape: []int{5}, Size: 5, Value: 0}}, Values: []compile.Value{x, v}, Draws: draws,
			Forward: []compile.Instruction{{Op: compile.Dropout, In: []compile.ID{0}, Out: 1, Where: compile.None, Scalar: keep, Draw: draw}},
			Output:  compile.Tensor{Value: compile.None},
		})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		keep      float32
		low, high int32
	}{{1, 0, 1}, {0.5, -1 << 31, 0}, {0.25, 1 << 30, 0}} {
		w := p(48, 32, c.keep).Gradient.Code
		if w[WordDraws] != 3 || w[WordDraw] != 2 || w[WordBelow] != c.low || w[WordBelowHigh] != c.high {
			t.Errorf("%v of the elements kept: %v", c.keep, w)
		}
	}
	if p(48, 32, 0.5).digest == p(64, 32, 0.5).digest || p(48, 32, 0.5).digest == p(48, 16, 0.5).digest {
		t.Error("other draws have the same digest")
	}
}
