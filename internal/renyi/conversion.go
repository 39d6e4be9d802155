package renyi

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// EpsilonAt returns the epsilon at delta that a divergence of r at order a gives (Canonne, Kamath and Steinke, Lemma
// [rdp_to_dp]).
func EpsilonAt(a int, r, delta float64) float64 {
	return math.Max(0, (r+conversionCost(a, float.Log(delta)))*(1+ulp))
}

// conversionCost returns log(1-1/a) - log(delta a)/(a-1), rounded up: the conversion at order a adds it to the
// divergence.
func conversionCost(a int, logDelta float64) float64 {
	x := float64(a)
	slack := 8 * ulp * (1 + math.Abs(logDelta)/(x-1))
	return math.Log1p(-1/x) - (logDelta+float.Log(x))/(x-1) + slack
}

// DeltaAt returns the delta at epsilon that a divergence of r at order a gives.
func DeltaAt(a int, r, epsilon float64) float64 {
	intercept := logDeltaIntercept(a, r)
	if math.IsInf(intercept, 1) {
		return 1
	}
	return atMostOne(intercept - float64(a-1)*epsilon*(1-4*ulp))
}

// atMostOne returns e^logDelta, rounded up and so never 0, or 1 if that is less.
func atMostOne(logDelta float64) float64 { return math.Min(1, roundedUp(math.Exp(logDelta))) }

// logDeltaIntercept returns the logarithm, rounded up, of delta at epsilon 0 before it is clipped to 1. The logarithm
// falls by a-1 for each unit of epsilon.
func logDeltaIntercept(a int, r float64) float64 {
	x := float64(a)
	return (x-1)*(r*(1+8*ulp)+math.Log1p(-1/x)) - float.Log(x) + 16*ulp*float.Log(x+1)
}

// Epsilon returns the smallest epsilon at delta over the orders of o, and the order that gives it. For a curve of zeros
// both are 0.
func (c Curve) Epsilon(o Orders, delta float64) (epsilon float64, order int) {
	if c.zero() {
		return 0, 0
	}
	epsilon = math.Inf(1)
	logDelta := float.Log(delta)
	for a := o.Low; a <= o.High; a++ {
		if e := math.Max(0, (c[a]+conversionCost(a, logDelta))*(1+ulp)); e < epsilon {
			epsilon, order = e, a
		}
	}
	return epsilon, order
}

// Delta returns the smallest delta at epsilon over the orders of o, and the order that gives it. The order is 0 if
// delta is 1 or all of the curve is 0.
func (c Curve) Delta(o Orders, epsilon float64) (delta float64, order int) {
	if c.zero() {
		return 0, 0
	}
	delta = 1
	for a := o.Low; a <= o.High; a++ {
		if d := DeltaAt(a, c[a], epsilon); d < delta {
			delta, order = d, a
		}
	}
	return delta, order
}
