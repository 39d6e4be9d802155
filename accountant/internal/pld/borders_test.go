package pld

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const precision = 160

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func number() *big.Float { return new(big.Float).SetPrec(precision) }

// exponential returns e^x from its series, at a 2^-k of x.
func exponential(x *big.Float) *big.Float {
	k := max(0, x.MantExp(nil)+8)
	y := number().SetMantExp(x, -k)
	sum, term := exactly(1), exactly(1)
	for n := 1; n < 24; n++ {
		term.Mul(term, y)
		term.Quo(term, exactly(float64(n)))
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	return sum
}

// A bigStep is one step of several rows in exact arithmetic, up to 2^-100 or so.
type bigStep struct {
	noise  *big.Float
	weight []*big.Float
}

func newBigStep(rate, noise float64, rows int) bigStep {
	s := bigStep{noise: exactly(noise), weight: []*big.Float{exactly(1)}}
	in := exactly(rate)
	out := number().Sub(exactly(1), in)
	for range rows {
		next := make([]*big.Float, len(s.weight)+1)
		for k := range next {
			next[k] = number()
			if k < len(s.weight) {
				next[k].Mul(s.weight[k], out)
			}
			if k > 0 {
				next[k].Add(next[k], number().Mul(s.weight[k-1], in))
			}
		}
		s.weight = next
	}
	return s
}

// ratio returns the likelihood ratio at t standard deviations.
func (s bigStep) ratio(t *big.Float) *big.Float {
	sum := number()
	for k, w := range s.weight {
		mean := number().Quo(exactly(float64(k)), s.noise)
		x := number().Sub(t, number().Mul(mean, exactly(0.5)))
		sum.Add(sum, number().Mul(w, exponential(x.Mul(x, mean))))
	}
	return sum
}

// cell returns, for the standard normal density phi, the integrals from a to b of phi (L - L(a))/(L(b) - L(a)) and of
// phi (L(b) - L)/(L(b) - L(a)) by Boole's rule.
func (s bigStep) cell(a, b float64) (upper, lower *big.Float) {
	const panels = 2
	from, to := exactly(a), exactly(b)
	low, high := s.ratio(from), s.ratio(to)
	h := number().Sub(to, from)
	h.Quo(h, exactly(4*panels))
	upper, lower = number(), number()
	for i := range 4*panels + 1 {
		w := []float64{14, 32, 12, 32}[i%4]
		if i == 0 || i == 4*panels {
			w = 7
		}
		t := number().Add(from, number().Mul(h, exactly(float64(i))))
		half := number().Mul(t, t)
		density := exponential(half.Mul(half, exactly(-0.5)))
		density.Mul(density, exactly(w))
		l := s.ratio(t)
		upper.Add(upper, number().Mul(density, number().Sub(l, low)))
		lower.Add(lower, number().Mul(density, number().Sub(high, l)))
	}
	pi, _ := number().SetString("3.14159265358979323846264338327950288419716939937510582097494459")
	scale := number().Sqrt(pi.Mul(pi, exactly(2)))
	scale.Mul(scale, number().Sub(high, low)).Mul(scale, exactly(45./2))
	scale.Quo(h, scale)
	return upper.Mul(upper, scale), lower.Mul(lower, scale)
}

// shortfall returns the larger relative amount by which the masses of P and Q at grid point i of g are below the masses
// that its cells put there.
func (s bigStep) shortfall(g *lossGrid, i int, border func(l float64) float64) float64 {
	loss := func(i int) float64 { return float64(g.low+i) * g.step }
	before, at, after := border(loss(i-1)), border(loss(i)), border(loss(i+1))
	need, _ := s.cell(before, at)
	_, lower := s.cell(at, after)
	need.Add(need, lower)
	q := number().Mul(exactly(g.p[i]), exponential(number().Mul(exactly(float64(-g.low-i)), exactly(g.step))))
	p := number().Quo(exactly(g.p[i]), s.ratio(exactly(at)))
	if p.Cmp(q) > 0 {
		p = q
	}
	p.Quo(p, need)
	short, _ := p.Sub(exactly(1), p).Float64()
	return short
}

// A cell's borders aren't exactly at its grid points. The closer the grid points, the more this weighs. So masses that
// were rounded up by their own rounding alone could be lower than the cell's.
func TestMassesAllowForTheirBorders(t *testing.T) {
	const reach = 11
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		rate, noise float64
		rows, bins  int
		draw        int
	}{
		{1 - 0x1p-19, 0.3, 1, mostBins - 10, 30}, {1e-6, 1, 1, 50000, 5}, {0.0213, 2, 1, 5000, 5}, {0.3, 0.7, 4, 10000, 5},
	} {
		border := func(l float64) float64 { at, _ := sampledBorder(c.rate, c.noise, l); return at }
		grid := func(step float64) (*lossGrid, error) { return newRowsLoss(c.rate, c.noise, 1, 0).grid(by(step), reach) }
		lowest, highest := sampledLoss(c.rate, stepLoss(c.noise, -reach)), sampledLoss(c.rate, stepLoss(c.noise, 1/c.noise+reach))
		high := reach + 1/c.noise
		if c.rows > 1 {
			l := newRowsLoss(c.rate, c.noise, c.rows, testTail)
			high = l.limit(reach)
			lowest, _, _ = l.at(-reach)
			highest, _, _ = l.at(high)
			border = func(x float64) float64 { at, _, _ := l.inverse(x, math.NaN()); return at }
			grid = func(step float64) (*lossGrid, error) { return l.grid(by(step), reach) }
		}
		g, err := grid((highest - lowest) / float64(c.bins))
		if err != nil {
			t.Fatal(err)
		}
		s, most := newBigStep(c.rate, c.noise, c.rows), math.Inf(-1)
		for range c.draw {
			i := 2 + r.IntN(len(g.p)-5)
			if before := border(float64(g.low+i-1) * g.step); before < -reach || border(float64(g.low+i+1)*g.step) > high {
				continue
			}
			most = math.Max(most, s.shortfall(g, i, border))
		}
		t.Logf("%+v: the masses are low by %.2g at most", c, most)
		if most > 0 {
			t.Errorf("%+v: a mass is low by a relative %.2g", c, most)
		}
	}
}

// The weights of few rows are far more accurate than the weights of all: with one bound for all of them, many steps at
// a small rate would cost ten times as much.
func TestWeightsOfRows(t *testing.T) {
	for _, c := range []struct {
		rate        float64
		rows, count int
		most        float64
	}{{1e-6, 128, 100000, 3e-13}, {1e-3, 128, 1, 1e-10}, {0.3, 128, 10, 1e-10}, {0.9999, 128, 1, 1e-10}, {0.02, 5, 1000, 1e-13}, {1e-100, 2, 1, 1e-11}} {
		s, r := newBigStep(c.rate, 1, c.rows), newRowsLoss(c.rate, 1, c.rows, testTail/float64(c.count))
		if r.error > c.most {
			t.Errorf("%+v: the bound on the error is %v", c, r.error)
		}
		cut := number()
		for k, w := range s.weight {
			if k >= len(r.weight) {
				cut.Add(cut, w)
				continue
			}
			off, _ := number().Sub(number().Quo(exactly(r.weight[k]), w), exactly(1)).Float64()
			if math.Abs(off) > r.error && w.Cmp(exactly(0x1p-1000)) > 0 {
				t.Errorf("%+v: weight %d is off by %v, its bound is %v", c, k, off, r.error)
			}
		}
		if cut.Cmp(exactly(r.cut)) > 0 {
			t.Errorf("%+v: the weights left out are more than %v", c, r.cut)
		}
	}
}
