package accountant

import "math"

// epsilonAt converts one RDP value r at order a (Canonne, Kamath and Steinke, Lemma [rdp_to_dp]).
func epsilonAt(a int, r, delta float64) float64 {
	return math.Max(0, r+conversionCost(a, math.Log(delta)))
}

// conversionCost is what the conversion at order a adds to the RDP value: log(1-1/a) - log(delta a)/(a-1).
func conversionCost(a int, logDelta float64) float64 {
	x := float64(a)
	return math.Log1p(-1/x) - (logDelta+math.Log(x))/(x-1)
}

// deltaAt is the same conversion solved for delta.
func deltaAt(a int, r, epsilon float64) float64 {
	return math.Min(1, math.Exp(logDeltaIntercept(a, r)-float64(a-1)*epsilon))
}

// logDeltaIntercept is the logarithm of the unclipped delta at epsilon 0; it falls by a-1 for each unit of epsilon.
func logDeltaIntercept(a int, r float64) float64 {
	x := float64(a)
	return (x-1)*(r+math.Log1p(-1/x)) - math.Log(x)
}

// epsilon converts the curve at the best of the orders. A curve that is zero everywhere costs nothing.
func (c Curve) epsilon(o Orders, delta float64) (epsilon float64, order int) {
	if c.zero() {
		return 0, 0
	}
	epsilon = math.Inf(1)
	logDelta := math.Log(delta)
	for a := o.Low; a <= o.High; a++ {
		if e := math.Max(0, c[a]+conversionCost(a, logDelta)); e < epsilon {
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
