package tuner

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// Result is the result of tuning. Its two parts have different types, so that the private part isn't mistaken for the
// released one.
type Result struct {
	Released Released
	Private  Private
}

// Released is the part of a result that the guarantee of Event covers.
type Released struct {
	Parameters      []train.Parameter
	Hyperparameters Hyperparameters
	TestScore       float64 // score of the released model on the public test set, by its metric
	Event           accountant.Event
	// Curve is the learning curve of the final run, if the keeper's Spacing asks for one: see [train.Spacing].
	Curve []train.Point
	// HeldOut is the score on held-out samples if the plan holds out samples. TestScore is then its Score.
	HeldOut *train.HeldOutScore
}

// Hyperparameters are the hyperparameters of a released model.
type Hyperparameters struct {
	Tuned     Candidate       // as the winning trial used them
	Privacy   train.Privacy   // settings of the run that trained the released model
	Optimizer train.Optimizer // optimizer of that run, with its extrapolated learning rate
}

// Private is the part of a result that no guarantee covers. It must not be published.
type Private struct {
	SubsetSize   int // |X1|; for the baseline the size of its training data
	Trials       []PrivateTrial
	Best         int     // index of the winning trial; -1 if no trial was drawn
	FinalSeconds float64 // duration of the final run
}

// PrivateTrial is the outcome of one trial.
type PrivateTrial struct {
	Trial
	Score    float64 // on the public test set or, with noise, on held-out samples; -Inf if it failed or diverged
	Diverged bool    // its parameters aren't finite
	Failure  string  // the error, if it failed
	// This trial's share of the training time of its group: see [train.PrivateTrace].
	Seconds float64
}
