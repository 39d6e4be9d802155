package accounteval

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/renyi"
)

// Functions returns the names that [Evaluate] accepts, sorted.
func Functions() []string {
	return slices.Sorted(maps.Keys(functions))
}

// Evaluate computes one named function of the reference vectors (accountant/testdata/accounting.json documents each of
// them) from a JSON object of parameters. If a parameter is unknown, repeated, missing or invalid, the error wraps
// [accountant.ErrInvalid]. The result is +Inf if there is no finite answer. Every function takes the parameters orders,
// an array of low and high, and mode.
func Evaluate(function string, params []byte) (float64, error) {
	f, ok := functions[function]
	if !ok {
		return 0, fmt.Errorf("%w function %q", accountant.ErrInvalid, function)
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

// functions take their parameters first, and compute only if p.done() finds no fault in them.
var functions = map[string]func(p *params) (float64, error){
	"rdp_subsampled_gaussian": func(p *params) (float64, error) {
		return p.rdp(p.step(), p.order())
	},
	"rdp_dpsgd": func(p *params) (float64, error) {
		return p.rdp(accountant.SelfComposed{Event: p.step(), Count: p.integer("steps", 0)}, p.order())
	},
	"rdp_to_epsilon": func(p *params) (float64, error) {
		return renyi.EpsilonAt(p.integer("alpha", 2), p.nonNegative("rdp"), p.probability("delta")), nil
	},
	"rdp_to_delta": func(p *params) (float64, error) {
		return renyi.DeltaAt(p.integer("alpha", 2), p.nonNegative("rdp"), p.nonNegative("epsilon")), nil
	},
	"dp_epsilon": func(p *params) (float64, error) {
		return p.epsilon(p.base())
	},
	"dp_delta": func(p *params) (float64, error) {
		e, epsilon := p.base(), p.nonNegative("epsilon")
		if p.done() != nil {
			return 0, nil
		}
		g, err := accountant.Delta(e, epsilon, p.options)
		return g.Delta, err
	},
	"subsample_rdp": func(p *params) (float64, error) {
		e, rate, a := p.base(), p.probability("gamma"), p.order()
		return p.at(a, func() renyi.Curve { return renyi.Sampled(p.curve(e, a), rate, false) })
	},
	"delta_hat": func(p *params) (float64, error) {
		e, a := p.base(), p.order()
		return p.at(a, func() renyi.Curve { return p.deltaHat(e, a) })
	},
	"tune_rdp": func(p *params) (float64, error) {
		mu, e, a := p.positive("mu"), p.base(), p.order()
		return p.at(a, func() renyi.Curve { return p.tuned(e, mu, a) })
	},
	"tune_rdp_sound": func(p *params) (float64, error) {
		e, mu, a := p.base(), p.positive("mu"), p.order()
		return p.at(a, func() renyi.Curve { return renyi.PoissonAnyMean(p.curve(e, a), p.deltaHat(e, a), mu) })
	},
	"tune_rdp_truncated": func(p *params) (float64, error) {
		e, rate, a := p.base(), p.positive("mu"), p.order()
		return p.at(a, func() renyi.Curve {
			mean := accountant.TruncatedPoisson{Rate: rate}.Expected()
			return p.convexified(renyi.TruncatedPoissonTuned(p.curve(e, a), p.deltaHat(e, a), rate, mean))
		})
	},
	"baseline_epsilon": func(p *params) (float64, error) { return p.epsilon(p.baseline()) },
	"variant1_add":     func(p *params) (float64, error) { return p.variantRDP(renyi.SubsetAdd) },
	"variant1_remove":  func(p *params) (float64, error) { return p.variantRDP(renyi.SubsetRemove) },
	"variant1_rdp":     func(p *params) (float64, error) { return p.variantRDP(p.variant1) },
	"variant1_epsilon": func(p *params) (float64, error) { return p.epsilon(p.variant(accountant.Variant1)) },
	"variant2_rdp":     func(p *params) (float64, error) { return p.variantRDP(p.variant2) },
	"variant2_epsilon": func(p *params) (float64, error) { return p.epsilon(p.variant(accountant.Variant2)) },
	"min_sigma": func(p *params) (float64, error) {
		event, epsilon, delta := p.withNoise(), p.nonNegative("epsilon"), p.probability("delta")
		if p.done() != nil {
			return 0, nil
		}
		return orInfinity(accountant.CalibrateNoise(epsilon, delta, p.options, event))
	},
	"max_steps": func(p *params) (float64, error) {
		event, epsilon, delta := p.withSteps(), p.nonNegative("epsilon"), p.probability("delta")
		if p.done() != nil {
			return 0, nil
		}
		steps, err := accountant.CalibrateSteps(epsilon, delta, p.options, event)
		return orInfinity(float64(steps), err)
	},
	"min_sigma_line": func(p *params) (float64, error) {
		event, c := p.withNoise(), p.nonNegative("c")
		if p.done() != nil {
			return 0, nil
		}
		return orInfinity(accountant.CalibrateNoiseToLine(c, p.options, event))
	},
	"max_steps_line": func(p *params) (float64, error) {
		event, c := p.withSteps(), p.nonNegative("c")
		if p.done() != nil {
			return 0, nil
		}
		steps, err := accountant.CalibrateStepsToLine(c, p.options, event)
		return orInfinity(float64(steps), err)
	},
}

func (p *params) step() accountant.Event {
	return accountant.PoissonSampled{SamplingProbability: p.probability("gamma"), Event: accountant.Gaussian{NoiseMultiplier: p.nonNegative("sigma")}}
}

func (p *params) baseline() accountant.Event {
	return accountant.Baseline(accountant.Poisson{Mean: p.positive("mu")}, p.base())
}

func (p *params) variant(variant func(float64, accountant.Repetitions, accountant.Event) accountant.Event) accountant.Event {
	return variant(p.probability("q"), accountant.Poisson{Mean: p.positive("mu")}, p.base())
}

func (p *params) withNoise() func(noise float64) accountant.Event {
	gamma, steps := p.probability("gamma"), p.integer("steps", 0)
	return func(noise float64) accountant.Event { return accountant.DPSGD(gamma, noise, steps) }
}

func (p *params) withSteps() func(steps int) accountant.Event {
	gamma, sigma := p.probability("gamma"), p.nonNegative("sigma")
	return func(steps int) accountant.Event { return accountant.DPSGD(gamma, sigma, steps) }
}

func (p *params) epsilon(e accountant.Event) (float64, error) {
	delta := p.probability("delta")
	if p.done() != nil {
		return 0, nil
	}
	g, err := accountant.Epsilon(e, delta, p.options)
	return g.Epsilon, err
}

// orInfinity returns +Inf for a calibration without a finite answer.
func orInfinity(value float64, err error) (float64, error) {
	if errors.Is(err, accountant.ErrInfeasible) || errors.Is(err, accountant.ErrUnbounded) {
		return math.Inf(1), nil
	}
	return value, err
}
