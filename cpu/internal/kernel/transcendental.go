package kernel

import "math"

// Exp computes dst[i] = exp(a[i]). The fast forms are within 1.1 units in the last place: the worst over
// every float32 is 1.01.
func Exp(dst, a []float32) { unary("Exp", active.exp, dst, a) }

func expPlain(dst, a []float32) { through64(dst, a, math.Exp) }

// Tanh computes dst[i] = tanh(a[i]). The fast forms are within 2.5 units in the last place: the worst over
// every float32 is 2.42.
func Tanh(dst, a []float32) { unary("Tanh", active.tanh, dst, a) }

func tanhPlain(dst, a []float32) { through64(dst, a, math.Tanh) }

// Sigmoid computes dst[i] = 1/(1 + exp(−a[i])). The fast forms are within 2.5 units in the last place: the
// worst over every float32 is 2.40.
func Sigmoid(dst, a []float32) { unary("Sigmoid", active.sigmoid, dst, a) }

func sigmoidPlain(dst, a []float32) {
	through64(dst, a, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) })
}

// Log computes dst[i] = ln a[i], −Inf at zero and NaN below. The fast forms are within 0.9 units in the
// last place: the worst over every float32 is 0.83.
func Log(dst, a []float32) { unary("Log", active.log, dst, a) }

func logPlain(dst, a []float32) { through64(dst, a, math.Log) }

// Log1p computes dst[i] = ln(1 + a[i]).
func Log1p(dst, a []float32) {
	checkLength("Log1p", "a", len(a), len(dst))
	through64(dst, a, math.Log1p)
}

// Expm1 computes dst[i] = exp(a[i]) − 1.
func Expm1(dst, a []float32) {
	checkLength("Expm1", "a", len(a), len(dst))
	through64(dst, a, math.Expm1)
}

func through64(dst, a []float32, f func(float64) float64) {
	for i := range dst {
		dst[i] = float32(f(float64(a[i])))
	}
}
