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
	value, compute := 0.0, f(p)
	if p.done() == nil {
		value, err = compute()
	}
	if err = errors.Join(p.done(), err); err != nil {
		return 0, fmt.Errorf("%s: %w", function, err)
	}
	return value, nil
}

// compute gives the value of a function whose parameters have no fault.
type compute func() (float64, error)

// functions take their parameters.
var functions = map[string]func(p *params) compute{
	"rdp_subsampled_gaussian": func(p *params) compute {
		return p.rdp(p.step(), p.order())
	},
	"rdp_dpsgd": func(p *params) compute {
		return p.rdp(accountant.SelfComposed{Event: p.step(), Count: p.integer("steps", 0)}, p.order())
	},
	"rdp_to_epsilon": func(p *params) compute {
		a, rdp, delta := p.integer("alpha", 2), p.nonNegative("rdp"), p.probability("delta")
		return func() (float64, error) { return renyi.EpsilonAt(a, rdp, delta), nil }
	},
	"rdp_to_delta": func(p *params) compute {
		a, rdp, epsilon := p.integer("alpha", 2), p.nonNegative("rdp"), p.nonNegative("epsilon")
		return func() (float64, error) { return renyi.DeltaAt(a, rdp, epsilon), nil }
	},
	"dp_epsilon": func(p *params) compute {
		return p.epsilon(p.base())
	},
	"dp_delta": func(p *params) compute {
		e, epsilon := p.base(), p.nonNegative("epsilon")
		return func() (float64, error) {
			g, err := accountant.Delta(e, epsilon, p.options)
			return g.Delta, err
		}
	},
	"subsample_rdp": func(p *params) compute {
		e, rate, a := p.base(), p.probability("gamma"), p.order()
		return p.at(a, func() renyi.Curve { return renyi.Sampled(p.curve(e, a), rate, false) })
	},
	"delta_hat": func(p *params) compute {
		e, a := p.base(), p.order()
		return p.at(a, func() renyi.Curve { return p.deltaHat(e, a) })
	},
	"tune_rdp": func(p *params) compute {
		mu, e, a := p.positive("mu"), p.base(), p.order()
		return p.at(a, func() renyi.Curve { return p.tuned(e, mu, a) })
	},
	"tune_rdp_sound": func(p *params) compute {
		e, mu, a := p.base(), p.positive("mu"), p.order()
		return p.at(a, func() renyi.Curve { return renyi.PoissonAnyMean(p.curve(e, a), p.deltaHat(e, a), mu) })
	},
	"tune_rdp_truncated": func(p *params) compute {
		e, rate, a := p.base(), p.positive("mu"), p.order()
		return p.at(a, func() renyi.Curve {
			mean := accountant.TruncatedPoisson{Rate: rate}.Expected()
			return p.convexified(renyi.TruncatedPoissonTuned(p.curve(e, a), p.deltaHat(e, a), rate, mean))
		})
	},
	"baseline_epsilon": func(p *params) compute { return p.epsilon(p.baseline()) },
	"variant1_add":     func(p *params) compute { return p.variantRDP(renyi.SubsetAdd) },
	"variant1_remove":  func(p *params) compute { return p.variantRDP(renyi.SubsetRemove) },
	"variant1_rdp":     func(p *params) compute { return p.variantRDP(p.variant1) },
	"variant1_epsilon": func(p *params) compute { return p.epsilon(p.variant(accountant.Variant1)) },
	"variant2_rdp":     func(p *params) compute { return p.variantRDP(p.variant2) },
	"variant2_epsilon": func(p *params) compute { return p.epsilon(p.variant(accountant.Variant2)) },
	"min_sigma": func(p *params) compute {
		event, epsilon, delta := p.withNoise(), p.nonNegative("epsilon"), p.probability("delta")
		return func() (float64, error) {
			return orInfinity(accountant.CalibrateNoise(epsilon, delta, p.options, event))
		}
	},
	"max_steps": func(p *params) compute {
		event, epsilon, delta := p.withSteps(), p.nonNegative("epsilon"), p.probability("delta")
		return func() (float64, error) {
			return orInfinity(accountant.CalibrateSteps(epsilon, delta, p.options, event))
		}
	},
	"min_sigma_line": func(p *params) compute {
		event, c := p.withNoise(), p.nonNegative("c")
		return func() (float64, error) { return orInfinity(accountant.CalibrateNoiseToLine(c, p.options, event)) }
	},
	"max_steps_line": func(p *params) compute {
		event, c := p.withSteps(), p.nonNegative("c")
		return func() (float64, error) { return orInfinity(accountant.CalibrateStepsToLine(c, p.options, event)) }
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

func (p *params) epsilon(e accountant.Event) compute {
	delta := p.probability("delta")
	return func() (float64, error) {
		g, err := accountant.Epsilon(e, delta, p.options)
		return g.Epsilon, err
	}
}

// orInfinity returns +Inf for a calibration without a finite answer.
func orInfinity[V int | float64](value V, err error) (float64, error) {
	if errors.Is(err, accountant.ErrInfeasible) || errors.Is(err, accountant.ErrUnbounded) {
		return math.Inf(1), nil
	}
	return float64(value), err
}
