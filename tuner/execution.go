package tuner

import (
	"fmt"

	"github.com/dptrain/dptrain/train"
)

// execution carries out a plan, from its check to its result or error.
type execution struct {
	number   int // in the work of RunAll
	plan     Plan
	keeper   train.Keeper
	progress func(PrivateProgress)
	trials   PrivateTrials // nil: they train here

	loaded   *train.Loaded
	meter    *meter
	test     train.Labelled // on which models are scored
	metric   train.Metric
	shapes   []train.Parameter // the model's names, shapes and sizes, if outcomes with models come from elsewhere
	stored   int               // the trial whose model keepModel has stored, or none
	outcomes []outcome         // of all trials; only the best that has ended has its model
	best     int               // once all trials have ended: an index of outcomes, or none
	tuned    Candidate         // the candidate of the best
	settings train.Settings    // of the final run

	result Result
	ended  bool // there is a result
	err    error
}

// check checks a plan against the data. It starts the final run of the first candidate and closes it again, so that a
// final run that can't start fails before hours of training. It also reads all states that the store has, so that a
// damaged one fails before others train in vain.
func (x *execution) check(data *train.Data) error {
	if n := x.plan.Settings.Samples; data.Samples() != n {
		return &train.SettingError{Setting: "number of samples", Value: n, Want: fmt.Sprintf("the data's %d", data.Samples())}
	}
	if err := x.checkCurve(); err != nil {
		return err
	}
	group, err := x.loaded.Start(x.plan.final(x.plan.First))
	if err != nil {
		return err
	}
	if err := group.Close(); err != nil {
		return err
	}
	fingerprint, err := x.loaded.Fingerprint(x.test)
	if err != nil {
		return err
	}
	if fingerprint["plan"], err = x.plan.digest(); err != nil {
		return err
	}
	if err := x.keeper.Check(fingerprint); err != nil {
		return err
	}
	for stream := range finalStream + uint32(len(x.plan.Private.Trials)) + 1 {
		if _, err := x.keeper.State(stream); err != nil {
			return &train.KeepError{Trial: stream, Err: err}
		}
	}
	return nil
}

// checkCurve returns an error if the settings ask for a learning curve that can't be released.
func (x *execution) checkCurve() error {
	switch s := x.plan.Settings; {
	case x.keeper.Spacing == train.Spacing{}:
		return nil
	case s.holdsOut():
		return &train.SettingError{Setting: "learning curve", Value: "of a plan that holds out samples", Want: "none: each score on private samples would cost privacy"}
	case s.Method == Baseline:
		return &train.SettingError{Setting: "learning curve", Value: "of the baseline", Want: "none: it has no final run, and the scores of trials are private"}
	}
	return nil
}

// begin reads the outcomes that the store has.
func (x *execution) begin() {
	x.meter = newMeter(x.plan, x.progress)
	if x.outcomes, x.err = x.kept(); x.err != nil {
		x.err = fmt.Errorf("go on with the trials: %w", x.err)
		return
	}
	if x.trials != nil && x.plan.Settings.needsModels() && len(x.missing()) > 0 {
		x.shapes, x.err = x.shape()
	}
}

// choose selects the best trial. The baseline releases that trial's model, so its plan has ended. The other methods
// train the final model with the trial's extrapolated hyperparameters. If no trial was drawn, the first candidate
// replaces it, and the baseline's model is untrained.
func (x *execution) choose() {
	x.best, x.tuned = selectBest(x.outcomes), x.plan.First
	baseline := x.plan.Settings.Method == Baseline
	if x.best == none {
		x.settings = x.plan.final(x.tuned)
		if baseline {
			x.settings.Privacy.Steps = 0
		}
		return
	}
	winner := x.outcomes[x.best]
	x.tuned = winner.record.Candidate
	switch {
	case !baseline:
		x.settings = x.plan.final(x.tuned)
	case winner.model == nil:
		x.err = train.ErrDiverged
	default:
		x.settings = x.plan.trial(x.best)
		x.end(winner.model, winner.record.Score)
	}
}

// final reports that the final run begins, and returns it.
func (x *execution) final() train.Run {
	run := x.meter.final(x.settings.Privacy).run(x.settings, x.keeper)
	run.Test = x.test
	return run
}

// release releases the model of the final run.
func (x *execution) release(final train.Trained) {
	err := final.Err
	if err == nil && final.Result.Diverged() {
		err = train.ErrDiverged
	}
	if err != nil {
		x.err = fmt.Errorf("final run: %w", err)
		return
	}
	x.end(final.Result.Parameters, final.Score)
	x.result.Released.Curve = final.Curve
	x.result.Private.FinalSeconds = final.Trace.Seconds
}

// end makes the result of a model that x.settings trained.
func (x *execution) end(model []train.Parameter, score float64) {
	private := Private{SubsetSize: x.plan.Settings.Samples, Best: x.best}
	if x.plan.Private.Subset != nil {
		private.SubsetSize = len(x.plan.Private.Subset)
	}
	for _, o := range x.outcomes {
		private.Trials = append(private.Trials, o.record)
	}
	x.result = Result{
		Released: Released{
			Parameters:      model,
			Hyperparameters: Hyperparameters{Tuned: x.tuned, Privacy: x.settings.Privacy, Optimizer: x.settings.Optimizer},
			TestScore:       score,
			Event:           x.plan.Settings.Event(),
		},
		Private: private,
	}
	x.ended = true
}
