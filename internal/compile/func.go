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

// unaryRow describes a unary function. of is the definition that tests check engines' kernels against.
type unaryRow struct {
	name  string
	of    func(x float64) float64
	reads operands
	// slope returns the derivative at x, given the value y there.
	slope func(x, y float64) float64
}

// operands says what a derivative reads. A value that it doesn't read needn't outlive the forward pass.
type operands uint8

const (
	neither operands = iota
	theX
	theY
)

var unaryTable = [unaryEnd]unaryRow{
	Abs:         {"abs", math.Abs, theX, func(x, _ float64) float64 { return sign(x) }},
	Sign:        {"sign", sign, neither, func(_, _ float64) float64 { return 0 }},
	Ceil:        {"ceil", math.Ceil, neither, func(_, _ float64) float64 { return 0 }},
	Floor:       {"floor", math.Floor, neither, func(_, _ float64) float64 { return 0 }},
	Sin:         {"sin", math.Sin, theX, func(x, _ float64) float64 { return math.Cos(x) }},
	Cos:         {"cos", math.Cos, theX, func(x, _ float64) float64 { return -math.Sin(x) }},
	Exp:         {"exp", math.Exp, theY, func(_, y float64) float64 { return y }},
	Ln:          {"ln", math.Log, theX, func(x, _ float64) float64 { return 1 / x }},
	Log2:        {"log2", math.Log2, theX, func(x, _ float64) float64 { return 1 / (x * math.Ln2) }},
	Neg:         {"neg", func(x float64) float64 { return -x }, neither, func(_, _ float64) float64 { return -1 }},
	SquareOf:    {"square", func(x float64) float64 { return x * x }, theX, func(x, _ float64) float64 { return 2 * x }},
	Sqrt:        {"sqrt", math.Sqrt, theY, func(_, y float64) float64 { return 0.5 / y }},
	Inverse:     {"inv", func(x float64) float64 { return 1 / x }, theY, func(_, y float64) float64 { return -y * y }},
	InverseSqrt: {"invSqrt", func(x float64) float64 { return 1 / math.Sqrt(x) }, theY, func(_, y float64) float64 { return -0.5 * y * y * y }},
	Cube:        {"cube", func(x float64) float64 { return x * x * x }, theX, func(x, _ float64) float64 { return 3 * x * x }},
	Tanh:        {"tanh", math.Tanh, theY, func(_, y float64) float64 { return 1 - y*y }},
	Sigmoid:     {"sigmoid", sigmoid, theY, func(_, y float64) float64 { return y * (1 - y) }},
	Log1p:       {"log1p", math.Log1p, theX, func(x, _ float64) float64 { return 1 / (1 + x) }},
	Expm1:       {"expm1", math.Expm1, theY, func(_, y float64) float64 { return y + 1 }},
	Softplus:    {"softplus", softplus, theX, func(x, _ float64) float64 { return sigmoid(x) }},
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// binaryRow describes a binary function. slopes returns the partial derivatives at (a, b), given the value z there; nil
// for a comparison.
type binaryRow struct {
	name   string
	of     func(a, b float64) float64
	slopes func(a, b, z float64) (byA, byB float64)
}

var binaryTable = [binaryEnd - Add]binaryRow{
	0:             {"add", func(a, b float64) float64 { return a + b }, func(_, _, _ float64) (float64, float64) { return 1, 1 }},
	Sub - Add:     {"sub", func(a, b float64) float64 { return a - b }, func(_, _, _ float64) (float64, float64) { return 1, -1 }},
	Mul - Add:     {"mul", func(a, b float64) float64 { return a * b }, func(a, b, _ float64) (float64, float64) { return b, a }},
	Div - Add:     {"div", func(a, b float64) float64 { return a / b }, func(_, b, z float64) (float64, float64) { return 1 / b, -z / b }},
	Pow - Add:     {"pow", math.Pow, func(a, b, z float64) (float64, float64) { return b * math.Pow(a, b-1), z * math.Log(a) }},
	Lt - Add:      {"lt", func(a, b float64) float64 { return indicator(a < b) }, nil},
	Gt - Add:      {"gt", func(a, b float64) float64 { return indicator(a > b) }, nil},
	Lte - Add:     {"lte", func(a, b float64) float64 { return indicator(a <= b) }, nil},
	Gte - Add:     {"gte", func(a, b float64) float64 { return indicator(a >= b) }, nil},
	Eq - Add:      {"eq", func(a, b float64) float64 { return indicator(a == b) }, nil},
	Ne - Add:      {"ne", func(a, b float64) float64 { return indicator(a != b) }, nil},
	Maximum - Add: {"max", func(a, b float64) float64 { return max(a, b) }, func(a, b, _ float64) (float64, float64) { return indicator(a >= b), indicator(!(a >= b)) }},
	Minimum - Add: {"min", func(a, b float64) float64 { return min(a, b) }, func(a, b, _ float64) (float64, float64) { return indicator(a <= b), indicator(!(a <= b)) }},
}

func indicator(v bool) float64 {
	if v {
		return 1
	}
	return 0
}

// String returns the function's name, which Gorgonia's operator has too; "" for no function.
func (f Func) String() string {
	switch {
	case f < unaryEnd:
		return unaryTable[f].name
	case f >= Add && f < binaryEnd:
		return binaryTable[f-Add].name
	}
	return ""
}

// Unary returns f(x) for a unary function.
func (f Func) Unary(x float64) float64 { return unaryTable[f].of(x) }

// UnaryDerivative returns the derivative of a unary function at x, given its value y there.
func (f Func) UnaryDerivative(x, y float64) float64 { return unaryTable[f].slope(x, y) }

// needsX and needsY report whether the derivative of a unary function reads the operand and the value.
func (f Func) needsX() bool { return unaryTable[f].reads == theX }
func (f Func) needsY() bool { return unaryTable[f].reads == theY }

// Binary returns f(a, b) for a binary function.
func (f Func) Binary(a, b float64) float64 { return binaryTable[f-Add].of(a, b) }

// BinaryDerivative returns the partial derivative of a differentiable binary function at (a, b) with respect to operand
// side, 0 or 1, given the value z there.
func (f Func) BinaryDerivative(side int, a, b, z float64) float64 {
	byA, byB := binaryTable[f-Add].slopes(a, b, z)
	if side == 0 {
		return byA
	}
	return byB
}

// keeps reports whether the derivative with respect to operand side is 1 everywhere, so that the operand's gradient is
// the result's.
func (f Func) keeps(side int) bool { return f == Add || f == Sub && side == 0 }

// differentiable reports whether a binary function has a gradient.
func (f Func) differentiable() bool { return binaryTable[f-Add].slopes != nil }
