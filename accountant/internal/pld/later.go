package pld

import "math"

// Variant1Before is [Variant1] with later events on all data, which later dominates: with the sample the law is
// (q s1 f0 + (1-q) s0 f1) g1, and without it s0 f0 g0.
//
// Proof that later and final may be replaced by their pairs. Given the outcomes of tuning and final run, with a
// likelihood ratio x, the later events' divergence is x R(epsilon - log x), with their pair's R, or in the other
// direction R(epsilon + log x). As functions of x these are convex, and x is linear in the final run's ratio. So the
// argument for Variant1 holds for these functions in place of (x - e^epsilon)_+ and (1 - e^epsilon x)_+.
//
// There is a term for every pair of a loss of final and a loss of later. Terms are moved to even points of log c. Each
// is split between the two points around it: (s1 - c s0)_+ is convex in c, so the chord is above it.
func Variant1Before(later *Pair) Variant {
	return func(final *Pair, q float64) (removal, addition terms) {
		return variant1RemovalBefore(final.removal, later.removal, q), variant1AdditionBefore(final.addition, later.addition, q)
	}
}

// variant1RemovalBefore has the terms q0 p (q s1 - (e^(epsilon-l) - (1-q) e^b) s0)_+ of final's losses b, with Q's
// masses q0, and later's losses l, with P's masses p.
func variant1RemovalBefore(final, later *side, q float64) terms {
	masses := final.opposite()
	rest := cutToOne(masses)
	ratios, finite := make([]float64, len(masses)), 0.0 // e^b, and P's mass where it has one
	for i, m := range masses {
		ratios[i] = math.Exp(final.loss(i))
		finite += m * ratios[i]
	}
	return func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		down := 1 - final.cancelled(epsilon) - later.cancelled(epsilon)
		bins := newBins(final.step, math.Log(1/q)+epsilon-later.loss(0))
		for j, p := range later.mass {
			if p == 0 {
				continue
			}
			x := math.Exp(epsilon-later.loss(j)) * down
			bins.restart()
			for i := len(masses) - 1; i >= 0; i-- {
				bins.put(masses[i]*p, q, x-(1-q)*ratios[i])
			}
			bins.put(rest*p, q, x)
		}
		bins.each(add)
		return later.inf*(q+(1-q)*finite) + (1-q)*final.inf*later.total()
	}
}

// variant1AdditionBefore has the terms q0 q1 ((1 - e^(epsilon-l) (1-q) e^-b) s0 - q e^(epsilon-l) s1)_+ of final's
// losses b and later's losses l, with Q's masses q0 and q1.
func variant1AdditionBefore(final, later *side, q float64) terms {
	ratios := make([]float64, len(final.mass)) // e^-b
	for i := range ratios {
		ratios[i] = math.Exp(-final.loss(i))
	}
	return func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		error := final.cancelled(epsilon) + later.cancelled(epsilon)
		bins := newBins(final.step, 40+math.Log(q)+epsilon-later.loss(0))
		for j, v := range later.mass {
			if v == 0 {
				continue
			}
			x := math.Exp(epsilon - later.loss(j))
			beta := q * x * (1 - error)
			bins.restart()
			bins.put(final.inf*v, 1+error, beta)
			for i := len(final.mass) - 1; i >= 0; i-- {
				alpha := 1 + error - (1-q)*x*ratios[i]
				if alpha <= 0 {
					break // and so for all smaller losses
				}
				bins.put(final.mass[i]*v, alpha, beta)
			}
		}
		bins.each(add)
		return later.inf * final.total()
	}
}

// bins collects terms m (alpha s1 - beta s0)_+ by log c, c = beta/alpha.
type bins struct {
	c      []float64 // of each bin; all terms of larger c count in the last, where they count more
	weight []float64
	same   float64 // of s1, the terms with c = 0
	at     int
	terms  float64 // how many were put
}

const (
	// lowestBin is the log c of the lowest bin. Terms below it are split between it and c = 0.
	lowestBin       = -30
	mostBinsOfTerms = 1 << 13
)

func newBins(step, highest float64) *bins {
	highest = math.Max(lowestBin+1, math.Min(highest, 500))
	width := math.Max(step, (highest-lowestBin)/mostBinsOfTerms)
	b := &bins{}
	for k := 0; ; k++ {
		x := lowestBin + float64(k)*width
		b.c = append(b.c, math.Exp(x))
		if x >= highest {
			break
		}
	}
	b.weight = make([]float64, len(b.c))
	return b
}

// restart begins a list of terms by ascending c.
func (b *bins) restart() { b.at = 0 }

// put adds a term. Its c is at least the previous term's.
func (b *bins) put(m, alpha, beta float64) {
	if m == 0 {
		return
	}
	b.terms++
	if beta <= 0 {
		b.same += m * (alpha - beta) // s1 and s0 integrate to 1
		return
	}
	w, c := m*alpha, beta/alpha
	if c < b.c[0] {
		share := c / b.c[0]
		b.weight[0] += w * share
		b.same += w * (1 - share)
		return
	}
	last := len(b.c) - 1
	for b.at < last && b.c[b.at+1] <= c {
		b.at++
	}
	if b.at == last {
		b.weight[last] += w
		return
	}
	upper := (c - b.c[b.at]) / (b.c[b.at+1] - b.c[b.at])
	b.weight[b.at+1] += w * upper
	b.weight[b.at] += w * (1 - upper)
}

// each adds the bins as terms by ascending c, raised by more than the rounding of their sums.
func (b *bins) each(add func(m, alpha, beta float64)) {
	up := 1 + b.terms*0x1p-52
	add(b.same*up, 1, 0)
	for k, w := range b.weight {
		add(w*up, 1, b.c[k])
	}
}
