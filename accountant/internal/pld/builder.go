package pld

import "math"

// A builder collects the masses of a side.
type builder struct {
	Grid
	low  int
	mass []float64
	inf  float64
	// terms is the largest number of terms that add up to one mass, if that is more than the number of masses.
	terms int
}

// newBuilder returns a builder for losses from low steps to high steps.
func newBuilder(g Grid, low, high float64) (*builder, error) {
	if !(high*g.step < LargestLoss && low*g.step > -LargestLoss) { // NaN too
		return nil, ErrTooWide
	}
	if !(high-low < 2*mostPoints) { // twice as many, as trimming may still leave few enough
		return nil, ErrTooFine
	}
	return &builder{Grid: g, low: int(low), mass: make([]float64, int(high-low)+1)}, nil
}

// put adds a mass at a loss between grid points. It splits the mass between the two points around the loss so that both
// distributions keep their masses: the likelihood ratio is spread around its mean, and no divergence gets smaller
// ("connect the dots": Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, 2022). If the loss may be off by up to error,
// put uses its maximum.
func (b *builder) put(loss, error, mass float64) {
	loss += error + math.Abs(loss)*0x1p-49
	k := math.Floor(loss / b.step)
	x := loss - k*b.step
	if x >= b.step {
		k, x = k+1, x-b.step
	}
	upper, lower := split(math.Max(0, x), b.step)
	i := int(k) - b.low
	b.mass[i] += lower * mass
	if upper > 0 {
		b.mass[i+1] += upper * mass
	}
}

// split returns the shares of a mass at a distance x in [0, step] above a grid point: upper goes to the next point,
// lower to that point.
func split(x, step float64) (upper, lower float64) {
	whole := -math.Expm1(-step)
	return -math.Expm1(-x) / whole, math.Exp(-x) * -math.Expm1(x-step) / whole
}

// side returns the masses that were put, raised by more than their rounding. It trims negligible tails: masses at the
// top go to infinity, masses at the bottom to the lowest loss kept. Both only raise R.
func (b *builder) side() (*side, error) {
	slack := roundingOf(max(len(b.mass), b.terms))
	tail := b.tail()
	top, bottom := len(b.mass)-1, 0
	for t := b.mass[top]; top > 0 && t <= tail; t += b.mass[top] {
		top--
	}
	for _, m := range b.mass[top+1:] {
		b.inf += m
	}
	// The other distribution's masses count too: sampling makes them matter.
	moved := 0.0
	for p, q := 0.0, 0.0; bottom < top; bottom++ {
		p += b.mass[bottom]
		q += b.mass[bottom] * math.Exp(-float64(b.low+bottom)*b.step)
		if !(p <= tail && q <= tail) {
			break
		}
		moved = p
	}
	mass := b.mass[bottom : top+1]
	if len(mass) > mostPoints {
		return nil, ErrTooFine
	}
	mass[0] += moved
	for i := range mass {
		mass[i] *= 1 + slack
	}
	s := newSide(b.Grid, b.low+bottom, mass, b.inf*(1+slack))
	// Every divergence is 1 at minus infinity. A side below 1 there, or NaN, has lost masses to rounding and is no
	// bound.
	if !(s.total() >= 1) {
		return nil, ErrTooWide
	}
	return s, nil
}
