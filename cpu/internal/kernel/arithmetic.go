package kernel

import "math"

// Add computes dst[i] = a[i] + b[i].
func Add(dst, a, b []float32) { binary("Add", active.add, dst, a, b) }

func addPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

// Sub computes dst[i] = a[i] − b[i].
func Sub(dst, a, b []float32) { binary("Sub", active.sub, dst, a, b) }

func subPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

// Mul computes dst[i] = a[i]·b[i].
func Mul(dst, a, b []float32) { binary("Mul", active.mul, dst, a, b) }

func mulPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

// Div computes dst[i] = a[i]/b[i].
func Div(dst, a, b []float32) { binary("Div", active.div, dst, a, b) }

func divPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] / b[i]
	}
}

// AddScalar computes dst[i] = a[i] + s.
func AddScalar(dst, a []float32, s float32) { scalar("AddScalar", active.addScalar, dst, a, s) }

func addScalarPlain(dst, a []float32, s float32) {
	for i := range dst {
		dst[i] = a[i] + s
	}
}

// MulScalar computes dst[i] = a[i]·s.
func MulScalar(dst, a []float32, s float32) { scalar("MulScalar", active.mulScalar, dst, a, s) }

func mulScalarPlain(dst, a []float32, s float32) {
	for i := range dst {
		dst[i] = a[i] * s
	}
}

// SubFromScalar computes dst[i] = s − a[i].
func SubFromScalar(dst, a []float32, s float32) {
	scalar("SubFromScalar", active.subFromScalar, dst, a, s)
}

func subFromScalarPlain(dst, a []float32, s float32) {
	for i := range dst {
		dst[i] = s - a[i]
	}
}

// DivScalarBy computes dst[i] = s/a[i].
func DivScalarBy(dst, a []float32, s float32) { scalar("DivScalarBy", active.divScalarBy, dst, a, s) }

func divScalarByPlain(dst, a []float32, s float32) {
	for i := range dst {
		dst[i] = s / a[i]
	}
}

// Reciprocal computes dst[i] = 1/a[i].
func Reciprocal(dst, a []float32) {
	checkLength("Reciprocal", "a", len(a), len(dst))
	active.divScalarBy(dst, a, 1)
}

// MulAdd computes dst[i] += a[i]·b[i]; product and sum are each rounded.
func MulAdd(dst, a, b []float32) { binary("MulAdd", active.mulAdd, dst, a, b) }

func mulAddPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] += float32(a[i] * b[i])
	}
}

// Square computes dst[i] = a[i]².
func Square(dst, a []float32) { unary("Square", active.square, dst, a) }

func squarePlain(dst, a []float32) {
	for i := range dst {
		dst[i] = a[i] * a[i]
	}
}

// Neg computes dst[i] = −a[i].
func Neg(dst, a []float32) { unary("Neg", active.neg, dst, a) }

func negPlain(dst, a []float32) {
	for i := range dst {
		dst[i] = -a[i]
	}
}

// Abs computes dst[i] = |a[i]|.
func Abs(dst, a []float32) { unary("Abs", active.abs, dst, a) }

func absPlain(dst, a []float32) {
	for i := range dst {
		dst[i] = math.Float32frombits(math.Float32bits(a[i]) &^ (1 << 31))
	}
}

// Sqrt computes dst[i] = √a[i], correctly rounded; NaN below zero.
func Sqrt(dst, a []float32) { unary("Sqrt", active.sqrt, dst, a) }

func sqrtPlain(dst, a []float32) {
	for i := range dst {
		dst[i] = float32(math.Sqrt(float64(a[i])))
	}
}
