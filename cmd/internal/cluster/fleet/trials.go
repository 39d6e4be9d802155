package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// Trials has workers carry out the trials of a tuning. It is the [tuner.PrivateTrials] of one plan.
//
// A trial is a job. The server sees how many trials there are, a private number.
type Trials struct {
	Fleet
	Order remote.Order // of the whole run, without a key
	Data  []byte       // hash of the run's data
	Tell  func(text string)
}

// tries is how often a trial or a run is handed out again whose results can't be ones.
const tries = 3

// Run implements [tuner.PrivateTrials].
func (t *Trials) Run(ctx context.Context, plan tuner.Plan, trials []int, done func(tuner.PrivateOutcome) error) error {
	missing := map[string]int{} // by the names of their jobs
	failed := map[string]int{}
	taken := map[string]remote.Delivery{}
	for _, trial := range trials {
		id := t.id(trial)
		missing[id] = trial
		if err := t.post(ctx, plan, id, trial); err != nil {
			return err
		}
	}
	for len(missing) > 0 {
		r, err := t.Board.Next(ctx)
		if err != nil {
			return err
		}
		trial, wanted := missing[r.ID]
		if !wanted { // it is kept already, or a second worker did it
			t.compare(taken, r)
			if err := t.Board.Done(ctx, r.ID); err != nil {
				return err
			}
			continue
		}
		d, outcome, err := t.outcome(r, trial)
		if err == nil {
			err = done(outcome)
		}
		switch {
		case errors.Is(err, tuner.ErrOutcome) && failed[r.ID] < tries:
			failed[r.ID]++
			t.Tell(fmt.Sprintf("a worker's result is no outcome of a trial, and the trial is done once more: %v", err))
			if err := errors.Join(t.Board.Done(ctx, r.ID), t.post(ctx, plan, r.ID, trial)); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		delete(missing, r.ID)
		taken[r.ID] = timeless(d)
		if err := t.Board.Done(ctx, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// id returns the name of a trial's job.
func (t *Trials) id(trial int) string { return fmt.Sprintf("%s-%d", t.Order.Run, trial) }

func (t *Trials) post(ctx context.Context, plan tuner.Plan, id string, trial int) error {
	o := t.Order
	o.Trials = []int{trial}
	body, err := o.Marshal()
	if err != nil {
		return err
	}
	key := plan.Private.Key
	return t.Board.Post(ctx, cluster.Job{ID: id, Lane: t.lane(o), Group: o.Group(), Data: t.Data, Body: body, Secret: key[:]})
}

// outcome returns a trial's delivery and its outcome. The error wraps [tuner.ErrOutcome] if a result has none.
func (t *Trials) outcome(r cluster.Result, trial int) (remote.Delivery, tuner.PrivateOutcome, error) {
	d, err := remote.UnmarshalDelivery(r.Body)
	if err != nil {
		return d, tuner.PrivateOutcome{}, fmt.Errorf("%w: %w", tuner.ErrOutcome, err)
	}
	outcomes, err := tuner.UnmarshalOutcomes(d.Trials)
	switch {
	case err != nil:
		return d, tuner.PrivateOutcome{}, fmt.Errorf("%w: %w", tuner.ErrOutcome, err)
	case d.Run != t.Order.Run || len(outcomes) != 1 || outcomes[0].Trial != trial:
		return d, tuner.PrivateOutcome{}, fmt.Errorf("%w: it is another trial's", tuner.ErrOutcome)
	}
	return d, outcomes[0], nil
}

// timeless returns a delivery whose outcomes say nothing of time, so that equal draws make it equal.
func timeless(d remote.Delivery) remote.Delivery {
	outcomes, err := tuner.UnmarshalOutcomes(d.Trials)
	if err != nil {
		return d
	}
	for i := range outcomes {
		outcomes[i].Trace = train.PrivateTrace{}
	}
	if text, err := tuner.MarshalOutcomes(outcomes); err == nil {
		d.Trials = text
	}
	return d
}

// compare warns of a second result of a trial that differs from the first, which counts.
func (t *Trials) compare(taken map[string]remote.Delivery, r cluster.Result) {
	first, ok := taken[r.ID]
	second, err := remote.UnmarshalDelivery(r.Body)
	if second = timeless(second); !ok || err == nil && bytes.Equal(first.Trials, second.Trials) {
		return
	}
	if err == nil && first.Arithmetic != second.Arithmetic {
		return // which may round otherwise
	}
	t.Tell(fmt.Sprintf("two workers that should agree bit for bit don't: %s and %s carried out one trial, and their outcomes differ; the first counts, and one of these machines is broken",
		first.Machine, second.Machine))
}
