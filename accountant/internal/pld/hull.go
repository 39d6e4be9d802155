package pld

import "math"

// hullPair returns the pair for bounds on the hockey-stick divergences of P from Q (remove) and of Q from P (add) at
// epsilon = 0 and the further points of g.
//
// Bounds at negative epsilons follow: remove(-epsilon) = 1 - e^-epsilon + e^-epsilon add(epsilon), where a rounding
// error of the right-hand side counts less on the left. In the opposite direction the error would count e^epsilon
// times, and the last digit of a divergence near 1 would become all digits of one near 0.
func hullPair(g Grid, remove, add []float64) (*Pair, error) {
	// Both are the total variation distance at 0.
	remove[0] = math.Min(remove[0], add[0])
	add[0] = remove[0]
	removal, err := hullSide(g, 1-len(add), linked(g.step, add, remove))
	if err != nil {
		return nil, err
	}
	addition, err := hullSide(g, 1-len(remove), linked(g.step, remove, add))
	return &Pair{removal, addition}, err
}

// linked returns bounds on one direction: at negative epsilons they follow from other, the other direction's bounds;
// from epsilon 0 on they are own.
func linked(step float64, other, own []float64) []float64 {
	values := make([]float64, 0, len(other)+len(own)-1)
	for k := len(other) - 1; k > 0; k-- {
		e := -float64(k) * step
		values = append(values, math.Exp(e)*math.Min(1, other[k])-math.Expm1(e)) // both terms are positive
	}
	for _, v := range own {
		values = append(values, math.Min(1, v))
	}
	return values
}

// hullSide returns a side that is at least the lower convex hull, over x = e^epsilon, of the values at the grid points
// from low on, of 1 at x = 0 and of the last value beyond. A divergence is convex in x and 1 at x = 0, so the hull of
// bounds is a bound. The hull of fewer of them is a bound too, so that rounding in the choice of corners does no harm.
//
// Masses are the second differences of the hull, which cancel. So they are chosen from the top down: each mass supplies
// what the rounded masses above it lack at the next corner, so errors don't add up.
func hullSide(g Grid, low int, values []float64) (*side, error) {
	b, err := newBuilder(g, float64(low), float64(low+len(values)-1))
	if err != nil {
		return nil, err
	}
	corners := hull(g.step, values)
	at := corners[len(corners)-1]
	b.inf, b.terms = values[at], 2*len(values)
	// r is R at the corner, slope its negative slope times e^epsilon to the right of it.
	r, slope := b.inf, 0.0
	for k := len(corners) - 1; k >= 0; k-- {
		// R must reach next at the next corner. After the last corner next is 1, at x = 0.
		next, drop, fade := 1.0, 1.0, 0.0
		if k > 0 {
			distance := float64(corners[k]-corners[k-1]) * g.step
			next, drop, fade = values[corners[k-1]], -math.Expm1(-distance), math.Exp(-distance)
		}
		m := math.Max(0, (next-r)/drop-slope)
		b.mass[corners[k]] = m
		slope += m
		r += drop * slope
		slope *= fade
	}
	return b.side()
}

// hull returns the positions of the corners of hullSide's lower convex hull, from left to right.
func hull(step float64, values []float64) []int {
	var corners []int
	// slope returns the slope of the chord from corner i (-1: the point x = 0) to j, times e^epsilon at the grid point
	// base.
	slope := func(i, j, base int) float64 {
		if i < 0 {
			return (values[j] - 1) * math.Exp(float64(base-j)*step)
		}
		return (values[j] - values[i]) * math.Exp(float64(base-j)*step) / -math.Expm1(float64(i-j)*step)
	}
	for i, v := range values {
		if v >= 1 {
			continue // the point x = 0 is as high
		}
		if n := len(corners); n > 0 && v >= values[corners[n-1]] {
			continue // the horizontal ray is lower
		}
		for len(corners) > 0 {
			last, before := corners[len(corners)-1], -1
			if len(corners) > 1 {
				before = corners[len(corners)-2]
			}
			if slope(before, last, last) < slope(last, i, last) {
				break
			}
			corners = corners[:len(corners)-1]
		}
		corners = append(corners, i)
	}
	if corners == nil {
		return []int{len(values) - 1}
	}
	return corners
}

// Maximum returns a pair that dominates every mechanism that one of the given pairs dominates.
func Maximum(pairs []*Pair) (*Pair, error) {
	if len(pairs) == 1 {
		return pairs[0], nil
	}
	return onBoth(maximumSide, pairs...)
}

// span returns the lowest and the highest position of a loss of several sides.
func span(sides []*side) (low, high int) {
	low, high = sides[0].low, sides[0].high()
	for _, s := range sides[1:] {
		low, high = min(low, s.low), max(high, s.high())
	}
	return low, high
}

func maximumSide(sides []*side) (*side, error) {
	low, high := span(sides)
	if high-low >= 2*mostPoints {
		return nil, ErrTooFine
	}
	values := make([]float64, high-low+1)
	for i := range values {
		for _, s := range sides {
			values[i] = math.Max(values[i], s.at(float64(low+i)*s.step))
		}
		values[i] = math.Min(1, values[i]*(1+rounding))
	}
	return hullSide(sides[0].Grid, low, values)
}
