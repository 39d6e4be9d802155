package tuner

import "github.com/dptrain/dptrain/train"

// outcome is the outcome of a trial.
type outcome struct {
	record PrivateTrial
	model  []train.Parameter // nil if the trial diverged or failed, or another is better
	err    error             // of a trial that failed
	// missing marks a trial that hasn't ended.
	missing bool
}

// run reports that trial i begins, and returns its run.
func (x *execution) run(i int) train.Run {
	s, keeper := x.plan.trial(i), x.keeper
	keeper.Spacing = train.Spacing{} // the curves of trials would be private, like their scores
	run := x.meter.trial(i, s.Privacy).run(s, keeper)
	run.Test = x.test
	return run
}

// add adds the outcome of trial i.
func (x *execution) add(i int, t train.Trained) {
	o := outcome{err: t.Err, record: PrivateTrial{
		Trial:   x.plan.Private.Trials[i],
		Score:   scoreOf(t),
		Seconds: t.Trace.Seconds,
	}}
	switch {
	case t.Err != nil:
		o.record.Failure = t.Err.Error()
	case t.Result.Diverged():
		o.record.Diverged = true
	default:
		o.model = t.Result.Parameters
	}
	x.put(i, o)
}

// put records the outcome of trial i. Only the best of all trials so far keeps its model.
func (x *execution) put(i int, o outcome) {
	x.outcomes[i] = o
	best := selectBest(x.outcomes)
	for i := range x.outcomes {
		if i != best {
			x.outcomes[i].model = nil
		}
	}
}

// missing returns the numbers of the trials that haven't ended, ascending.
func (x *execution) missing() (out []int) {
	for i, o := range x.outcomes {
		if o.missing {
			out = append(out, i)
		}
	}
	return out
}

// scoreOf returns the score of a run: the lowest if it failed or diverged.
func scoreOf(t train.Trained) float64 {
	if t.Err != nil || t.Result.Diverged() {
		return lowest
	}
	return t.Score
}
