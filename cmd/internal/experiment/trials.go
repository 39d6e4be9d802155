package experiment

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// PrivateTrials carries out trials of a settled tuning whose data are loaded, for another process that carries out the
// plan with the same key: see [tuner.PrivateTrials]. The follower may be nil. Numbers, key and outcomes are private.
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
