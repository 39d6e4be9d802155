package enginetest

import "github.com/dptrain/dptrain/internal/compile"

// derivedValues tries each operation that may prepare a value, on parameters, constants and derived values.
func derivedValues(a *assembly) {
	of := func(in compile.Instruction, shape ...int) compile.ID {
		d := a.derive(in, shape...)
		a.try(a.whole(d), false, shape...)
		return d
	}
	one := func(in compile.Instruction, x compile.ID) compile.Instruction {
		in.In = []compile.ID{x}
		return in
	}
	w, c := a.param(7, 33), a.constant(7, 33)
	h := of(one(compile.Instruction{Op: compile.Unary, Func: compile.Tanh}, w), 7, 33)
	for _, f := range []compile.Func{compile.Mul, compile.Maximum, compile.Sub} {
		of(compile.Instruction{Op: compile.Binary, Func: f, In: []compile.ID{h, c}}, 7, 33)
		of(one(compile.Instruction{Op: compile.BinaryScalar, Func: f, Scalar: 0.5, Swap: true}, h), 7, 33)
	}
	of(one(compile.Instruction{Op: compile.Softmax, Rows: 7, K: 33}, h), 7, 33)
	of(one(compile.Instruction{Op: compile.LogSoftmax, Rows: 33, K: 7}, w), 33, 7)
	gram := of(compile.Instruction{Op: compile.Product, In: []compile.ID{w, w}, Groups: 1, Rows: 7, K: 33, N: 7, TransB: true}, 7, 7)
	of(compile.Instruction{Op: compile.Product, In: []compile.ID{gram, c}, Groups: 1, Rows: 7, K: 7, N: 33, TransA: true}, 7, 33)
	turned := compile.View{Shape: []int{33, 7}, Strides: []int{1, 33}}
	of(compile.Instruction{Op: compile.Gather, In: []compile.ID{h}, View: turned}, 33, 7)
	sums := compile.View{Shape: []int{7, 33}, Strides: []int{1, 0}}
	s := of(compile.Instruction{Op: compile.Scatter, In: []compile.ID{w}, View: sums}, 7)
	a.p.Prepare = append(a.p.Prepare, compile.Instruction{Op: compile.Scatter, In: []compile.ID{c}, Out: s, Where: compile.None, View: sums, Accumulate: true})
	of(one(compile.Instruction{Op: compile.Unary, Func: compile.SquareOf}, s), 7)
}

// derivedUses tries each operation that takes a derived value as it takes a parameter.
func derivedUses(a *assembly) {
	tanh := func(shape ...int) compile.ID {
		return a.derive(compile.Instruction{Op: compile.Unary, Func: compile.Tanh, In: []compile.ID{a.param(shape...)}}, shape...)
	}
	x, dz := a.input(7, 33), a.input(7, 5)
	for _, transposed := range []bool{false, true} {
		w := tanh(33, 5)
		a.try(compile.Instruction{Op: compile.MatMul, In: []compile.ID{x, w}, Rows: 7, K: 33, N: 5, TransB: transposed}, false, 7, 5)
		a.try(compile.Instruction{Op: compile.MatMulBack, In: []compile.ID{dz, w}, Rows: 7, K: 33, N: 5, TransB: transposed}, true, 7, 33)
	}
	w := &compile.Window{C: 3, H: 7, W: 6, KH: 3, KW: 2, PadH: 1, PadW: 0, StrideH: 2, StrideW: 1, DilationH: 1, DilationW: 2, OutC: 5, OutH: 4, OutW: 4}
	filters := tanh(5, 3, 3, 2)
	a.try(compile.Instruction{Op: compile.Conv, In: []compile.ID{a.input(3, 7, 6), filters}, Window: w}, false, 5, 4, 4)
	a.try(compile.Instruction{Op: compile.ConvBack, In: []compile.ID{a.input(5, 4, 4), filters}, Window: w}, true, 3, 7, 6)
	table := tanh(9, 7)
	a.try(compile.Instruction{Op: compile.Lookup, In: []compile.ID{a.ids(5), table}, Rows: 5, K: 7, N: 9}, false, 5, 7)
	bias := a.shared(table, compile.View{Offset: 1, Shape: []int{7, 33}, Strides: []int{7, 0}})
	a.try(compile.Instruction{Op: compile.Binary, Func: compile.Mul, In: []compile.ID{x, bias}}, false, 7, 33)
	// A gradient as the outer product of its factors, of which one is copied.
	delta := a.add(&a.p.Backward, compile.Buffer, a.whole(table), 9, 7)
	a.p.Reductions = append(a.p.Reductions, compile.Reduction{
		Param: len(a.p.Params), Rule: compile.RankOne, X: dz, Delta: delta, G: compile.None, K: 7 * 5, N: 9 * 7, TransB: true,
	})
	a.param(9*7, 7*5)
}
