package pld

import (
	"math"
	"sync"

	"github.com/dptrain/dptrain/internal/float"
)

const (
	// mostTransform is the maximum size of a Fourier transform, mostComposed the maximum count that it composes: beyond
	// that its error bounds would be useless.
	mostTransform = 1 << 20
	mostComposed  = 1 << 32
	// Transforms is the work of the transforms of a composition, in products of two masses for each mass of the result.
	Transforms = 64
)

// A composition is a lossGrid composed with itself, on a window of losses from first to last in units of a grid that is
// coarser by the factor coarsen. p and q hold the masses of P and Q at the fine points of the window. pAbove bounds P's
// mass above it, qBelow Q's mass below it; the other distribution has at most e^-|loss| times as much there.
type composition struct {
	Grid           // the fine one
	coarsen        int
	first, last    int
	p, q           []float64
	pAbove, qBelow float64
}

func (c *composition) grid() Grid { return c.by(c.step * float64(c.coarsen)) }

// removal returns the side of P's masses on the coarse grid. inf is P's mass at infinity, and losses may be higher by
// shift.
func (c *composition) removal(inf, shift float64) (*side, error) {
	below := c.qBelow * math.Exp(float64(c.first)*c.grid().step)
	return c.side(c.p, c.first, below, inf+c.pAbove, shift)
}

// addition returns the side of Q's masses on the coarse grid, where losses run the other way.
func (c *composition) addition(inf, shift float64) (*side, error) {
	n := len(c.q)
	q := make([]float64, n)
	for i, v := range c.q {
		q[n-1-i] = v
	}
	above := c.pAbove * math.Exp(-float64(c.last)*c.grid().step)
	return c.side(q, -c.last, above, inf+c.qBelow, shift)
}

func (c *composition) side(fine []float64, first int, below, inf, shift float64) (*side, error) {
	if shift > c.step {
		return nil, ErrTooWide // see rowsLoss.grid
	}
	cells := (len(fine) - 1) / c.coarsen
	b, err := newBuilder(c.grid(), float64(first), float64(first+cells+1))
	if err != nil {
		return nil, err
	}
	b.mass[0], b.inf, b.terms = below, inf, 2*c.coarsen
	upper, lower := make([]float64, c.coarsen), make([]float64, c.coarsen)
	for j := range upper {
		upper[j], lower[j] = split(math.Min(float64(j)*c.step+shift, c.grid().step), c.grid().step)
	}
	for i, m := range fine {
		k, j := i/c.coarsen, i%c.coarsen
		b.mass[k] += m * lower[j]
		b.mass[k+1] += m * upper[j]
	}
	return b.side()
}

// power composes g with itself count times by Fourier transform.
//
// A plain transform has errors of about 1e-16 times count, everywhere, which would drown the tails. So the masses are
// first tilted, to sqrt(p q) e^{t l}. Each of a few tilts t puts another part of the losses at the centre, and every
// outcome is taken from the tilt with the smallest error bound there, and raised by that bound. The window is cyclic:
// mass beyond it falls back into it, which only adds. Chernoff's inequality bounds that mass, which also counts at
// infinity.
func (g *lossGrid) power(count, coarsen int) (*composition, error) {
	if count > mostComposed {
		return nil, ErrTooWide
	}
	m := moments{g: g, count: float64(count)}
	low, tiltLow, high, tiltHigh := m.window()
	if !(high < LargestLoss && low > -LargestLoss && low < high) {
		return nil, ErrTooWide
	}
	c := &composition{Grid: g.Grid, coarsen: coarsen}
	step := c.grid().step
	first, last := math.Floor(low/step), math.Ceil(high/step)
	if !(last-first <= mostPoints && (last-first)*float64(coarsen) < mostTransform) {
		return nil, ErrTooFine
	}
	c.first, c.last = int(first), int(last)
	// The rounding of one sum over the masses, times count.
	slack := m.count * float64(len(g.p)+64) * 0x1p-52
	c.pAbove = math.Exp(m.at(tiltHigh) - (tiltHigh-0.5)*last*step + slack)
	c.qBelow = math.Exp(m.at(tiltLow) - (tiltLow+0.5)*first*step + slack)
	points := (c.last-c.first)*coarsen + 1
	newTransform(points).power(m, c, points, m.tilts())
	return c, nil
}

// once returns the composition of one.
func (g *lossGrid) once() *composition {
	return &composition{Grid: g.Grid, coarsen: 1, first: g.low, last: g.low + len(g.p) - 1, p: g.p, q: g.opposite()}
}

// opposite returns Q's masses.
func (g *lossGrid) opposite() []float64 {
	q := make([]float64, len(g.p))
	for i, p := range g.p {
		q[i] = p * math.Exp(-float64(g.low+i)*g.step)
	}
	return q
}

// composedInf bounds the mass at infinity of count composed mechanisms, each with inf there and the given finite
// masses: the sum over k < count of inf total^k, where total is the sum of the finite masses.
func composedInf(inf float64, finite []float64, count int) float64 {
	if inf == 0 {
		return 0
	}
	total := 0.0
	for _, p := range finite {
		total += p
	}
	n := float64(count)
	return n * inf * math.Exp((n-1)*math.Max(0, float.Log(total)+rounding))
}

// Power returns a pair that dominates count adaptive runs of a mechanism that d dominates.
func (d *Pair) Power(count int) (*Pair, error) {
	switch count {
	case 0:
		return Neutral(d.removal.Grid), nil
	case 1:
		return d, nil
	}
	return onBoth(func(s []*side) (*side, error) {
		g := &lossGrid{Grid: s[0].Grid, low: s[0].low, p: s[0].mass}
		c, err := g.power(count, 1)
		if err != nil {
			return nil, err
		}
		return c.removal(composedInf(s[0].inf, g.p, count), 0)
	}, d)
}

// atOnce calls functions that don't depend on each other, each in a goroutine of its own. Their results are the same in
// any order.
func atOnce(calls ...func()) {
	var all sync.WaitGroup
	for _, call := range calls[1:] {
		all.Go(call)
	}
	calls[0]()
	all.Wait()
}
