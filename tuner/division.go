package tuner

import (
	"fmt"

	"github.com/dptrain/dptrain/train"
)

// Division says how [Calibrate] divides a budget over the kinds of runs of a space, which differ in sampling rate or
// steps. Every division meets the budget. In a space of one kind of run, and in a [Region] whose candidates are fitted
// to a line, all divisions are the same.
//
// At equal noise a run costs about in proportion to its steps times the square of its sampling rate. EqualCost gives
// the costliest runs the most noise. EqualNoise gives all runs the same noise: the costliest get less than with
// EqualCost and the cheaper ones more, because the cheaper ones then leave more of a trial's average cost to the
// others.
type Division string

// The divisions.
const (
	EqualCost  Division = ""      // every run alone meets the same target, as in the paper's grid search
	EqualNoise Division = "noise" // all runs have the same noise multiplier
)

func (d Division) validate() error {
	switch d {
	case EqualCost, EqualNoise:
		return nil
	}
	return &train.SettingError{Setting: "division of the budget", Value: string(d), Want: fmt.Sprintf("tuner.EqualCost or %q", EqualNoise)}
}
