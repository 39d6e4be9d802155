package tuner

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// Method is the choice of the data that trials and final model are trained on.
type Method string

// The methods.
const (
	Baseline Method = "baseline" // trials on X, no final run
	Variant1 Method = "variant1" // trials on X1, final run on X \ X1
	Variant2 Method = "variant2" // trials on X1, final run on X
)

func (m Method) validate() error {
	switch m {
	case Baseline, Variant1, Variant2:
		return nil
	}
	return &train.SettingError{Setting: "tuning method", Value: string(m), Want: "baseline, variant1 or variant2"}
}

// event returns the event of trials and final run together.
func (m Method) event(q float64, r accountant.Repetitions, trial, final accountant.Event) accountant.Event {
	switch m {
	case Variant1:
		return accountant.Variant1Of(q, r, trial, final)
	case Variant2:
		return accountant.Variant2Of(q, r, trial, final)
	default:
		return accountant.Baseline(r, trial)
	}
}

// ExpectedWork returns the expected work of tuning and final run. The unit is one run on all of the data, so a trial on
// a random subset of rate q costs q. meanTrials is the mean of K. The result assumes that all candidates have the same
// sampling rate and steps.
func (m Method) ExpectedWork(q, meanTrials float64) float64 {
	switch m {
	case Variant1:
		return meanTrials*q + 1 - q
	case Variant2:
		return meanTrials*q + 1
	default:
		return meanTrials
	}
}
