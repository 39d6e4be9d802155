package pld

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
	"pgregory.net/rapid"
)

// drawSingular is drawDiscrete with some outcomes, but never all, that only one of the neighbours has.
func drawSingular(t *rapid.T, name string) law {
	d := drawDiscrete(t, name)
	n := len(d.p)
	for _, x := range [][]float64{d.p, d.q} {
		if i := rapid.IntRange(-1, n-1).Draw(t, name+" impossible"); i >= 0 && n > 2 {
			x[i] = 0
		}
		normalise(x)
	}
	return d
}

// TestBoundsOfSingularMechanisms checks every operation on pairs with mechanisms that have mass at infinity, which
// stays there.
func TestBoundsOfSingularMechanisms(t *testing.T) {
	long.Check(t, 40, func(t *rapid.T) {
		const step = 0.05
		d, e := drawSingular(t, "first"), drawSingular(t, "second")
		must := func(p *Pair, err error) *Pair {
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		dominates(t, "composed", must(Composed(d.pair(step), e.pair(step))), d.then(always(e)))
		dominates(t, "power", must(d.pair(step).Power(3)), d.then(always(d)).then(always(d)))
		either := must(Maximum([]*Pair{d.pair(step), e.pair(step)}))
		dominates(t, "maximum, first", either, d)
		dominates(t, "maximum, second", either, e)
		g := rapid.Float64Range(0.01, 1).Draw(t, "rate")
		dominates(t, "sampled", must(Sampled(d.pair(step), g)), d.sampled(g))
		q := rapid.Float64Range(0.01, 0.99).Draw(t, "q")
		s := Subset{Tune: d.pair(step), Base: e.pair(step), Rate: q}
		exact := d.subsetThen(q, e.merged(t, len(d.p)))
		dominates(t, "variant 1", s, exact)
		dominates(t, "variant 1 on the grid", must(s.Pair()), exact)
		k := drawRepetitions(t)
		dominates(t, "best of K", must(bestOf(d.pair(step), k)), d.selected(k))
	})
}

// TestCompositionSide checks the sides of a composition against its parts, each large enough to matter.
func TestCompositionSide(t *testing.T) {
	c := &composition{Grid: by(0.01), coarsen: 4, first: -3, last: 2, p: make([]float64, 21), q: make([]float64, 21), pAbove: 0.05, qBelow: 0.03}
	for i := range c.p {
		l := float64(c.first*c.coarsen+i) * c.step
		c.p[i] = 0.9 / 21 * (1 + 0.3*math.Sin(float64(i)))
		c.q[i] = c.p[i] * math.Exp(-l)
	}
	const inf, shift = 0.02, 0.006
	removal, err := c.removal(inf, shift)
	if err != nil {
		t.Fatal(err)
	}
	addition, err := c.addition(inf, shift)
	if err != nil {
		t.Fatal(err)
	}
	high := func(l, epsilon float64) float64 { return math.Max(0, -math.Expm1(epsilon-l)) }
	for epsilon := -0.3; epsilon < 0.3; epsilon += 0.0007 {
		p, q := inf+c.pAbove, inf+c.qBelow
		p += c.qBelow * math.Exp(float64(c.first)*c.grid().step) * high(float64(c.first)*c.grid().step, epsilon)
		q += c.pAbove * math.Exp(-float64(c.last)*c.grid().step) * high(-float64(c.last)*c.grid().step, epsilon)
		for i := range c.p {
			l := float64(c.first*c.coarsen+i) * c.step
			p += c.p[i] * high(l+shift, epsilon)
			q += c.q[i] * high(-l+shift, epsilon)
		}
		if got := removal.at(epsilon); got < p {
			t.Errorf("removal at %v: %v is below %v", epsilon, got, p)
		}
		if got := addition.at(epsilon); got < q {
			t.Errorf("addition at %v: %v is below %v", epsilon, got, q)
		}
	}
}

// TestComposedInf compares with the sum.
func TestComposedInf(t *testing.T) {
	for _, total := range []float64{0.5, 0.9, 1, 1.2} {
		for _, count := range []int{1, 2, 7} {
			want := 0.0
			for k := range count {
				want += 0.1 * math.Pow(total, float64(k))
			}
			if got := composedInf(0.1, []float64{total / 2, total / 2}, count); got < want {
				t.Errorf("total %v, %d times: %v is below %v", total, count, got, want)
			}
		}
	}
}

// TestPutTakesTheLargestLoss checks one mass against its divergence at the largest loss that it may have.
func TestPutTakesTheLargestLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const step = 0.1
		loss := rapid.Float64Range(-3, 3).Draw(t, "loss")
		off := rapid.Float64Range(0, step).Draw(t, "error")
		b, err := builderBetween(by(step), loss, loss+off)
		if err != nil {
			t.Fatal(err)
		}
		b.put(loss, off, 1)
		s, err := b.side()
		if err != nil {
			t.Fatal(err)
		}
		for epsilon := -4.0; epsilon < 4; epsilon += 0.013 {
			if want, got := math.Max(0, -math.Expm1(epsilon-loss-off)), s.at(epsilon); got < want {
				t.Fatalf("epsilon %v: %v is below %v", epsilon, got, want)
			}
		}
	})
}

// TestAtBetweenRoundings asks for R just below a loss that rounds down to the argument.
func TestAtBetweenRoundings(t *testing.T) {
	const step = 0.1
	for k := 1; k < 1000; k++ {
		epsilon := float64(k) * step
		if math.FMA(float64(k), step, -epsilon) <= 0 {
			continue // the loss rounds up
		}
		if newSide(by(step), k, []float64{1}, 0).at(epsilon) <= 0 {
			t.Errorf("R is 0 at %v, below the loss %d times %v", epsilon, k, step)
		}
	}
}

// TestSideKeepsItsTails counts the masses that a side moves.
func TestSideKeepsItsTails(t *testing.T) {
	tiny := testTail / 4
	b := &builder{Grid: by(0.5), low: -2, mass: []float64{tiny, tiny, 1, tiny, tiny}, inf: tiny}
	want := b.inf + tiny + tiny
	s, err := b.side()
	if err != nil {
		t.Fatal(err)
	}
	if s.inf < want {
		t.Errorf("infinity %v is below %v", s.inf, want)
	}
	b = &builder{Grid: by(0.5), low: -2, mass: []float64{tiny, tiny, tiny, 0, 0, 0, 0x1p-44}, inf: 1}
	if s, err = b.side(); err != nil {
		t.Fatal(err)
	}
	finite := 0.0
	for _, m := range s.mass {
		finite += m
	}
	if want := 3*tiny + 0x1p-44; finite < want {
		t.Errorf("finite masses of %v are below %v", finite, want)
	}
}

// TestHullSideMasses asks for a property that the rounding bounds rely on: no mass is below 0, however straight the
// hull is.
func TestHullSideMasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, step := rapid.IntRange(2, 60).Draw(t, "points"), rapid.Float64Range(1e-6, 0.5).Draw(t, "step")
		values := make([]float64, n)
		a := rapid.Float64Range(0.01, 0.5).Draw(t, "height")
		for i := range values { // nearly a line in e^epsilon
			values[i] = a * (1 - math.Exp(float64(i-n)*step)) * (1 + 1e-16*float64(rapid.IntRange(-2, 2).Draw(t, "noise")))
			values[i] = math.Max(values[i], 0) + 1 - a - a*math.Expm1(float64(i-n)*step)
			values[i] /= 2
		}
		s, err := hullSide(NewGrid(step, 1e-22), -n/2, values)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range s.mass {
			if m < 0 {
				t.Fatalf("mass %v", m)
			}
		}
	})
}

// TestTiltedBound checks the error bound of a transform against its formula's parts: with count times the squarings,
// and no smaller than the passes' own.
func TestTiltedBound(t *testing.T) {
	g := &lossGrid{Grid: by(0.02), low: -50, p: make([]float64, 101)}
	for i := range g.p {
		g.p[i] = 1.0 / 101
	}
	for _, count := range []int{4, 1000, 1 << 20} {
		m := moments{g: g, count: float64(count)}
		f := newTransform(1 << 12)
		noise := f.tilted(m, 0.5, m.at(0.5)/m.count)
		mean, total := 0.0, 0.0 // of |X|^(count-1), by plain sums
		for k := range f.n {
			var re, im float64
			for i, p := range g.p {
				sin, cos := math.Sincos(2 * math.Pi * float64((i*k)%f.n) / float64(f.n))
				re, im = re+p*cos, im+p*sin
			}
			mean += math.Pow(math.Hypot(re, im), float64(count-1)) / float64(f.n)
		}
		for _, p := range g.p {
			total += p
		}
		passes := 8.5*math.Log2(float64(f.n)) + 46
		least := (float64(count)*(passes+math.Sqrt(5)) + passes) * 0x1p-53 * mean * (1 - 1e-6)
		if noise < least {
			t.Errorf("%d times: bound %v is below %v", count, noise, least)
		}
		if left := math.Exp(-80); noise < left {
			t.Errorf("%d times: bound %v is below what is left out, %v", count, noise, left)
		}
	}
}

// TestSampledGaussianKeepsMasses counts both distributions' masses, with tails so large that a lost one would show.
func TestSampledGaussianKeepsMasses(t *testing.T) {
	for _, rate := range []float64{0.01, 0.5, 0.95, 1} {
		for _, noise := range []float64{0.7, 2, 9} {
			for _, step := range []float64{0.003, 0.02, 0.2} {
				for _, reach := range []float64{0.5, 2, 6} {
					g, err := newRowsLoss(rate, noise, 1, 0).grid(by(step), reach)
					if err != nil {
						t.Fatal(err)
					}
					p, q := g.pInf, g.qInf
					for i, v := range g.opposite() {
						p, q = p+g.p[i], q+v
					}
					if p < 1 || q < 1 {
						t.Errorf("rate %v, noise %v, step %v, reach %v: masses %v and %v", rate, noise, step, reach, p, q)
					}
					if !(g.shift > 0) {
						t.Errorf("rate %v, noise %v, step %v, reach %v: shift %v", rate, noise, step, reach, g.shift)
					}
				}
			}
		}
	}
}

// TestSubsetWhereRatiosCancel puts e^epsilon within roundings of the tuning's ratio. There only the function cancelled
// keeps the bound above the divergence, which is known without cancellation. The base run ignores its data.
func TestSubsetWhereRatiosCancel(t *testing.T) {
	const step = 0.5
	one := func(loss float64) *Pair {
		s := newSide(by(step), int(loss/step), []float64{1}, 0)
		return &Pair{s, s}
	}
	for i := 1; i < 40; i++ {
		const loss = 40.0
		epsilon := loss - math.Ln2 - float64(i)*0x1p-47
		x := epsilon - loss + math.Ln2 + 2.3190468138462996e-17 // ln 2 is above the constant by this
		s := Subset{Tune: one(loss), Base: Neutral(by(step)), Rate: 0.5}
		if got, want := s.Remove(epsilon), math.Exp(-loss)*0.5-0.5*math.Expm1(x); got < want*(1-1e-9) {
			t.Errorf("remove: %v is below %v", got, want)
		}
	}
	for i := 1; i < 40; i++ {
		const loss, rest = 0.5, 0x1p-40
		epsilon := loss - float64(i)*1e-10
		s := Subset{Tune: one(loss), Base: Neutral(by(step)), Rate: 1 - rest}
		want := -(1-rest)*math.Expm1(epsilon-loss) - rest*math.Expm1(epsilon)
		if got := s.Add(epsilon); got < want*(1-1e-9) {
			t.Errorf("add: %v is below %v", got, want)
		}
	}
}

func TestSidesKeepTheirInfinities(t *testing.T) {
	const rate, noise, step, reach = 0.3, 2, 0.02, 1
	g, err := newRowsLoss(rate, noise, 1, 0).grid(by(step), reach)
	if err != nil {
		t.Fatal(err)
	}
	d, err := composedGrid(func(on Grid, _ float64) (*lossGrid, error) { return newRowsLoss(rate, noise, 1, 0).grid(on, reach) }, 1, by(step), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !(g.qInf > 0.1 && g.pInf > g.qInf+0.01) || d.addition.inf < g.qInf || d.addition.inf > g.qInf+0.001 || d.removal.inf < g.pInf {
		t.Errorf("infinities %v and %v, tails %v and %v", d.removal.inf, d.addition.inf, g.pInf, g.qInf)
	}
}
