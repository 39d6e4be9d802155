package tuner

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// Settings are the settings of one tuning. All of them are public, and they alone determine the guarantee: see
// [Settings.Event]. Functions that return settings or a plan copy the search space and Optimizer.Groups.
type Settings struct {
	Method      Method
	SubsetRate  float64                // q, in (0, 1); ignored by the baseline
	Repetitions accountant.Repetitions // the distribution of K
	Space       Space
	Optimizer   train.Optimizer // its LearningRate is 0: candidates have their own
	Samples     int             // n, the size of X
	RowsPerUnit int             // samples of a unit, which is protected as a whole; 0 and 1 mean one

	// Clipping is the rule of clipping of all runs. With [train.AutomaticClipping] all candidates must have one
	// clipping norm: others would only scale the learning rate.
	Clipping train.Clipping `json:",omitempty"`

	// Division is how [Calibrate] divides the budget over runs that differ in sampling rate or steps. It has no effect
	// afterwards: the guarantee follows from the noise in Space.
	Division Division `json:",omitempty"`

	// HoldOut, unless it is zero, holds out private samples that no run trains on. They score trials and final model,
	// with noise, so that no public test set is needed. See [Settings.Event].
	HoldOut train.HeldOutSettings `json:",omitzero"`
}

// holdsOut reports whether samples are held out.
func (s Settings) holdsOut() bool { return s.HoldOut != train.HeldOutSettings{} }

// A plan holds every trial, so the mean of K is bounded. If the distribution of K falls like (1-Success)^K, Success is
// bounded too: with a negative shape, a small mean doesn't rule out 10^12 trials.
const (
	maxMean    = 1e6
	minSuccess = 1e-6
)

// Validate returns an error for the first invalid setting, or nil. It wraps a [*train.SettingError], or an
// [*accountant.EventError] if the distribution of K is invalid.
func (s Settings) Validate() error {
	if err := s.validateMethod(); err != nil {
		return err
	}
	if err := validateRepetitions(s.Repetitions); err != nil {
		return err
	}
	if s.Samples < 1 || s.Samples > math.MaxInt32 {
		return &train.SettingError{Setting: "number of samples", Value: s.Samples, Want: fmt.Sprintf("1 to %d", math.MaxInt32)}
	}
	if s.holdsOut() {
		if err := s.HoldOut.Validate(); err != nil {
			return err
		}
		if s.RowsPerUnit > 1 { // some of a unit's samples would be held out and others not: both costs
			return &train.SettingError{Setting: "rows per unit", Value: s.RowsPerUnit, Want: "1, as samples are held out"}
		}
	}
	if s.Optimizer.LearningRate != 0 {
		return &train.SettingError{Setting: "learning rate of the optimizer", Value: s.Optimizer.LearningRate, Want: "0: the search space brings the learning rates"}
	}
	if s.Space == nil {
		return errNoSpace
	}
	if err := s.Space.validate(s); err != nil {
		return err
	}
	if err := accountant.Validate(s.Event()); err != nil {
		return fmt.Errorf("account for the plan: %w", err)
	}
	return nil
}

var errNoSpace = &train.SettingError{Setting: "search space", Value: "missing", Want: "a Grid or a Region"}

func (s Settings) validateMethod() error {
	switch {
	case s.Method != Baseline && s.Method != Variant1 && s.Method != Variant2:
		return &train.SettingError{Setting: "tuning method", Value: string(s.Method), Want: "baseline, variant1 or variant2"}
	case s.Method != Baseline && !(s.SubsetRate > 0 && s.SubsetRate < 1):
		return &train.SettingError{Setting: "subset rate", Value: s.SubsetRate, Want: "a number in (0, 1)"}
	case s.Division != EqualCost && s.Division != EqualNoise:
		return &train.SettingError{Setting: "division of the budget", Value: string(s.Division), Want: fmt.Sprintf("tuner.EqualCost or %q", EqualNoise)}
	case s.Space != nil && !s.spaceIsValue():
		return &train.SettingError{Setting: "search space", Value: fmt.Sprintf("a %T", s.Space), Want: "a Grid or a Region, as a value"}
	}
	return nil
}

// spaceIsValue reports whether the space is a Grid or a Region by value. A pointer to one, or a type that embeds one,
// could change between draw and charge.
func (s Settings) spaceIsValue() bool {
	switch s.Space.(type) {
	case Grid, Region:
		return true
	}
	return false
}

// own returns a copy that shares no memory with a caller's settings.
func (s Settings) own() Settings {
	if s.spaceIsValue() {
		s.Space = s.Space.clone()
	}
	s.Optimizer = s.Optimizer.Clone()
	return s
}

func validateRepetitions(r accountant.Repetitions) error {
	if r == nil {
		return &train.SettingError{Setting: "distribution of trials", Value: "missing", Want: "accountant.Poisson or another"}
	}
	switch r.(type) {
	case accountant.Poisson, accountant.TruncatedPoisson, accountant.TruncatedNegativeBinomial, accountant.Binomial, accountant.Fixed:
	default: // it could change between charge and draw
		return &train.SettingError{Setting: "distribution of trials", Value: fmt.Sprintf("a %T", r), Want: "accountant.Poisson or another, as a value"}
	}
	if mean := r.Expected(); !(mean > 0 && mean <= maxMean) {
		return &train.SettingError{Setting: "mean number of trials", Value: mean, Want: fmt.Sprintf("a number in (0, %v]", maxMean)}
	}
	if d, ok := r.(accountant.TruncatedNegativeBinomial); ok && d.Success < minSuccess {
		return &train.SettingError{Setting: "success of the trials' negative binomial", Value: d.Success, Want: fmt.Sprintf("%v or more: give a smaller mean or a larger shape", minSuccess)}
	}
	return nil
}

// Event returns the privacy event of tuning and final run together, for a unit of RowsPerUnit samples.
//
// A trial costs the average over the candidates that it may draw, or the line that they are fitted to. The final run
// costs the pointwise maximum over them (Lemma param_tuning) or the line, because its candidate is chosen by looking at
// the data. Mode paper charges a trial the maximum, too.
//
// A held-out sample costs as much as [Settings.HoldOutEvent], and every other sample as much as the runs. A draw that
// is independent of all data decides which, so together they cost no more than the costlier: see
// docs/proofs/held-out.md.
func (s Settings) Event() accountant.Event {
	if s.holdsOut() {
		return accountant.Parallel{Events: []accountant.Event{s.runs(), s.HoldOutEvent()}}
	}
	return s.runs()
}

// HoldOutEvent returns the privacy event of held-out samples: the best of K trials by their noisy scores, and then a
// score of the released model.
func (s Settings) HoldOutEvent() accountant.Event {
	return accountant.HeldOutScores(s.Repetitions, s.HoldOut.NoiseMultiplier)
}

// runs returns the event of trials and final run for a unit.
func (s Settings) runs() accountant.Event {
	var trial, final accountant.Event = accountant.MaxOver{}, accountant.MaxOver{} // accountants refuse it
	if s.spaceIsValue() {
		trial, final = s.Space.trial(), s.Space.final()
	}
	e := s.Method.event(s.SubsetRate, s.Repetitions, trial, final)
	if s.RowsPerUnit == 0 || s.RowsPerUnit == 1 {
		return e
	}
	return accountant.GroupOf{Event: e, Size: s.RowsPerUnit}
}

// FinalLearningRate returns the learning rate of the final run if tuned is the winning trial's. For DP-SGD, with
// momentum or without, it grows with the nominal size of the data set, for DP-Adam it equals tuned (paper, section on
// extrapolating hyperparameters); for others see [train.Optimizer.ScalesWithData]. It is the rate that a schedule
// multiplies.
func (s Settings) FinalLearningRate(tuned float64) float64 {
	if !s.Optimizer.ScalesWithData() {
		return tuned
	}
	switch s.Method {
	case Variant1:
		return tuned * (1 - s.SubsetRate) / s.SubsetRate
	case Variant2:
		return tuned / s.SubsetRate
	default:
		return tuned
	}
}

// WithinFinalRate returns a copy of s without the learning rates whose [Settings.FinalLearningRate] exceeds limit. The
// rule doesn't depend on the data, so it costs no privacy. The error is a [*train.SettingError] if no rate is left.
func (s Settings) WithinFinalRate(limit float64) (Settings, error) {
	if err := s.validateMethod(); err != nil {
		return Settings{}, err
	}
	if s.Space == nil {
		return Settings{}, errNoSpace
	}
	s = s.own()
	left := s.Space.below(limit / s.FinalLearningRate(1) * (1 + 1e-9)) // the limit itself stays, with any rounding
	s.Space = left
	if grid, ok := left.(Grid); ok && len(grid) > 0 {
		return s, nil
	}
	if region, ok := left.(Region); ok && region.LearningRate.validate("learning rate") == nil {
		return s, nil
	}
	return Settings{}, &train.SettingError{Setting: "largest final learning rate", Value: limit, Want: "more: in the final run every learning rate of the search space is larger"}
}

// trainingSize returns the nominal number of samples that aren't held out.
func (s Settings) trainingSize() float64 { return (1 - s.HoldOut.Rate) * float64(s.Samples) }

// trialSize returns the nominal size of the data set that trials train on.
func (s Settings) trialSize() float64 {
	if s.Method == Baseline {
		return s.trainingSize()
	}
	return s.SubsetRate * s.trainingSize()
}

// finalSize returns the nominal size of the data set that the released model is trained on.
func (s Settings) finalSize() float64 {
	if s.Method == Variant1 {
		return (1 - s.SubsetRate) * s.trainingSize()
	}
	return s.trainingSize()
}

func (s Settings) privacy(c Candidate, nominalSize float64) train.Privacy {
	return train.Privacy{
		SamplingRate:    c.SamplingRate,
		NoiseMultiplier: c.NoiseMultiplier,
		ClippingNorm:    c.ClippingNorm,
		Clipping:        s.Clipping,
		Steps:           c.Steps,
		NominalSize:     nominalSize,
	}
}

func (s Settings) optimizer(learningRate float64) train.Optimizer {
	o := s.Optimizer
	o.LearningRate = learningRate
	return o
}

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

// Method is the choice of the data that trials and final model are trained on.
type Method string

// The methods.
const (
	Baseline Method = "baseline" // trials on X, no final run
	Variant1 Method = "variant1" // trials on X1, final run on X \ X1
	Variant2 Method = "variant2" // trials on X1, final run on X
)

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
