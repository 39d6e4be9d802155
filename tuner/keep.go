package tuner

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/train"
)

// keptOutcome is the outcome of a trial that has ended, as it is kept. JSON has no -Inf: a trial without a model has no
// score.
type keptOutcome struct {
	Score    *float64 `json:"score,omitempty"`
	Diverged bool     `json:"diverged,omitempty"`
	Failure  string   `json:"failure,omitempty"`
	Seconds  float64  `json:"seconds"`
}

// outcomesName is the name of the outcomes in the store.
const outcomesName = "outcomes"

// keep keeps the outcomes of the trials so far and the state of the best, and forgets the states of the others. The
// order is that in which a crash in between costs nothing.
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

// keepOutcomes keeps the outcomes of the trials that have ended, as a list with null for each that hasn't.
func (x *execution) keepOutcomes() error {
	kept := []*keptOutcome{}
	for i, o := range x.outcomes {
		if !o.missing {
			kept = append(append(kept, make([]*keptOutcome, i-len(kept))...), keptOf(o))
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the outcomes: %w", err)
	}
	sum, err := x.sum(text)
	if err != nil {
		return err
	}
	if err := x.keeper.Store.Save(outcomesName, append(sum, text...)); err != nil {
		return fmt.Errorf("save the outcomes: %w", err)
	}
	return nil
}

// keptOf returns an outcome as it is kept.
func keptOf(o outcome) *keptOutcome {
	k := &keptOutcome{Diverged: o.record.Diverged, Failure: o.record.Failure, Seconds: o.record.Seconds}
	if o.record.Score != lowest {
		k.Score = &o.record.Score
	}
	return k
}

// outcomeOf returns the outcome of trial i that is kept as k.
func (x *execution) outcomeOf(i int, k keptOutcome) outcome {
	o := outcome{record: PrivateTrial{
		Trial: x.plan.Private.Trials[i], Score: lowest, Diverged: k.Diverged, Failure: k.Failure, Seconds: k.Seconds,
	}}
	if k.Score != nil {
		o.record.Score = *k.Score
	}
	if k.Failure != "" {
		o.err = errors.New(k.Failure)
	}
	return o
}

// sum returns what stands before kept outcomes: a hash of them and of the plan, which has the key. A score that is
// damaged, or of another run, would select another model without a word.
func (x *execution) sum(text []byte) ([]byte, error) {
	plan, err := x.plan.digest()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append([]byte(plan+"\n"), text...))
	return sum[:], nil
}

// kept returns the outcomes that the store has. Those of the other trials are missing.
func (x *execution) kept() ([]outcome, error) {
	outcomes := make([]outcome, len(x.plan.Private.Trials))
	for i := range outcomes {
		outcomes[i].missing = true
	}
	if x.keeper.Store == nil {
		return outcomes, nil
	}
	kept, err := x.readOutcomes()
	if err != nil {
		return nil, err
	}
	for i, k := range kept {
		if k != nil {
			outcomes[i] = x.outcomeOf(i, *k)
		}
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

// readOutcomes returns the list that the store has, nil for each trial that hasn't ended; it may be shorter.
func (x *execution) readOutcomes() ([]*keptOutcome, error) {
	text, err := x.keeper.Store.Load(outcomesName)
	if err != nil || text == nil {
		return nil, err
	}
	head := min(sha256.Size, len(text))
	sum, err := x.sum(text[head:])
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(sum, text[:head]) {
		return nil, fmt.Errorf("%w: outcomes of trials: checksum differs", train.ErrState)
	}
	var kept []*keptOutcome
	if err := json.Unmarshal(text[head:], &kept); err != nil {
		return nil, fmt.Errorf("%w: outcomes of trials: %w", train.ErrState, err)
	}
	if len(kept) > len(x.plan.Private.Trials) {
		return nil, fmt.Errorf("%w: outcomes of %d trials, and the plan has %d", train.ErrState, len(kept), len(x.plan.Private.Trials))
	}
	return kept, nil
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
