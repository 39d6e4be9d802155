package train

import (
	"context"
	"errors"
)

// Run is a run of [Loaded.TrainAll].
type Run struct {
	Settings Settings
	Test     Labelled       // on which the run's model is scored; nil means TrainAll's, which may be none
	Keeper   Keeper         // runs of the same Settings.Trial need different stores
	Progress func(Progress) // is called several times a second and at the end, unless it is nil
	Ended    func(Trained)  // is called with the outcome, unless it is nil
}

// Trained is the outcome of a run of [Loaded.TrainAll].
type Trained struct {
	Result Result  // of a run that took all its steps; it may have diverged: see [Result.Diverged]
	Score  float64 // of a model that didn't diverge, on the public test set; 0 without one
	Curve  []Point // by the run's Keeper.Spacing, nil for none; it may be released with the model
	Trace  PrivateTrace
	Err    error // of a run that failed; it has neither result nor score
}

// TrainAll trains runs to their ends, side by side, each exactly as it would alone, and scores their models on a public
// test set, or on [Run].Test. If both are nil, nothing is scored. It goes on from the states that the runs' keepers
// have, as [Group.TrainKept] does. If the engine can't start all runs together, because of memory or of one run, they
// train in smaller groups, one after another. It calls the functions of all runs one at a time.
//
// A run that fails doesn't stop the others. If ctx is cancelled, the device is lost or a state can't be kept (a
// [*KeepError]), all runs stop after a whole step, and TrainAll returns that error and no outcomes.
func (l *Loaded) TrainAll(ctx context.Context, test Labelled, runs ...Run) ([]Trained, error) {
	for _, r := range runs {
		if on := r.test(test); on != nil {
			if err := l.CheckTest(on); err != nil {
				return nil, err
			}
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	return l.trainAll(ctx, test, runs)
}

func (l *Loaded) trainAll(ctx context.Context, test Labelled, runs []Run) ([]Trained, error) {
	settings := make([]Settings, len(runs))
	for i, r := range runs {
		settings[i] = r.Settings
	}
	group, err := l.Start(settings...)
	switch {
	case errors.Is(err, ErrClosed):
		return nil, err
	case err != nil && len(runs) > 1 && !errors.Is(err, ErrLost):
		return l.trainHalves(ctx, test, runs)
	}
	out := make([]Trained, len(runs))
	if err == nil {
		err = group.trainAndScore(ctx, test, runs, out)
	}
	if errors.As(err, new(*KeepError)) {
		return nil, errors.Join(ctx.Err(), err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range out {
		if err != nil && out[i].Err == nil { // a group's error is each run's
			out[i] = Trained{Err: err, Trace: out[i].Trace}
		}
	}
	for _, o := range out {
		if errors.Is(o.Err, ErrLost) {
			return nil, o.Err
		}
	}
	for i, r := range runs {
		if r.Ended != nil {
			r.Ended(out[i])
		}
	}
	return out, nil
}

// trainHalves trains one half of the runs after the other.
func (l *Loaded) trainHalves(ctx context.Context, test Labelled, runs []Run) ([]Trained, error) {
	half := len(runs) / 2
	out, err := l.trainAll(ctx, test, runs[:half])
	if err != nil {
		return nil, err
	}
	more, err := l.trainAll(ctx, test, runs[half:])
	if unkept, ok := errors.AsType[*KeepError](err); ok {
		unkept.Run += half
	}
	if err != nil {
		return nil, err
	}
	return append(out, more...), nil
}

// trainAndScore trains and scores the group's runs, fills in the outcome of each and closes the group. Its errors
// concern all runs.
func (g *Group) trainAndScore(ctx context.Context, test Labelled, runs []Run, out []Trained) (err error) {
	defer func() { err = errors.Join(err, g.Close()) }()
	keepers := make([]Keeper, len(runs))
	for i, r := range runs {
		keepers[i] = r.Keeper
	}
	traces, err := g.TrainKept(ctx, keepers, func(all []Progress) {
		for i, p := range all {
			if runs[i].Progress != nil {
				runs[i].Progress(p)
			}
		}
	})
	for i := range traces {
		out[i].Trace = traces[i]
	}
	var failed RunErrors
	if err != nil && (!errors.As(err, &failed) || errors.As(err, new(*KeepError))) {
		return err
	}
	for i := range failed { // all of them before any result, whose error must not hide that a device was lost
		out[i].Err = failed[i]
	}
	var whole []int
	for i := range out {
		if out[i].Err != nil {
			continue
		}
		if out[i].Result, err = g.Result(i); err != nil {
			return err
		}
		out[i].Curve = traces[i].Released
		if !out[i].Result.Diverged() && runs[i].test(test) != nil {
			whole = append(whole, i)
		}
	}
	for len(whole) > 0 {
		on := runs[whole[0]].test(test)
		var same, others []int
		_, own := on.(*Measured) // whose fault with one model doesn't concern the others
		for k, i := range whole {
			if runs[i].test(test) == on && (!own || k == 0) {
				same = append(same, i)
			} else {
				others = append(others, i)
			}
		}
		scores, err := g.Score(ctx, on, same...)
		for k, i := range same {
			if err != nil {
				out[i] = Trained{Err: err, Trace: out[i].Trace}
			} else {
				out[i].Score = scores[k]
			}
		}
		whole = others
	}
	return nil
}

// test returns the test set of the run's model.
func (r Run) test(common Labelled) Labelled {
	if r.Test != nil {
		return r.Test
	}
	return common
}
