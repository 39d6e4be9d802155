package accountant

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Functions returns the names that Evaluate knows, sorted.
func Functions() []string {
	names := make([]string, 0, len(functions))
	for n := range functions {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Evaluate computes one named function of the reference vectors (testdata/accounting.json documents each of them) from a
// JSON object of parameters. Unknown, repeated, missing and senseless parameters are errors that wrap ErrInvalid. The
// value is +Inf where no finite answer exists. Every function takes orders, an array [low, high], and mode.
func Evaluate(function string, params []byte) (float64, error) {
	f, ok := functions[function]
	if !ok {
		return 0, fmt.Errorf("%w function %q", ErrInvalid, function)
	}
	p, err := parseParams(params)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", function, err)
	}
	p.options = p.takeOptions()
	value, err := f(p)
	if err = errors.Join(p.done(), err); err != nil {
		return 0, fmt.Errorf("%s: %w", function, err)
	}
	return value, nil
}

// Each function takes its parameters first and computes only if p.done() finds nothing wrong with them.
var functions = map[string]func(p *params) (float64, error){
	"rdp_subsampled_gaussian": func(p *params) (float64, error) {
		return p.rdp(p.step(), p.order())
	},
	"rdp_dpsgd": func(p *params) (float64, error) {
		return p.rdp(SelfComposed{Event: p.step(), Count: p.integer("steps", 0)}, p.order())
	},
	"rdp_to_epsilon": func(p *params) (float64, error) {
		return epsilonAt(p.integer("alpha", 2), p.nonNegative("rdp"), p.probability("delta")), nil
	},
	"rdp_to_delta": func(p *params) (float64, error) {
		return deltaAt(p.integer("alpha", 2), p.nonNegative("rdp"), p.nonNegative("epsilon")), nil
	},
	"dp_epsilon": func(p *params) (float64, error) {
		return p.epsilon(p.base())
	},
	"dp_delta": func(p *params) (float64, error) {
		e, epsilon := p.base(), p.nonNegative("epsilon")
		if p.done() != nil {
			return 0, nil
		}
		g, err := Delta(e, epsilon, p.options)
		return g.Delta, err
	},
	"subsample_rdp": func(p *params) (float64, error) {
		e, rate, a := p.base(), p.probability("gamma"), p.order()
		if p.done() != nil {
			return 0, nil
		}
		return amplified(p.renyi(a).curve(e), rate)[a], nil
	},
	"delta_hat": func(p *params) (float64, error) {
		e, a := p.base(), p.order()
		if p.done() != nil {
			return 0, nil
		}
		return p.renyi(a).deltaHat(e)[a], nil
	},
	"tune_rdp":           func(p *params) (float64, error) { return p.rdp(p.baseline(), p.order()) },
	"tune_rdp_sound":     tuneRDPSound,
	"tune_rdp_truncated": tuneRDPTruncated,
	"baseline_epsilon":   func(p *params) (float64, error) { return p.epsilon(p.baseline()) },
	"variant1_add":       func(p *params) (float64, error) { return p.direction(subsetAdd) },
	"variant1_remove":    func(p *params) (float64, error) { return p.direction(subsetRemove) },
	"variant1_rdp":       func(p *params) (float64, error) { return p.rdp(p.variant(Variant1), p.order()) },
	"variant1_epsilon":   func(p *params) (float64, error) { return p.epsilon(p.variant(Variant1)) },
	"variant2_rdp":       func(p *params) (float64, error) { return p.rdp(p.variant(Variant2), p.order()) },
	"variant2_epsilon":   func(p *params) (float64, error) { return p.epsilon(p.variant(Variant2)) },
	"min_sigma": func(p *params) (float64, error) {
		event, epsilon, delta := p.withNoise(), p.nonNegative("epsilon"), p.probability("delta")
		if p.done() != nil {
			return 0, nil
		}
		return orInfinity(CalibrateNoise(epsilon, delta, p.options, event))
	},
	"max_steps": func(p *params) (float64, error) {
		event, epsilon, delta := p.withSteps(), p.nonNegative("epsilon"), p.probability("delta")
		if p.done() != nil {
			return 0, nil
		}
		steps, err := CalibrateSteps(epsilon, delta, p.options, event)
		return orInfinity(float64(steps), err)
	},
	"min_sigma_line": func(p *params) (float64, error) {
		event, c := p.withNoise(), p.nonNegative("c")
		if p.done() != nil {
			return 0, nil
		}
		return orInfinity(CalibrateNoiseToLine(c, p.options, event))
	},
	"max_steps_line": func(p *params) (float64, error) {
		event, c := p.withSteps(), p.nonNegative("c")
		if p.done() != nil {
			return 0, nil
		}
		steps, err := CalibrateStepsToLine(c, p.options, event)
		return orInfinity(float64(steps), err)
	},
}

func tuneRDPSound(p *params) (float64, error) {
	e, mu, a := p.base(), p.positive("mu"), p.order()
	if p.done() != nil {
		return 0, nil
	}
	r := p.renyi(a)
	return poissonAnyMean(r.curve(e), r.deltaHat(e), mu)[a], nil
}

func tuneRDPTruncated(p *params) (float64, error) {
	e := SelectBest{Event: p.base(), Repetitions: TruncatedPoisson{Rate: p.positive("mu")}}
	return p.rdp(e, p.order())
}

func (p *params) step() Event {
	return PoissonSampled{SamplingProbability: p.probability("gamma"), Event: Gaussian{NoiseMultiplier: p.nonNegative("sigma")}}
}

func (p *params) baseline() Event {
	return Baseline(Poisson{Mean: p.positive("mu")}, p.base())
}

func (p *params) variant(variant func(float64, Repetitions, Event) Event) Event {
	return variant(p.probability("q"), Poisson{Mean: p.positive("mu")}, p.base())
}

func (p *params) withNoise() func(noise float64) Event {
	gamma, steps := p.probability("gamma"), p.integer("steps", 0)
	return func(noise float64) Event { return DPSGD(gamma, noise, steps) }
}

func (p *params) withSteps() func(steps int) Event {
	gamma, sigma := p.probability("gamma"), p.nonNegative("sigma")
	return func(steps int) Event { return DPSGD(gamma, sigma, steps) }
}

// renyi returns an accountant whose curves reach order a, even where the options' orders don't.
func (p *params) renyi(a int) *renyi {
	r := newRenyi(p.options)
	r.high = max(r.high, a)
	return r
}

func (p *params) rdp(e Event, a int) (float64, error) {
	if p.done() != nil {
		return 0, nil
	}
	return p.renyi(a).curve(e)[a], nil
}

func (p *params) epsilon(e Event) (float64, error) {
	delta := p.probability("delta")
	if p.done() != nil {
		return 0, nil
	}
	g, err := Epsilon(e, delta, p.options)
	return g.Epsilon, err
}

func (p *params) direction(of func(tune, base Curve, q float64) Curve) (float64, error) {
	base, k, q, a := p.base(), Poisson{Mean: p.positive("mu")}, p.probability("q"), p.order()
	if p.done() != nil {
		return 0, nil
	}
	r := p.renyi(a)
	return of(r.curve(Baseline(k, base)), r.curve(base), q)[a], nil
}

// orInfinity turns the two ways in which a calibration has no finite answer into +Inf.
func orInfinity(value float64, err error) (float64, error) {
	if errors.Is(err, ErrInfeasible) || errors.Is(err, ErrUnbounded) {
		return math.Inf(1), nil
	}
	return value, err
}
