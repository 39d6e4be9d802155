package train

import (
	"context"
	"errors"
	"fmt"
)

// Trainer is one training run. Its methods are not safe for concurrent use. After Close their errors wrap [ErrClosed].
type Trainer struct {
	group *Group
}

// New compiles the model, checks that settings, model and data fit together and makes the run ready on
// the engine. Errors are those of [Load] and [Loaded.Start].
func New(e Engine, model Model, data *Data, s Settings) (*Trainer, error) {
	loaded, err := Load(e, model, data)
	if err != nil {
		return nil, err
	}
	group, err := loaded.Start(s)
	if err != nil {
		return nil, errors.Join(err, loaded.Close())
	}
	return &Trainer{group}, nil
}

// reports is the number of times that a whole run calls back: often enough for a progress bar, too
// seldom to slow down a device.
const reports = 200

// Train takes the steps that are left. It calls progress, which may be nil, from time to time; within
// that call [Trainer.State] may be used. On a cancelled context it stops after a whole step and returns
// the context's error, and State tells how far it came.
func (t *Trainer) Train(ctx context.Context, progress func(Progress)) (Result, error) {
	if ctx == nil {
		return Result{}, errNoContext
	}
	for {
		at, err := t.part(ctx)
		if err != nil {
			return Result{}, err
		}
		if at == nil {
			return t.group.Result(0)
		}
		if progress != nil {
			progress(*at)
		}
	}
}

// part takes the steps until the next report, which it returns; nil if none is left. Between two parts the trainer
// may be closed.
func (t *Trainer) part(ctx context.Context) (*Progress, error) {
	end, err := t.runs().beginSteps()
	if err != nil {
		return nil, err
	}
	defer end()
	steps := t.group.settings[0].Privacy.Steps
	left := steps - t.step()
	if left == 0 {
		return nil, nil
	}
	err = t.group.runs.Steps(ctx, min(max(1, steps/reports), left))
	var failed RunErrors
	if errors.As(err, &failed) {
		return nil, failed[0]
	}
	if err != nil {
		return nil, fmt.Errorf("step %d of %d: %w", t.step()+1, steps, err)
	}
	return &Progress{Step: t.step(), Steps: steps}, nil
}

// runs returns the group, which checks itself; nil of a nil or zero Trainer.
func (t *Trainer) runs() *Group {
	if t == nil {
		return nil
	}
	return t.group
}

// loaded returns the group's model, which checks itself; nil of a nil or zero Trainer.
func (t *Trainer) loaded() *Loaded { return t.runs().model() }

func (t *Trainer) step() int { return t.group.runs.Done()[0] }

// Score returns how well the model does on public test samples: see [Group.Score].
func (t *Trainer) Score(ctx context.Context, test Labelled) (float64, error) {
	score, err := t.runs().Score(ctx, test, 0)
	if err != nil {
		return 0, err
	}
	return score[0], nil
}

// Predict returns the model's output for every sample: see [Group.Predict].
func (t *Trainer) Predict(ctx context.Context, data *Data) ([]float32, error) {
	out, err := t.runs().Predict(ctx, data, 0)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// CheckTest returns an error, a [*DataError] inside it, if Score can't take the test set.
func (t *Trainer) CheckTest(test Labelled) error { return t.loaded().CheckTest(test) }

// Fallback tells why the model runs on another engine than the first: see [Loaded.Fallback].
func (t *Trainer) Fallback() error { return t.loaded().Fallback() }

// State returns a copy of the run's state.
func (t *Trainer) State() (State, error) { return t.runs().State(0) }

// Restore takes the run to a state that it was in before: see [Group.Restore].
func (t *Trainer) Restore(s State) error { return t.runs().Restore(0, s) }

// Close gives back what the run holds on the device. A second Close does nothing.
func (t *Trainer) Close() error { return errors.Join(t.runs().Close(), t.loaded().Close()) }
