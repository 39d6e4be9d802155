package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// An attackedPlan is a tuning run on a sample of rate q and a final run, with small laws in place of both. Orders of the
// trial's outcomes are tried one by one, each with the exact law of the whole plan.
type attackedPlan struct {
	trial, final law
	k            Repetitions
	q            float64
	kind         string
}

var planKinds = []string{"baseline", "variant 1", "variant 2"}

// exact is the law of the plan when the trial's outcomes have these scores.
func (s attackedPlan) exact(trial law, score []int) law {
	final := func(int) law { return s.final }
	best := trial.best(s.k, score)
	switch s.kind {
	case "variant 1":
		return best.subsetThen(s.q, final)
	case "variant 2":
		return best.sampled(s.q).then(final)
	}
	return best
}

// intervalOrders calls visit with the scores of every order that grows an interval: 2^(n-1) of them.
func intervalOrders(n int, visit func(score []int)) {
	for ups := range 1 << (n - 1) {
		low := 0
		for i := range n - 1 {
			low += 1 - ups>>i&1
		}
		score, high := make([]int, n), low+1
		for i := range n - 1 {
			if ups>>i&1 == 1 {
				score[high] = i + 1
				high++
			} else {
				low--
				score[low] = i + 1
			}
		}
		visit(score)
	}
}

// attained computes what the package does, with the small laws in the place of two Gaussians.
func (s attackedPlan) attained(t *testing.T, step float64) profile {
	t.Helper()
	trial, final := Gaussian{NoiseMultiplier: 3}, Gaussian{NoiseMultiplier: 5}
	r := newProfiler(step)
	r.pairs[fmt.Sprintf("%#v", trial)] = pairOrError{pair: discrete(s.trial).pair(step)}
	r.pairs[fmt.Sprintf("%#v", final)] = pairOrError{pair: discrete(s.final).pair(step)}
	e := map[string]Event{
		"baseline":  Baseline(s.k, trial),
		"variant 1": SubsetThenRest{SamplingProbability: s.q, Tune: Baseline(s.k, trial), Base: final},
		"variant 2": Composed{Events: []Event{PoissonSampled{s.q, Baseline(s.k, trial)}, final}},
	}[s.kind]
	p, err := r.attained(e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fine is the largest divergence over the orders that grow an interval of pieces of equal masses, in the order of the
// definition, with the final run's outcomes one by one.
func (s attackedPlan) fine(pieces int, epsilon float64) (with, without float64) {
	trial := lossPair(s.trial).split(pieces)
	n, x := len(trial.p), math.Exp(epsilon)
	value := func(s1, s0 float64) (a, b float64) {
		if s.kind == "baseline" {
			return math.Max(0, s1-x*s0), math.Max(0, s0-x*s1)
		}
		for z, f := range s.final.p {
			g := s.final.q[z]
			p, q := (s.q*s1+(1-s.q)*s0)*f, s0*g
			if s.kind == "variant 1" {
				p = s.q*s1*g + (1-s.q)*s0*f
			}
			a, b = a+math.Max(0, p-x*q), b+math.Max(0, q-x*p)
		}
		return a, b
	}
	sums := func(m []float64) (below, above []float64) {
		below, above = make([]float64, n+1), make([]float64, n+1)
		for i := range n {
			below[i+1], above[n-1-i] = below[i]+m[i], above[n-i]+m[n-1-i]
		}
		return below, above
	}
	belowP, aboveP := sums(trial.p)
	belowQ, aboveQ := sums(trial.q)
	added := func(i, j, cell int) (a, b float64) { // to reach [i, j)
		p, q := trial.p[cell], trial.q[cell]
		return value(p*share(s.k, belowP[i]+aboveP[j], p), q*share(s.k, belowQ[i]+aboveQ[j], q))
	}
	laterA, laterB := make([]float64, n+1), make([]float64, n+1)
	for j := n; j >= 0; j-- {
		nowA, nowB := make([]float64, n+1), make([]float64, n+1)
		for i := range j + 1 {
			if j < n {
				a, b := added(i, j+1, j)
				nowA[i], nowB[i] = laterA[i]+a, laterB[i]+b
			}
			if i > 0 {
				a, b := added(i-1, j, i-1)
				nowA[i], nowB[i] = math.Max(nowA[i], nowA[i-1]+a), math.Max(nowB[i], nowB[i-1]+b)
			}
		}
		with, without = math.Max(with, nowA[j]), math.Max(without, nowB[j])
		laterA, laterB = nowA, nowB
	}
	none := 0.0
	if k, ok := s.k.(Poisson); ok {
		none = math.Exp(-k.Mean)
	}
	a, b := value(none, none)
	return with + a, without + b
}

// drawSmallLaw has outcomes by ascending loss, the last of which only P may have.
func drawSmallLaw(r *rand.Rand, most int, spread float64, infinite bool) law {
	n := 2 + r.IntN(most-1)
	var d discrete
	for range n {
		q := math.Exp(-4 * r.Float64())
		d.p, d.q = append(d.p, q*math.Exp(spread*(2*r.Float64()-1))), append(d.q, q)
	}
	normalise(d.p)
	normalise(d.q)
	sortByLoss(d)
	if infinite {
		d.q[n-1] = 0
		d.p[n-1] *= 0.01
		normalise(d.p)
		normalise(d.q)
	}
	return law(d)
}

// TestAttainedOfSmallPlans holds it to every order that grows an interval of few pieces, each order with the exact law of
// the whole plan, and to orders of many pieces from both sides.
func TestAttainedOfSmallPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	orders, either := 0, [2]int{}
	for i := range 45 {
		s := attackedPlan{kind: planKinds[i%3], q: []float64{0.02, 0.1, 0.4, 0.8}[r.IntN(4)], trial: drawSmallLaw(r, 4, 2, false), final: drawSmallLaw(r, 4, 1, false)}
		s.k = []Repetitions{Poisson{0.5}, Poisson{3}, Poisson{20}, TruncatedPoisson{8}, TruncatedNegativeBinomial{1, 0.1}, TruncatedNegativeBinomial{0, 0.05}, TruncatedNegativeBinomial{-0.5, 0.2}}[r.IntN(7)]
		p := s.attained(t, 1e-3)
		pieces := 8 / len(s.trial.p)
		trial := lossPair(s.trial).split(pieces)
		for _, epsilon := range []float64{0.1, 0.4, 1.5} {
			got := p.deltaAt(epsilon)
			with, without := s.fine(240/len(s.trial.p), epsilon)
			want := math.Max(with, without)
			if want < 1e-4 {
				continue
			}
			if with > without {
				either[0]++
			} else {
				either[1]++
			}
			if got < want*(1-5e-3) || got > want*(1+2e-2) { // the grid's masses spread to higher losses, and its pieces are finer
				t.Errorf("%+v, epsilon %v: %v, and of few pieces %v and %v", s, epsilon, got, with, without)
			}
			if epsilon != 0.4 {
				continue
			}
			intervalOrders(len(trial.p), func(score []int) {
				orders++
				l := s.exact(law(trial), score)
				if exact := math.Max(hockey(l.p, l.q, epsilon), hockey(l.q, l.p, epsilon)); exact > got*(1+1e-6) {
					t.Errorf("%+v, epsilon %v: %v, but scores %v have %v", s, epsilon, got, score, exact)
				}
			})
		}
	}
	t.Logf("%d orders; the direction with the sample is the larger %d times, the other %d times", orders, either[0], either[1])
	if orders < 500 || either[0] < 10 || either[1] < 10 {
		t.Error("too few comparisons")
	}
}

// TestAttainedOfOneRun compares with the Gaussian's closed form: one run has no order.
func TestAttainedOfOneRun(t *testing.T) {
	once := TruncatedNegativeBinomial{Shape: 1, Success: 1}
	for _, noise := range []float64{0.5, 2, 10} {
		for _, e := range []Event{
			Gaussian{noise},
			SelfComposed{Gaussian{2 * noise}, 4},
			SelfComposed{PoissonSampled{1, Gaussian{3 * noise}}, 9},
			Baseline(once, Gaussian{noise}),
			Variant1(0, Poisson{5}, Gaussian{noise}),
			Variant2(0, Poisson{5}, Gaussian{noise}),
		} {
			for _, delta := range []float64{0.1, 1e-5, 1e-9} {
				got, err := Attained(e, delta)
				if err != nil {
					t.Fatal(err)
				}
				exact := func(epsilon float64) float64 { return gaussianDelta(1/noise, epsilon) }
				if exact(0) < delta {
					if got != 0 {
						t.Errorf("%v, delta %v: %v, want 0", e, delta, got)
					}
					continue
				}
				if exact(got*(1-3e-4)) < delta || exact(got*(1+1e-6)) > delta {
					t.Errorf("%v, delta %v: %v, where delta is %v", e, delta, got, exact(got))
				}
			}
		}
	}
}

// attainedEvents are plans with every kind of K.
func attainedEvents(t *testing.T) []Event {
	t.Helper()
	negative, err := NegativeBinomial(-0.5, 8)
	if err != nil {
		t.Fatal(err)
	}
	geometric, err := Geometric(30)
	if err != nil {
		t.Fatal(err)
	}
	var all []Event
	for i, k := range []Repetitions{Poisson{0.5}, Poisson{15}, TruncatedPoisson{5}, TruncatedPoisson{120}, negative, geometric} {
		base := []Event{Gaussian{3}, DPSGD(0.0213, 2, 1878), Gaussian{0.8}}[i%3]
		all = append(all, Baseline(k, base), Variant1(0.1, k, base), Variant2(0.2, k, base))
	}
	return all
}

// TestAttainedIsBelowTheBound holds it to mode Best, and to parts of a plan, which cost no more than the whole.
func TestAttainedIsBelowTheBound(t *testing.T) {
	for _, e := range attainedEvents(t) {
		p, _, err := newProfile(e)
		if err != nil {
			t.Fatal(err)
		}
		low, err := newProfiler(gridStep(e)).attained(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{0, 0.3, 2} {
			if got, bound := low.deltaAt(epsilon), p.deltaAt(epsilon); !(got > 0 && got <= bound*(1+1e-9)) {
				t.Errorf("%#v, epsilon %v: %v is attained, more than the bound of %v", e, epsilon, got, bound)
			}
		}
		const delta = 1e-5
		got, err := Attained(e, delta)
		if err != nil {
			t.Fatal(err)
		}
		if best := mustEpsilon(t, e, delta, Options{Mode: Best}); !(got > 0 && got <= best) {
			t.Errorf("%#v: %v is attained, more than the bound of %v", e, got, best)
		}
		if c, ok := e.(Composed); ok {
			if final := mustEpsilon(t, c.Events[1], delta, Options{Mode: Best}); got < final*(1-2e-4) {
				t.Errorf("%#v: %v is attained, less than by the final run alone, %v", e, got, final)
			}
		}
	}
}

func TestAttainedRefuses(t *testing.T) {
	run := Gaussian{2}
	tuned := Baseline(Poisson{5}, run)
	for _, e := range []Event{
		SelfComposed{tuned, 2}, PoissonSampled{0.5, tuned}, MaxOver{[]Event{run}}, Parallel{[]Event{run}},
		Composed{[]Event{run, run}}, Composed{[]Event{PoissonSampled{0.5, tuned}, run, run}}, Composed{[]Event{PoissonSampled{0.5, run}, run}},
		SubsetThenRest{0.5, run, run}, Gaussian{-1},
		Baseline(Poisson{5}, tuned), Variant1(0.5, Poisson{5}, tuned), SubsetThenRest{0.5, tuned, tuned}, Baseline(Poisson{5}, Parallel{[]Event{run}}),
	} {
		if got, err := Attained(e, 1e-5); !errors.Is(err, ErrInvalid) {
			t.Errorf("%#v: %v, %v, want ErrInvalid", e, got, err)
		}
	}
	// The finest grid is too fine for both candidates.
	apart := Baseline(Poisson{5}, MaxOver{[]Event{Gaussian{2}, DPSGD(1e-4, 0.3, 1)}})
	if got, err := Attained(apart, 1e-5); err != nil || !(got > 1 && got <= mustEpsilon(t, apart, 1e-5, Options{Mode: Best})) {
		t.Errorf("candidates of very different losses: %v, %v", got, err)
	}
	for _, delta := range []float64{-1, 2, math.NaN()} {
		if got, err := Attained(run, delta); !errors.Is(err, ErrInvalid) {
			t.Errorf("delta %v: %v, %v, want ErrInvalid", delta, got, err)
		}
	}
}

// TestTableOfWorstOrders compares epsilon at delta 1e-5 with values by a program of its own, for trials and final runs
// N(0.38198, 1) against N(0, 1), q = 0.1 and Poisson K: the supremum over orders, each loss of the final run with its own
// order, and what one order for all of them has. That program's cells were coarser and its values have errors of up to
// about 1e-3 for 45 runs.
func TestTableOfWorstOrders(t *testing.T) {
	run := Gaussian{NoiseMultiplier: 1 / 0.38198}
	for _, c := range []struct {
		mean            float64
		event           func(k Repetitions) Event
		bound, attained float64
		high            float64 // how far the bound may be above
		name            string
	}{
		{15, func(k Repetitions) Event { return Baseline(k, run) }, 3.4917, 3.4917, 4e-4, "baseline"},
		{15, func(k Repetitions) Event { return Variant1(0.1, k, run) }, 1.4247, 1.4125, 1e-3, "variant 1"},
		{15, func(k Repetitions) Event { return Variant2(0.1, k, run) }, 1.8218, 1.7464, 2e-3, "variant 2"},
		{45, func(k Repetitions) Event { return Baseline(k, run) }, 6.3334, 6.3334, 8e-4, "baseline"},
		{45, func(k Repetitions) Event { return Variant1(0.1, k, run) }, 3.3292, 3.3255, 5e-3, "variant 1"},
		{45, func(k Repetitions) Event { return Variant2(0.1, k, run) }, 3.5876, 3.4389, 5e-3, "variant 2"},
		{1, func(k Repetitions) Event { return Baseline(k, run) }, 1.5970, 1.5970, 1e-3, "baseline"},
		{1, func(k Repetitions) Event { return Variant1(0.1, k, run) }, 1.3882, 1.3882, 4e-4, "variant 1"},
		{1, func(k Repetitions) Event { return Variant2(0.1, k, run) }, 1.4876, 1.4869, 4e-4, "variant 2"},
	} {
		e := c.event(Poisson{Mean: c.mean})
		p, _, err := newProfile(e)
		if err != nil {
			t.Fatal(err)
		}
		if plan, ok := p.(*planBound); ok {
			p = plan.pairs
		}
		if got := (profileBound{profile: p}).epsilon(1e-5).Epsilon; got < c.bound*(1-1e-4) || got > c.bound*(1+c.high) {
			t.Errorf("%s of %v runs: %v, want %v", c.name, c.mean, got, c.bound)
		}
		got, err := Attained(e, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if best := mustEpsilon(t, e, 1e-5, Options{Mode: Best}); best < got || best > got*1.006 {
			t.Errorf("%s of %v runs: %v by the best bound, attained %v", c.name, c.mean, best, got)
		}
		if got < c.attained*(1-5e-4) || got > c.attained*(1+1.5e-3) {
			t.Errorf("%s of %v runs: %v attained, want %v", c.name, c.mean, got, c.attained)
		}
	}
}
