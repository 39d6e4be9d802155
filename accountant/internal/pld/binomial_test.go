package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// drawBinomial draws few trials often, and probabilities of 1 and close to it, where phi1 is 0 or nearly so at 0.
func drawBinomial(r *rand.Rand) repetitions.Binomial {
	k := repetitions.Binomial{Trials: 1 + int(math.Exp(4.6*r.Float64()*r.Float64())), Probability: r.Float64()}
	switch r.IntN(5) {
	case 0:
		k.Probability = 1
	case 1:
		k.Probability = 1 - math.Exp(-30*r.Float64())
	case 2:
		k.Probability = math.Exp(-6 * r.Float64())
	}
	if r.IntN(4) == 0 {
		k.Trials = 1 + r.IntN(4)
	}
	return k
}

// Every order of small pairs, whose outcomes are cut into a few pieces each, is below the orders that grow an interval,
// of finer pieces, and below the bound on whole cells. Orders of small parts of cells are below it too.
func TestNoOrderBeatsIntervalsOfBinomial(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	pairs, tight := 0, 0
	for range 500 {
		d, k := drawLossPair(r, 5), drawBinomial(r)
		pieces := 1
		if len(d.p) <= 3 {
			pieces = 3
		}
		c := d.split(16).level(k, r)
		all, _ := d.split(pieces).bestOrder(k, c)
		if all < 1e-6 {
			continue
		}
		pairs++
		fine := 48
		interval := d.split(fine).bestInterval(k, above(c))
		for ; all > interval*(1+orderError) && fine < 800; fine *= 2 {
			interval = d.split(2*fine).bestInterval(k, above(c))
		}
		if all > interval*(1+orderError) {
			t.Errorf("%v, %#v, c %v: an order has %v, intervals %v", d, k, c, all, interval)
		}
		o := d.ordering(k)
		bound := o.at(c)
		if !(bound >= math.Max(all, interval)*(1-orderError)) {
			t.Errorf("%v, %#v, c %v: the bound of %v is below %v", d, k, c, bound, math.Max(all, interval))
		}
		if bound < interval*(1+1e-6) {
			tight++
		}
	}
	t.Logf("%d pairs, %d of them tight", pairs, tight)
}

func TestBoundOfCoarseCellsOfBinomial(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	for range 800 {
		d, k := drawLossPair(r, 7), drawBinomial(r)
		c := d.split(12).level(k, r)
		attained := d.split(40).bestInterval(k, above(c))
		if attained < 1e-6 {
			continue
		}
		o := d.ordering(k)
		if bound := o.at(c); !(bound >= attained*(1-orderError)) {
			t.Errorf("%v, %#v, c %v: the bound of %v is below %v", d, k, c, bound, attained)
		}
	}
}

func TestBoundOfFineCellsOfBinomial(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	for range 100 {
		d, k := drawLossPair(r, 5), drawBinomial(r)
		c := d.split(12).level(k, r)
		attained := d.split(200).bestInterval(k, above(c))
		if attained < 1e-6 || mean(k) > 30 {
			continue
		}
		top, from, inf := len(d.p), 0, 0.0
		if d.q[top-1] == 0 {
			top, inf = top-1, d.p[top-1]
		}
		if d.p[0] == 0 {
			from = 1
		}
		p, q := cutDeep(d.p[from:top], d.q[from:top], inf, k, 40, 256)
		o := orderingOf(p, q, inf, k)
		bound := o.at(c)
		// Close to probability 1 phi1 falls to nearly 0, and of few losses most cells are cut for that.
		if !(bound >= attained*(1-orderError)) || k.Probability < 0.9 && !(bound <= attained*1.1+1e-3) {
			t.Errorf("%v, %#v, c %v: the bound is %v in %d cells, attained is %v", d, k, c, bound, len(p), attained)
		}
	}
}

// The best of exact small mechanisms, K = 0 included, under random scores and both ways round.
func TestBestOfBinomial(t *testing.T) {
	const step = 0.01
	r := rand.New(rand.NewPCG(17, 1))
	for range 150 {
		k := drawBinomial(r)
		d := discrete(drawLossPair(r, 6))
		s := NewSelection(d.pair(step), k, 48)
		score := r.Perm(len(d.p))
		for i := range score {
			score[i] /= 1 + r.IntN(2)
		}
		best := law(d).best(k, score)
		total := 0.0
		for _, p := range best.p {
			total += p
		}
		if math.Abs(total-1) > 1e-9 {
			t.Fatalf("%#v: the masses of the best add up to %v", k, total)
		}
		for _, epsilon := range []float64{-1, 0, 0.3, 1, 3, 6} {
			if got, least := s.Remove(epsilon), hockey(best.p, best.q, epsilon); got < least*(1-1e-9)-1e-13 {
				t.Errorf("%v, %#v, scores %v: remove at %v is %v, below %v", d, k, score, epsilon, got, least)
			}
			if got, least := s.Add(epsilon), hockey(best.q, best.p, epsilon); got < least*(1-1e-9)-1e-13 {
				t.Errorf("%v, %#v, scores %v: add at %v is %v, below %v", d, k, score, epsilon, got, least)
			}
		}
	}
}

// With one trial the outcome is that of a run with the trial's probability, and else always the same: no order matters.
func TestOneTrialOfBinomial(t *testing.T) {
	d := oneGaussian(t, 2, 0.005)
	for _, p := range []float64{1e-3, 0.3, 0.5, 0.9, 1} {
		s := NewSelection(d, repetitions.Binomial{Trials: 1, Probability: p}, CellCountAlone)
		for _, epsilon := range []float64{0, 0.1, 0.5, 1, 2} {
			for _, x := range []struct{ got, run float64 }{{s.Remove(epsilon), d.Remove(epsilon)}, {s.Add(epsilon), d.Add(epsilon)}} {
				if want := p * x.run; x.got < want*(1-1e-9) || x.got > want*1.01 {
					t.Errorf("probability %v, epsilon %v: %v, want %v", p, epsilon, x.got, want)
				}
			}
		}
	}
}

// Many trials of small probabilities are as Poisson. A larger share of them takes place when there are fewer, and the
// limit of that is a fixed number, whose best costs less than all of its trials.
func TestLimitsOfBinomial(t *testing.T) {
	d := oneGaussian(t, 4, 0.005)
	const n = 5
	all, err := d.Power(n)
	if err != nil {
		t.Fatal(err)
	}
	at := func(k repetitions.Distribution, epsilon float64) float64 {
		return NewSelection(d, k, CellCountAlone).DeltaAt(epsilon)
	}
	for _, epsilon := range []float64{0.2, 0.5, 1} {
		many, poisson := at(repetitions.Binomial{Trials: 2e6, Probability: n / 2e6}, epsilon), at(repetitions.Poisson{Mean: n}, epsilon)
		if math.Abs(many/poisson-1) > 1e-4 {
			t.Errorf("epsilon %v: %v of many trials, %v of Poisson", epsilon, many, poisson)
		}
		if fixed := at(repetitions.Binomial{Trials: n, Probability: 1}, epsilon); fixed > all.DeltaAt(epsilon)*1.001 {
			t.Errorf("epsilon %v: the best of %d costs %v, all of them %v", epsilon, n, fixed, all.DeltaAt(epsilon))
		}
	}
}

func oneGaussian(t *testing.T, noise, step float64) *Pair {
	t.Helper()
	d, _, err := Gaussians(by(step), 1, noise, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
