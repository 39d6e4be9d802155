package accountant

import "math"

// epsilonAt converts one RDP value r at order a (Canonne, Kamath and Steinke, Lemma [rdp_to_dp]).
func epsilonAt(a int, r, delta float64) float64 {
	return math.Max(0, (r+conversionCost(a, ln(delta)))*(1+ulp))
}

// conversionCost is what the conversion at order a adds to the RDP value, log(1-1/a) - log(delta a)/(a-1), rounded up.
func conversionCost(a int, logDelta float64) float64 {
	x := float64(a)
	slack := 8 * ulp * (1 + math.Abs(logDelta)/(x-1))
	return math.Log1p(-1/x) - (logDelta+ln(x))/(x-1) + slack
}

// deltaAt is the same conversion solved for delta.
func deltaAt(a int, r, epsilon float64) float64 {
	intercept := logDeltaIntercept(a, r)
	if math.IsInf(intercept, 1) {
		return 1
	}
	return atMostOne(intercept - float64(a-1)*epsilon*(1-4*ulp))
}

// atMostOne is e^logDelta, rounded up, which is never 0, or 1.
func atMostOne(logDelta float64) float64 { return math.Min(1, roundedUp(math.Exp(logDelta))) }

// logDeltaIntercept is the logarithm of the unclipped delta at epsilon 0, rounded up; it falls by a-1 for each unit of
// epsilon.
func logDeltaIntercept(a int, r float64) float64 {
	x := float64(a)
	return (x-1)*(r*(1+8*ulp)+math.Log1p(-1/x)) - ln(x) + 16*ulp*ln(x+1)
}

// epsilon converts the curve at the best of the orders. A curve that is zero everywhere costs nothing.
func (c Curve) epsilon(o Orders, delta float64) (epsilon float64, order int) {
	if c.zero() {
		return 0, 0
	}
	epsilon = math.Inf(1)
	logDelta := ln(delta)
	for a := o.Low; a <= o.High; a++ {
		if e := math.Max(0, (c[a]+conversionCost(a, logDelta))*(1+ulp)); e < epsilon {
			epsilon, order = e, a
		}
	}
	return epsilon, order
}

func (c Curve) delta(o Orders, epsilon float64) (delta float64, order int) {
	if c.zero() {
		return 0, 0
	}
	delta = 1
	for a := o.Low; a <= o.High; a++ {
		if d := deltaAt(a, c[a], epsilon); d < delta {
			delta, order = d, a
		}
	}
	return delta, order
}
