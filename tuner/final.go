package tuner

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/train"
)

// trainFinal trains the released model of variants 1 and 2 with the extrapolated hyperparameters of the winner, or of
// the first candidate if no trial was drawn.
func (x *execution) trainFinal(ctx context.Context, trials []outcome, best int) (Result, error) {
	tuned := x.plan.First
	settings := x.plan.final(tuned)
	if best != none {
		tuned = x.plan.Private.Trials[best].Candidate
		settings = x.plan.final(tuned)
		if x.plan.Settings.WarmStart {
			settings.Initial = values(trials[best].model)
		}
	}
	return x.finish(ctx, settings, tuned, trials, best)
}

// values returns a model's values as initial ones; nil, which leaves a run its own, for no model.
func values(model []train.Parameter) [][]float32 {
	var out [][]float32
	for _, p := range model {
		out = append(out, p.Values)
	}
	return out
}

// release releases the baseline's model: the winning trial's, or the untrained one if no trial was drawn.
func (x *execution) release(ctx context.Context, trials []outcome, best int) (Result, error) {
	if best == none {
		tuned := x.plan.First
		settings := x.plan.final(tuned)
		settings.Privacy.Steps = 0
		return x.finish(ctx, settings, tuned, trials, best)
	}
	winner := trials[best]
	if winner.model == nil {
		return Result{}, train.ErrDiverged
	}
	settings := x.plan.trial(best)
	return x.result(winner.model, winner.record.Score, settings, winner.record.Candidate, trials, best), nil
}

// finish carries out the final run.
func (x *execution) finish(ctx context.Context, s train.Settings, tuned Candidate, trials []outcome, best int) (Result, error) {
	runs, err := x.play(ctx, []train.Settings{s}, []*follower{x.meter.final(s.Privacy)})
	if err != nil {
		return Result{}, fmt.Errorf("final run: %w", err)
	}
	final := runs[0]
	if final.err == nil && final.model == nil {
		final.err = train.ErrDiverged
	}
	if final.err != nil {
		return Result{}, fmt.Errorf("final run: %w", final.err)
	}
	result := x.result(final.model, final.score, s, tuned, trials, best)
	result.Private.FinalSeconds, result.Private.FinalCurve = final.trace.Seconds, final.trace.Curve
	return result, nil
}

func (x *execution) result(model []train.Parameter, score float64, s train.Settings, tuned Candidate, trials []outcome, best int) Result {
	private := Private{SubsetSize: x.plan.Settings.Samples, Best: best}
	if x.plan.Settings.Method != Baseline {
		private.SubsetSize = len(x.plan.Private.Subset)
	}
	for _, t := range trials {
		private.Trials = append(private.Trials, t.record)
	}
	return Result{
		Released: Released{
			Parameters:      model,
			Hyperparameters: Hyperparameters{Tuned: tuned, Privacy: s.Privacy, Optimizer: s.Optimizer},
			TestScore:       score,
			Event:           x.plan.Settings.Event(),
		},
		Private: private,
	}
}
