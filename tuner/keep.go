package tuner

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/train"
)

// The names in the store.
const (
	outcomesName = "outcomes" // of the trials that have ended
	modelName    = "model"    // of the best trial, if carried out elsewhere: it has no state here
)

// keep saves the outcomes of the trials so far and the state of the best, and removes the states of the others, in an
// order in which a crash loses nothing.
func (x *execution) keep() error {
	if x.keeper.Store == nil {
		return nil
	}
	if err := x.keepOutcomes(); err != nil {
		return err
	}
	best := selectBest(x.outcomes)
	var others []uint32
	for i, o := range x.outcomes {
		if i != best && !o.missing {
			others = append(others, x.plan.Private.Trials[i].Stream)
		}
	}
	if x.stored != none && x.stored != best {
		if err := x.keeper.Store.Remove(modelName); err != nil {
			return err
		}
		x.stored = none
	}
	return x.keeper.Forget(others...)
}

// keepOutcomes saves the outcomes of the trials that have ended.
func (x *execution) keepOutcomes() error {
	var ended []PrivateOutcome
	for i, o := range x.outcomes {
		if !o.missing {
			ended = append(ended, privateOf(i, o))
		}
	}
	return x.save(outcomesName, ended)
}

// keepModel saves the model of trial i and its outcome in place of earlier ones.
func (x *execution) keepModel(i int) error {
	o := privateOf(i, x.outcomes[i])
	o.Parameters = x.outcomes[i].model
	if err := x.save(modelName, []PrivateOutcome{o}); err != nil {
		return err
	}
	x.stored = i
	return nil
}

// privateOf returns an outcome in its saved form, without its model.
func privateOf(i int, o outcome) PrivateOutcome {
	r := o.record
	return PrivateOutcome{Trial: i, Score: r.Score, Diverged: r.Diverged, Failure: r.Failure, Trace: train.PrivateTrace{Seconds: r.Seconds}}
}

// outcomeOf returns an outcome from its saved form, without its model.
func (x *execution) outcomeOf(k PrivateOutcome) outcome {
	o := outcome{record: PrivateTrial{
		Trial: x.plan.Private.Trials[k.Trial], Score: k.Score, Diverged: k.Diverged, Failure: k.Failure, Seconds: k.Trace.Seconds,
	}}
	if k.Failure != "" {
		o.err = errors.New(k.Failure)
	}
	return o
}

// kind names kept outcomes and their plan, including its key. A score that is damaged, or of another run, would select
// another model without an error.
func (x *execution) kind(name string) (string, error) {
	plan, err := x.plan.digest()
	return "dptrain kept " + name + " of plan " + plan, err
}

func (x *execution) save(name string, outcomes []PrivateOutcome) error {
	kind, err := x.kind(name)
	if err != nil {
		return err
	}
	data, err := sealOutcomes(kind, outcomes)
	if err != nil {
		return err
	}
	if err := x.keeper.Store.Save(name, data); err != nil {
		return fmt.Errorf("save the %s of trials: %w", name, err)
	}
	return nil
}

// load returns the outcomes that the store has under a name, none if it has nothing.
func (x *execution) load(name string) ([]PrivateOutcome, error) {
	data, err := x.keeper.Store.Load(name)
	if err != nil || data == nil {
		return nil, err
	}
	kind, err := x.kind(name)
	if err != nil {
		return nil, err
	}
	outcomes, err := unsealOutcomes(kind, data)
	if err != nil {
		return nil, fmt.Errorf("%w: the %s of trials: %w", train.ErrState, name, err)
	}
	for _, o := range outcomes {
		if n := len(x.plan.Private.Trials); o.Trial < 0 || o.Trial >= n {
			return nil, fmt.Errorf("%w: the %s of trial %d, and the plan has %d", train.ErrState, name, o.Trial, n)
		}
	}
	return outcomes, nil
}

// kept returns the stored outcomes. The outcomes of other trials are marked as missing.
func (x *execution) kept() ([]outcome, error) {
	outcomes := make([]outcome, len(x.plan.Private.Trials))
	for i := range outcomes {
		outcomes[i].missing = true
	}
	if x.keeper.Store == nil {
		return outcomes, nil
	}
	kept, err := x.load(outcomesName)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		outcomes[k.Trial] = x.outcomeOf(k)
	}
	modelled, o, err := x.readModel()
	if err != nil {
		return nil, err
	}
	if modelled != none && outcomes[modelled].missing { // the process died before it kept the outcomes
		outcomes[modelled] = o
	}
	for i, o := range outcomes {
		if !o.missing {
			x.meter.trial(i, x.plan.trial(i).Privacy).finished(o.record.Score, o.err)
		}
	}
	best := selectBest(outcomes)
	switch {
	case best == none || outcomes[best].record.Score == lowest || !x.plan.Settings.needsModels():
	case best == modelled:
		outcomes[best].model = o.model
	default:
		outcomes[best].model, err = x.stateModel(best)
	}
	return outcomes, err
}

// readModel returns the trial whose model keepModel saved, and its outcome with the model, or none.
func (x *execution) readModel() (trial int, o outcome, err error) {
	kept, err := x.load(modelName)
	if err != nil || len(kept) == 0 {
		return none, o, err
	}
	if x.shapes, err = x.shape(); err != nil {
		return none, o, err
	}
	o = x.outcomeOf(kept[0])
	model, problem := x.modelOf(kept[0].Parameters)
	if problem != "" {
		return none, o, fmt.Errorf("%w: the best trial's model: %s", train.ErrState, problem)
	}
	o.model, x.stored = model, kept[0].Trial
	return kept[0].Trial, o, nil
}

// stateModel returns the model of a trial that has ended here.
func (x *execution) stateModel(trial int) (model []train.Parameter, err error) {
	settings := x.plan.trial(trial)
	state, err := x.keeper.State(settings.Trial)
	if err == nil && state == nil {
		err = train.ErrState
	}
	if err != nil {
		return nil, fmt.Errorf("the best trial's model: %w", err)
	}
	group, err := x.loaded.Start(settings)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	if err := group.Restore(0, *state); err != nil {
		return nil, err
	}
	result, err := group.Result(0)
	return result.Parameters, err
}
