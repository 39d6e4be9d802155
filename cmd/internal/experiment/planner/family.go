package planner

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/tuner"
)

// Family is a family of distributions of K, the number of trials, with their mean as parameter. A larger mean must give
// a lower probability of missing a candidate.
type Family struct {
	Name   string
	OfMean func(mean float64) (accountant.Repetitions, error) // returns an error if no distribution has the mean
}

// Trials is the distribution of a family whose mean is the minimum that tries each candidate often enough.
type Trials struct {
	Family      string
	Repetitions accountant.Repetitions // nil if the mean would exceed the maximum number of trials of a plan
	Mean        float64                // of K, in whole hundredths, for command lines
	Tried       float64                // the probability that a given candidate is drawn
}

const (
	hundred = 100
	maxMean = 1e6 // package tuner's maximum
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
		if low, high = high, 2*high; high > hundred*maxMean {
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
	if s.plan(tuner.Baseline, 0, found, 1).Validate() != nil {
		return Trials{Family: f.Name}
	}
	return found
}
