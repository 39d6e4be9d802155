package experiment

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// Item is a plan to carry out beside others by [RunAll].
type Item struct {
	Plan     *Plan // settled, its data loaded
	Job      Job
	Follower Follower
}

// RunAll carries out several plans. A plan that fails doesn't stop the others: the error is then a [tuner.PlanErrors] by
// the numbers of items, and the outcomes of the others are there.
func RunAll(ctx context.Context, e train.Engine, items []Item) ([]Outcome, error) {
	out, failed := make([]Outcome, len(items)), make(tuner.PlanErrors, len(items))
	for i, item := range items {
		var unkept *train.KeepError
		outcome, err := item.Plan.Run(ctx, e, item.Job, item.Follower)
		if err != nil && (ctx.Err() != nil || errors.Is(err, train.ErrLost) || errors.As(err, &unkept)) {
			return nil, err
		}
		out[i], failed[i] = outcome, err
	}
	return out, failed.Or()
}

// LoadFrom is [Plan.Load] with the data and the model of another plan, which is loaded. Plans whose data are shared can
// be carried out side by side. If the settings of data or model differ, or the numbers of samples, the error says so. A
// private file that the plan has open is closed.
func (p *Plan) LoadFrom(other *Plan) error {
	if p.data != nil {
		return errors.New("load a plan from another: it is loaded already")
	}
	if other == nil || other.data == nil {
		return errors.New("load a plan from another: the other isn't loaded; load it first")
	}
	a, b := p.Experiment, other.Experiment
	for _, part := range []struct {
		name      string
		mine, its any
	}{
		{"dataset", a.Dataset, b.Dataset},
		{"data", a.Data, b.Data},
		{"text_length", a.TextLength, b.TextLength},
		{"model", a.Model, b.Model},
		{"activation", a.Activation, b.Activation},
		{"number of training samples", p.Samples.Train, other.Samples.Train},
		{"number of test samples", p.Samples.Test, other.Samples.Test},
		{"schema", p.Samples.Schema, other.Samples.Schema},
	} {
		if !reflect.DeepEqual(part.mine, part.its) {
			return fmt.Errorf("load a plan from another: its %s is %v, and the other's is %v; load it by itself", part.name, part.mine, part.its)
		}
	}
	if err := p.Close(); err != nil {
		return err
	}
	p.data, p.model = other.data, other.model
	return nil
}

// Again returns another run of a settled plan, by another key: Plan.Key of the new one draws it, from the seed unless
// that is nil. It shares all that is settled and, if p is loaded, the data. If p isn't loaded, and its data are the
// user's own files, only [Plan.LoadFrom] loads the new plan.
func (p *Plan) Again(seed *uint64) *Plan {
	again := &Plan{
		Experiment: p.Experiment, Samples: p.Samples, Memory: p.Memory, tune: p.tune, free: p.free,
		privacy: p.privacy, work: p.work, model: p.model, data: p.data,
	}
	if seed != nil {
		again.seed = new(*seed)
	}
	again.privacy.Insecure = seed != nil
	again.privacy = again.privacy.Warned()
	return again
}
