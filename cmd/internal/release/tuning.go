package release

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/tuner"
)

// Tuning describes a search for hyperparameters that the guarantee covers.
type Tuning struct {
	Method          string   `json:"method"` // variant 1, variant 2 or baseline
	SubsetRate      float64  `json:"subset_rate,omitempty"`
	Repetitions     string   `json:"repetitions"`                 // distribution, as in settings
	Shape           *float64 `json:"repetitions_shape,omitempty"` // for negative-binomial only
	MaxRepetitions  int      `json:"max_repetitions,omitempty"`   // for binomial only
	MeanRepetitions float64  `json:"mean_repetitions"`
	Space           Space    `json:"space"`
	HeldOut         *HeldOut `json:"held_out,omitempty"` // nil if public samples score models
}

// HeldOut describes the private samples that score models instead of public ones.
type HeldOut struct {
	Rate            float64 `json:"rate"`             // probability that a sample is held out
	NoiseMultiplier float64 `json:"noise_multiplier"` // of each score

	// After the run: see train.HeldOutScore.
	Score    *float64    `json:"score,omitempty"`
	Interval *[2]float64 `json:"interval_95,omitempty"`
	Constant *float64    `json:"score_of_a_constant,omitempty"`
}

// Space is the space that trials draw hyperparameters from.
type Space struct {
	Search     string            `json:"search"`               // grid or random
	Candidates int               `json:"candidates,omitempty"` // of a grid
	Parameters []tuner.Parameter `json:"parameters"`           // the tuned ones
	Runs       []tuner.Run       `json:"runs,omitempty"`       // of a grid: the different runs
	// The probability with which a trial draws each of Runs. Without it a trial was charged the costliest of Runs.
	RunProbabilities []float64 `json:"run_probabilities,omitempty"`
	// The division of the budget over Runs, as in settings: noise or between; nothing if each costs the same alone.
	Division string `json:"division,omitempty"`
	Line     *Line  `json:"rdp_line,omitempty"` // of a random search: the bound of each candidate

	// The minimum and maximum learning rate of the final run.
	FinalLearningRates [2]float64 `json:"final_learning_rates"`
	// The maximum that the user set for the final learning rate before any data were read; 0 for none.
	LargestFinalRate float64 `json:"largest_final_rate,omitempty"`
	// The probability that no trial draws a given candidate of a grid, or a candidate in a given tenth of a region.
	Missed float64 `json:"probability_of_missing"`
}

// Divided returns a sentence about the division of the budget over Runs, or nothing if each costs the same alone.
func (s Space) Divided() string {
	if s.Division == "noise" {
		return "The budget was divided so that all of them have the same noise multiplier."
	}
	return ""
}

// Line bounds the Rényi divergence of a run by Slope times the order, at every order up to Order. It is an
// accountant.RDPLine in the format of released files.
type Line struct {
	Slope float64 `json:"slope"`
	Order int     `json:"largest_order"`
}

// Tuned returns the names of the tuned hyperparameters, as part of a sentence.
func (s Space) Tuned() string {
	var names []string
	for _, p := range s.Parameters {
		names = append(names, p.Name)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Tunes reports whether a hyperparameter was tuned.
func (s Space) Tunes(name string) bool {
	return slices.ContainsFunc(s.Parameters, func(p tuner.Parameter) bool { return p.Name == name })
}

// Distribution returns the distribution of the number of trials, as part of a sentence.
func (t Tuning) Distribution() string {
	switch t.Repetitions {
	case "poisson":
		return "Poisson"
	case "fixed":
		return "always as many"
	case "truncated-poisson":
		return "Poisson given at least one"
	case "binomial":
		return fmt.Sprintf("binomial, at most %s", Grouped(t.MaxRepetitions))
	case "negative-binomial":
		if t.Shape != nil {
			return fmt.Sprintf("truncated negative binomial of shape %v", *t.Shape)
		}
	}
	return t.Repetitions
}
