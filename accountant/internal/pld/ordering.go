package pld

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// An ordering bounds the divergence of the best of K runs of a mechanism under the worst order of scores,
//
//	J(c) = the supremum over all orders of the integral of (s1 - c s0)_+,  s1 = p phi1(F), s0 = q phi1(G),
//
// where (P, Q) is a pair of distributions that dominates the mechanism, cut into cells of ascending loss, F and G are
// their distribution functions along the order, and phi(z) = E z^K. docs/proofs/bounds.md proves that the worst order
// grows an interval of losses (Theorem 1), and that the recursion of worst, over whole cells, bounds all orders of all
// parts of cells (Theorem 2, and for up to two trials Theorem 2a).
//
// In state (i, j) the cells i to j-1 have been placed. The next one is either cell j, which counts, or cell i-1, which
// doesn't.
type ordering struct {
	rows []row
	top  float64 // added by the outcomes that Q lacks: every order places them last
	even bool    // phi2 is the same everywhere, as for one trial or two
}

// A row holds what cell j adds in the states (i, j) for i <= j+1, at index i.
type row struct {
	crossings []crossing
	deep      bool // then crossing.start bounds what a part of the cell adds when it is the first that counts
}

// A crossing holds the contribution of a cell, gain - c cost, and allowances for placing a part of a cell instead of a
// whole one, each as a pair of numbers that don't depend on c. Theorem 2 has their names.
type crossing struct {
	gain, cost     float64 // rises of phi along the cell, at P's mass and at Q's
	bend, unbend   float64 // if the interval begins inside of cell i
	turn, unturn   float64 // if cell i is placed when a part of cell j has been
	start, unstart float64 // if the first that counts is a part of cell j
}

const (
	// CellCount is the number of cells of different losses for a selection within a plan. CellCountAlone is the number
	// for a selection that is the whole plan, and so is evaluated at fewer values. Errors fall with the square of the
	// number.
	CellCount, CellCountAlone = 256, 512
	// Cells are cut where log phi1 or log phi3 falls by more than coarsestFall across them. The limit is lower if there
	// are few cells, and higher if there are very many.
	finestFall, coarsestFall = 0.02, 0.5
)

// TooMany reports whether K can be so large that the derivatives of phi, or their factors, leave the range of normal
// float64s. For such K a selection's cells would be too coarse anyway.
func TooMany(k repetitions.Distribution) bool { return !(slopesAt(k, 0).third < 0x1p900) }

// newOrdering returns the ordering of a side, cut into cells of at most count losses.
func newOrdering(s *side, k repetitions.Distribution, count int) *ordering {
	cut := k
	if k.Curvature() == 0 { // large cells do no harm, and aren't cut, as for a single trial
		cut = repetitions.Binomial{Trials: 1, Probability: 1}
	}
	p, q, inf := s.cutCells(cut, count)
	return orderingOf(p, q, inf, k)
}

// orderingOf returns the ordering of cells by ascending loss, with masses p and q. inf is P's mass where Q has none.
func orderingOf(p, q []float64, inf float64, k repetitions.Distribution) *ordering {
	k = repetitions.Ready(k)
	n := len(p)
	out := outsideOf(p, q, inf)
	nodes := func(j int, at *[2][]slopes) {
		at[0], at[1] = at[0][:0], at[1][:0]
		for i := range min(j+1, n) + 1 {
			at[0], at[1] = append(at[0], slopesAt(k, out.leastP(i, j))), append(at[1], slopesAt(k, out.mostQ(i, j)))
		}
	}

	end := slopesAt(k, 0)
	o := &ordering{rows: make([]row, n), top: end.rise(k, inf) * (1 + rounding), even: k.Curvature() == 0}
	var before, after [2][]slopes
	nodes(0, &before)
	all := make([]crossing, n*(n+3)/2) // in one piece: allocations are much of the time
	var scratch scratch
	for j := range o.rows {
		nodes(j+1, &after)
		o.rows[j], all = row{crossings: all[: j+2 : j+2]}, all[j+2:]
		o.rows[j].fill(p, q, j, k, before, after)
		if o.even {
			x := &o.rows[j].crossings[j]
			x.start, x.unstart = p[j]*p[j]/2*end.second, q[j]*q[j]/2*end.second
		} else {
			o.rows[j].deepen(j == n-1, &scratch)
		}
		before, after = after, before
	}
	return o
}

// outside holds the sums of masses outside of intervals of cells: below each cell, and from each cell on.
type outside struct{ belowP, belowQ, aboveP, aboveQ []float64 }

func outsideOf(p, q []float64, inf float64) *outside {
	n := len(p)
	o := &outside{make([]float64, n+1), make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)}
	for i := range n {
		o.belowP[i+1], o.belowQ[i+1] = o.belowP[i]+p[i], o.belowQ[i]+q[i]
	}
	var sum accurate
	for _, m := range q {
		sum.add(m)
	}
	o.aboveP[n], o.aboveQ[n] = inf, math.Max(0, 1-sum.value())
	for j := n - 1; j >= 0; j-- {
		o.aboveP[j], o.aboveQ[j] = o.aboveP[j+1]+p[j], o.aboveQ[j+1]+q[j]
	}
	return o
}

// Masses outside the cells i to j-1 are moved by more than the rounding of their sums and of 1 minus these sums.
const relativeOut, absoluteOut = 0x1p-40, 0x1p-41

func (o *outside) leastP(i, j int) float64 { return lessOut(o.belowP[i] + o.aboveP[j]) }
func (o *outside) leastQ(i, j int) float64 { return lessOut(o.belowQ[i] + o.aboveQ[j]) }
func (o *outside) mostQ(i, j int) float64 {
	return (o.belowQ[i]+o.aboveQ[j])*(1+relativeOut) + absoluteOut
}

func lessOut(mass float64) float64 { return math.Max(0, mass*(1-relativeOut)-absoluteOut) }

// fill computes the row of cell j. before and after hold the slopes at P's and at Q's masses of all states (i, j),
// before cell j is placed, and (i, j+1).
func (r *row) fill(p, q []float64, j int, k repetitions.Distribution, before, after [2][]slopes) {
	const (
		up, down = 1 + rounding, 1 - rounding
		tiny     = 0x1p-600 // a ratio to a smaller number may overflow
	)
	for i := range r.crossings {
		x := &r.crossings[i]
		endP, endQ := after[0][i], after[1][i]
		x.gain, x.cost = endP.rise(k, p[j])*up, endQ.rise(k, q[j])*down
		x.start = p[j] * p[j] / 2 * endP.second * up
		if start := before[0][i].second; start > tiny { // the ratio of second derivatives is monotone along the cell
			ratio := math.Min(before[1][i].second/start, endQ.second/endP.second)
			x.unstart = q[j] * q[j] / 2 * endP.second * ratio * down
		}
		r.deep = r.deep || !(x.start <= r.crossings[0].gain && x.unstart <= math.MaxFloat64)
	}
	for i := j; i >= 0; i-- {
		x := &r.crossings[i]
		third := after[0][i].third / 8
		x.turn = p[j] * p[j] * p[i] * third * up
		if start := before[0][i+1].third; start > tiny { // the ratio of third derivatives is monotone along both cells
			a, b := before[1][i+1].third/start, before[1][i].third/before[0][i].third
			c, d := after[1][i+1].third/after[0][i+1].third, after[1][i].third/after[0][i].third
			x.unturn = q[j] * q[j] * q[i] * third * min(a, b, c, d) * down
			// Ratios are rounded down, for turns. off bounds the logarithm of the largest one's deficit.
			off := 0.0
			for of, end := range after {
				off += lacks(k, end[i].w, before[of][i+1].w)
			}
			if off < 1 {
				x.bend, x.unbend = q[j]*q[i]*q[i]*third*max(a, b, c, d)*up, p[j]*p[i]*p[i]*third*down
				if off > rounding/4 {
					x.bend *= math.Exp(off)
				}
				continue
			}
		}
		// No credit for P: phi3 at Q's mass is the largest at the end.
		x.bend = q[j] * q[i] * q[i] / 8 * after[1][i].third * up
		if off := lacks(k, after[1][i].w, after[1][i].w); !(off <= rounding/4) {
			x.bend *= math.Exp(off)
		}
	}
}

// lacks bounds the change of log phi3 between w and its value before rounding, for any w from low to high. It may be
// infinite, or NaN.
func lacks(k repetitions.Distribution, low, high float64) float64 {
	shift := high*(4*relativeOut) + 4*absoluteOut
	growth := k.Growth(high + shift) // the larger one if K is binomial
	if growth == 0 {                 // there phi1 is 0
		growth = math.Inf(1)
	}
	growth = math.Max(growth, k.Growth(math.Max(0, low-shift)))
	return (2*k.Curvature() - 1) * growth * shift
}

// scratch is memory that the rows of an ordering share.
type scratch struct {
	before  []crossing
	changed []bool
}

// deepen replaces allowances that are infinite or NaN, or useless because phi1 falls far across a cell: no smaller than
// the quantity that they allow for. Cells below the last row are placed before it or after it, so turns there are four
// times as large.
func (r *row) deepen(last bool, scratch *scratch) {
	n := len(r.crossings)
	before := append(scratch.before[:0], r.crossings...)
	changed := append(scratch.changed[:0], make([]bool, n)...)
	scratch.before, scratch.changed = before, changed
	// Between states (i+1, j) and (i, j) a cell's gain is at most its gain at the end, and its cost at least its cost
	// at the beginning. Both states get these.
	for i := n - 2; i >= 0; i-- {
		x, inner := &r.crossings[i], &r.crossings[i+1]
		if !(x.bend <= inner.cost/4 && x.unbend <= math.MaxFloat64) { // by now inner.cost may have been lowered
			x.bend, x.unbend = 0, 0
			x.cost, inner.gain = before[i+1].cost, before[i].gain
			changed[i], changed[i+1] = true, true
		}
	}
	for i := range r.crossings {
		x, start := &r.crossings[i], before[i].start
		if changed[i] && i > 0 {
			start = math.Max(start, before[i-1].start)
		}
		if changed[i] || i+1 < n && changed[i+1] {
			x.unturn = 0
			if i > 0 {
				x.turn += before[i-1].turn
			}
		}
		// A turn is an eighth of a difference of slopes along the cell, the larger of which is at most twice start.
		most := math.Min(x.gain, start/4)
		if last {
			x.turn, x.unturn, most = 4*x.turn, 4*x.unturn, start
		}
		if !(x.turn <= most && x.unturn <= math.MaxFloat64) {
			x.turn, x.unturn = most, 0
		}
		switch {
		case r.deep:
			x.start, x.unstart = x.gain, 0
		case changed[i]:
			x.start, x.unstart = start, 0
		}
	}
}

// lanes is the number of levels c that worst processes at once. Each is a chain of dependent operations, and two chains
// fill a core better than one.
const lanes = 2

// worst replaces one or two levels c by upper bounds of J(c).
//
// Gains and costs are raised by their roundings. So where a gain and c times a cost nearly cancel, their difference is
// raised by far more than its own rounding.
func (o *ordering) worst(levels []float64) {
	if o.even {
		for i, c := range levels {
			levels[i] = o.worstEven(c)
		}
		return
	}
	c, d := levels[0], levels[len(levels)-1]
	// later[i] holds the values of state (i, j+1), and then of state (i, j).
	later := make([][lanes]float64, len(o.rows)+1)
	for i := range later {
		later[i] = [lanes]float64{o.top, o.top}
	}
	largest := later[0]
	for j := len(o.rows) - 1; j >= 0; j-- {
		row := &o.rows[j]
		values := later[:len(row.crossings)]
		// Cells below may be placed before cell j, after it, or after a part of it. crossed is the value after cell j
		// has been placed, shifted the value of placing cell i-1 next.
		crossed, shifted, bentBefore := math.Inf(-1), math.Inf(-1), 0.0
		crossed2, shifted2, bentBefore2 := math.Inf(-1), math.Inf(-1), 0.0
		for i := range row.crossings {
			x := &row.crossings[i]
			started, started2 := values[i][0], values[i][1]
			if crossed < started {
				crossed = started
			}
			if crossed2 < started2 {
				crossed2 = started2
			}
			value, value2 := crossed+(x.gain-c*x.cost), crossed2+(x.gain-d*x.cost)
			bent, bent2 := c*x.bend-x.unbend, d*x.bend-x.unbend
			if bent > bentBefore {
				bentBefore = bent
			}
			if bent2 > bentBefore2 {
				bentBefore2 = bent2
			}
			if bentBefore > 0 {
				value += bentBefore
			}
			if bentBefore2 > 0 {
				value2 += bentBefore2
			}
			if value < shifted {
				value = shifted
			}
			if value2 < shifted2 {
				value2 = shifted2
			}
			if !row.deep || value > started {
				started = value
			}
			if !row.deep || value2 > started2 {
				started2 = value2
			}
			if extra := x.start - c*x.unstart; extra > 0 {
				started += extra
			}
			if extra := x.start - d*x.unstart; extra > 0 {
				started2 += extra
			}
			if started > largest[0] {
				largest[0] = started
			}
			if started2 > largest[1] {
				largest[1] = started2
			}
			values[i][0], shifted, bentBefore = value, value, bent
			values[i][1], shifted2, bentBefore2 = value2, value2, bent2
			if extra := x.turn - c*x.unturn; extra > 0 {
				shifted += extra
				if j < len(o.rows)-1 {
					crossed += extra
				}
			}
			if extra := x.turn - d*x.unturn; extra > 0 {
				shifted2 += extra
				if j < len(o.rows)-1 {
					crossed2 += extra
				}
			}
		}
	}
	copy(levels, largest[:])
}

// worstEven returns an upper bound of J(c) if phi2 is the same everywhere. Then the worst order has whole cells, except
// that the first part that counts may be a part of a cell (docs/proofs/bounds.md, Theorem 2a).
func (o *ordering) worstEven(c float64) float64 {
	value := make([]float64, len(o.rows)+1) // of state (i, j+1), and then of (i, j)
	for i := range value {
		value[i] = o.top
	}
	largest := o.top
	for j := len(o.rows) - 1; j >= 0; j-- {
		without := value[j+1] // if the first that counts is the cell above cell j
		crossings := o.rows[j].crossings[:j+1]
		best := math.Inf(-1)
		for i, x := range crossings {
			best = math.Max(best, value[i]+(x.gain-c*x.cost))
			value[i] = best
		}
		// The largest value of (1-b) with + b without + arc b (1-b) for b in [0, 1], from the larger end: from the
		// other one, which may be very low, the difference would be lost in the rounding of the sum.
		start, unstart := crossings[j].start, c*crossings[j].unstart
		arc := math.Abs(start-unstart) + (start+unstart)*rounding
		with := value[j]
		begun := math.Max(with, without)
		if short := arc - math.Abs(without-with); short > 0 {
			begun += short * short / (4 * arc) * (1 + rounding)
		}
		largest = math.Max(largest, begun)
	}
	return largest
}

// slopes are phi1, phi2 and phi3 at 1-w.
type slopes struct{ w, first, second, third float64 }

func slopesAt(k repetitions.Distribution, w float64) slopes {
	first := math.Exp(k.LogSlope(w))
	growth := k.Growth(w)
	return slopes{w, first, first * growth, first * growth * growth * k.Curvature()}
}

// rise returns phi(1-w) - phi(1-w-mass).
func (s slopes) rise(k repetitions.Distribution, mass float64) float64 {
	return s.first * k.Span(s.w, mass)
}
