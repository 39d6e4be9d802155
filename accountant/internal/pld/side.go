package pld

import "math"

// A side bounds the hockey-stick divergences of one direction. It is a measure on a grid of privacy losses: mass[i] lies
// at loss l = (low+i)·step, and inf where the other distribution has nothing. What it stands for is the function
//
//	R(epsilon) = inf + sum over l > epsilon of mass (1 - e^{epsilon - l}),
//
// which is piecewise linear in e^epsilon between grid points, and the one promise is that at every real epsilon R is at
// least the divergence, in this direction, of the mechanism on any two neighbours. Nothing is promised about a
// distribution behind the masses: they may add up to more than 1, and say nothing about the other direction. R grows
// with every mass, so to raise masses is always safe, and so is to move one to a higher loss.
//
// A side is immutable.
type side struct {
	step float64
	low  int
	mass []float64
	inf  float64

	// above[k] is the sum over i >= k of mass[i] e^{-(i-k) step}, and curve[k] is R at the k-th loss. Both come from
	// recurrences of positive terms, so that R keeps all its digits however small it is: R falls by above[k] (1 - e^-step)
	// from point k-1 to k.
	above, curve []float64
}

const (
	// mostPoints is the largest number of masses of a side.
	mostPoints = 1 << 18
	// rounding bounds the relative rounding error of what one operation does with the masses of a side: sums of at most
	// 2·mostPoints non-negative terms, products of a few factors, and exponentials of arguments up to largestLoss that carry
	// a few roundings, all of which stay below 6·mostPoints·2^-53 + 10·largestLoss·2^-53 < 2^-32. Every operation raises
	// its result by it.
	rounding = 0x1p-32
	// LargestLoss keeps e^loss and e^-loss far from overflow and underflow.
	LargestLoss = 600
)

func newSide(step float64, low int, mass []float64, inf float64) *side {
	n := len(mass)
	s := &side{step: step, low: low, mass: mass, inf: inf, above: make([]float64, n), curve: make([]float64, n)}
	fade, drop := math.Exp(-step), -math.Expm1(-step)
	above, r := 0.0, inf
	for k := n - 1; k >= 0; k-- {
		s.curve[k] = r
		above = mass[k] + fade*above
		s.above[k] = above
		r += drop * above
	}
	return s
}

// neutralSide is that of a mechanism that ignores its data: R = (1 - e^epsilon)_+.
func neutralSide(step float64) *side { return newSide(step, 0, []float64{1}, 0) }

func (s *side) loss(i int) float64 { return float64(s.low+i) * s.step }

// high is the position of the last loss.
func (s *side) high() int { return s.low + len(s.mass) - 1 }

// at returns R.
func (s *side) at(epsilon float64) float64 {
	// Losses carry a rounding, and beyond them R is what it is there; it does not grow.
	epsilon = math.Max(-2*LargestLoss, math.Min(epsilon, 2*LargestLoss))
	epsilon -= math.Abs(epsilon) * 0x1p-50
	n := len(s.mass)
	k := int(math.Max(0, math.Min(math.Floor(epsilon/s.step)+1-float64(s.low), float64(n))))
	for k > 0 && s.loss(k-1) > epsilon {
		k--
	}
	for k < n && s.loss(k) <= epsilon {
		k++
	}
	if k == n {
		return s.inf
	}
	return s.curve[k] - s.above[k]*math.Expm1(epsilon-s.loss(k))
}

// total is R at minus infinity, which is at least 1.
func (s *side) total() float64 { return s.curve[0] + s.above[0] }

// opposite returns the masses that the other distribution has at the same losses.
func (s *side) opposite() []float64 {
	q := make([]float64, len(s.mass))
	for i, p := range s.mass {
		if p > 0 {
			q[i] = p * math.Exp(-s.loss(i))
		}
	}
	return q
}

// A builder collects the masses of a side.
type builder struct {
	step float64
	low  int
	mass []float64
	inf  float64
}

// newBuilder has room for losses from low·step to high·step.
func newBuilder(step, low, high float64) (*builder, error) {
	if !(high*step < LargestLoss && low*step > -LargestLoss) { // NaN too
		return nil, ErrTooWide
	}
	if !(high-low < 2*mostPoints) { // what is trimmed may still bring it below
		return nil, ErrTooFine
	}
	return &builder{step: step, low: int(low), mass: make([]float64, int(high-low)+1)}, nil
}

// put adds a mass at a loss that is not on the grid: it is split between the two points around it so that both
// distributions keep their masses. The likelihood ratio is spread around its mean, and no divergence gets smaller
// ("connect the dots": Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, 2022). The loss may be uncertain by up to error;
// it is taken at its largest.
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

// split returns the shares of a mass, at a distance x in [0, step] above a grid point, that go to the next point and to
// that one.
func split(x, step float64) (upper, lower float64) {
	whole := -math.Expm1(-step)
	return -math.Expm1(-x) / whole, math.Exp(-x) * -math.Expm1(x-step) / whole
}

// side returns what was put, raised by the relative slack, less tails of no consequence: at the top masses go to
// infinity, at the bottom to the lowest loss kept. Both only raise R.
func (b *builder) side(slack float64) (*side, error) {
	tail := math.Exp(logTail)
	top, bottom := len(b.mass)-1, 0
	for t := b.mass[top]; top > 0 && t <= tail; t += b.mass[top] {
		top--
	}
	for _, m := range b.mass[top+1:] {
		b.inf += m
	}
	// What the other distribution has there counts too: sampling makes it matter.
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
	s := newSide(b.step, b.low+bottom, mass, b.inf*(1+slack))
	// Every divergence is 1 at minus infinity. What is less, or no number, has lost masses to rounding: it is no bound.
	if !(s.total() >= 1) {
		return nil, ErrTooWide
	}
	return s, nil
}
