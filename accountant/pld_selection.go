package accountant

import (
	"math"
	"slices"
)

// A line is a - b·y, with a, b >= 0.
type line struct{ a, b float64 }

// selectedPair dominates the best of K runs of a mechanism that d dominates. The package comment has the argument: with
// T the trade-off function of d, the divergence of the best run at epsilon is at most
//
//	E_P H(e^{epsilon - loss}) + P(K=0) (1 - e^epsilon)_+,  H(y) = max_u (phi'(u) - phi'(T(u)) y)_+.
func selectedPair(d *pair, k Repetitions) (*pair, error) {
	reversed := d.reversed()
	remove, reach := selectionEnvelope(d, k)
	add, reachBack := selectionEnvelope(reversed, k)
	// Beyond a loss of reach above the largest one there is nothing but pInf's share, and the same below.
	if reach > largestLoss || reachBack > largestLoss {
		return nil, errTooWide
	}
	low := d.low - int(math.Ceil(reachBack/d.step))
	high := d.low + len(d.p) - 1 + int(math.Ceil(reach/d.step))
	if !(float64(high)*d.step < largestLoss && float64(low)*d.step > -largestLoss) {
		return nil, errTooWide
	}
	if (high-low)*len(d.p) > mostWork {
		return nil, errTooFine
	}
	c := newHockeyCurve(d.step, low, high)
	selectedDivergences(d, k, remove, low, c.remove)
	// The same from the other side, where positions run downwards.
	back := make([]float64, len(c.add))
	selectedDivergences(reversed, k, add, -high, back)
	for i, v := range back {
		c.add[len(back)-1-i] = v
	}
	return c.pair(), nil
}

// selectionEnvelope returns lines whose upper envelope, cut at 0, is at least H, by descending a, and the logarithm of
// the smallest y from which on H is 0.
func selectionEnvelope(d *pair, k Repetitions) (envelope []line, reach float64) {
	add := func(u, t, inflation float64) {
		l := line{a: math.Exp(k.logSlope(u)) + inflation, b: math.Exp(k.logSlope(t))}
		reach = math.Max(reach, math.Log(l.a)-k.logSlope(t))
		if n := len(envelope); n > 0 && l.a <= envelope[n-1].a {
			return // b never falls
		}
		for len(envelope) > 0 && !needed(envelope, l) {
			envelope = envelope[:len(envelope)-1]
		}
		envelope = append(envelope, l)
	}
	// The points (u, T(u)): outcomes enter by descending loss.
	add(d.pInf, 0, 0)
	for i := len(d.p) - 1; i >= 0; i-- {
		// Along one outcome u and T(u) are linear, and phi'(u) - y phi'(T(u)) exceeds the larger of its ends by at most
		// phi'''(u) p^2/8. Cut the outcome into pieces for which that is a relative 1e-5 of phi'(u).
		// A mean in the tens of thousands would want more pieces than it is worth: with fewer the bound is looser.
		const relative, mostPieces = 1e-5, 512
		u, t := d.pInf+d.pAbove[i+1], d.qAbove[i+1]
		pieces := math.Ceil(d.p[i] * math.Sqrt(k.curvature(math.Min(u+d.p[i], 1))/(8*relative)))
		pieces = math.Max(1, math.Min(pieces, mostPieces))
		du, dt := d.p[i]/pieces, d.q[i]/pieces
		for j := 1.0; j <= pieces; j++ {
			end := math.Min(u+du*j, 1)
			inflation := math.Exp(k.logSlope(end)) * k.curvature(end) * du * du / 8
			add(u+du*(j-1), t+dt*(j-1), inflation)
			add(u+du*j, t+dt*j, inflation)
		}
	}
	add(1, d.qAbove[0], 0) // where the masses of P fall short of 1
	slices.Reverse(envelope)
	return envelope, reach
}

// needed reports whether the last line of the envelope is above all others somewhere once l, with the largest a and b so
// far, joins them.
func needed(envelope []line, l line) bool {
	m := envelope[len(envelope)-1]
	if l.b <= m.b {
		return l.a < m.a
	}
	if len(envelope) == 1 {
		return true
	}
	k := envelope[len(envelope)-2]
	// l and m cross before m and k do.
	return (l.a-m.a)*(m.b-k.b) < (m.a-k.a)*(l.b-m.b)
}

// selectedDivergences sets out[j] to the bound at epsilon = (low+j)·step.
func selectedDivergences(d *pair, k Repetitions, envelope []line, low int, out []float64) {
	// h[i] is H(e^{(i-shift) step}), for every difference of positions that occurs.
	n := len(d.p)
	shift := d.low + n - 1 - low
	h := make([]float64, n-1+len(out))
	end := len(h) // H is 0 from here on
	next := 0
	for i := range h {
		y := math.Exp(float64(i-shift) * d.step)
		for next+1 < len(envelope) && envelope[next+1].at(y) >= envelope[next].at(y) {
			next++
		}
		h[i] = math.Max(0, envelope[next].at(y))
		if h[i] == 0 {
			end = i
			break
		}
	}
	for j := range out {
		top := j + n - 1 // the index in h for outcome 0; outcome i is i before it
		first := max(0, top-end+1)
		total := d.pInf * envelope[0].a
		if first < n {
			window := h[top-n+1 : top-first+1]
			p := d.p[first:]
			for i, w := range p {
				total += w * window[len(window)-1-i]
			}
		}
		total += k.none() * math.Max(0, -math.Expm1(float64(low+j)*d.step))
		out[j] = total
	}
}

func (l line) at(y float64) float64 { return l.a - l.b*y }
