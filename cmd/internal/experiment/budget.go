package experiment

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// guaranteed is tuner.Settings or, for one run, train.Privacy.
type guaranteed interface {
	Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error)
}

// settle returns the plan with the minimum noise, or the maximum number of steps, that meets the settings' epsilon, and
// the plan's guarantee. calibrate finds them. Without an epsilon the noise is given, and the plan stays as it is.
func settle[P guaranteed](
	p settings.Privacy, o accountant.Options, plan P, calibrate func(P, float64, float64, accountant.Options) (P, accountant.Guarantee, error),
) (P, accountant.Guarantee, error) {
	if p.Epsilon == nil {
		g, err := guaranteeOf(p, o, plan)
		return plan, g, err
	}
	plan, g, err := calibrate(plan, *p.Epsilon, p.Delta, o)
	if err != nil {
		err = explained(p, err)
	}
	return plan, g, err
}

// guaranteeOf returns the guarantee of a plan with given noise, and an [Error] if its epsilon is infinite.
func guaranteeOf(p settings.Privacy, o accountant.Options, plan guaranteed) (accountant.Guarantee, error) {
	g, err := plan.Guarantee(p.Delta, o)
	if err != nil {
		return g, fmt.Errorf("account for the plan: %w", err)
	}
	if math.IsInf(g.Epsilon, 1) {
		return g, budgetf("noise multiplier %v has no finite epsilon at delta %v; give more noise", *p.NoiseMultiplier, p.Delta)
	}
	return g, nil
}

// explained adds a remedy to the error of a calibration.
func explained(p settings.Privacy, err error) error {
	switch {
	case p.Fixed == settings.FixedNoise && errors.Is(err, accountant.ErrInfeasible):
		return budgetf("epsilon %v at delta %v doesn't allow one step of each kind of run with noise multiplier %v; give more noise or a larger epsilon",
			*p.Epsilon, p.Delta, *p.NoiseMultiplier)
	case p.Fixed == settings.FixedNoise && errors.Is(err, accountant.ErrUnbounded):
		return usagef("epsilon %v allows any number of steps with noise multiplier %v", *p.Epsilon, *p.NoiseMultiplier)
	case errors.Is(err, accountant.ErrInfeasible):
		hint := "give a larger epsilon or delta"
		if p.Accounting != string(accountant.Best) { // Rényi bounds have a floor, whatever the noise
			hint += ", or best accounting"
		}
		return budgetf("epsilon %v at delta %v can't be met by any noise with %s accounting; %s", *p.Epsilon, p.Delta, p.Accounting, hint)
	case errors.Is(err, accountant.ErrUnbounded):
		return usagef("epsilon %v is met by any noise, which protects nobody; give a smaller one", *p.Epsilon)
	}
	return fmt.Errorf("find the noise for epsilon %v: %w", *p.Epsilon, err)
}

// Accounting returns the accounting mode of the settings.
func Accounting(p settings.Privacy) accountant.Options {
	return accountant.Options{Mode: accountant.Mode(p.Accounting)}
}

// explainedHoldOut adds a remedy to the error of a calibration of scores' noise.
func explainedHoldOut(p settings.Privacy, err error) error {
	if errors.Is(err, accountant.ErrUnbounded) {
		return usagef("privacy.holdout: any noise of scores meets the epsilon of noise multiplier %v; give --epsilon instead", *p.NoiseMultiplier)
	}
	return fmt.Errorf("find the noise of scores on held-out samples: %w", err)
}

// NegativeBinomial names the distribution of repetitions that has a shape.
const NegativeBinomial = "negative-binomial"

// repetitionsOf returns the distribution of the number of trials, with the mean of the settings.
func repetitionsOf(p settings.Privacy) (accountant.Repetitions, error) {
	var r accountant.Repetitions
	var err error
	switch mean := p.MeanRepetitions; p.Repetitions {
	case "poisson":
		r = accountant.Poisson{Mean: mean}
	case "truncated-poisson":
		r, err = accountant.TruncatedPoissonWithMean(mean)
	case "geometric":
		r, err = accountant.Geometric(mean)
	case "logarithmic":
		r, err = accountant.Logarithmic(mean)
	case settings.Binomial:
		r, err = accountant.BinomialWithMean(p.BinomialTrials(), mean)
	case settings.Fixed:
		r = accountant.Fixed{Trials: int(mean)}
	case NegativeBinomial:
		r, err = accountant.NegativeBinomial(p.Shape, mean)
	default:
		return nil, usagef("privacy.repetitions: unknown distribution %q", p.Repetitions)
	}
	if err != nil {
		return nil, usagef("privacy.mean_repetitions: %w; give another mean or shape", err)
	}
	return r, nil
}
