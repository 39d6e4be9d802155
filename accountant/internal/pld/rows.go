package pld

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/float"
)

// A rowsLoss is the privacy loss of one step of DP-SGD on the rows of one unit: of P, the mixture of N(k, noise^2) with
// weights w_k, against Q = N(0, noise^2), where k ~ Binomial(rows, rate) is the number of rows that are sampled. For
// one row, P = (1-rate) N(0, noise^2) + rate N(1, noise^2) (Zhu, Dong and Wang, 2022). In standard deviations t the
// likelihood ratio is
//
//	L(t) = sum of w_k e^{x_k(t)},  x_k(t) = k t/noise - k^2/(2 noise^2),
//
// a sum of a constant and of increasing functions, so the loss log L grows with t. docs/proofs/bounds.md, "Several
// rows of one unit", proves that this pair dominates the step whatever the rows' gradients are.
type rowsLoss struct {
	noise  float64
	weight []float64 // w_k for k = 0, 1, ...
	log    []float64 // their logarithms
	cut    float64   // the sum of the weights of larger k, which count as a mass of P at infinity
	error  float64   // bounds the relative error of a weight
	// replaced makes Q the mixture of N(-k, noise^2), against which the likelihood ratio is L(t)/L(-t): other rows take
	// the place of the unit's. docs/proofs/bounds.md, "A sample in another's place", proves that this pair dominates.
	replaced bool
}

// newRowsLoss takes rate in (0, 1), or 1 for one row, and at least one row. Of several it leaves out the largest k,
// whose weights add up to at most tail.
func newRowsLoss(rate, noise float64, rows int, tail float64) *rowsLoss {
	r := &rowsLoss{noise: noise}
	if rows == 1 {
		r.weight, r.log = []float64{1 - rate, rate}, []float64{math.Log1p(-rate), float.Log(rate)}
		r.error = 0x1p-50
		return r
	}
	logRate, logRest := float.Log(rate), math.Log1p(-rate)
	all := make([]float64, rows+1)
	binomial := 0.0
	for k := range all {
		if k > 0 {
			binomial += math.Log(float64(rows-k+1) / float64(k))
		}
		all[k] = binomial + float64(k)*logRate + float64(rows-k)*logRest
	}
	// The logarithm of a weight for at most k rows is a rounded sum of k+2 rounded terms: the binomial coefficient's,
	// each at most log rows, and the terms of the rates.
	errorUpTo := func(k int) float64 {
		largest := float64(k)*(math.Abs(logRate)+math.Log(float64(rows))) + float64(rows)*math.Abs(logRest)
		return float64(k+4) * (largest + 4) * 0x1p-52
	}
	last := rows
	for cut := 0.0; last > 1; last-- {
		if cut += math.Exp(all[last]) * (1 + errorUpTo(last) + 0x1p-30); !(cut <= tail) {
			break
		}
		r.cut = cut
	}
	r.error = errorUpTo(last)
	r.log = all[:last+1]
	for _, l := range r.log {
		r.weight = append(r.weight, math.Exp(l))
	}
	return r
}

func (r *rowsLoss) exponent(k int, t float64) float64 {
	x := float64(k) / r.noise
	return x * (t - x/2)
}

// at returns the loss at t, its slope, and a bound on the loss's error.
func (r *rowsLoss) at(t float64) (loss, slope, error float64) {
	loss, slope, error = r.one(t)
	if r.replaced {
		other, more, off := r.one(-t)
		loss, slope, error = loss-other, slope+more, error+off+0x1p-52*math.Abs(loss-other)
	}
	return loss, slope, error
}

// one returns log L(t), its slope, and a bound on its error.
func (r *rowsLoss) one(t float64) (loss, slope, error float64) {
	const ulps = 0x1p-49
	// Near L = 1 the loss is log1p of the sum of w_k (e^{x_k} - 1), as the weights sum to 1.
	y, sum, touched := 0.0, 0.0, 0.0
	top := r.log[0]
	for k := 1; k < len(r.weight); k++ {
		top = math.Max(top, r.log[k]+r.exponent(k, t))
	}
	near := top < 300
	if near {
		for k := 1; k < len(r.weight); k++ {
			if x := r.exponent(k, t); r.log[k]+math.Max(x, 0) > -80 {
				y += r.weight[k] * math.Expm1(x)
			}
		}
		near = y > -0.5
	}
	if near {
		loss = math.Log1p(y)
	} else {
		for k := range r.weight {
			if x := r.log[k] + r.exponent(k, t) - top; x > -80 {
				sum += math.Exp(x)
			}
		}
		loss = top + math.Log(sum)
	}
	// The error of each exponent and weight counts by its share of L, and so does the error of 1 in expm1.
	for k := 1; k < len(r.weight); k++ {
		x, step := r.exponent(k, t), float64(k)/r.noise
		if r.log[k]+math.Max(x, 0)-loss < -80 { // all of them together are below a rounding
			continue
		}
		share := math.Exp(r.log[k] + x - loss)
		slope += share * step
		size := math.Abs(step*t) + step*step + 2
		touched += (share + math.Exp(r.log[k]-loss)) * (ulps*(size+math.Abs(r.log[k])) + r.error)
	}
	error = touched + ulps*math.Abs(loss) + 2*(r.cut+float64(len(r.log))*1e-34)*math.Exp(-loss)
	if !near {
		error += r.error + ulps*(math.Abs(top)+float64(len(r.weight)))
	}
	return loss, slope, error
}

// inverse returns a t at which the loss is about l, or -Inf if the loss is larger everywhere, and the loss there with
// its error. Callers allow for the difference. The search begins at near, if near is finite.
func (r *rowsLoss) inverse(l, near float64) (t, loss, error float64) {
	if r.replaced {
		return r.inverseReplaced(l, near)
	}
	if len(r.log) == 2 {
		t, error = sampledBorder(r.weight[1], r.noise, l)
		return t, l, error
	}
	if !(l > r.log[0]) {
		return math.Inf(-1), r.log[0], 0
	}
	// The loss is convex in t, as the logarithm of a sum of exponentials. So Newton's steps end above the solution,
	// and then come down to it.
	t = near
	for range 8 {
		v, slope, error := r.at(t)
		if math.Abs(v-l) <= error {
			return t, v, error
		}
		if t -= (v - l) / slope; math.IsNaN(t) || math.IsInf(t, 0) {
			break
		}
	}
	high := r.reaches(l)
	for range 200 {
		v, slope, error := r.at(high)
		next := high - (v-l)/slope
		if !(next < high) || math.Abs(v-l) <= error {
			break
		}
		high = next
	}
	loss, _, error = r.at(high)
	return high, loss, error
}

// reaches returns a t at which log L is at least l, because L is at least every term of its sum.
func (r *rowsLoss) reaches(l float64) float64 {
	high := math.Inf(1)
	for k := 1; k < len(r.log); k++ {
		step := float64(k) / r.noise
		high = math.Min(high, (l-r.log[k])/step+step/2)
	}
	return high + 1e-9*(1+math.Abs(high))
}

// inverseReplaced is inverse for log L(t) - log L(-t), which is odd and at least log L(t) for t >= 0. It isn't convex,
// so Newton's steps that leave the bracket become bisections.
func (r *rowsLoss) inverseReplaced(l, near float64) (t, loss, error float64) {
	if l < 0 {
		t, loss, error = r.inverseReplaced(-l, -near)
		return -t, -loss, error
	}
	low, high := 0.0, math.Max(0, r.reaches(l))
	for t = math.Max(low, math.Min(near, high)); ; {
		var slope float64
		loss, slope, error = r.at(t)
		if math.Abs(loss-l) <= error || !(high-low > 0x1p-50*high) {
			return t, loss, error
		}
		if loss < l {
			low = t
		} else {
			high = t
		}
		if t -= (loss - l) / slope; !(low < t && t < high) {
			t = low + (high-low)/2
		}
	}
}

// above returns P's mass above t.
func (r *rowsLoss) above(t float64) float64 {
	total := 0.0
	for k, w := range r.weight {
		total += w * normalBelow(float64(k)/r.noise-t)
	}
	return total
}

// below returns P's mass below t.
func (r *rowsLoss) below(t float64) float64 {
	total := 0.0
	for k, w := range r.weight {
		total += w * normalBelow(t-float64(k)/r.noise)
	}
	return total
}

// oppositeBelow returns Q's mass below t.
func (r *rowsLoss) oppositeBelow(t float64) float64 {
	if r.replaced {
		return r.above(-t)
	}
	return normalBelow(t)
}

// oppositeAbove returns Q's mass above t.
func (r *rowsLoss) oppositeAbove(t float64) float64 {
	if r.replaced {
		return r.below(-t)
	}
	return normalBelow(-t)
}

// limit returns a t above which P has a mass of about the tail of a normal distribution beyond reach. It is a choice,
// not a bound.
func (r *rowsLoss) limit(reach float64) float64 {
	tail := normalBelow(-reach)
	low, high := reach, reach+float64(len(r.weight)-1)/r.noise
	for range 60 {
		if mid := low + (high-low)/2; r.above(mid) > tail {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// grid returns the masses of P and Q. It splits each cell's mass between the cell's two grid points so that P and Q
// keep their masses. Outcomes beyond reach standard deviations of both go to infinity.
//
// With phi the standard normal density, the mass of P at the upper end of the cell from a to b is the integral of phi
// (L - L(a))/(1 - e^-step), and at the lower end the integral of phi e^-step (L(b) - L)/(1 - e^-step). These are sums
// over k of w_k e^{x_k(a)} times the integral of phi(t) (e^{k(t-a)/noise} - 1), and of w_k e^{x_k(b)} times that of
// phi(t) (1 - e^{k(t-b)/noise}): nothing cancels. If rows are replaced, with M(t) = L(-t), the integrals are of phi (L
// - L(a) + e^{loss(a)} (M(a) - M)) and phi e^-step (L(b) - L + e^{loss(b)} (M - M(b))): the new terms are the same
// integrals over the mirrored cell, with their roles exchanged.
//
// The integrals are from border to border in floats, whose losses aren't exactly the grid points: a cell's masses are
// raised by its borders' errors, see [borderSlack], and by the weights', since every term has a weight as a factor.
func (r *rowsLoss) grid(on Grid, reach float64) (*lossGrid, error) {
	step := on.step
	limit := r.limit(reach)
	first := -reach // below it Q's mass is negligible
	if r.replaced {
		first = -limit
	}
	lowest, _, _ := r.at(first)
	highest, _, _ := r.at(limit)
	g, err := newLossGrid(on, lowest, highest)
	if err != nil {
		return nil, err
	}
	n := len(g.p) - 1
	whole := -math.Expm1(-step)
	border := func(i int, near float64) (t, error float64) {
		l := float64(g.low+i) * step
		t, at, off := r.inverse(l, near)
		if math.IsInf(t, -1) {
			return t, 0x1p-50 * math.Abs(l)
		}
		error = math.Abs(at-l) + off + 0x1p-50*math.Abs(l)
		g.shift = math.Max(g.shift, error)
		return t, error
	}
	up := func(e, f float64) float64 { return borderSlack(e, f, step) * (1 + 2*r.error) }
	from, fromError := border(0, first)
	at := 0
	if math.IsInf(from, -1) {
		// Every loss is above log w_0, which lies between the first two points: the first cell holds all outputs up to
		// the next border, and its e^loss(a) is the grid point's.
		to, toError := border(1, first)
		if math.IsInf(to, -1) { // by rounding; another grid has other points
			return nil, ErrTooFine
		}
		begin, end := math.Min(to, -reach), math.Min(to, limit)
		start := float64(g.low) * step
		gap := r.weight[0] * (0x1p-49*(math.Abs(start)+math.Abs(r.log[0])) - math.Expm1(start-r.log[0]))
		upper, lower := math.Max(0, gap)*normalBelow(to), 0.0
		for k := 1; k < len(r.weight); k++ {
			upper += r.weight[k] * normalBelow(to-float64(k)/r.noise)
			_, part := cellIntegrals(begin, begin, end, to, r.noise/float64(k), 0)
			part += normalBelow(begin)
			if to > limit {
				part += normalBelow(-limit)
			}
			lower += math.Exp(r.log[k]+r.exponent(k, to)-step) * part
		}
		g.p[1] += up(fromError, toError) * upper / whole
		g.p[0] += up(fromError, toError) * lower / whole
		from, fromError, at = to, toError, 1
	} else {
		// P's mass below the grid goes to the lowest point.
		g.p[0] = r.below(from) * up(fromError, 0)
		g.qInf = r.oppositeBelow(from)
	}
	if r.replaced { // a mass of Q at infinity too
		g.qInf = g.qInf*(1+r.error) + r.cut
	}
	for from < limit && at < n {
		to, toError := border(at+1, from)
		to = math.Max(from, to)
		raised := up(fromError, toError)
		begin, end := math.Max(from, math.Min(to, first)), math.Min(to, limit)
		loss := float64(g.low+at) * step
		upper, lower := 0.0, 0.0
		for k := 1; k < len(r.weight); k++ {
			more, less := cellIntegrals(from, begin, end, to, r.noise/float64(k), r.log[k]+r.exponent(k, from))
			across := math.Exp((to - from) * float64(k) / r.noise)
			upper += more
			lower += less * across
			if r.replaced {
				more, less := cellIntegrals(-to, -end, -begin, -from, r.noise/float64(k), r.log[k]+r.exponent(k, -to))
				upper += less * across * math.Exp(loss)
				lower += more * math.Exp(loss+step)
			}
		}
		if begin > from { // a tail too long to integrate: all of it counts at both ends
			g.p[at+1] += raised * r.below(begin)
			g.p[at] += raised * math.Exp(loss) * r.oppositeBelow(begin)
		}
		g.p[at+1] += raised * upper / whole
		g.p[at] += raised * lower * math.Exp(-step) / whole
		if to > limit {
			from = limit
			break
		}
		from, fromError = to, toError
		at++
	}
	// Q's mass above goes to the highest point below it.
	g.p[at] += math.Exp(float64(g.low+at)*step) * r.oppositeAbove(from) * up(fromError, 0)
	g.pInf = r.above(from)*(1+r.error) + r.cut
	if g.shift > math.Min(step, 1)*largestShift {
		return nil, ErrTooWide // losses are lost in rounding
	}
	last := len(r.weight) - 1
	return g.raised(massRounding(limit, float64(last)/r.noise, slices.Min(r.log[1:])))
}

// variance estimates the variance of the loss halfway between P and Q, by quadrature. It is only used to choose grids,
// so its error can make a bound looser but not wrong.
func (r *rowsLoss) variance() float64 {
	const reach = 12
	limit, low := r.limit(reach), float64(-reach)
	if r.replaced {
		low = -limit
	}
	return halfwayVariance(low, limit-low, func(t float64) (loss, halfway float64) {
		loss, _, _ = r.at(t)
		if halfway = loss / 2; r.replaced {
			other, _, _ := r.one(-t)
			halfway += other
		}
		return loss, halfway
	})
}

// RowsVariance estimates the variance of one step's loss halfway between P and Q.
func RowsVariance(rate, noise float64, rows int) float64 {
	rate, noise, rows = clampRows(rate, noise, rows)
	return newRowsLoss(rate, noise, rows, 1e-20).variance()
}

// clampRows moves a rate near 0 or 1 to the end, upwards, and turns rows that are all sampled into one.
func clampRows(rate, noise float64, rows int) (float64, float64, int) {
	if rate = math.Max(rate, leastRate); rate > mostRate {
		return 1, noise / float64(rows) * (1 - 0x1p-50), 1
	}
	return rate, noise, rows
}

// Rows returns a pair, on a grid of the given step, for count runs of a Gaussian mechanism with the given sampling rate
// and noise multiplier, with any of a unit's rows against none of them, or against others in their place if replaced.
// It composes them on a grid of their own that is finer by an integer factor. each is the work, in products of two
// masses for each mass of the result; it is 0 if rate or count is 0.
func Rows(g Grid, rate, noise float64, rows, count int, replaced bool) (d *Pair, each int, err error) {
	if rate == 0 || count == 0 {
		return Neutral(g), 0, nil
	}
	if noise == 0 {
		return nil, 0, ErrTooWide
	}
	rate, noise, rows = clampRows(rate, noise, rows)
	if rate == 1 { // count Gaussians are one with less noise
		noise *= (1 - 0x1p-50) / math.Sqrt(float64(count)) // rounded down
		if count = 1; replaced {
			noise, replaced = noise/2, false
		}
	}
	r := newRowsLoss(rate, noise, rows, g.tail()/float64(count))
	r.replaced = replaced
	return composedSteps(r.grid, r.variance, g, count)
}
