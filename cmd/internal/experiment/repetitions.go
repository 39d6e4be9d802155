package experiment

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

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
