package pld

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// cutCells returns the masses of cells with at most count losses, and P's mass where Q has none.
func (s *side) cutCells(k repetitions.Distribution, count int) (p, q []float64, inf float64) {
	p, q = s.cells(count)
	inf = s.inf
	for i := range p {
		if q[i] < 0x1p-1022 { // too little to keep its digits
			inf, p[i], q[i] = inf+p[i], 0, 0
		}
	}
	massesToOne(p, q, inf)
	p, q = cutDeep(p, q, inf, k, s.deepest(), count)
	return p, q, inf
}

// deepest returns how far the logarithm of phi1 may fall before the selected masses are negligible. If the divergence
// at epsilon is above the tail, P has at least a tail above epsilon. So epsilon is at most the loss above which P has a
// tail. The other distribution counts e^epsilon times.
func (s *side) deepest() float64 {
	last := len(s.mass) - 1
	for t := s.inf + s.mass[last]; t < s.tail() && last > 0; t += s.mass[last] {
		last--
	}
	return math.Max(0, s.loss(last)) - s.logTail
}

// cells moves the masses of s to at most count of its losses, and returns them with Q's masses. Each mass is split
// between the losses around it, as in builder.put.
func (s *side) cells(count int) (p, q []float64) {
	at := s.cellLosses(count)
	p, q = make([]float64, len(at)), make([]float64, len(at))
	k := 0
	for i, m := range s.mass {
		if m == 0 {
			continue
		}
		for k+1 < len(at) && at[k+1] <= i {
			k++
		}
		if at[k] == i {
			p[k] += m
			continue
		}
		upper, lower := split(float64(i-at[k])*s.step, float64(at[k+1]-at[k])*s.step)
		p[k] += lower * m
		p[k+1] += upper * m
	}
	for k, i := range at {
		q[k] = p[k] * math.Exp(-s.loss(i))
	}
	return p, q
}

// cellLosses chooses at most count positions in s, the first and the last among them. They are dense where there is
// much mass, since phi1 bends there. Except far out in a tail they are also even, since losses are rounded to them.
func (s *side) cellLosses(count int) []int {
	const even, root, mass, anywhere = 1, 0.5, 1, 0.1
	q, tail := s.opposite(), s.faint()
	var used []int
	first, last, roots, masses := 0, len(q)-1, 0.0, 0.0
	for i, m := range s.mass {
		if m > 0 {
			used = append(used, i)
		}
		roots += math.Sqrt(m + q[i])
		masses += m + q[i]
	}
	if len(used) <= count {
		return used
	}
	for t := q[first]; t < tail && first < last; t += q[first] {
		first++
	}
	for t := s.inf + s.mass[last]; t < tail && first < last; t += s.mass[last] {
		last--
	}
	var at []int
	share := 0.0
	for i, m := range s.mass {
		if share >= float64(len(at))/float64(count-1) || i == len(q)-1 {
			at = append(at, i)
		}
		weight := root*math.Sqrt(m+q[i])/roots + mass*(m+q[i])/masses + anywhere/float64(len(q))
		if i >= first && i <= last {
			weight += even / float64(last-first+1)
		}
		share += weight / (even + root + mass + anywhere)
	}
	return at
}

// massesToOne cuts the cells' masses, from the top down, to a sum of 1 with the mass at infinity. The rest of Q is then
// where P has no mass.
//
// Proof that the cut masses are a bound. The side is at least a divergence, which is convex in x = e^epsilon and 1 at x
// = 0. So the chord from there to the cut is at least the divergence too, and the cut masses have that chord.
func massesToOne(p, q []float64, inf float64) {
	var above accurate
	above.add(inf)
	for k := len(p) - 1; k >= 0; k-- {
		if rest := math.Max(0, 1-above.value()); p[k] > rest {
			q[k] *= rest / p[k]
			p[k] = rest
		}
		above.add(p[k])
	}
}

// cutDeep cuts the cells across which log phi1 or log phi3 falls far, if an interval ends there and all other cells are
// on its other side. The allowances of an [ordering] need phi3, whose logarithm falls 2 Curvature - 1 times as far as
// phi1's: far more for negative binomials of negative shape. For phi3 alone it adds at most count cells.
func cutDeep(p, q []float64, inf float64, k repetitions.Distribution, deepest float64, count int) (cutP, cutQ []float64) {
	depth := func(outside float64) float64 { return math.Min(k.LogSlope(0)-k.LogSlope(outside), deepest) }
	each := func(visit func(cell int, outside, mass float64, upwards bool)) {
		outP, outQ := 0.0, 0.0
		for i := range p {
			visit(i, outP, p[i], true)
			visit(i, outQ, q[i], true)
			outP, outQ = outP+p[i], outQ+q[i]
		}
		outP, outQ = inf, 0
		for i := len(p) - 1; i >= 0; i-- {
			visit(i, outP, p[i], false)
			visit(i, outQ, q[i], false)
			outP, outQ = outP+p[i], outQ+q[i]
		}
	}
	falls := 0.0
	each(func(_ int, outside, mass float64, _ bool) { falls += depth(outside+mass) - depth(outside) })
	coarsest := math.Max(coarsestFall, falls/float64(2*count))
	finest := math.Max(finestFall, math.Min(falls/float64(max(1, count-len(p))), coarsest))
	if faster := 2*k.Curvature() - 1; faster > 1 { // not so for binomial K
		finest = math.Max(finest/faster, math.Min(finest, falls/float64(count)))
	}
	cuts := make([][]float64, len(p)) // of each cell, as shares of it
	each(func(cell int, outside, mass float64, upwards bool) {
		from, to := depth(outside), depth(outside+mass)
		pieces := math.Ceil((to - from) / finest)
		for x := 1.0; x < pieces; x++ {
			share := (k.Fall(from+(to-from)*x/pieces) - outside) / mass
			if !upwards {
				share = 1 - share
			}
			cuts[cell] = append(cuts[cell], share)
		}
	})
	for i := range p {
		if p[i] == 0 { // counts for nothing
			continue
		}
		slices.Sort(cuts[i])
		from := 0.0
		for _, to := range append(cuts[i], 1) {
			if to = math.Min(to, 1); to > from {
				cutP, cutQ = append(cutP, p[i]*(to-from)), append(cutQ, q[i]*(to-from))
				from = to
			}
		}
	}
	return cutP, cutQ
}
