package experiment

import (
	"context"
	"errors"
	"math"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

var divisions = map[string]tuner.Division{
	"":                     tuner.EqualCost,
	settings.DivisionCost:  tuner.EqualCost,
	settings.DivisionNoise: tuner.EqualNoise,
}

var methods = map[string]tuner.Method{"1": tuner.Variant1, "2": tuner.Variant2, "baseline": tuner.Baseline}

// tuning is the [work] of a plan that tunes.
type tuning struct{ tuner.Settings }

// planTuning returns the settings of a tuning on n samples that meets an experiment's budget, and their statement.
func planTuning(e settings.Experiment, n int) (tuner.Settings, release.Privacy, error) {
	space, err := spaceOf(e, n)
	if err != nil {
		return tuner.Settings{}, release.Privacy{}, err
	}
	r, err := repetitionsOf(e.Privacy)
	if err != nil {
		return tuner.Settings{}, release.Privacy{}, err
	}
	tuned := tuningSettings(e, r, n, space)
	// Scores are divided by this number: far below 1 they are noise alone, or infinite.
	if h := tuned.HoldOut.Rate; h > 0 && h*float64(n) < 1 {
		return tuner.Settings{}, release.Privacy{}, usagef("privacy.holdout: %v of %d rows is less than one row; hold out more, such as 0.1", h, n)
	}
	if limit := e.Tuning.LargestFinalRate; limit > 0 {
		if tuned, err = tuned.WithinFinalRate(limit); err != nil {
			return tuner.Settings{}, release.Privacy{}, err
		}
	}
	if e.Privacy.Holdout > 0 && e.Privacy.Epsilon == nil {
		if tuned, _, err = tuner.CalibrateHoldOut(tuned, e.Privacy.Delta, Accounting(e.Privacy)); err != nil {
			return tuner.Settings{}, release.Privacy{}, explainedHoldOut(e.Privacy, err)
		}
	}
	calibrate := tuner.Calibrate
	if e.Privacy.Fixed == settings.FixedNoise {
		calibrate = tuner.CalibrateSteps
	}
	tuned, guarantee, err := settle(e.Privacy, Accounting(e.Privacy), tuned, calibrate)
	if err != nil {
		return tuner.Settings{}, release.Privacy{}, err
	}
	privacy := stated(e.Privacy, e.Data, n, guarantee)
	privacy.Tuning, privacy.Clipping = statedTuning(e), tuned.Clipping
	if tuned.HoldOut.Rate > 0 {
		privacy.Tuning.HeldOut = &release.HeldOut{Rate: tuned.HoldOut.Rate, NoiseMultiplier: tuned.HoldOut.NoiseMultiplier}
	}
	privacy.Tuning.Space = statedSpace(e, tuned)
	return tuned, inCommon(privacy, tuned.Space), tuned.Validate()
}

func tuningSettings(e settings.Experiment, r accountant.Repetitions, n int, space tuner.Space) tuner.Settings {
	return tuner.Settings{
		Method:      methods[e.Privacy.Variant],
		SubsetRate:  e.Privacy.SubsetRate,
		Repetitions: r,
		Space:       space,
		Optimizer:   Optimizer(e.Training, 0),
		Samples:     n,
		Division:    divisions[e.Tuning.Division],
		HoldOut: train.HeldOutSettings{ // its noise is calibrated
			Rate: e.Privacy.Holdout, LogLoss: e.Privacy.Holdout > 0 && e.Tuning.Metric != "",
		},
		RowsPerUnit: e.Data.RowsPerUnit,
		Clipping:    train.Clipping(e.Privacy.Clipping),
	}
}

func (t tuning) event() accountant.Event { return t.Event() }

// tune carries out tunings that share their data and the samples that their models are scored on.
func (g *group) tune(ctx context.Context, tunings []*member) error {
	var work []tuner.Work
	var drawn []*member // with the plans in work
	for _, m := range tunings {
		plan, err := tuner.NewPlan(m.Plan.work.(tuning).Settings, m.Options.Key)
		if err != nil {
			m.err = err
			continue
		}
		work = append(work, tuner.Work{Plan: plan, Keeper: m.Options.keeper(m.Plan), Progress: m.Follower.Tuning, Trials: m.Options.Trials})
		drawn = append(drawn, m)
	}
	executor := tuner.Executor{
		Engine:   g.engine,
		Model:    g.model,
		Data:     g.data.train,
		Test:     tunings[0].Plan.scored(),
		Fallback: func(reason error) { warnAll(drawn, reason) },
	}
	results, err := executor.RunAll(ctx, work...)
	failed, some := err.(tuner.PlanErrors)
	if err != nil && !some {
		return ofMember(err, drawn)
	}
	for i, m := range drawn {
		if some && failed[i] != nil {
			m.err = failed[i]
			continue
		}
		released := results[i].Released
		h := release.HyperparametersOf(released.Hyperparameters.Privacy, released.Hyperparameters.Optimizer)
		h.TunedLearningRate = &released.Hyperparameters.Tuned.LearningRate
		m.trained = trained{released.Parameters, released.TestScore, released.HeldOut, h, newPrivateTuning(results[i].Private, m.Plan.privateNotes()), released.Curve, 0, nil}
	}
	return nil
}

func newPrivateTuning(p tuner.Private, notes []string) runs.PrivateTuning {
	out := runs.PrivateTuning{
		Warning:      warning,
		Repetitions:  len(p.Trials),
		SubsetSize:   p.SubsetSize,
		Best:         p.Best,
		Trials:       make([]runs.PrivateTrial, len(p.Trials)),
		FinalSeconds: p.FinalSeconds,
		Notes:        notes,
	}
	for i, t := range p.Trials {
		out.Trials[i] = runs.PrivateTrial{Candidate: t.Candidate, Score: scoreOf(t), Diverged: t.Diverged, Failure: t.Failure, Seconds: t.Seconds}
	}
	return out
}

// scoreOf returns nil for a trial without a model: JSON has no number for its score of -Inf.
func scoreOf(t tuner.PrivateTrial) *float64 {
	if math.IsInf(t.Score, -1) {
		return nil
	}
	return &t.Score
}

// PrivateTrials carries out trials of a settled tuning whose data are loaded, for another process that carries out the
// plan with the same key: see [tuner.PrivateTrials]. Numbers, key and outcomes are private.
func (p *Plan) PrivateTrials(ctx context.Context, e train.Engine, key train.Key, trials []int, f Follower) ([]tuner.PrivateOutcome, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	t, ok := p.work.(tuning)
	if !ok {
		return nil, errors.New("draw trials: the plan trains once; want one that tunes")
	}
	drawn, err := tuner.NewPlan(t.Settings, key)
	if err != nil {
		return nil, err
	}
	data, err := p.data.forKey(key)
	if err != nil {
		return nil, err
	}
	executor := tuner.Executor{
		Engine:   e,
		Model:    p.model,
		Data:     data.train,
		Test:     p.scored(),
		Progress: f.Tuning,
		Keeper:   Options{}.keeper(p),
		Fallback: func(reason error) { warnOfFallback(f, reason) },
	}
	return executor.RunTrials(ctx, drawn, trials)
}
