package cpu

import (
	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
)

// unaryKernels and binaryKernels have, by function, the kernels that compute it; nil for none.
var (
	unaryKernels = [1 << 8]func(z, x []float32){
		compile.Abs: kernel.Abs, compile.Exp: kernel.Exp, compile.Ln: kernel.Log, compile.Neg: kernel.Neg, compile.SquareOf: kernel.Square,
		compile.Sqrt: kernel.Sqrt, compile.Inverse: kernel.Reciprocal, compile.Tanh: kernel.Tanh, compile.Sigmoid: kernel.Sigmoid,
		compile.Log1p: kernel.Log1p, compile.Expm1: kernel.Expm1,
	}
	binaryKernels = [1 << 8]func(z, x, y []float32){
		compile.Add: kernel.Add, compile.Sub: kernel.Sub, compile.Mul: kernel.Mul, compile.Div: kernel.Div,
		compile.Maximum: kernel.Larger, compile.Minimum: kernel.Smaller,
	}
)

// unary computes z = f(x), by a kernel if there is one and by the definition otherwise. z may be x.
func unary(f compile.Func, z, x []float32) {
	if compute := unaryKernels[f]; compute != nil {
		compute(z, x)
		return
	}
	for i, v := range x {
		z[i] = float32(f.Unary(float64(v)))
	}
}

// binary computes z = f(x, y); z may be x.
func binary(f compile.Func, z, x, y []float32) {
	if compute := binaryKernels[f]; compute != nil {
		compute(z, x, y)
		return
	}
	for i, v := range x {
		z[i] = float32(f.Binary(float64(v), float64(y[i])))
	}
}

// binaryScalar computes z = f(x, s), or f(s, x) if swapped.
func binaryScalar(f compile.Func, z, x []float32, s float32, swap bool) {
	switch {
	case f == compile.Add:
		kernel.AddScalar(z, x, s)
	case f == compile.Mul:
		kernel.MulScalar(z, x, s)
	case f == compile.Sub && swap:
		kernel.SubFromScalar(z, x, s)
	case f == compile.Sub:
		kernel.AddScalar(z, x, -s)
	case f == compile.Div && swap:
		kernel.DivScalarBy(z, x, s)
	case f == compile.Gte && !swap:
		kernel.AtLeastScalar(z, x, s)
	case f == compile.Lte && !swap:
		kernel.AtMostScalar(z, x, s)
	case f == compile.Maximum:
		kernel.LargerScalar(z, x, s)
	case f == compile.Minimum:
		kernel.SmallerScalar(z, x, s)
	default:
		for i, v := range x {
			a, c := float64(v), float64(s)
			if swap {
				a, c = c, a
			}
			z[i] = float32(f.Binary(a, c))
		}
	}
}

// derivative writes elements from, …, from+len(d)-1 of an elementwise derivative to d.
type derivative func(d []float32, from int)

// pass computes dx = dz, or adds it: the derivative is 1.
func pass(dx, dz []float32, accumulate bool) {
	if accumulate {
		kernel.Add(dx, dx, dz)
	} else {
		copy(dx, dz)
	}
}

// passNegative computes dx = −dz, or adds it: the derivative is −1.
func passNegative(dx, dz []float32, accumulate bool) {
	if accumulate {
		kernel.Sub(dx, dx, dz)
	} else {
		kernel.Neg(dx, dz)
	}
}

// chainScalar computes dx = dz∘d, or adds it, for the derivative d of z = f(x, number).
func (b *microbatch) chainScalar(in *instruction, dx, dz, x, z []float32) {
	switch {
	case in.Func == compile.Add, in.Func == compile.Sub && !in.Swap:
		pass(dx, dz, in.Accumulate)
	case in.Func == compile.Sub:
		passNegative(dx, dz, in.Accumulate)
	case in.Func == compile.Mul && !in.Accumulate:
		kernel.MulScalar(dx, dz, in.Scalar)
	default:
		b.chain(dx, dz, in.Accumulate, scalarDerivative(in, x, z))
	}
}

// chain computes dx = dz∘d, or adds it. dx may be dz. It computes derivatives piece by piece, so that a piece stays in
// the first-level cache.
func (b *microbatch) chain(dx, dz []float32, accumulate bool, f derivative) {
	for from := 0; from < len(dx); from += len(b.piece) {
		to := min(from+len(b.piece), len(dx))
		d := b.piece[:to-from]
		f(d, from)
		if accumulate {
			kernel.MulAdd(dx[from:to], dz[from:to], d)
		} else {
			kernel.Mul(dx[from:to], dz[from:to], d)
		}
	}
}

// unaryDerivative returns f's derivative at x, given the values y. x or y is nil if the derivative doesn't read it.
func unaryDerivative(f compile.Func, x, y []float32) derivative {
	at := func(v []float32, i int) float64 {
		if v == nil {
			return 0
		}
		return float64(v[i])
	}
	return func(d []float32, from int) {
		switch f {
		case compile.Tanh:
			kernel.Square(d, y[from:from+len(d)])
			kernel.SubFromScalar(d, d, 1)
		case compile.Sigmoid:
			y := y[from : from+len(d)]
			kernel.SubFromScalar(d, y, 1)
			kernel.Mul(d, d, y)
		case compile.Exp:
			copy(d, y[from:])
		case compile.SquareOf:
			kernel.MulScalar(d, x[from:from+len(d)], 2)
		default:
			for i := range d {
				d[i] = float32(f.UnaryDerivative(at(x, from+i), at(y, from+i)))
			}
		}
	}
}

func fill(d []float32, v float32) {
	for i := range d {
		d[i] = v
	}
}

// scalarDerivative returns the derivative of f(x, s), or of f(s, x), with respect to x.
func scalarDerivative(in *instruction, x, z []float32) derivative {
	return func(d []float32, from int) {
		switch {
		case in.Func == compile.Mul:
			fill(d, in.Scalar)
		case in.Func == compile.Div && !in.Swap:
			fill(d, 1/in.Scalar)
		case in.Func == compile.Maximum, in.Func == compile.Minimum:
			// If operands are equal, the first one has the gradient: the number, if it is the first.
			if x := x[from : from+len(d)]; (in.Func == compile.Maximum) == in.Swap {
				kernel.AtMostScalar(d, x, in.Scalar)
			} else {
				kernel.AtLeastScalar(d, x, in.Scalar)
			}
			if in.Swap {
				kernel.SubFromScalar(d, d, 1)
			}
		default:
			for i := range d {
				side, p, q := 0, float64(x[from+i]), float64(in.Scalar)
				if in.Swap {
					side, p, q = 1, q, p
				}
				d[i] = float32(in.Func.BinaryDerivative(side, p, q, float64(z[from+i])))
			}
		}
	}
}

// chainBinary computes dx = dz∘d, or adds it, for the derivative d of z = f(x, y) with respect to one operand. A
// product's derivative is the other operand.
func (b *microbatch) chainBinary(in *instruction, dx, dz, x, y, z []float32) {
	d := y
	if in.Side == 1 {
		d = x
	}
	switch {
	case in.Func == compile.Add || in.Func == compile.Sub && in.Side == 0:
		pass(dx, dz, in.Accumulate)
	case in.Func == compile.Sub:
		passNegative(dx, dz, in.Accumulate)
	case in.Func != compile.Mul:
		b.chain(dx, dz, in.Accumulate, binaryDerivative(in, x, y, z))
	case in.Accumulate:
		kernel.MulAdd(dx, dz, d)
	default:
		kernel.Mul(dx, dz, d)
	}
}

// binaryDerivative returns the derivative of f(x, y) with respect to one operand.
func binaryDerivative(in *instruction, x, y, z []float32) derivative {
	return func(d []float32, from int) {
		to := from + len(d)
		switch {
		case in.Func == compile.Div && in.Side == 0:
			kernel.Reciprocal(d, y[from:to])
		case in.Func == compile.Maximum, in.Func == compile.Minimum:
			if x, y := x[from:to], y[from:to]; in.Func == compile.Maximum {
				kernel.AtLeast(d, x, y)
			} else {
				kernel.AtLeast(d, y, x)
			}
			if in.Side == 1 {
				kernel.SubFromScalar(d, d, 1)
			}
		default:
			for i := range d {
				d[i] = float32(in.Func.BinaryDerivative(in.Side, float64(x[from+i]), float64(y[from+i]), float64(z[from+i])))
			}
		}
	}
}
