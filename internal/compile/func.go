package compile

import "math"

// Func is an elementwise function.
type Func uint8

// The unary functions.
const (
	Abs Func = iota
	Sign
	Ceil
	Floor
	Sin
	Cos
	Exp
	Ln
	Log2
	Neg
	SquareOf
	Sqrt
	Inverse
	InverseSqrt
	Cube
	Tanh
	Sigmoid
	Log1p
	Expm1
	Softplus
	unaryEnd
)

// The binary functions. Comparisons return 1 or 0 and have no gradient. The gradient of a maximum or minimum of equal
// operands goes to the first, as Gorgonia's does. A maximum or minimum with NaN is NaN.
const (
	Add Func = 64 + iota
	Sub
	Mul
	Div
	Pow
	Lt
	Gt
	Lte
	Gte
	Eq
	Ne
	Maximum
	Minimum
	binaryEnd
)

var funcNames = map[Func]string{
	Abs: "abs", Sign: "sign", Ceil: "ceil", Floor: "floor", Sin: "sin", Cos: "cos", Exp: "exp",
	Ln: "ln", Log2: "log2", Neg: "neg", SquareOf: "square", Sqrt: "sqrt", Inverse: "inv",
	InverseSqrt: "invSqrt", Cube: "cube", Tanh: "tanh", Sigmoid: "sigmoid", Log1p: "log1p",
	Expm1: "expm1", Softplus: "softplus", Add: "add", Sub: "sub", Mul: "mul", Div: "div",
	Pow: "pow", Lt: "lt", Gt: "gt", Lte: "lte", Gte: "gte", Eq: "eq", Ne: "ne", Maximum: "max", Minimum: "min",
}

// String returns the function's name, which Gorgonia's operator has too.
func (f Func) String() string { return funcNames[f] }

// Unary returns f(x) for a unary function. It is the definition that tests check engines' kernels against.
func (f Func) Unary(x float64) float64 {
	switch f {
	case Abs:
		return math.Abs(x)
	case Sign:
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	case Ceil:
		return math.Ceil(x)
	case Floor:
		return math.Floor(x)
	case Sin:
		return math.Sin(x)
	case Cos:
		return math.Cos(x)
	case Exp:
		return math.Exp(x)
	case Ln:
		return math.Log(x)
	case Log2:
		return math.Log2(x)
	case Neg:
		return -x
	case SquareOf:
		return x * x
	case Sqrt:
		return math.Sqrt(x)
	case Inverse:
		return 1 / x
	case InverseSqrt:
		return 1 / math.Sqrt(x)
	case Cube:
		return x * x * x
	case Tanh:
		return math.Tanh(x)
	case Sigmoid:
		return 1 / (1 + math.Exp(-x))
	case Log1p:
		return math.Log1p(x)
	case Expm1:
		return math.Expm1(x)
	case Softplus:
		return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
	}
	return math.NaN()
}

// UnaryDerivative returns the derivative of a unary function at x, given its value y there. It is 0 for Sign, Ceil and
// Floor.
func (f Func) UnaryDerivative(x, y float64) float64 {
	switch f {
	case Abs:
		return Sign.Unary(x)
	case Sign, Ceil, Floor:
		return 0
	case Sin:
		return math.Cos(x)
	case Cos:
		return -math.Sin(x)
	case Exp:
		return y
	case Ln:
		return 1 / x
	case Log2:
		return 1 / (x * math.Ln2)
	case Neg:
		return -1
	case SquareOf:
		return 2 * x
	case Sqrt:
		return 0.5 / y
	case Inverse:
		return -y * y
	case InverseSqrt:
		return -0.5 * y * y * y
	case Cube:
		return 3 * x * x
	case Tanh:
		return 1 - y*y
	case Sigmoid:
		return y * (1 - y)
	case Log1p:
		return 1 / (1 + x)
	case Expm1:
		return y + 1
	case Softplus:
		return 1 / (1 + math.Exp(-x))
	}
	return math.NaN()
}

// needsX and needsY report whether the derivative reads the operand and the value. A value that it doesn't read needn't
// outlive the forward pass.
func (f Func) needsX() bool {
	switch f {
	case Abs, Sin, Cos, Ln, Log2, SquareOf, Cube, Log1p, Softplus:
		return true
	}
	return false
}

func (f Func) needsY() bool {
	switch f {
	case Exp, Sqrt, Inverse, InverseSqrt, Tanh, Sigmoid, Expm1:
		return true
	}
	return false
}

// Binary returns f(a, b) for a binary function.
func (f Func) Binary(a, b float64) float64 {
	is := func(v bool) float64 {
		if v {
			return 1
		}
		return 0
	}
	switch f {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case Div:
		return a / b
	case Pow:
		return math.Pow(a, b)
	case Lt:
		return is(a < b)
	case Gt:
		return is(a > b)
	case Lte:
		return is(a <= b)
	case Gte:
		return is(a >= b)
	case Eq:
		return is(a == b)
	case Ne:
		return is(a != b)
	case Maximum:
		return max(a, b)
	case Minimum:
		return min(a, b)
	}
	return math.NaN()
}

// BinaryDerivative returns the partial derivative at (a, b) with respect to operand side, 0 or 1, given the function's
// value z there.
func (f Func) BinaryDerivative(side int, a, b, z float64) float64 {
	switch f {
	case Add:
		return 1
	case Sub:
		return float64(1 - 2*side)
	case Mul:
		if side == 0 {
			return b
		}
		return a
	case Div:
		if side == 0 {
			return 1 / b
		}
		return -z / b
	case Pow:
		if side == 0 {
			return b * math.Pow(a, b-1)
		}
		return z * math.Log(a)
	case Maximum, Minimum:
		first := f == Maximum && a >= b || f == Minimum && a <= b
		if first == (side == 0) {
			return 1
		}
	}
	return 0
}

// keeps reports whether the derivative with respect to operand side is 1 everywhere, so that the operand's gradient is
// the result's.
func (f Func) keeps(side int) bool { return f == Add || f == Sub && side == 0 }

// differentiable reports whether a binary function has a gradient.
func (f Func) differentiable() bool { return f <= Pow || f == Maximum || f == Minimum }
