package planner

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/tuner"
)

// A Family has a distribution of K, the number of trials, for each mean. The larger the mean, the less it misses.
type Family struct {
	Name   string
	OfMean func(mean float64) (accountant.Repetitions, error) // an error where it has none of that mean
}

// Trials are a family's member of the smallest mean that tries each candidate often enough.
type Trials struct {
	Family      string
	Repetitions accountant.Repetitions // nil where that takes more trials than a plan can hold
	Mean        float64                // of K, in whole hundredths, so that it can be written down
	Tried       float64                // the probability that a given candidate is drawn
}

const (
	hundred  = 100
	mostMean = 1e6 // package tuner takes no larger one
)

// trials finds the mean by doubling and bisection.
func (s Settings) trials(f Family) Trials {
	at := func(hundredths int) (t Trials, enough bool) {
		mean := float64(hundredths) / hundred
		r, err := f.OfMean(mean)
		if err != nil {
			return t, false
		}
		tried := 1 - accountant.Missed(r, s.Candidates)
		return Trials{f.Name, r, mean, tried}, tried >= s.Tried
	}
	low, high := 0, 1
	found, enough := at(high)
	for ; !enough; found, enough = at(high) {
		if low, high = high, 2*high; high > hundred*mostMean {
			return Trials{Family: f.Name}
		}
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		if t, enough := at(mid); enough {
			high, found = mid, t
		} else {
			low = mid
		}
	}
	if s.plan(tuner.Baseline, 0, found).WithNoise(1).Validate() != nil {
		return Trials{Family: f.Name}
	}
	return found
}
