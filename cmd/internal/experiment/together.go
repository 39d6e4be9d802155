package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// Item is a plan to carry out beside others by [RunAll].
type Item struct {
	Plan     *Plan    // settled, its data loaded
	Job      Job      // with a key and a store of its own
	Follower Follower // nil for none
}

// RunAll carries out several plans side by side, which share their data: see [Plan.Again] and [Plan.LoadFrom]. First it
// carries out all tunings, then all single trainings. The outcomes are in the order of items, and each is the one of
// [Plan.Run] alone, but for times. It calls all followers one at a time.
//
// A plan that fails, as Run says, doesn't stop the others. Its outcome is then zero, and the error is a
// [tuner.PlanErrors] by the numbers of items. If ctx is cancelled, the device is lost or a state can't be saved, all
// plans stop, and RunAll returns that error and no outcomes.
func RunAll(ctx context.Context, e train.Engine, items []Item) ([]Outcome, error) {
	c := &company{engine: e}
	for _, item := range items {
		if item.Follower == nil {
			item.Follower = silent{}
		}
		c.parts = append(c.parts, &part{Item: item, number: len(c.parts), err: item.Plan.ready(item.Job)})
	}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	out, failed := make([]Outcome, len(items)), make(tuner.PlanErrors, len(items))
	for i, p := range c.parts {
		if failed[i] = p.err; p.err == nil {
			if out[i], failed[i] = p.Plan.outcome(p.trained); failed[i] != nil {
				out[i] = Outcome{}
			}
		}
	}
	return out, failed.Or()
}

// company is the state of one call of RunAll.
type company struct {
	engine train.Engine
	parts  []*part

	// Of all plans.
	model  train.Model
	shared *loaded   // as the plans have loaded them
	key    train.Key // that chose data among the rows of units
	data   *loaded
}

// part is an item with its result or error.
type part struct {
	Item
	number  int // among the items
	trained trained
	err     error
}

// run carries out the plans. Its errors stop all of them; the error of a single plan is in its part.
func (c *company) run(ctx context.Context) error {
	var tunings, trainings []*part
	for _, p := range c.parts {
		if p.err != nil {
			continue
		}
		if c.shared == nil {
			c.model, c.shared, c.key = p.Plan.model, p.Plan.data, p.Job.Key
			var err error
			if c.data, err = c.shared.forKey(c.key); err != nil {
				return err
			}
		}
		if c.shared.units != nil && p.Job.Key != c.key {
			return fmt.Errorf("plan %d has a key of its own, which keeps other rows of each unit: carry it out by itself", p.number)
		}
		if p.Plan.data != c.shared {
			return fmt.Errorf("plan %d has loaded data of its own: plans side by side share them; load it by LoadFrom", p.number)
		}
		if p.Plan.tune {
			tunings = append(tunings, p)
		} else {
			trainings = append(trainings, p)
		}
	}
	// Plans that hold out samples are scored on other ones.
	for _, heldOut := range []bool{false, true} {
		some := slices.Collect(func(yield func(*part) bool) {
			for _, p := range tunings {
				if p.Plan.holdsOut() == heldOut && !yield(p) {
					return
				}
			}
		})
		if len(some) == 0 {
			continue
		}
		if err := c.tune(ctx, some); err != nil {
			return err
		}
	}
	if len(trainings) > 0 {
		if err := c.train(ctx, trainings); err != nil {
			return err
		}
	}
	return c.temper(ctx)
}

// ofPart returns an error that names a plan by its number among the items instead of that among the given plans.
func ofPart(err error, plans []*part) error {
	if unkept, ok := err.(*tuner.PlanError); ok {
		return &tuner.PlanError{Plan: plans[unkept.Plan].number, Err: unkept.Err}
	}
	return err
}

// ofRun returns the error of a group of runs, one of each plan. It names the plan whose state can't be kept.
func ofRun(err error, plans []*part) error {
	var unkept *train.KeepError
	if errors.As(err, &unkept) {
		return &tuner.PlanError{Plan: plans[unkept.Run].number, Err: err}
	}
	return err
}

// ready returns an error for a plan that can't be carried out yet.
func (p *Plan) ready(j Job) error {
	if p == nil || p.data == nil || p.work == nil {
		return errors.New("run a plan: it isn't settled, or its data aren't loaded")
	}
	return nil
}

// outcome returns the outcome of what was trained.
func (p *Plan) outcome(t trained) (Outcome, error) {
	score := release.Score{Metric: p.scored().Metric(), Value: t.score}
	privacy := p.privacy.Of(t.hyperparameters)
	if t.heldOut != nil {
		tuning := *privacy.Tuning
		tuning.HeldOut = &release.HeldOut{
			Rate: tuning.HeldOut.Rate, NoiseMultiplier: tuning.HeldOut.NoiseMultiplier,
			Score: &t.heldOut.Score, Interval: &t.heldOut.Interval, Constant: &t.heldOut.Constant,
		}
		privacy.Tuning, score.HeldOut = &tuning, &t.heldOut.Interval
	}
	verdict := p.judge(t)
	model := p.data.model
	model.Temperature, model.Warning = t.temperature, verdict.Warning
	parameters, err := models.ToPyTorch(model.Layers, t.parameters)
	if err != nil {
		return Outcome{}, fmt.Errorf("release the model: %w", err)
	}
	return Outcome{
		Release: release.Release{
			Parameters:      parameters,
			Model:           model,
			Score:           score,
			Hyperparameters: t.hyperparameters,
			Privacy:         privacy,
			NoPublicRows:    p.data.test == nil,
			Curve:           p.curve(t.curve),
		},
		Verdict: verdict,
		Private: t.private,
	}, nil
}
