package pld

import (
	"errors"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/float"
)

// A Lower bounds a mechanism's divergences from below, for [NewWorstOrder]: in each direction by a side's R, which here
// is at most the divergence, at every real epsilon. It is made from the laws of one concrete mechanism: losses are
// lowered or averaged, and masses that are lost count nothing.
type Lower struct{ removal, addition *side }

// LowerNeutral returns the bound of a mechanism that ignores its data.
func LowerNeutral() *Lower {
	g := Grid{1, DeepestTail}
	return &Lower{neutralSide(g), neutralSide(g)}
}

// DeltaAt bounds the larger divergence from below.
func (d *Lower) DeltaAt(epsilon float64) float64 {
	epsilon = math.Min(epsilon, LargestLoss)
	return math.Max(math.Max(d.removal.below(epsilon), d.addition.below(epsilon)), -math.Expm1(epsilon)*(1-rounding))
}

// below is at most R(epsilon), which at may exceed.
func (s *side) below(epsilon float64) float64 {
	return s.at(epsilon+math.Abs(epsilon)*0x1p-48+s.lossError()) * (1 - rounding)
}

// lossError bounds the rounding of a loss.
func (s *side) lossError() float64 {
	return 0x1p-50 * math.Max(math.Abs(s.loss(0)), math.Abs(s.loss(len(s.mass)-1)))
}

// lowerPoints are the numbers of grid points in a standard deviation of one step's losses that are tried. Averaging
// losses over n points lowers their variance by up to a relative 1/(6 n^2).
var lowerPoints = []float64{64, 32, 16, 8, 4, 2, 1}

// LowerRows bounds count runs of a Gaussian mechanism with the given sampling rate and noise multiplier, for a unit
// with several rows, from below. The law is that of gradients in one direction: P = sum of w_k N(k, noise^2), with k ~
// Binomial(rows, rate), against Q = N(0, noise^2).
func LowerRows(tail, rate, noise float64, rows, count int) (*Lower, error) {
	if rate < leastRate || count == 0 {
		return LowerNeutral(), nil
	}
	if noise == 0 {
		return nil, ErrTooWide
	}
	if rate == 1 { // count Gaussians are one with less noise
		noise *= (1 + 0x1p-50) / math.Sqrt(float64(count)) // rounded up
		noise, rows, count = noise/float64(rows)*(1+0x1p-50), 1, 1
	} else if rate > mostRate { // sampling less costs less
		rate = mostRate
	}
	deviation := math.Sqrt(RowsVariance(rate, noise, rows))
	if count == 1 {
		deviation /= 4
	}
	if !(deviation > 0) {
		return nil, ErrTooWide
	}
	var err error
	for _, points := range lowerPoints {
		var d *Lower
		if d, err = lowerSteps(rate, noise, rows, count, NewGrid(deviation/points, tail)); !errors.Is(err, ErrTooFine) {
			return d, err
		}
	}
	return nil, err
}

func lowerSteps(rate, noise float64, rows, count int, g Grid) (*Lower, error) {
	c, err := stepCells(rate, noise, rows, g, g.reach(count))
	if err != nil {
		return nil, err
	}
	removal, err := c.side(count)
	if err != nil {
		return nil, err
	}
	addition, err := c.mirrored().side(count)
	return &Lower{removal, addition}, err
}

// lossCells are the cells of a mechanism's outcomes between the points of a grid, by ascending loss: cell 0 holds the
// outcomes below the first point, cell i those between the points i-1 and i, and the last cell those above the last
// point. The loss at point i is base + i step, off by up to shift. Outcomes that are in no cell are left out.
//
// up[i] is p - q e^l, with the cell's masses p and q and l the loss at its lower end, and down[i] is q e^l - p with l
// that at its upper end, but for a factor that the up and down at one point have in common. Both are exact for the
// cell's true ends, but for a relative error of slack.
type lossCells struct {
	Grid
	base, shift, slack float64
	mass, opposite     []float64 // P's and Q's masses, rounded down
	up, down           []float64
	below              float64 // what down[0] lacks; its outcomes are left out of up in a mirror
	bounded            bool    // no loss is below base - step
}

// stepCells returns the cells of one step.
func stepCells(rate, noise float64, rows int, g Grid, reach float64) (*lossCells, error) {
	step := g.step
	// weights and their logarithms, for k >= 1
	logs, limit, weightError := []float64{float.Log(rate)}, 1/noise+reach, 0x1p-48
	least := math.Log1p(-rate)
	lowest := sampledLoss(rate, stepLoss(noise, -reach))
	highest := sampledLoss(rate, stepLoss(noise, limit))
	var several *rowsLoss
	if rows > 1 {
		several = newRowsLoss(rate, noise, rows, -1) // leaves out none
		logs, limit, weightError = several.log[1:], several.limit(reach), several.error
		least = several.log[0]
		lowest, _, _ = several.at(-reach)
		highest, _, _ = several.at(limit)
	}
	c := &lossCells{Grid: g}
	border := func(l, near float64) float64 {
		var t, error float64
		if several == nil {
			t, error = sampledBorder(rate, noise, l)
		} else {
			var at float64
			t, at, error = several.inverse(l, near)
			error += math.Abs(at-l) + 0x1p-50*math.Abs(l)
		}
		c.shift = math.Max(c.shift, error)
		return t
	}
	integrals := func(from, begin, to float64) (up, down float64) {
		for i, log := range logs {
			k := float64(i + 1)
			x := k / noise * (from - k/noise/2)
			more, less := cellIntegrals(from, begin, to, to, noise/k, log+x)
			up, down = up+more, down+less*math.Exp((to-from)*k/noise)
		}
		return up, down
	}
	// The integral over all outputs below t, but for those below begin.
	belowPoint := func(t float64) (down, begin float64) {
		begin = math.Min(t, -reach) - 1
		for i, log := range logs {
			k := float64(i + 1)
			_, less := cellIntegrals(begin, begin, t, t, noise/k, log+k/noise*(t-k/noise/2))
			down += less
		}
		return down, begin
	}
	// The first point lies where outputs below it and half of those in the next cell have that loss in the mean.
	c.base = lowest + step
	if lowest-least < step {
		low, high := 0.0, 1.0
		for range 30 {
			x := (low + high) / 2
			t := border(least+x*step, -reach)
			next := border(least+(x+1)*step, t)
			down := 0.0
			if !math.IsInf(t, -1) {
				down, _ = belowPoint(t)
			}
			if up, _ := integrals(t, t, next); math.IsInf(t, -1) || 2*down < up {
				low = x
			} else {
				high = x
			}
		}
		c.base = least + high*step
		c.bounded = true
	}
	c.shift = 0
	n := math.Ceil((highest - c.base) / step)
	if !(n < mostBins) {
		return nil, ErrTooFine
	}
	if !(n > 0 && highest < LargestLoss && lowest > -LargestLoss) {
		return nil, ErrTooWide
	}
	from := border(c.base, -reach)
	if math.IsInf(from, -1) {
		return nil, ErrTooFine // by rounding; another grid has other points
	}
	down, begin := belowPoint(from)
	p, q := 0.0, normalBelow(from)
	tail := 0.0
	if rate < 1 {
		p = math.Exp(least) * q
	}
	for i, log := range logs {
		k := float64(i + 1)
		p += math.Exp(log) * normalBelow(from-k/noise)
		tail += math.Exp(log + k/noise*(from-k/noise/2))
	}
	c.add(p, q, 0, down)
	c.below = tail * normalBelow(begin) * (1 + 0x1p-30)
	largest := math.Abs(from)
	fade, whole := math.Exp(-step), -math.Expm1(-step)
	for i := 1.0; i <= n; i++ {
		to := math.Max(from, border(c.base+i*step, from))
		up, down := integrals(from, from, to)
		p := (up + fade*down) / whole
		// Q's mass, from the loss at the lower end.
		c.add(p, fade*(up+down)/whole*math.Exp(-(c.base+(i-1)*step)), up, down)
		largest, from = math.Max(largest, math.Abs(to)), to
	}
	if c.shift > math.Min(step, 1)*largestShift {
		return nil, ErrTooWide
	}
	kMax := float64(len(logs))
	c.slack = 0x1p-37 + weightError + 0x1p-48*kMax*(largest+kMax/noise)/noise
	// See borderSlack: the cells' masses are those of its points, and widths are off by up to twice the shift.
	lower := (1 - c.slack) / borderSlack(c.shift, c.shift, step)
	for i := range c.mass {
		c.mass[i] *= lower
		c.opposite[i] *= lower * (1 - 0x1p-40)
	}
	c.add(0, 0, 0, 0)
	return c, nil
}

func (c *lossCells) add(p, q, up, down float64) {
	c.mass, c.opposite = append(c.mass, p), append(c.opposite, q)
	c.up, c.down = append(c.up, up), append(c.down, down)
}

// mirrored returns the cells by the losses of Q against P.
func (c *lossCells) mirrored() *lossCells {
	n := len(c.mass)
	m := &lossCells{Grid: c.Grid, base: -(c.base + float64(n-2)*c.step), shift: c.shift, slack: c.slack}
	for i := n - 1; i >= 0; i-- {
		m.add(c.opposite[i], c.mass[i], c.down[i], c.up[i])
	}
	return m
}

// fused returns masses at the points, and first at one more point below them, such that R is at most the mechanism's
// divergence.
//
// A share s_i of cell i goes to the point above it and the rest to the point below. What arrives at point k has there
// at most as much of Q as the point's loss l says if s_k (q_k e^l - p_k) <= (1-s_{k+1}) (p_{k+1} - q_{k+1} e^l). Its
// outcomes have then been merged, and the loss of the merged outcome has been lowered to l, where the two aren't equal.
// They are equal nearly everywhere: shares follow from one end of the grid to the other, and errors fade where masses
// rise. So the shares follow from both ends to the middle, where their meeting point is the best one.
func (c *lossCells) fused() []float64 {
	n := len(c.mass) - 1
	down := make([]float64, n+1)
	for i := range down {
		down[i] = c.down[i] * (1 + 4*c.slack)
	}
	down[0] += c.below
	share := func(room, down float64) float64 {
		if !(room < down) {
			return 1
		}
		return room / down
	}
	fall, lost := make([]float64, n+1), make([]float64, n+2) // lost at points from k on
	for k := n - 1; k >= 0; k-- {
		room := (1 - fall[k+1]) * c.up[k+1]
		fall[k] = share(room, down[k])
		lost[k] = lost[k+1] + math.Max(0, room-fall[k]*down[k])
	}
	rise, first := make([]float64, n+1), make([]float64, n+1) // first is before the next cell has been seen
	rise[0] = 1
	best, least, before := 0, math.Inf(1), 0.0 // before is lost at points below k-1
	for k := range n {
		first[k] = rise[k]
		meet := math.Min(first[k], share((1-fall[k+1])*c.up[k+1], down[k]))
		total := before + math.Max(0, (1-fall[k+1])*c.up[k+1]-meet*down[k]) + lost[k+1]
		if k > 0 {
			total += math.Max(0, (1-meet)*c.up[k]-rise[k-1]*down[k-1])
		} else {
			total += (1 - meet) * c.mass[0] * c.step
		}
		if total < least {
			best, least = k, total
		}
		rise[k] = math.Min(rise[k], share(c.up[k+1], down[k]))
		if k > 0 {
			before += math.Max(0, (1-rise[k])*c.up[k]-rise[k-1]*down[k-1])
		} else {
			before += (1 - rise[0]) * c.mass[0] * c.step
		}
		if c.up[k+1] > 0 {
			rise[k+1] = math.Max(0, 1-rise[k]*down[k]/c.up[k+1])
		}
	}
	s := append(rise[:best+1:best+1], fall[best+1:]...)
	s[best] = first[best]
	s[n] = 0
	for k := n - 1; k >= 0; k-- { // whatever the search has found
		s[k] = math.Min(s[k], share((1-s[k+1])*c.up[k+1], down[k]))
	}
	masses := make([]float64, n+1)
	for k := range n {
		masses[k+1] = (s[k]*c.mass[k] + (1-s[k+1])*c.mass[k+1]) * (1 - 0x1p-50)
	}
	if c.bounded {
		masses[0] = (1 - s[0]) * c.mass[0] * (1 - 0x1p-50)
	}
	return masses
}

// side returns the fused cells composed with themselves count times.
func (c *lossCells) side(count int) (*side, error) {
	low := math.Floor(c.base / c.step)
	offset := float64(count) * (c.base - low*c.step - c.shift - 0x1p-49*(math.Abs(c.base)+c.step*float64(len(c.mass))))
	g := &lossGrid{Grid: c.Grid, low: int(low) - 1, p: c.fused()}
	if count == 1 {
		return lowSide(c.Grid, g.low, g.p, offset), nil
	}
	m := moments{g: g, count: float64(count)}
	lowest, tiltLow, high, tiltHigh := m.window()
	if !(high < LargestLoss && lowest > -LargestLoss && lowest < high) || count > mostComposed {
		return nil, ErrTooWide
	}
	first, last := math.Floor(lowest/c.step), math.Ceil(high/c.step)
	if !(last-first < mostTransform) {
		return nil, ErrTooFine
	}
	points := int(last-first) + 1
	p := newTransform(points).lower(m, int(first), points, tiltLow, tiltHigh)
	return lowSide(c.Grid, int(first), p, offset), nil
}

// lowSide returns the side of masses whose losses are all moved by offset.
func lowSide(g Grid, low int, mass []float64, offset float64) *side {
	for len(mass) > 1 && mass[len(mass)-1] == 0 {
		mass = mass[:len(mass)-1]
	}
	for len(mass) > 1 && mass[0] == 0 {
		mass, low = mass[1:], low+1
	}
	whole := math.Floor(offset / g.step)
	s := newSide(g, low+int(whole), mass, 0)
	s.offset = offset - whole*g.step
	return s
}

// lower is like power, for lower bounds of P's masses.
//
// What lies beyond the window falls back into it, and counts there for nothing: by Chernoff's inequality a mass at a
// loss l has sqrt(p q) <= e^{M(u) - u l} for every tilt u, M being the logarithm of the tilted sum; u is that of the
// window's edge. What tilted bounds is the error of sums of inputs that are rounded up by at most a factor, which the
// result is lowered by.
func (t *transform) lower(m moments, start, points int, tiltLow, tiltHigh float64) []float64 {
	const u = 0x1p-53
	window := float64(t.n) * m.g.step
	largest := math.Max(math.Abs(float64(start)), math.Abs(float64(start+points))) * m.g.step
	widest := math.Max(math.Abs(m.loss(0)), math.Abs(m.loss(len(m.g.p)-1)))
	slack := m.count*float64(len(m.g.p)+64)*2*u + 0x1p-30 // of a moment, with what the exponents below round off
	atLow, atHigh := m.at(tiltLow), m.at(tiltHigh)
	bounds, masses := make([]float64, points), make([]float64, points)
	for k, tilt := range m.tilts() {
		logSum := m.at(tilt) / m.count
		noise := t.tilted(m, tilt, logSum)
		logNoise := float.Log(noise)
		// Inputs were raised twice by this at most, and the exponents of the result carry roundings.
		up := 2*m.count*u*(4*(math.Abs(tilt)+0.5)*widest+2*math.Abs(logSum)+8) +
			(m.count*math.Abs(logSum)+(math.Abs(tilt)+1)*largest+8)*0x1p-50
		position := ((start % t.n) + t.n) % t.n
		above := atHigh - (tiltHigh-tilt)*window + slack - math.Log(-math.Expm1((tilt-tiltHigh)*window))
		below := atLow - (tilt-tiltLow)*window + slack - math.Log(-math.Expm1((tiltLow-tilt)*window))
		for j := range masses {
			l := float64(start+j) * m.g.step
			untilt := m.count*logSum - tilt*l
			if bound := untilt + logNoise; k == 0 || bound < bounds[j] {
				bounds[j] = bound
				v := math.Max(0, t.sum[position]-noise)*math.Exp(untilt+l/2) -
					(math.Exp(above-tiltHigh*l+l/2)+math.Exp(below-tiltLow*l+l/2))*(1+rounding)
				masses[j] = math.Max(0, v) * math.Max(0, 1-up-0x1p-48)
			}
			if position++; position == t.n {
				position = 0
			}
		}
	}
	return masses
}

// An outcome has a loss and the mass of P there.
type outcome struct{ loss, mass float64 }

// gathered returns outcomes as cells of a grid with at most the given number of points.
func gathered(outcomes []outcome, points, logTail float64) *lossCells {
	low, high := math.Inf(1), math.Inf(-1)
	sum, mean, square := 0.0, 0.0, 0.0
	for _, o := range outcomes {
		if o.mass > 0 {
			low, high = math.Min(low, o.loss), math.Max(high, o.loss)
			sum, mean, square = sum+o.mass, mean+o.mass*o.loss, square+o.mass*o.loss*o.loss
		}
	}
	deviation := math.Sqrt(math.Max(0, square/sum-mean/sum*mean/sum))
	c := &lossCells{Grid: Grid{math.Max(deviation/200, (high-low)/points), logTail}, base: low, slack: 0x1p-40}
	if !(c.step > 0) {
		c.step = 1
	}
	n := int(math.Ceil((high-low)/c.step)) + 3
	for range n {
		c.add(0, 0, 0, 0)
	}
	for _, o := range outcomes {
		if o.mass == 0 {
			continue
		}
		i := int((o.loss - low) / c.step)
		error := 0x1p-48 * (math.Abs(o.loss) + math.Abs(low) + c.step)
		x := o.loss - (low + float64(i)*c.step) // above point i
		c.mass[i+1] += o.mass * (1 - 0x1p-40)
		c.up[i+1] += o.mass * math.Max(0, -math.Expm1(error-x))
		c.down[i+1] += o.mass * math.Max(0, math.Expm1(c.step-x+error))
	}
	return c
}

func (s *side) outcomes() []outcome {
	out := make([]outcome, len(s.mass))
	for i, m := range s.mass {
		out[i] = outcome{s.loss(i) - s.lossError(), m}
	}
	return out
}

// gatheredPoints is the number of grid points of a combination of bounds.
const gatheredPoints = 1 << 15

// LowerUnion bounds a draw of one of several mechanisms, with public probabilities, whose outcome says which was drawn:
// the divergence is the mean of theirs. The probabilities' sum is at most 1.
func LowerUnion(probabilities []float64, all []*Lower) (*Lower, error) {
	combined := func(of func(*Lower) *side) (*side, error) {
		var outcomes []outcome
		logTail := of(all[0]).logTail
		for i, d := range all {
			for _, o := range of(d).outcomes() {
				outcomes = append(outcomes, outcome{o.loss, o.mass * probabilities[i] * (1 - 0x1p-50)})
			}
		}
		return gathered(outcomes, gatheredPoints, logTail).side(1)
	}
	removal, err := combined(func(d *Lower) *side { return d.removal })
	if err != nil {
		return nil, err
	}
	addition, err := combined(func(d *Lower) *side { return d.addition })
	return &Lower{removal, addition}, err
}

// LowerSampled bounds a mechanism on a Poisson sample of the given rate. With the sample the law is (1-rate) Q + rate
// P.
func LowerSampled(d *Lower, rate float64) (*Lower, error) {
	const most, restSlack = 8000, 2 * restError / leastRest
	sampled := func(s, opposite *side, mirror bool) (*side, error) {
		p, q, rest := s.lowLaw(opposite, most, leastRest)
		outcomes := make([]outcome, len(p))
		for i, p := range p {
			l, down := math.Max(-LargestLoss, float.Log(p/q[i])-0x1p-46), 1-0x1p-40
			if i == rest {
				down -= restSlack
			}
			if mirror {
				l = -sampledLoss(rate, -l)
				outcomes[i] = outcome{l - 0x1p-48*(1+math.Abs(l)), p * down}
			} else {
				l = sampledLoss(rate, l)
				l -= 0x1p-48 * (1 + math.Abs(l))
				outcomes[i] = outcome{l, q[i] * math.Exp(l) * down}
			}
		}
		return gathered(outcomes, gatheredPoints, s.logTail).side(1)
	}
	removal, err := sampled(d.removal, d.addition, false)
	if err != nil {
		return nil, err
	}
	addition, err := sampled(d.addition, d.removal, true)
	return &Lower{removal, addition}, err
}

// LowerComposed bounds two mechanisms, one after the other, whose outcomes are independent.
func LowerComposed(d, e *Lower) (*Lower, error) {
	const most = 2000 // outcomes of each
	combined := func(x, y *side) (*side, error) {
		a, b := x.coarse(most), y.coarse(most)
		outcomes := make([]outcome, 0, len(a)*len(b))
		for _, v := range a {
			for _, w := range b {
				outcomes = append(outcomes, outcome{v.loss + w.loss, v.mass * w.mass * (1 - 0x1p-50)})
			}
		}
		return gathered(outcomes, gatheredPoints, math.Max(x.logTail, y.logTail)).side(1)
	}
	removal, err := combined(d.removal, e.removal)
	if err != nil {
		return nil, err
	}
	addition, err := combined(d.addition, e.addition)
	return &Lower{removal, addition}, err
}

// coarse returns the side's outcomes, merged to at most the given number.
func (s *side) coarse(most int) []outcome {
	out := s.outcomes()
	if len(out) <= most {
		return out
	}
	c := gathered(out, float64(most-3), s.logTail)
	merged, _ := c.side(1)
	return merged.outcomes()
}

// Times bounds count runs, one after another, whose outcomes are independent.
func (d *Lower) Times(count int) (total *Lower, err error) {
	total = LowerNeutral()
	for power, first := d, true; count > 0; count /= 2 {
		if count%2 == 1 {
			if first {
				total, first = power, false
			} else if total, err = LowerComposed(total, power); err != nil {
				return nil, err
			}
		}
		if count > 1 {
			if power, err = LowerComposed(power, power); err != nil {
				return nil, err
			}
		}
	}
	return total, nil
}

const (
	// restError bounds the error of the rest of lowLaw. leastRest is the least such mass where
	// a relative error matters.
	leastRest, restError = 0x1p-26, 0x1p-50
)

// lowLaw returns two laws by ascending loss, with at most about count outcomes, the divergence of which is at
// most the mechanism's in the direction of s. mirror bounds the other direction. Outcome rest holds what the
// others leave of both laws. It is rounded to less of P and more of Q, by restError; its masses are above least,
// but for restError, unless it is alone.
//
// Proof. Above a loss a all masses are those of s, and below a loss b those of mirror. The rest's loss r is from
// b to a. At x = e^epsilon above e^r only s's masses count, which are a bound. Below it the divergence of these
// laws is 1 - x and the sum of (x q - p)_+ over the masses of mirror, where x times mirror's R at 1/x is a
// bound. If the rest is rounded, the divergence of the laws falls.
func (s *side) lowLaw(mirror *side, count int, least float64) (p, q []float64, rest int) {
	var sumP, sumQ accurate
	// outcome returns the own and the other law's mass of outcome k.
	outcome := func(s *side, k int) (own, other float64) {
		return s.mass[k], s.mass[k] * math.Exp(s.lossError()-s.loss(k)) * (1 + 0x1p-48)
	}
	top, highest := len(s.mass), math.Inf(1)
	for ; top > 0; top-- {
		p, q := outcome(s, top-1)
		l := s.loss(top - 1)
		restP, restQ := 1-sumP.plus(p), 1-sumQ.plus(q)
		if !(l > 0 && restP > least && restQ > least && restP <= math.Exp(l)*restQ) {
			break
		}
		sumP.add(p)
		sumQ.add(q)
		highest = l
	}
	bottom := len(mirror.mass)
	for ; bottom > 0; bottom-- {
		q, p := outcome(mirror, bottom-1)
		ratio := math.Exp(-mirror.loss(bottom - 1))
		restP, restQ := 1-sumP.plus(p), 1-sumQ.plus(q)
		lessP, moreQ := restP-restError, restQ+restError
		if !(restP > least && restQ > least && lessP >= ratio*moreQ && restP <= math.Exp(highest)*restQ) {
			break
		}
		sumP.add(p)
		sumQ.add(q)
	}
	restP, restQ := math.Max(0, 1-sumP.value()-restError), 1-sumQ.value()+restError
	q, p = mirror.merged(bottom, count, outcome)
	slices.Reverse(p)
	slices.Reverse(q)
	rest = len(p)
	highP, highQ := s.merged(top, count, outcome)
	return append(append(p, restP), highP...), append(append(q, restQ), highQ...), rest
}

// merged returns the outcomes from the given one on, merged to at most about count.
func (s *side) merged(from, count int, of func(s *side, k int) (own, other float64)) (own, other []float64) {
	at := s.cellLosses(count)
	n := 0
	var sumOwn, sumOther accurate
	put := func() {
		if sumOwn.value() > 0 {
			own, other = append(own, sumOwn.value()), append(other, sumOther.value())
		}
		sumOwn, sumOther = accurate{}, accurate{}
	}
	for i := from; i < len(s.mass); i++ {
		for n < len(at) && i >= at[n] {
			put()
			n++
		}
		x, y := of(s, i)
		sumOwn.add(x)
		sumOther.add(y)
	}
	put()
	return own, other
}

// accurate is a sum with an error of about one rounding.
type accurate struct{ sum, rest float64 }

func (a *accurate) add(x float64) {
	t := a.sum + x
	if a.sum >= x {
		a.rest += (a.sum - t) + x
	} else {
		a.rest += (x - t) + a.sum
	}
	a.sum = t
}

func (a accurate) plus(x float64) float64 { a.add(x); return a.value() }
func (a accurate) value() float64         { return a.sum + a.rest }
