package tuner

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// Result is what tuning gives, in two types so that one can't be taken for the other.
type Result struct {
	Released Released
	Private  Private
}

// Released is what the guarantee of Event covers.
type Released struct {
	Parameters      []train.Parameter
	Hyperparameters Hyperparameters
	TestScore       float64 // of the released model on the public test set, by its metric
	Event           accountant.Event
}

// Hyperparameters are those of the released model.
type Hyperparameters struct {
	Tuned     Candidate       // as the winning trial used them
	Privacy   train.Privacy   // of the run that made the released model
	Optimizer train.Optimizer // of the same run, with its extrapolated learning rate
}

// Private is what no guarantee covers. It must not be published.
type Private struct {
	SubsetSize   int // |X1|; n for the baseline
	Trials       []PrivateTrial
	Best         int     // index of the winning trial; -1 if there was none
	FinalSeconds float64 // time of the final run
}

// PrivateTrial is what became of one trial.
type PrivateTrial struct {
	Trial
	Score    float64 // on the public test set, by its metric; -Inf if it failed or diverged
	Diverged bool    // its parameters weren't finite
	Failure  string  // why it failed; empty if it didn't
	Seconds  float64 // time of the trial
}
