package tuner

import (
	"sync"

	"github.com/dptrain/dptrain/train"
)

// meter adds up the progress of runs that train side by side and reports it, one call at a time.
type meter struct {
	mu    sync.Mutex
	call  func(PrivateProgress)
	state PrivateProgress // the sums so far
}

func newMeter(plan Plan, call func(PrivateProgress)) *meter {
	m := &meter{call: call}
	m.state.Trials = len(plan.Private.Trials)
	for i := range plan.Private.Trials {
		m.state.Total += work(plan.trial(i).Privacy)
	}
	if plan.Settings.Method != Baseline {
		m.state.Total += work(plan.final(plan.First).Privacy)
	}
	return m
}

// work returns the expected number of per-sample gradients of a run.
func work(p train.Privacy) float64 { return float64(p.Steps) * p.ExpectedBatchSize() }

// trial reports that trial i begins, and returns its follower.
func (m *meter) trial(i int, p train.Privacy) *follower {
	t := &follower{meter: m, trial: i + 1, privacy: p}
	t.advance(Started, 0, 0, nil)
	return t
}

// final reports that the final run begins, and returns its follower. From now on the total is exact.
func (m *meter) final(p train.Privacy) *follower {
	m.mu.Lock()
	m.state.Total = m.state.Done + work(p)
	m.mu.Unlock()
	t := &follower{meter: m, privacy: p}
	t.advance(Started, 0, 0, nil)
	return t
}

// follower reports the progress of one run to a meter.
type follower struct {
	meter   *meter
	trial   int // 0 for the final run
	privacy train.Privacy
	step    int
	counted bool // it is counted in TrialsDone
}

// run returns a run that reports to the follower.
func (t *follower) run(s train.Settings, k train.Keeper) train.Run {
	return train.Run{
		Settings: s, Keeper: k, Progress: t.stepped,
		Ended: func(run train.Trained) { t.finished(scoreOf(run), run.Err) },
	}
}

// stepped reports progress, if there is any since the last call.
func (t *follower) stepped(p train.Progress) {
	if p.Step > t.step {
		t.advance(Stepped, p.Step, 0, nil)
	}
}

// finished reports the end of a run. It counts all of its work as done, also of a run that stopped early.
func (t *follower) finished(score float64, err error) {
	t.advance(Finished, t.privacy.Steps, score, err)
}

func (t *follower) advance(kind Kind, step int, score float64, err error) {
	m := t.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.Done += float64(step-t.step) * t.privacy.ExpectedBatchSize()
	t.step = step
	if !t.counted && t.trial > 0 && (kind == Finished || step == t.privacy.Steps) {
		t.counted = true
		m.state.TrialsDone++
	}
	if m.call == nil {
		return
	}
	event := m.state
	event.Kind, event.Final, event.Trial = kind, t.trial == 0, t.trial
	event.Step, event.Steps = step, t.privacy.Steps
	event.Score, event.Err = score, err
	m.call(event)
}
