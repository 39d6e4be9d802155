package accountant

import (
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
	"pgregory.net/rapid"
)

// A plan is the whole of a private tuning run, drawn at random.
type plan struct {
	rate, noise, mean, q float64
	steps, variant       int // variant 0 is the baseline, 3 the base run alone
	family               int // of the number of trials
	shape                float64
}

func drawPlan(t *rapid.T) plan {
	logUniform := func(name string, low, high float64) float64 {
		return math.Exp(rapid.Float64Range(math.Log(low), math.Log(high)).Draw(t, name))
	}
	return plan{
		rate:    logUniform("rate", 1e-4, 1),
		noise:   logUniform("noise", 0.4, 40),
		mean:    logUniform("mean", 1, 100),
		q:       logUniform("q", 1e-3, 1),
		steps:   rapid.IntRange(1, 5000).Draw(t, "steps"),
		variant: rapid.IntRange(0, 3).Draw(t, "variant"),
		family:  rapid.IntRange(0, 2).Draw(t, "family"),
		shape:   rapid.Float64Range(-0.9, 3).Draw(t, "shape"),
	}
}

func (p plan) event() Event {
	base, k := DPSGD(p.rate, p.noise, p.steps), p.repetitions()
	switch p.variant {
	case 0:
		return Baseline(k, base)
	case 1:
		return Variant1(p.q, k, base)
	case 2:
		return Variant2(p.q, k, base)
	}
	return base
}

// withNoise is the event of p with another noise multiplier.
func (p plan) withNoise(noise float64) Event {
	p.noise = noise
	return p.event()
}

func (p plan) repetitions() Repetitions {
	var k Repetitions
	var err error
	switch p.family {
	case 0:
		return Poisson{Mean: p.mean}
	case 1:
		k, err = TruncatedPoissonWithMean(p.mean + 0.01) // above 1
	default:
		k, err = NegativeBinomial(p.shape, p.mean)
	}
	if err != nil {
		panic(err)
	}
	return k
}

// worse returns plans that cost at least as much as p, by name. It doesn't raise q for variant 1: the base run then
// sees less of the data, which can outweigh the tuning's larger share.
func (p plan) worse() map[string]plan {
	all := map[string]plan{}
	add := func(name string, change func(*plan)) {
		w := p
		change(&w)
		all[name] = w
	}
	add("steps", func(w *plan) { w.steps += 1 + w.steps/10 })
	add("rate", func(w *plan) { w.rate = math.Min(1, 1.1*w.rate) })
	add("noise", func(w *plan) { w.noise *= 0.9 })
	add("mean", func(w *plan) { w.mean *= 1.1 })
	if p.variant == 2 {
		add("q", func(w *plan) { w.q = math.Min(1, 1.1*w.q) })
	}
	return all
}

func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		for _, mode := range []Mode{Paper, Tight} {
			if mode == Paper && p.q > 0.5 {
				p.q /= 2 // the printed amplification has log 3/(a-1) too much, but not at rate 1
			}
			o := Options{Mode: mode, Orders: Orders{Low: 2, High: 64}}
			epsilon := mustEpsilon(t, p.event(), 1e-5, o)
			for name, w := range p.worse() {
				if e := mustEpsilon(t, w.event(), 1e-5, o); e < epsilon*(1-1e-9) {
					t.Errorf("mode %s: epsilon falls from %v to %v with %s", mode, epsilon, e, name)
				}
			}
			if e := mustEpsilon(t, p.event(), 1e-6, o); e < epsilon {
				t.Errorf("mode %s: epsilon falls from %v to %v with delta", mode, epsilon, e)
			}
			g, err := Delta(p.event(), epsilon*1.1, o)
			if err != nil || g.Delta > 1e-5 {
				t.Errorf("mode %s: delta %v, %v above epsilon at 1e-5", mode, g.Delta, err)
			}
			more := Options{Mode: mode, Orders: Orders{Low: 2, High: 96}}
			if e := mustEpsilon(t, p.event(), 1e-5, more); e > epsilon*(1+1e-9) {
				t.Errorf("mode %s: epsilon rises from %v to %v with more orders", mode, epsilon, e)
			}
		}
	})
}

// A plan that is worse than another costs at least what the other attains. Mode Best itself isn't monotone: its
// discretization changes with the plan.
func TestModesAreOrdered(t *testing.T) {
	long.Check(t, 3, func(t *rapid.T) {
		p := drawPlan(t)
		delta := math.Pow(10, -float64(rapid.IntRange(3, 10).Draw(t, "delta")))
		paper := mustEpsilon(t, p.event(), delta, Options{Mode: Paper})
		tight := mustEpsilon(t, p.event(), delta, Options{Mode: Tight})
		best := mustEpsilon(t, p.event(), delta, Options{Mode: Best})
		if !(best <= tight && tight <= paper) {
			t.Errorf("best %v, tight %v, paper %v", best, tight, paper)
		}
		attained, err := Attained(p.event(), delta)
		if errors.Is(err, ErrInvalid) {
			t.Fatal(err)
		} else if err != nil {
			return // the losses are too large for a lower bound
		}
		for name, w := range p.worse() {
			if e := mustEpsilon(t, w.event(), delta, Options{Mode: Best}); e < attained {
				t.Errorf("best: epsilon %v with %s, and the plan without attains %v", e, name, attained)
			}
		}
	})
}

func TestCalibrateNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		target := math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log epsilon"))
		o := Options{Mode: rapid.SampledFrom([]Mode{Paper, Tight}).Draw(t, "mode"), Orders: Orders{Low: 2, High: 64}}
		noise, err := CalibrateNoise(target, 1e-5, o, p.withNoise)
		if errors.Is(err, ErrInfeasible) {
			if e := mustEpsilon(t, p.withNoise(MaxNoise), 1e-5, o); e <= target {
				t.Errorf("infeasible, but noise %v gives %v", float64(MaxNoise), e)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e := mustEpsilon(t, p.withNoise(noise), 1e-5, o); e > target {
			t.Errorf("noise %v gives %v, above %v", noise, e, target)
		}
		if e := mustEpsilon(t, p.withNoise(noise*(1-1e-9)), 1e-5, o); e <= target {
			t.Errorf("noise %v would do: %v is at most %v", noise*(1-1e-9), e, target)
		}
	})
}

func TestCalibrateSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		target := math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log epsilon"))
		o := Options{Mode: Paper, Orders: Orders{Low: 2, High: 32}}
		event := func(steps int) Event {
			p.steps = steps
			return p.event()
		}
		steps, err := CalibrateSteps(target, 1e-5, o, event)
		if errors.Is(err, ErrInfeasible) {
			if e := mustEpsilon(t, event(0), 1e-5, o); e <= target {
				t.Errorf("infeasible, but no steps give %v", e)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e := mustEpsilon(t, event(steps), 1e-5, o); e > target {
			t.Errorf("%d steps give %v, above %v", steps, e, target)
		}
		if e := mustEpsilon(t, event(steps+1), 1e-5, o); e <= target {
			t.Errorf("%d steps would do: %v is at most %v", steps+1, e, target)
		}
	})
}

// At epsilons of some hundreds a plan's levels overflow. The bound without one order for the whole plan still holds.
func TestOverflowingLevels(t *testing.T) {
	for _, noise := range []float64{3, 3.4, math.Exp(1.25), 3.6, 4} {
		event := Variant2(1, Poisson{Mean: math.Exp(1.25)}, DPSGD(1, noise, 3992))
		best, err := Epsilon(event, 1e-9, Options{Mode: Best})
		if err != nil {
			t.Fatal(err)
		}
		tight, err := Epsilon(event, 1e-9, Options{Mode: Tight})
		if err != nil || !(best.Epsilon <= tight.Epsilon) {
			t.Errorf("noise %v: best %v, tight %v, %v", noise, best.Epsilon, tight.Epsilon, err)
		}
		// One run costs no less: it is a part of the plan.
		if run, err := Epsilon(DPSGD(1, noise, 3992), 1e-9, Options{Mode: Best}); err != nil || !(run.Epsilon <= best.Epsilon) {
			t.Errorf("noise %v: one run %v, the plan %v, %v", noise, run.Epsilon, best.Epsilon, err)
		}
	}
}
