package pld

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// A planBound bounds a plan of a tuning run, the best of K trials, and a final run, variant 1 or 2, by the smaller of
// two bounds in each direction. Pairs let every outcome of the final run have its own worst order of scores; a oneOrder
// lets nearly all of them have one order between them.
type Plan struct {
	Pairs             Profile
	removal, addition *oneOrder
}

// Profile bounds delta at any real epsilon in both directions.
type Profile interface {
	DeltaAt(epsilon float64) float64
	Remove(epsilon float64) float64
	Add(epsilon float64) float64
}

// A variant returns the terms of its two directions for a final run and the sampling rate q of the tuning run.
type Variant func(final *Pair, q float64) (removal, addition terms)

// NewPlan bounds a plan by pairs, its bound with orders of their own, and by one order. A trial is dominated by trial, the
// best of K of them by tuned and the final run by final.
func NewPlan(pairs Profile, trial, tuned, final *Pair, k repetitions.Distribution, q float64, v Variant) *Plan {
	removal, addition := v(final, q)
	return &Plan{
		Pairs:    pairs,
		removal:  &oneOrder{removal, tuned.removal, newWholeOrder(trial.removal, k, cellCountShared), k.None()},
		addition: &oneOrder{addition, tuned.addition, newWholeOrder(trial.addition, k, cellCountShared), k.None()},
	}
}

// terms calls add for all m (alpha s1 - beta s0)_+ of a plan at epsilon, by descending loss of the final run, and returns
// what it costs beside them.
type terms func(epsilon float64, add func(m, alpha, beta float64)) (fixed float64)

// DeltaAt evaluates the new bound only where it may lower the result.
func (p *Plan) DeltaAt(epsilon float64) float64 {
	remove, add := p.Pairs.Remove(epsilon), p.Pairs.Add(epsilon)
	if remove > add {
		remove = p.removal.smaller(remove, epsilon)
		if add > remove {
			add = p.addition.smaller(add, epsilon)
		}
	} else {
		add = p.addition.smaller(add, epsilon)
		if remove > add {
			remove = p.removal.smaller(remove, epsilon)
		}
	}
	return math.Max(remove, add)
}

// smaller returns the smaller one of two bounds; the new one may be no number, where it overflows.
func (o *oneOrder) smaller(delta, epsilon float64) float64 {
	if v := o.at(epsilon); v < delta {
		return v
	}
	return delta
}

// A oneOrder bounds one direction of a plan. Let s1 and s0 be the laws of the tuning's outcome in it. Given an outcome, the
// final run's side bounds what follows, so that the divergence is at most the integral of a sum of terms
//
//	m (alpha s1 - beta s0)_+,
//
// one for each loss of the final run. Where beta <= 0 a term is the same for all orders, as s1 and s0 integrate to 1.
// The others are levels w (s1 - c s0)_+, and their sum is s1 R(s0/s1), R(z) being that of w (1 - c z)_+.
//
// Every level by itself is at most w times the tuning's divergence at log c. For levels together, let R be raised to the R
// of a measure of weights that has a log-concave density over log c. Then the worst order grows an interval of losses, and
// a wholeOrder bounds it. That theorem is for all K of this package: docs/bounds.md.
type oneOrder struct {
	terms terms
	tuned *side // of the tuning's outcome
	order *wholeOrder
	none  float64 // P(K=0)
}

// A level is w (1 - c z)_+.
type level struct {
	w, c, log float64
	alone     float64 // what it costs with an order of its own, and K = 0
}

// Variant2 returns the two directions of a tuning run on a sample of rate q before a final run on all data. With the
// sample the outcomes have the law (q s1 + (1-q) s0) f1, and without it s0 f0, f1 and f0 being the final run's.
func Variant2(final *Pair, q float64) (removal, addition terms) {
	removal = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.removal
		down := 1 - s.cancelled(epsilon)
		for i := len(s.mass) - 1; i >= 0; i-- {
			add(s.mass[i], q, math.Exp(epsilon-s.loss(i))*down-(1-q))
		}
		return s.inf
	}
	addition = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.addition
		error := s.cancelled(epsilon)
		for i := len(s.mass) - 1; i >= 0; i-- {
			x := math.Exp(epsilon - s.loss(i))
			add(s.mass[i], 1+error-(1-q)*x, q*x*(1-error))
		}
		return s.inf
	}
	return removal, addition
}

// Variant1 is the same for a final run on the rest: with the sample the law is q s1 f0 + (1-q) s0 f1.
func Variant1(final *Pair, q float64) (removal, addition terms) {
	masses := final.removal.opposite()
	rest := cutToOne(masses)
	removal = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.removal
		x := math.Exp(epsilon)
		x -= x * s.cancelled(epsilon)
		for i := len(masses) - 1; i >= 0; i-- {
			add(masses[i], q, x-(1-q)*math.Exp(s.loss(i)))
		}
		add(rest, q, x)
		return (1 - q) * s.inf
	}
	addition = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.addition
		x, error := math.Exp(epsilon), s.cancelled(epsilon)
		add(s.inf, 1, q*x*(1-error))
		for i := len(s.mass) - 1; i >= 0; i-- {
			add(s.mass[i], 1+error-(1-q)*math.Exp(epsilon-s.loss(i)), q*x*(1-error))
		}
		return 0
	}
	return removal, addition
}

// levels returns what is the same for all orders, and the levels by ascending c.
func (o *oneOrder) levels(epsilon float64) (same float64, levels []level) {
	const largest = 1e250
	beside := o.terms(epsilon, func(m, alpha, beta float64) {
		switch {
		case m == 0 || alpha <= 0:
		case beta <= 0:
			same += m * (alpha - beta)
		default:
			// c is rounded down, so that 1 - c z is no less than it should be where it nearly cancels.
			x := level{w: m * alpha, c: math.Min(beta/alpha*(1-0x1p-48), largest)}
			x.log = math.Log(x.c)
			for n := len(levels) - 1; n >= 0 && x.log <= levels[n].log; n-- { // by rounding: they count more at the smaller c
				x.w, x.c = x.w+levels[n].w, math.Min(x.c, levels[n].c)
				x.log, levels = math.Log(x.c), levels[:n]
			}
			levels = append(levels, x)
		}
	})
	for i := range levels {
		levels[i].alone = levels[i].w * o.tuned.at(levels[i].log)
	}
	return beside + same, levels
}

const (
	// cellCountShared is how many cells of different losses a wholeOrder has.
	cellCountShared = 320
	// mostShares is how many groups of levels get an order each, beside those that have one of their own.
	mostShares = 3
	// mostTried is how many candidates for a group are evaluated.
	mostTried = 2
	// highest is what the highest levels, which get their own, cost of all.
	highest = 1e-4
)

// cuts are tried for the lowest level of a group, by what those below cost of all.
var cuts = []float64{1e-9, 1e-4, 0.01, 0.04, 0.15, 0.3, 0.55}

func (o *oneOrder) at(epsilon float64) float64 {
	total, levels := o.levels(math.Min(epsilon, LargestLoss))
	for range mostShares {
		candidates, dropped := o.candidates(levels)
		if len(candidates) == 0 {
			break
		}
		least, group := math.Inf(1), 0.0
		for _, s := range candidates {
			cost := o.together(s)
			if all := cost + aloneOf(s.alone); all < least {
				least, group, levels = all, cost, s.alone
			}
		}
		if math.IsInf(least, 1) {
			break
		}
		total += group + dropped
	}
	return (total + aloneOf(levels)) * (1 + 4*rounding)
}

// together is what the levels of a group cost, with one order or each its own.
func (o *oneOrder) together(s *sharing) float64 {
	cost := o.order.worst(s.mixture())
	for _, x := range s.levels {
		cost += o.none * x.w * math.Max(0, 1-x.c)
	}
	if alone := aloneOf(s.levels); !(cost < alone) {
		return alone
	}
	return cost
}

func aloneOf(levels []level) (cost float64) {
	for _, x := range levels {
		cost += x.alone
	}
	return cost
}

// candidates returns groups that may be worth an order, and what the levels above them cost.
func (o *oneOrder) candidates(levels []level) (best []*sharing, dropped float64) {
	all, n := aloneOf(levels), len(levels)
	for ; n > 0 && dropped+levels[n-1].alone <= highest*all; n-- {
		dropped += levels[n-1].alone
	}
	levels = levels[:n]
	prices := []float64{1.5 * all}
	low, below, last := 0, 0.0, -1
	for _, cut := range cuts {
		for low < n && below+levels[low].alone <= cut*all {
			below += levels[low].alone
			low++
		}
		if low == last || n-low < 2 {
			continue
		}
		last = low
		s := newSharing(levels, low)
		price := s.price(o.tuned) + 1.5*aloneOf(s.alone)
		for k := range prices {
			if price < prices[k] {
				best, prices = slices.Insert(best, k, s), slices.Insert(prices, k, price)
				break
			}
		}
	}
	return best[:min(len(best), mostTried)], dropped
}

// A sharing is a choice of the levels, or parts of them, that share an order, with a log-concave density whose R, times the
// factor, is above that of those levels.
type sharing struct {
	levels, alone []level
	density       density
	// At z = e^-s for each node s of the density: its R and -z R'.
	value, fall []float64
	factor      float64
}

// density is one over log c: its logarithm at low, low+step, ..., and linear between them. It ends with them. Its values
// are those of a concave function but for roundings far below those of R: there is a log-concave density within a relative
// 2^-36 above it, and the table of R is raised by more.
type density struct {
	low, step float64
	log       []float64
}

const (
	finestNodes = 0.01
	mostNodes   = 4096
)

// newSharing gives one order to the levels from low on, and to what of those below is under the tangent of a log-concave
// density of theirs.
func newSharing(levels []level, low int) *sharing {
	n := len(levels)
	width := func(i int) float64 {
		a, b := max(0, i-1), min(n-1, i+1)
		return (levels[b].log - levels[a].log) / float64(b-a)
	}
	// The upper hull of the logarithms of the levels' density.
	type point struct{ s, log float64 }
	slope := func(a, b point) float64 { return (b.log - a.log) / (b.s - a.s) }
	var hull []point
	for i := low; i < n; i++ {
		p := point{levels[i].log, math.Log(levels[i].w / width(i))}
		for len(hull) > 1 && slope(hull[len(hull)-1], p) >= slope(hull[len(hull)-2], hull[len(hull)-1]) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	at := func(k int, s float64) float64 { return hull[k].log + (s-hull[k].s)*slope(hull[k], hull[k+1]) }

	s := &sharing{}
	first := low
	for ; first > 0; first-- {
		x := levels[first-1]
		below := math.Exp(at(0, x.log)) * width(first-1)
		if !(below > 1e-3*x.w && below < 1e3*x.w) {
			break
		}
		w := math.Min(x.w, below)
		shared, alone := x, x
		part := (x.w-w)/x.w + 0x1p-50
		shared.w, shared.alone, alone.w, alone.alone = w, x.alone*(w/x.w), x.w*part, x.alone*part
		s.levels, s.alone = append(s.levels, shared), append(s.alone, alone)
	}
	slices.Reverse(s.levels)
	slices.Reverse(s.alone)
	s.alone = append(slices.Clone(levels[:first]), s.alone...)
	s.levels = append(s.levels, levels[low:]...)

	lowest, to := levels[first].log, levels[n-1].log+width(n-1)/2
	step := math.Max(finestNodes, (to-lowest)/mostNodes)
	from := lowest - math.Max(width(first), 1.5*step) // so that R is positive where that of the levels begins
	s.density.low, s.density.step = from, step
	for g, k := 0, 0; ; g++ {
		c := from + float64(g)*s.density.step
		for k+2 < len(hull) && hull[k+1].s < c {
			k++
		}
		s.density.log = append(s.density.log, at(k, c))
		if c >= to {
			break
		}
	}
	s.lift()
	return s
}

// lift finds a factor for which the density's R is above that of the levels. With x = z/z_g between the nodes at z_g =
// e^-s_g and z_(g-1) > z_g, the levels' R, which is convex, is at most its chord, and the density's at least the larger of
// its tangents at the ends. The ratio of a linear function and the larger of two others is largest at an end or where the
// two meet. Left of the last node both are linear down to z = 0. Sums have terms of one sign but where the tangents meet:
// there a few roundings of the density's R may be left, which the mixture adds to R everywhere.
func (s *sharing) lift() {
	n, h := len(s.density.log), s.density.step
	mean := func(x float64) float64 { // of e^t over 0 to x
		if x == 0 {
			return 1
		}
		return math.Expm1(x) / x
	}
	s.value, s.fall = make([]float64, n), make([]float64, n)
	s.factor = 1
	above := func(want, have float64) {
		if want > 0 {
			s.factor = math.Max(s.factor, want/have)
		}
	}
	fade, wider := math.Exp(-h), math.Expm1(h) // z_(g-1) = (1 + wider) z_g
	want, wantFall, wantBefore := 0.0, 0.0, 0.0
	k := 0
	for g := range n {
		if g > 0 {
			slope := s.density.log[g] - s.density.log[g-1]
			here := math.Exp(s.density.log[g-1]) * h
			weight, moment := here*mean(slope), here*mean(slope+h) // of the piece, its moment in units of its lower end
			s.value[g] = s.value[g-1] + s.fall[g-1]*fade*wider + math.Max(0, weight-fade*moment)
			s.fall[g] = (s.fall[g-1] + moment) * fade
			wantBefore = want
			want += wantFall * fade * wider
			wantFall *= fade
		}
		c := math.Exp(s.density.low + float64(g)*h)
		for ; k < len(s.levels) && s.levels[k].c <= c; k++ {
			want += s.levels[k].w * (1 - s.levels[k].c/c)
			wantFall += s.levels[k].w * s.levels[k].c / c
		}
		above(want, s.value[g])
		if g > 0 {
			flat := s.fall[g]           // -R' at z_g
			right := s.fall[g-1] * fade // -R' at z_(g-1), in units of z_g
			x := 0.0                    // x-1
			if flat > right {
				x = math.Max(0, math.Min((s.value[g]-s.value[g-1]-right*wider)/(flat-right), wider))
			}
			have := math.Max(s.value[g]-flat*x, s.value[g-1]+right*(wider-x))
			above(want+(wantBefore-want)*(x/wider), have)
		}
	}
	above(want+wantFall, s.value[n-1]+s.fall[n-1])
	// Falls over z must not overflow: they would count for nothing.
	largest := s.factor * (s.value[n-1] + s.fall[n-1]) * math.Exp(math.Max(0, s.density.low+float64(n-1)*h))
	if k < len(s.levels) || !(largest < 0x1p1000) {
		s.factor = math.Inf(1)
	}
}

// price estimates what the shared levels cost together, if not less than alone.
func (s *sharing) price(tuned *side) float64 {
	const every = 4
	total := 0.0
	for g := 0; g < len(s.density.log); g += every {
		total += math.Exp(s.density.log[g]) * tuned.at(s.density.low+float64(g)*s.density.step)
	}
	return total * every * s.density.step * s.factor
}

// mixture has the density's R in a table.
func (s *sharing) mixture() *mixture {
	n, h := len(s.value), s.density.step
	lift := s.factor * (1 + 16*rounding)
	low := -(s.density.low + float64(n-1)*h)
	m := &mixture{low: low, scale: 1 / h}
	total := (s.value[n-1] + s.fall[n-1]) * lift
	tiny := 0x1p-40 * total
	m.pieces = make([]piece, 0, n+1)
	m.pieces = append(m.pieces, piece{total + tiny, s.fall[n-1] * math.Exp(-low) * lift})
	for g := n - 1; g > 0; g-- {
		z := math.Exp(-(s.density.low + float64(g)*h))
		fall := (s.value[g] - s.value[g-1]) / math.Expm1(h) * lift // over z
		m.pieces = append(m.pieces, piece{s.value[g]*lift + fall + tiny, fall / z})
	}
	m.pieces = append(m.pieces, piece{tiny, 0})
	return m
}

// A mixture is R in a table: piece k > 0 begins at log z = low + (k-1)/scale, and R is at most its ordinate - fall z there.
// The last is for all z beyond, and piece 0 for all below.
type mixture struct {
	low, scale float64
	pieces     []piece
}

type piece struct{ ordinate, fall float64 }

func (m *mixture) atZero() float64 { return m.pieces[0].ordinate }

// rate returns a R(b/a), where log b/a is x.
func (m *mixture) rate(a, b, x float64) float64 {
	k := 0
	if at := (x-m.low)*m.scale + 1; at >= 1 {
		k = len(m.pieces) - 1
		if at < float64(k) {
			k = int(at)
		}
	}
	p := &m.pieces[k]
	if v := a*p.ordinate - b*p.fall; !(v < 0) {
		return v
	}
	return 0
}
