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
	Score    *float64             `json:"score,omitempty"`
	Diverged bool                 `json:"diverged,omitempty"`
	Failure  string               `json:"failure,omitempty"`
	Seconds  float64              `json:"seconds"`
	Curve    []train.PrivatePoint `json:"curve,omitempty"`
}

// outcomesName is the name of the outcomes in the store.
const outcomesName = "outcomes"

// keep keeps the outcomes of the trials so far and the state of the best, and forgets the states of the others. The
// order is that in which a crash in between costs nothing.
func (x *execution) keep() error {
	if x.keeper.Store == nil {
		return nil
	}
	best := selectBest(x.outcomes)
	kept := make([]keptOutcome, len(x.outcomes))
	var others []uint32
	for i, o := range x.outcomes {
		kept[i] = keptOutcome{Diverged: o.record.Diverged, Failure: o.record.Failure, Seconds: o.record.Seconds, Curve: o.record.Curve}
		if o.record.Score != lowest {
			kept[i].Score = &x.outcomes[i].record.Score
		}
		if i != best {
			others = append(others, x.plan.Private.Trials[i].Stream)
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
	return x.keeper.Forget(others...)
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

// kept returns the outcomes that the store has, those of the first trials.
func (x *execution) kept() ([]outcome, error) {
	if x.keeper.Store == nil {
		return nil, nil
	}
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
	var kept []keptOutcome
	if err := json.Unmarshal(text[head:], &kept); err != nil {
		return nil, fmt.Errorf("%w: outcomes of trials: %w", train.ErrState, err)
	}
	if len(kept) > len(x.plan.Private.Trials) {
		return nil, fmt.Errorf("%w: outcomes of %d trials, and the plan has %d", train.ErrState, len(kept), len(x.plan.Private.Trials))
	}
	outcomes := make([]outcome, len(kept))
	for i, k := range kept {
		record := PrivateTrial{Trial: x.plan.Private.Trials[i], Score: lowest, Diverged: k.Diverged, Failure: k.Failure, Seconds: k.Seconds, Curve: k.Curve}
		if k.Score != nil {
			record.Score = *k.Score
		}
		outcomes[i] = outcome{record: record}
		if k.Failure != "" {
			outcomes[i].err = errors.New(k.Failure)
		}
		f := x.meter.trial(i, x.plan.trial(i).Privacy)
		f.finished(record.Score, outcomes[i].err)
	}
	if best := selectBest(outcomes); best != none && outcomes[best].record.Score != lowest {
		outcomes[best].model, err = x.keptModel(best)
	}
	return outcomes, err
}

// keptModel returns the model of a trial that has ended.
func (x *execution) keptModel(trial int) (model []train.Parameter, err error) {
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
