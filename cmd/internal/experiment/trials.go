package experiment

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// PrivateTrials carries out trials of a settled tuning whose data are loaded, for another process that carries out the
// plan with the same key: see [tuner.PrivateTrials]. The numbers are below [Plan.PrivateTrialCount]. The
// follower may be nil. Numbers, key and outcomes are private.
func (p *Plan) PrivateTrials(ctx context.Context, e train.Engine, key train.Key, trials []int, f Follower) ([]tuner.PrivateOutcome, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	drawn, err := p.drawn(key)
	if err != nil {
		return nil, err
	}
	data, err := p.data.forKey(key)
	if err != nil {
		return nil, err
	}
	if f == nil {
		f = silent{}
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

// PrivateTrialCount returns the number of trials that a settled tuning draws from a key. No guarantee covers it.
func (p *Plan) PrivateTrialCount(key train.Key) (int, error) {
	drawn, err := p.drawn(key)
	return len(drawn.Private.Trials), err
}

// drawn returns the plan that a settled tuning draws from a key.
func (p *Plan) drawn(key train.Key) (tuner.Plan, error) {
	if p == nil || p.work == nil {
		return tuner.Plan{}, errors.New("draw trials: the plan isn't settled; call Settle first")
	}
	t, ok := p.work.(tuning)
	if !ok {
		return tuner.Plan{}, errors.New("draw trials: the plan trains once; want one that tunes")
	}
	return tuner.NewPlan(t.Settings, key)
}
