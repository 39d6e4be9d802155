package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// RunAll carries out a group of plans side by side: first all tunings, then all single trainings. The plans must share
// their data: see [Plan.Again] and [Plan.LoadFrom]. The outcomes are in the order of jobs, and but for times each
// equals that of [Plan.Run] alone. It calls all followers one at a time.
//
// A plan that fails doesn't stop the others. Its outcome is then zero, and the error is a [tuner.PlanErrors], by the
// indices of jobs. If ctx is cancelled, the device is lost or a state can't be saved, all plans stop, and RunAll
// returns that error and no outcomes.
func RunAll(ctx context.Context, e train.Engine, jobs []Job) ([]Outcome, error) {
	g := &group{engine: e}
	for _, j := range jobs {
		g.members = append(g.members, &member{Job: j, index: len(g.members), err: j.Plan.ready()})
	}
	if err := g.run(ctx); err != nil {
		return nil, err
	}
	out, failed := make([]Outcome, len(jobs)), make(tuner.PlanErrors, len(jobs))
	for i, m := range g.members {
		if failed[i] = m.err; m.err == nil {
			if out[i], failed[i] = m.Plan.outcome(m.trained); failed[i] != nil {
				out[i] = Outcome{}
			}
		}
	}
	return out, failed.Or()
}

// group is the state of one call of RunAll.
type group struct {
	engine  train.Engine
	members []*member

	// All members share these.
	model  train.Model
	shared *loaded   // as the plans have loaded it
	key    train.Key // chooses the rows of units that data keeps
	data   *loaded
}

// member is a job with its result or error.
type member struct {
	Job
	index   int // among the jobs
	trained trained
	err     error
}

// run carries out the plans. Its errors stop all of them. A member keeps the error of its own plan.
func (g *group) run(ctx context.Context) error {
	var tunings, trainings []*member
	for _, m := range g.members {
		if m.err != nil {
			continue
		}
		if g.shared == nil {
			g.model, g.shared, g.key = m.Plan.model, m.Plan.data, m.Options.Key
			var err error
			if g.data, err = g.shared.forKey(g.key); err != nil {
				return err
			}
		}
		if g.shared.units != nil && m.Options.Key != g.key {
			return fmt.Errorf("plan %d has a key of its own, which keeps other rows of each unit: carry it out by itself", m.index)
		}
		if m.Plan.data != g.shared {
			return fmt.Errorf("plan %d has loaded data of its own: plans side by side share them; load it by LoadFrom", m.index)
		}
		if m.Plan.tune {
			tunings = append(tunings, m)
		} else {
			trainings = append(trainings, m)
		}
	}
	// A call of tune has one test set: the public one with a metric, or the held-out samples.
	for len(tunings) > 0 {
		first := tunings[0].Plan
		others := func(m *member) bool {
			return m.Plan.holdsOut() != first.holdsOut() || m.Plan.Experiment.Tuning.Metric != first.Experiment.Tuning.Metric
		}
		some := slices.DeleteFunc(slices.Clone(tunings), others)
		tunings = slices.DeleteFunc(tunings, func(m *member) bool { return !others(m) })
		if err := g.tune(ctx, some); err != nil {
			return err
		}
	}
	if len(trainings) > 0 {
		if err := g.train(ctx, trainings); err != nil {
			return err
		}
	}
	return g.temper(ctx)
}

// ofMember returns err, or if it names a plan by its index in members, an error that names it by its index in the jobs.
func ofMember(err error, members []*member) error {
	if unkept, ok := err.(*tuner.PlanError); ok {
		return &tuner.PlanError{Plan: members[unkept.Plan].index, Err: unkept.Err}
	}
	return err
}

// ofRun is ofMember for the error of runs side by side, one of each member.
func ofRun(err error, members []*member) error {
	if unkept, ok := errors.AsType[*train.KeepError](err); ok {
		return &tuner.PlanError{Plan: members[unkept.Run].index, Err: err}
	}
	return err
}

// ready returns an error for a plan that can't be carried out yet.
func (p *Plan) ready() error {
	if p == nil || p.data == nil || p.work == nil {
		return errors.New("run a plan: it isn't settled, or its data aren't loaded")
	}
	return nil
}

// outcome returns the outcome of a trained plan.
func (p *Plan) outcome(t trained) (Outcome, error) {
	var score release.Score
	if p.scored() != nil {
		score = release.Score{Metric: p.metric(), Value: t.score}
	}
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
	parameters, err := networks.ToPyTorch(model.Layers, t.parameters)
	if err != nil {
		return Outcome{}, fmt.Errorf("release the model: %w", err)
	}
	var evaluation *release.Evaluation
	if t.measured != nil {
		evaluation = new(release.EvaluationOf(*t.measured, (&Released{Model: model}).Class))
	}
	return Outcome{
		Evaluation: evaluation,
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
