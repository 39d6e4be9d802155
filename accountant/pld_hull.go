package accountant

import "math"

// A hockeyCurve holds, at the grid points low, low+1, ..., bounds on the hockey-stick divergences of P from Q at
// epsilon = position·step (remove) and of Q from P at -epsilon (add). The two are linked,
// remove = 1 - e^epsilon + e^epsilon add, but each keeps its digits only on its own side of 0.
type hockeyCurve struct {
	step        float64
	low         int
	remove, add []float64
}

func newHockeyCurve(step float64, low, high int) hockeyCurve {
	n := high - low + 1
	return hockeyCurve{step: step, low: low, remove: make([]float64, n), add: make([]float64, n)}
}

func (c hockeyCurve) epsilon(i int) float64 { return float64(c.low+i) * c.step }

// reconcile makes both directions as small as either of them allows.
func (c hockeyCurve) reconcile() {
	// Rounding errors of the link, which cancels far from 0.
	const roundings = 8 * 0x1p-52
	for i := range c.remove {
		e := c.epsilon(i)
		up, down := math.Exp(e), math.Exp(-e)
		r, a := math.Min(1, c.remove[i]), math.Min(1, c.add[i])
		c.remove[i] = math.Min(r, 1-up*(1-a)+up*roundings)
		c.add[i] = math.Min(a, 1-down*(1-r)+down*roundings)
	}
}

// pair returns the smallest pair that is at least the curve's convex hull at the grid points. As a function of e^epsilon
// every hockey-stick divergence is convex, so the hull of a bound is a bound, and so are the chords between grid points.
func (c hockeyCurve) pair() *pair {
	c.reconcile()
	var hull []int
	for i := range c.remove {
		for len(hull) > 1 && !c.convex(hull[len(hull)-2], hull[len(hull)-1], i) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, i)
	}
	b := newBuilder(c.step, c.low, c.low+len(c.remove)-1)
	for k, i := range hull {
		// The second difference at a corner is a mass: Q's in the coordinates of remove, P's in those of add.
		if e := c.epsilon(i); e > 0 {
			slope := 0.0 // beyond the last point
			if k+1 < len(hull) {
				slope = c.removeSlope(i, hull[k+1])
			}
			before := (c.remove[i] - 1) * math.Exp(-e) // from remove = 1 at e^epsilon = 0
			if k > 0 {
				before = c.removeSlope(hull[k-1], i)
			}
			b.putAt(c.low+i, math.Max(0, slope-before)*math.Exp(e))
		} else {
			slope := 0.0
			if k > 0 {
				slope = c.addSlope(i, hull[k-1])
			}
			before := (c.add[i] - 1) * math.Exp(e)
			if k+1 < len(hull) {
				before = c.addSlope(hull[k+1], i)
			}
			b.putAt(c.low+i, math.Max(0, slope-before))
		}
	}
	b.pInf, b.qInf = c.remove[len(c.remove)-1], c.add[0]
	return b.pair()
}

// removeSlope is the slope of remove over e^epsilon from i to j > i: minus Q's mass beyond.
func (c hockeyCurve) removeSlope(i, j int) float64 {
	return (c.remove[j] - c.remove[i]) / (math.Exp(c.epsilon(i)) * math.Expm1(c.epsilon(j)-c.epsilon(i)))
}

// addSlope is the slope of add over e^-epsilon from i to j < i: minus P's mass below.
func (c hockeyCurve) addSlope(i, j int) float64 {
	return (c.add[j] - c.add[i]) / (math.Exp(-c.epsilon(i)) * math.Expm1(c.epsilon(i)-c.epsilon(j)))
}

// convex reports whether point j lies below the chord from i to k, i < j < k.
func (c hockeyCurve) convex(i, j, k int) bool {
	if c.epsilon(j) > 0 {
		return c.removeSlope(i, j) < c.removeSlope(j, k)
	}
	return c.addSlope(k, j) < c.addSlope(j, i)
}

// maximumPair returns a pair that dominates every one of the given pairs.
func maximumPair(pairs []*pair) *pair {
	first := pairs[0]
	low, high := first.low, first.low+len(first.p)-1
	for _, d := range pairs[1:] {
		low, high = min(low, d.low), max(high, d.low+len(d.p)-1)
	}
	c := newHockeyCurve(first.step, low, high)
	for i := range c.remove {
		e := c.epsilon(i)
		for _, d := range pairs {
			c.remove[i] = math.Max(c.remove[i], d.remove(e))
			c.add[i] = math.Max(c.add[i], d.add(-e))
		}
	}
	return c.pair()
}
