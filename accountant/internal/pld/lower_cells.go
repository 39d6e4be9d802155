package pld

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// lossCells are the cells of a mechanism's outcomes between the points of a grid, by ascending loss: cell 0 holds the
// outcomes below the first point, cell i those between the points i-1 and i, and the last cell those above the last
// point. The loss at point i is base + i step, off by up to shift. Outcomes that are in no cell are left out.
//
// For the cell's masses p and q, up[i] is p - q e^l with the loss l at its lower end, and down[i] is q e^l - p with the
// loss l at its upper end, up to a factor that up and down at one point share. Both are exact for the cell's true ends,
// up to a relative error of slack.
type lossCells struct {
	Grid
	base, shift, slack float64
	mass, opposite     []float64 // P's and Q's masses, rounded down
	up, down           []float64
	below              float64 // missing in down[0]; a mirror leaves its outcomes out of up
	bounded            bool    // no loss is below base - step
}

// stepCells returns the cells of one step.
func stepCells(rate, noise float64, rows int, g Grid, reach float64) (*lossCells, error) {
	step := g.step
	// weights and their logarithms, for k >= 1
	of := newRowsLoss(rate, noise, rows, -1) // leaves out none
	logs, limit, weightError := of.log[1:], of.limit(reach), of.error
	least := of.log[0]
	lowest, _, _ := of.at(-reach)
	highest, _, _ := of.at(limit)
	c := &lossCells{Grid: g}
	border := func(l, near float64) float64 {
		t, at, error := of.inverse(l, near)
		c.shift = math.Max(c.shift, error+math.Abs(at-l)+0x1p-50*math.Abs(l))
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
	// The integral over the outputs from begin to t.
	belowPoint := func(t float64) (down, begin float64) {
		begin = math.Min(t, -reach) - 1
		for i, log := range logs {
			k := float64(i + 1)
			_, less := cellIntegrals(begin, begin, t, t, noise/k, log+k/noise*(t-k/noise/2))
			down += less
		}
		return down, begin
	}
	// The first point's loss is the mean loss of the outputs below it and half of the outputs in the next cell.
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
	// See borderSlack: the cells' masses are divided by the distance of its points, which is off by up to twice the
	// shift.
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

// fused returns masses, first at one more point below the grid's points and then at the points, such that R is at most
// the mechanism's divergence.
//
// A share s_i of cell i goes to the point above it and the rest to the point below. The mass that arrives at point k
// has a loss of at least the point's loss l if s_k (q_k e^l - p_k) <= (1-s_{k+1}) (p_{k+1} - q_{k+1} e^l). So outcomes
// are merged, and the merged outcome's loss is lowered to l if it isn't equal. They are equal nearly everywhere: shares
// follow from one end of the grid to the other, and errors fade where masses rise. So the shares follow from both ends
// to the middle, where their meeting point is the best one.
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
	for k := n - 1; k >= 0; k-- { // for any result of the search
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

// lowSide returns the side of masses with offset added to all losses.
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
// Mass beyond the window wraps around into it, and is subtracted there: by Chernoff's inequality a mass at a loss l has
// sqrt(p q) <= e^{M(u) - u l} for every tilt u, with M the logarithm of the tilted sum; u is the tilt of the window's
// edge. tilted bounds the error of sums of inputs that are rounded up by at most a factor, by which the result is
// lowered.
func (t *transform) lower(m moments, start, points int, tiltLow, tiltHigh float64) []float64 {
	const u = 0x1p-53
	window := float64(t.n) * m.g.step
	largest := math.Max(math.Abs(float64(start)), math.Abs(float64(start+points))) * m.g.step
	widest := math.Max(math.Abs(m.loss(0)), math.Abs(m.loss(len(m.g.p)-1)))
	slack := m.count*float64(len(m.g.p)+64)*2*u + 0x1p-30 // of a moment, and of the exponents below
	atLow, atHigh := m.at(tiltLow), m.at(tiltHigh)
	bounds, masses := make([]float64, points), make([]float64, points)
	for k, tilt := range m.tilts() {
		logSum := m.at(tilt) / m.count
		noise := t.tilted(m, tilt, logSum)
		logNoise := float.Log(noise)
		// Inputs were raised twice by at most this factor, and the result's exponents carry roundings.
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
