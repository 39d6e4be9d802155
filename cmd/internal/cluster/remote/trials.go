package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/tuner"
)

// Trials has workers train the trials of one tuning. It implements [tuner.PrivateTrials]. Each trial is a job, so the
// server sees how many trials there are, a private number.
type Trials struct {
	Workers
	Job  Job    // the whole run's, without a key
	Data []byte // hash of the run's data
	Tell func(text string)
}

// tries is the maximum number of times that a trial is handed out again because its result made no sense.
const tries = 3

// Run implements [tuner.PrivateTrials].
func (t *Trials) Run(ctx context.Context, plan tuner.Plan, trials []int, done func(tuner.PrivateOutcome) error) error {
	missing := map[string]int{} // trials without an outcome, by the ids of their jobs
	failed := map[string]int{}
	for _, trial := range trials {
		id := t.id(trial)
		missing[id] = trial
		if err := t.post(ctx, plan, id, trial); err != nil {
			return err
		}
	}
	for len(missing) > 0 {
		arrived, err := t.Board.Next(ctx)
		if err != nil {
			return err
		}
		trial, wanted := missing[arrived.ID]
		if !wanted { // its outcome is kept already, or a second worker did the job
			if err := t.Board.Done(ctx, arrived.ID); err != nil {
				return err
			}
			continue
		}
		outcome, err := t.outcome(arrived, trial)
		if err == nil {
			err = done(outcome)
		}
		switch {
		case errors.Is(err, tuner.ErrOutcome) && failed[arrived.ID] < tries:
			failed[arrived.ID]++
			t.Tell(fmt.Sprintf("a worker's result is no outcome of a trial, and the trial is done once more: %v", err))
			if err := errors.Join(t.Board.Done(ctx, arrived.ID), t.post(ctx, plan, arrived.ID, trial)); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		delete(missing, arrived.ID)
		if err := t.Board.Done(ctx, arrived.ID); err != nil {
			return err
		}
	}
	return nil
}

// id returns the id of a trial's job.
func (t *Trials) id(trial int) string { return fmt.Sprintf("%s-%d", t.Job.Run, trial) }

func (t *Trials) post(ctx context.Context, plan tuner.Plan, id string, trial int) error {
	j := t.Job
	j.Trials = []int{trial}
	body, err := j.Marshal()
	if err != nil {
		return err
	}
	key := plan.Private.Key
	return t.Board.Post(ctx, cluster.Job{ID: id, Lane: t.lane(j), Group: j.Group(), Data: t.Data, Body: body, Secret: key[:]})
}

// outcome decodes the result of a trial's job. The error wraps [tuner.ErrOutcome] if it isn't the trial's outcome.
func (t *Trials) outcome(arrived cluster.Result, trial int) (tuner.PrivateOutcome, error) {
	r, err := UnmarshalResult(arrived.Body)
	var outcomes []tuner.PrivateOutcome
	if err == nil {
		outcomes, err = tuner.UnmarshalOutcomes(r.Trials)
	}
	switch {
	case err != nil:
		return tuner.PrivateOutcome{}, fmt.Errorf("%w: %w", tuner.ErrOutcome, err)
	case r.Run != t.Job.Run || len(outcomes) != 1 || outcomes[0].Trial != trial:
		return tuner.PrivateOutcome{}, fmt.Errorf("%w: it is another trial's", tuner.ErrOutcome)
	}
	return outcomes[0], nil
}
