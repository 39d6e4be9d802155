package report

import (
	"fmt"
	"slices"
	"strings"
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
	Search     string      `json:"search"`               // grid or random
	Candidates int         `json:"candidates,omitempty"` // of a grid
	Parameters []Parameter `json:"parameters"`           // what was tuned
	Runs       []Run       `json:"runs,omitempty"`       // of a grid: what candidates cost, each kind of run once
	Line       *Line       `json:"rdp_line,omitempty"`   // of a random search: what each candidate was fitted to

	// The smallest and the largest learning rate that the final run can have.
	FinalLearningRates [2]float64 `json:"final_learning_rates"`
	// The largest learning rate that the final run could have by a rule that was set before; 0 without one.
	LargestFinalRate float64 `json:"largest_final_rate,omitempty"`
	// The probability that a given candidate of a grid, or a given tenth of a random search's region, isn't tried.
	Missed float64 `json:"probability_of_missing"`
}

// Parameter is a hyperparameter that was drawn from values, or between two ends, which are drawn too.
type Parameter struct {
	Name   string    `json:"name"` // as in [Hyperparameters], with spaces
	Values []float64 `json:"values,omitempty"`
	Low    float64   `json:"low,omitempty"`
	High   float64   `json:"high,omitempty"`
}

// Run is what a run's cost follows from.
type Run struct {
	SamplingRate    float64 `json:"sampling_rate"`
	Steps           int     `json:"steps"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// Line bounds the Rényi divergence of a run at each order up to Order by Slope times the order.
type Line struct {
	Slope float64 `json:"slope"`
	Order int     `json:"largest_order"`
}

// String shows the values: those of a list, or the ends of a range.
func (p Parameter) String() string {
	if len(p.Values) == 0 {
		return fmt.Sprintf("%.4g to %.4g, log-uniform", p.Low, p.High)
	}
	texts := make([]string, len(p.Values))
	for i, v := range p.Values {
		texts[i] = fmt.Sprintf("%.4g", v)
	}
	return strings.Join(texts, ", ")
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
	return slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return p.Name == name })
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
