package enginetest

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
)

// unaryOf returns f(x).
func unaryOf(f compile.Func, x float64) float64 {
	switch f {
	case compile.Abs:
		return math.Abs(x)
	case compile.Sign:
		if x > 0 {
			return 1
		}
		if x < 0 {
			return -1
		}
		return x
	case compile.Ceil:
		return math.Ceil(x)
	case compile.Floor:
		return math.Floor(x)
	case compile.Sin:
		return math.Sin(x)
	case compile.Cos:
		return math.Cos(x)
	case compile.Exp:
		return math.Exp(x)
	case compile.Ln:
		return math.Log(x)
	case compile.Log2:
		return math.Log(x) / math.Ln2
	case compile.Neg:
		return -x
	case compile.SquareOf:
		return x * x
	case compile.Sqrt:
		return math.Sqrt(x)
	case compile.Inverse:
		return 1 / x
	case compile.InverseSqrt:
		return math.Pow(x, -0.5)
	case compile.Cube:
		return x * x * x
	case compile.Tanh:
		return math.Tanh(x)
	case compile.Sigmoid:
		return 0.5 + 0.5*math.Tanh(x/2)
	case compile.Log1p:
		return math.Log1p(x)
	case compile.Expm1:
		return math.Expm1(x)
	case compile.Softplus:
		if x > 0 {
			return x + math.Log1p(math.Exp(-x))
		}
		return math.Log1p(math.Exp(x))
	}
	panic(fmt.Sprintf("the interpreter doesn't know function %v", f))
}

// unarySlope returns f'(x), from x alone.
func unarySlope(f compile.Func, x float64) float64 {
	switch f {
	case compile.Abs:
		return unaryOf(compile.Sign, x)
	case compile.Sign, compile.Ceil, compile.Floor:
		return 0
	case compile.Sin:
		return math.Cos(x)
	case compile.Cos:
		return -math.Sin(x)
	case compile.Exp, compile.Expm1:
		return math.Exp(x)
	case compile.Ln:
		return 1 / x
	case compile.Log2:
		return 1 / x / math.Ln2
	case compile.Neg:
		return -1
	case compile.SquareOf:
		return 2 * x
	case compile.Sqrt:
		return 0.5 / math.Sqrt(x)
	case compile.Inverse:
		return -1 / (x * x)
	case compile.InverseSqrt:
		return -0.5 * math.Pow(x, -1.5)
	case compile.Cube:
		return 3 * x * x
	case compile.Tanh:
		return 1 / (math.Cosh(x) * math.Cosh(x))
	case compile.Sigmoid:
		return 0.25 / (math.Cosh(x/2) * math.Cosh(x/2))
	case compile.Log1p:
		return 1 / (1 + x)
	case compile.Softplus:
		return unaryOf(compile.Sigmoid, x)
	}
	panic(fmt.Sprintf("the interpreter doesn't know function %v", f))
}

// slopeByValue returns f'(x) from z = f(x) alone, and whether f is a function whose slope engines compute so.
func slopeByValue(f compile.Func, z float64) (slope float64, ok bool) {
	switch f {
	case compile.Exp:
		return z, true
	case compile.Expm1:
		return z + 1, true
	case compile.Sqrt:
		return 1 / (2 * z), true
	case compile.Inverse:
		return -(z * z), true
	case compile.InverseSqrt:
		return -(z * z * z) / 2, true
	case compile.Tanh:
		return (1 - z) * (1 + z), true
	case compile.Sigmoid:
		return z * (1 - z), true
	}
	return 0, false
}

// binaryOf returns f(a, b).
func binaryOf(f compile.Func, a, b float64) float64 {
	truth := map[compile.Func]bool{
		compile.Lt: a < b, compile.Gt: a > b, compile.Lte: a <= b, compile.Gte: a >= b, compile.Eq: a == b, compile.Ne: a != b,
	}
	if holds, ok := truth[f]; ok {
		if holds {
			return 1
		}
		return 0
	}
	switch f {
	case compile.Add:
		return a + b
	case compile.Sub:
		return a - b
	case compile.Mul:
		return a * b
	case compile.Div:
		return a / b
	case compile.Pow:
		return math.Pow(a, b)
	case compile.Maximum, compile.Minimum:
		switch {
		case a != a || b != b:
			return math.NaN()
		case f == compile.Maximum && a > b, f == compile.Minimum && a < b:
			return a
		}
		return b
	}
	panic(fmt.Sprintf("the interpreter doesn't know function %v", f))
}

// binarySlope returns the derivative of f at (a, b) with respect to operand side.
func binarySlope(f compile.Func, side int, a, b float64) float64 {
	var slopes [2]float64
	switch f {
	case compile.Add:
		slopes = [2]float64{1, 1}
	case compile.Sub:
		slopes = [2]float64{1, -1}
	case compile.Mul:
		slopes = [2]float64{b, a}
	case compile.Div:
		slopes = [2]float64{1 / b, -a / (b * b)}
	case compile.Pow:
		slopes = [2]float64{b * math.Pow(a, b-1), math.Pow(a, b) * math.Log(a)}
	case compile.Maximum, compile.Minimum:
		slopes = [2]float64{0, 1}
		if a == b || f == compile.Maximum && a > b || f == compile.Minimum && a < b {
			slopes = [2]float64{1, 0}
		}
	default:
		panic(fmt.Sprintf("function %v has no gradient", f))
	}
	return slopes[side]
}
