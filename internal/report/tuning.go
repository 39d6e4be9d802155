package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/tuner"
)

// Tuning describes a search whose cost is in the guarantee.
type Tuning struct {
	Method          string   `json:"method"` // variant 1, variant 2 or baseline
	SubsetRate      float64  `json:"subset_rate,omitempty"`
	Repetitions     string   `json:"repetitions"`                 // the distribution of the number of trials, as in settings
	Shape           *float64 `json:"repetitions_shape,omitempty"` // of negative-binomial alone
	MeanRepetitions float64  `json:"mean_repetitions"`
	Space           Space    `json:"space"`
	WarmStart       bool     `json:"warm_start"`
}

// Space is what trials drew from.
type Space struct {
	Search     string            `json:"search"`               // grid or random
	Candidates int               `json:"candidates,omitempty"` // of a grid
	Parameters []tuner.Parameter `json:"parameters"`           // what was tuned
	Runs       []tuner.Run       `json:"runs,omitempty"`       // of a grid: what candidates cost, each kind of run once
	Line       *Line             `json:"rdp_line,omitempty"`   // of a random search: what each candidate was fitted to

	// The smallest and the largest learning rate that the final run can have.
	FinalLearningRates [2]float64 `json:"final_learning_rates"`
	// The largest learning rate that the final run could have by a rule that was set before; 0 without one.
	LargestFinalRate float64 `json:"largest_final_rate,omitempty"`
	// The probability that a given candidate of a grid, or a given tenth of a random search's region, isn't tried.
	Missed float64 `json:"probability_of_missing"`
}

// Line bounds the Rényi divergence of a run at each order up to Order by Slope times the order.
type Line struct {
	Slope float64 `json:"slope"`
	Order int     `json:"largest_order"`
}

// Tuned says in words which hyperparameters were tuned.
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

// Distribution says in words how the number of trials was drawn.
func (t Tuning) Distribution() string {
	switch t.Repetitions {
	case "poisson":
		return "Poisson"
	case "truncated-poisson":
		return "Poisson given at least one"
	case "negative-binomial":
		if t.Shape != nil {
			return fmt.Sprintf("truncated negative binomial of shape %v", *t.Shape)
		}
	}
	return t.Repetitions
}
