package accountant

import "math"

// A line is a - b·y.
type line struct{ a, b float64 }

// selectedPair dominates the best of K runs of a mechanism that d dominates. The package comment has the argument: with
// T the trade-off function of d, the divergence of the best run at epsilon is at most
//
//	E_P H(e^{epsilon - loss}) + P(K=0) (1 - e^epsilon)_+,  H(y) = max_u (phi'(u) - phi'(T(u)) y)_+.
//
// H is convex, falls and ends at 0, so a side bounds the expectation. From epsilon = 0 on the last term is 0.
func selectedPair(d *pair, k Repetitions) (*pair, error) {
	remove, err := selectedDivergences(d.removal, k)
	if err != nil {
		return nil, err
	}
	add, err := selectedDivergences(d.addition, k)
	if err != nil {
		return nil, err
	}
	return hullPair(d.removal.step, remove, add)
}

// selectionLines returns lines the largest of which is at least H, by ascending a, and the logarithm of a y from which on
// H is 0.
//
// The points (u, T(u)) run along a polygon whose corners are the sums of p and of q = p e^-loss over the outcomes of the
// largest losses: R bounds the mechanism's divergence, and T(u) is the supremum over epsilon of e^-epsilon (u - R).
// Along one outcome both are linear; phi'(u) is convex and so at most its chord, phi'(T(u)) is convex and so at least its
// tangent at the outcome's beginning. A difference of linear functions is largest at an end, where it is a line in y; and
// the beginning of an outcome is below the end of the one before.
func selectionLines(s *side, k Repetitions) (lines []line, reach float64) {
	logMean := math.Abs(k.logSlope(1))
	// add adds the line at u for the tangent at t, dt later.
	add := func(u, t, dt float64) {
		// Sums are rounded: u goes up, T down.
		u, t = math.Min(1, u*(1+rounding)), math.Min(1, t*(1-rounding))
		logA, logB := k.logSlope(u), k.logSlope(t)
		// The rounding of the terms that logSlope adds up.
		logA += 0x1p-46 * (1 + logMean + math.Abs(logA))
		logB -= 0x1p-46 * (1 + logMean + math.Abs(logB))
		later := 1 + k.growth(t)*dt*(1-rounding)
		reach = math.Max(reach, logA-logB-ln(later)+rounding)
		b := 0.0
		if logB > -700 { // 0 is below any b
			b = math.Exp(logB) * later * (1 - 0x1p-50)
		}
		lines = append(lines, line{math.Max(math.Exp(logA)*(1+0x1p-44), math.SmallestNonzeroFloat64), b})
	}
	add(s.inf, 0, 0)
	// The tangent is too low by at most phi'''(t+dt) dt^2/2. Outcomes are cut into pieces along which log phi' grows by so
	// little that this is a relative 1e-5, or by as much as a bearable number of pieces takes.
	const fine, mostPieces, shortest = 0.0045, 1 << 14, 0x1p-40
	growth := math.Max(fine, (k.logSlope(1)-k.logSlope(0))/mostPieces)
	q := s.opposite()
	u, t := s.inf, 0.0
	for i := len(q) - 1; i >= 0 && u < 1; i-- {
		for left := q[i]; left > 0 && u < 1; {
			dt := left
			if t < 1 {
				dt = math.Min(left, math.Max(shortest, growth/k.growth(t)))
				for from := k.logSlope(t); dt > shortest && k.logSlope(math.Min(1, t+dt))-from > growth; {
					dt /= 2
				}
			}
			du := s.mass[i] * (dt / q[i])
			if u+du >= 1 {
				dt, du = dt*((1-u)/du), 1-u
			}
			add(u+du, t, dt)
			u, t, left = u+du, t+dt, left-dt
		}
	}
	add(1, t, 0)
	return lines, reach
}

// selectedDivergences returns the bounds at epsilon = 0, step, 2 step, ...
func selectedDivergences(s *side, k Repetitions) ([]float64, error) {
	lines, reach := selectionLines(s, k)
	if !(reach < largestLoss) {
		return nil, errTooWide
	}
	// Beyond a loss of reach above the largest one there is nothing but the share of infinity.
	high := max(0, s.high()+int(math.Ceil(reach/s.step)))
	n := len(s.mass)
	if !(float64(high)*s.step < largestLoss) {
		return nil, errTooWide
	}
	if high >= 2*mostPoints || high*n > mostWork {
		return nil, errTooFine
	}
	// h[i] is H(e^{(i-shift) step}), for every difference of positions that occurs, less zeros at the end.
	shift := s.high()
	h := selectionCurve(lines, s.step, -shift, min(n+high, max(0, shift+int(math.Ceil(reach/s.step))+1)))
	out := make([]float64, high+1)
	for j := range out {
		// Outcome i has the index j+n-1-i in h.
		total := s.inf * lines[len(lines)-1].a // H(0)
		if first := max(0, j+n-len(h)); first < n {
			window := h[j : j+n-first]
			for i, p := range s.mass[first:] {
				total += p * window[len(window)-1-i]
			}
		}
		out[j] = total * (1 + rounding)
	}
	return out, nil
}

// selectionCurve returns upper bounds of H(e^{i step}) for count values of i from low on.
//
// The best line falls with y, so between two points whose best lines are known only lines between those matter. Rounding
// can make the wrong line look best at the ends; it does no harm. Let j look best at y, and let i be a line that this
// rules out at another point y': i is above j, or below it, and y' on the side where j gains on i. What i had been ahead
// at y is at most a rounding of their a's, 2^-50 max(a_i, a_j). If the a's are within a factor 2, that is less than the
// 2^-45 by which each line has been raised; and if not, j gains at least |a_i - a_j| (1 - e^-step)/2 on the way, which is
// more, for any step above 2^-45.
func selectionCurve(lines []line, step float64, low, count int) []float64 {
	h := make([]float64, count)
	// best sets h[i] from lines from to to, and returns the first of the best.
	best := func(i, from, to int) int {
		y := math.Exp(float64(low+i)*step) * (1 - rounding)
		largest, at := 0.0, from
		for j, l := range lines[from : to+1] {
			if v := l.a - l.b*y; v > largest {
				largest, at = v, from+j
			}
		}
		h[i] = largest
		return at
	}
	stride := int(math.Sqrt(float64(count))) + 1
	last := len(lines) - 1
	for i := 0; i < count; i += stride {
		end := min(i+stride, count)
		next := 0
		if end < count {
			next = best(end, 0, last)
		}
		if i == 0 {
			last = best(i, 0, last)
		}
		for j := i + 1; j < end; j++ {
			best(j, min(next, last), max(next, last)) // lines that differ by a rounding may come out in any order
		}
		last = next
	}
	return h
}
