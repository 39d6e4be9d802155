package main

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/configs"
)

const negativeBinomial = "negative-binomial"

// repetitionsOf returns the distribution of the number of trials that valid settings name, with their mean.
func repetitionsOf(p configs.Privacy) (accountant.Repetitions, error) {
	switch mean := p.MeanRepetitions; p.Repetitions {
	case "poisson":
		return accountant.Poisson{Mean: mean}, nil
	case "truncated-poisson":
		return truncatedPoisson(mean), nil
	case "geometric":
		return negativeBinomialOf(1, mean)
	case "logarithmic":
		return negativeBinomialOf(0, mean)
	case negativeBinomial:
		return negativeBinomialOf(p.Shape, mean)
	}
	return nil, unknown("distribution of repetitions", p.Repetitions, configs.Repetitions())
}

func negativeBinomialOf(shape, mean float64) (accountant.Repetitions, error) {
	r, err := accountant.NegativeBinomial(shape, mean)
	if err != nil {
		return nil, coded(codeUsage, fmt.Errorf("privacy.mean_repetitions: %w; give another mean or shape", err))
	}
	return r, nil
}

// truncatedPoisson finds the rate that gives a mean above 1. Rate/(1-e^-rate) grows with the rate and lies between
// rate and rate+1, and above 1+rate/2.
func truncatedPoisson(mean float64) accountant.TruncatedPoisson {
	low, high := mean-1, math.Min(mean, 2*(mean-1))
	for {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			return accountant.TruncatedPoisson{Rate: high}
		}
		if (accountant.TruncatedPoisson{Rate: mid}).Expected() < mean {
			low = mid
		} else {
			high = mid
		}
	}
}
