package pld

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

// replacedStep is the exact pair of one step with rows replaced by others: a log-likelihood ratio that grows with the
// output t, in standard deviations, and both laws' masses above t.
type replacedStep struct {
	rate, noise float64
	rows        int
}

func (s replacedStep) weights() []float64 {
	w := []float64{1}
	for range s.rows {
		next := make([]float64, len(w)+1)
		for k, v := range w {
			next[k] += v * (1 - s.rate)
			next[k+1] += v * s.rate
		}
		w = next
	}
	return w
}

func (s replacedStep) ratio(t float64) float64 {
	one := func(t float64) float64 {
		more := 0.0
		for k, w := range s.weights() {
			more += w * math.Expm1(float64(k)*t/s.noise-float64(k*k)/2/s.noise/s.noise)
		}
		return math.Log1p(more)
	}
	return one(t) - one(-t)
}

func (s replacedStep) above(t, sign float64) float64 {
	total := 0.0
	for k, w := range s.weights() {
		total += w * math.Erfc((t-sign*float64(k)/s.noise)/math.Sqrt2) / 2
	}
	return total
}

// delta is the divergence at epsilon, by the threshold of the best test.
func (s replacedStep) delta(epsilon float64) float64 {
	low, high := -60.0, 60.0
	for range 100 {
		if mid := (low + high) / 2; s.ratio(mid) > epsilon {
			high = mid
		} else {
			low = mid
		}
	}
	return s.above(high, 1) - math.Exp(epsilon)*s.above(high, -1)
}

func TestOneReplacedStep(t *testing.T) {
	for _, s := range []replacedStep{{0.01, 1, 1}, {0.0213, 0.5, 1}, {0.3, 2, 1}, {0.999, 0.7, 1}, {0.5, 10, 1}, {1e-5, 0.5, 1}, {1e-4, 1, 7}, {0.2, 4, 3}, {0.5, 20, 40}} {
		step := math.Sqrt(RowsVariance(s.rate, s.noise, s.rows)) / 100
		d, _, err := Rows(NewGrid(step, 1e-22), s.rate, s.noise, s.rows, 1, true)
		for ; errors.Is(err, ErrTooFine); step *= 2 {
			d, _, err = Rows(NewGrid(2*step, 1e-22), s.rate, s.noise, s.rows, 1, true)
		}
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		largest := 0.0
		for i := -40; i < 200; i++ {
			epsilon := float64(i) / 20 * math.Max(100*step, float64(i)/40)
			want := s.delta(epsilon)
			for _, got := range []float64{d.Remove(epsilon), d.Add(epsilon)} {
				if got < want*(1-1e-9)-1e-16*math.Exp(epsilon) {
					t.Errorf("%+v, epsilon %v: %v is below the exact %v", s, epsilon, got, want)
				}
				if want > 1e-13*math.Exp(math.Max(0, epsilon)) {
					largest = math.Max(largest, got/want-1)
				}
			}
		}
		if !(largest < 0.01) {
			t.Errorf("%+v: up to %v above the exact divergence", s, largest)
		}
	}
}

// No two gradients in the plane, of at most the norm 1, have a larger divergence than the step's pair has.
func TestNoGradientsBeatReplacedStep(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 51))
	const h = 0.05
	for range 12 * long.Times() {
		rate, noise := math.Exp(-4*r.Float64()), 0.6+2*r.Float64()
		d, _, err := Rows(NewGrid(math.Sqrt(RowsVariance(rate, noise, 1))/100, 1e-22), rate, noise, 1, 1, true)
		if err != nil {
			t.Fatal(err)
		}
		at := func() (x, y float64) {
			angle, norm := 2*math.Pi*r.Float64(), math.Min(1, 1.5*r.Float64())
			return norm * math.Cos(angle) / noise, norm * math.Sin(angle) / noise
		}
		ax, ay := at()
		bx, by := at()
		var p, q []float64
		for x := -8.0; x < 8; x += h {
			for y := -8.0; y < 8; y += h {
				normal := func(cx, cy float64) float64 {
					return math.Exp(-((x-cx)*(x-cx)+(y-cy)*(y-cy))/2) * h * h / 2 / math.Pi
				}
				p = append(p, (1-rate)*normal(0, 0)+rate*normal(ax, ay))
				q = append(q, (1-rate)*normal(0, 0)+rate*normal(bx, by))
			}
		}
		for epsilon := -1.0; epsilon < 4; epsilon += 0.25 {
			if want, got := hockey(p, q, epsilon), d.DeltaAt(epsilon); got < want-1e-9 {
				t.Errorf("rate %v, noise %v, gradients (%v, %v) and (%v, %v): %v at epsilon %v, the bound is %v", rate, noise, ax, ay, bx, by, want, epsilon, got)
			}
		}
	}
}

// replacing holds the laws of a mechanism with a sample, with another, and with neither.
type replacing struct{ one, other, neither []float64 }

// randomReplacing has laws on n outcomes that differ by factors of up to some e^spread.
func randomReplacing(r *rand.Rand, n int, spread float64) (l replacing) {
	one := func() []float64 {
		p, total := make([]float64, n), 0.0
		for i := range p {
			p[i] = math.Exp(spread * r.NormFloat64())
			total += p[i]
		}
		for i := range p {
			p[i] /= total
		}
		return p
	}
	return replacing{one(), one(), one()}
}

func (l replacing) pairs(t *testing.T, g Grid) (added, replaced *Pair) {
	t.Helper()
	of := func(laws ...[]float64) *Pair {
		d, err := Bounded(g, func(epsilon float64) float64 {
			most := 0.0
			for i := 0; i < len(laws); i += 2 {
				most = math.Max(most, math.Max(hockey(laws[i], laws[i+1], epsilon), hockey(laws[i+1], laws[i], epsilon)))
			}
			return most * (1 + 1e-12)
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return of(l.one, l.neither, l.other, l.neither), of(l.one, l.other)
}

// The bounds hold for random mechanisms: for a removal and an addition, for a sampled mechanism, and for variant 1,
// whose final run depends on the outcome of the tuning.
func TestReplacedMechanisms(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 3))
	for range 60 * long.Times() {
		n, g := 2+r.IntN(3), NewGrid(0.02, 1e-15)
		tune := randomReplacing(r, n, 2*r.Float64())
		added, replaced := tune.pairs(t, g)
		rate := math.Exp(-5 * r.Float64())
		twice, err := Replaced(added)
		if err != nil {
			t.Fatal(err)
		}
		sampled, err := SampledReplaced(added, replaced, rate)
		if err != nil {
			t.Fatal(err)
		}
		bases := make([]replacing, n)
		var base, baseReplaced *Pair
		for i := range bases {
			bases[i] = randomReplacing(r, 2, 2*r.Float64())
			d, e := bases[i].pairs(t, g)
			if base == nil {
				base, baseReplaced = d, e
				continue
			}
			if base, err = Maximum([]*Pair{base, d}); err != nil {
				t.Fatal(err)
			}
			if baseReplaced, err = Maximum([]*Pair{baseReplaced, e}); err != nil {
				t.Fatal(err)
			}
		}
		subset, err := Subset{Tune: added, Base: base, Rate: rate}.Replaced(replaced, baseReplaced)
		if err != nil {
			t.Fatal(err)
		}
		mixed := func(with []float64) (p []float64) {
			for i, v := range tune.neither {
				p = append(p, (1-rate)*v+rate*with[i])
			}
			return p
		}
		whole := func(with []float64, final func(l replacing) []float64) (p []float64) {
			for i, v := range tune.neither {
				for j, w := range bases[i].neither {
					p = append(p, rate*with[i]*w+(1-rate)*v*final(bases[i])[j])
				}
			}
			return p
		}
		one := whole(tune.one, func(l replacing) []float64 { return l.one })
		other := whole(tune.other, func(l replacing) []float64 { return l.other })
		for epsilon := -3.0; epsilon < 6; epsilon += 0.1 {
			for name, c := range map[string]struct {
				bound *Pair
				p, q  []float64
			}{"twice": {twice, tune.one, tune.other}, "sampled": {sampled, mixed(tune.one), mixed(tune.other)}, "subset": {subset, one, other}} {
				want := math.Max(hockey(c.p, c.q, epsilon), hockey(c.q, c.p, epsilon))
				if got := c.bound.DeltaAt(epsilon); got < want*(1-1e-9)-1e-14 {
					t.Errorf("%s, rate %v, epsilon %v: %v, the bound is %v\n%v\n%v", name, rate, epsilon, want, got, c.p, c.q)
				}
			}
		}
	}
}
