package experiment

import (
	"encoding/hex"
	"errors"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// Extension describes a finished run of a single training that is trained for more steps. Of the settings beside it all
// must be those of the finished run, the noise among them: [Extension.Of] makes them. What is released then is one run
// of all steps, whose guarantee covers the model that the finished run released too: it is one of the run's iterates.
type Extension struct {
	Name    string   // of the finished run
	Steps   int      // that it took
	More    int      // to add; 0 if Epsilon determines them
	Epsilon *float64 // of all steps together: as many are added as it allows
}

// Of returns the settings for an extension of a run, given those that the run began with and the hyperparameters that
// it released: the noise is fixed, whatever budget it was calibrated to.
func (x Extension) Of(e configs.Experiment, h report.Hyperparameters) configs.Experiment {
	noise := h.NoiseMultiplier
	e.Privacy.Epsilon, e.Privacy.NoiseMultiplier, e.Privacy.Fixed = nil, &noise, configs.FixedEpochs
	e.Privacy.Epochs = float64(x.Steps+x.More) * e.Privacy.SamplingRate
	return e
}

// check returns an error for what can't be extended.
func (x *Extension) check(s Settings) error {
	switch {
	case x == nil:
		return nil
	case s.Tune:
		return usagef("tuned runs can't be trained for more steps: which samples their final run trained on follows from a key that is destroyed; tune again, for more epochs")
	case s.Experiment.Data.RowsPerUnit > 0:
		return usagef("runs with a unit of privacy can't be trained for more steps: which rows of each unit they kept follows from a key that is destroyed; train again, for more epochs")
	case s.Experiment.Privacy.NoiseMultiplier == nil || s.Experiment.Privacy.Epsilon != nil:
		return usagef("the noise of a run can't change after the fact: an extension has that of the finished run")
	case x.Steps < 0 || x.More < 0 || (x.More > 0) == (x.Epsilon != nil):
		return usagef("say how many steps to add, at least 1, or the epsilon of all steps together")
	}
	return nil
}

// planExtension is [Plan.planned] of an extension.
func (p *Plan) planExtension() (work, report.Privacy, error) {
	x, e := p.extends, &p.Experiment
	run := unitRun{trainingPrivacy(*e, p.Samples.Train, x.Steps+x.More), 0}
	if x.Epsilon != nil {
		if err := p.calibrateExtension(&run); err != nil {
			return nil, report.Privacy{}, err
		}
	}
	if err := run.Privacy.Validate(); err != nil {
		return nil, report.Privacy{}, err
	}
	e.Privacy.Epochs = float64(run.Steps) * run.SamplingRate
	guarantee, err := guaranteeOf(e.Privacy, run)
	if err != nil {
		return nil, report.Privacy{}, err
	}
	settings := train.Settings{Privacy: run.Privacy, Optimizer: Optimizer(e.Training, e.Training.LearningRate)}
	p.extends = &Extension{Name: x.Name, Steps: x.Steps, More: run.Steps - x.Steps}
	run.Steps = p.extends.More
	if p.added, err = run.Guarantee(e.Privacy.Delta, Accounting(e.Privacy)); err != nil {
		return nil, report.Privacy{}, err
	}
	privacy := stated(e.Privacy, e.Data, p.Samples.Train, guarantee).Of(report.HyperparametersOf(settings.Privacy, settings.Optimizer))
	privacy.EarlierSteps = x.Steps
	return training{settings, 0}, privacy, nil
}

// calibrateExtension gives a run as many steps as the epsilon of all of them allows.
func (p *Plan) calibrateExtension(run *unitRun) error {
	x, e := p.extends, p.Experiment.Privacy
	spent := *run
	spent.Steps = x.Steps
	before, err := guaranteeOf(e, spent)
	if err != nil {
		return err
	}
	found, _, err := run.calibrateSteps(*x.Epsilon, e.Delta, Accounting(e))
	switch {
	case errors.Is(err, accountant.ErrUnbounded):
		return usagef("epsilon %v allows any number of steps with noise multiplier %v; give the number of steps", *x.Epsilon, run.NoiseMultiplier)
	case errors.Is(err, accountant.ErrInfeasible), err == nil && found.Steps <= x.Steps:
		return budgetf("epsilon %v allows no further step: the run's %d steps cost epsilon %s at delta %v, and its noise can't change after the fact; give a larger epsilon",
			*x.Epsilon, x.Steps, report.Up(before.Epsilon), e.Delta)
	case err != nil:
		return err
	}
	run.Steps = found.Steps
	return nil
}

// addedEvent returns the event of the steps that an extension adds.
func (p *Plan) addedEvent() accountant.Event {
	run := p.work.(training).Privacy
	run.Steps = p.extends.More
	return run.Event()
}

// CheckEnd returns an error that wraps [train.ErrOtherRun] unless the loaded plan has the model, the data and the
// metric of a finished run, whose fingerprint it compares, and the engine has its arithmetic. An extension by other
// data would have other neighbours at its later steps, and its guarantee would be that of neither data set.
func (p *Plan) CheckEnd(e train.Engine, before map[string]string) (err error) {
	training, test := p.data.train.Digest(), p.data.testDigest()
	now := map[string]string{"training data": hex.EncodeToString(training[:]), "test data": hex.EncodeToString(test[:])}
	if err := sameAs(before, now); err != nil { // before the data are on a device
		return err
	}
	loaded, err := train.Load(e, p.model, p.data.train)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	if now, err = loaded.Fingerprint(p.data.test); err != nil {
		return err
	}
	return sameAs(before, now)
}

// sameAs returns an error for what differs from a fingerprint.
func sameAs(before, now map[string]string) error {
	for _, what := range []string{"training data", "test data", "model", "metric", "engine"} {
		if value, ok := now[what]; ok && value != before[what] {
			return &train.ChangedError{What: what, Before: before[what], Now: value}
		}
	}
	return nil
}

// Extended returns the settled extension: with its number of steps, and without a budget. Nil for other plans.
func (p *Plan) Extended() *Extension { return p.extends }
