package tuner

import (
	"sync"

	"github.com/dptrain/dptrain/train"
)

// meter adds up the progress of runs that go on side by side and passes it on, one call at a time.
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

// work is a run's cost in expected gradients of single samples.
func work(p train.Privacy) float64 { return float64(p.Steps) * p.ExpectedBatchSize() }

// trial begins to follow trial i.
func (m *meter) trial(i int, p train.Privacy) *teller {
	t := &teller{meter: m, trial: i + 1, privacy: p}
	t.advance(Started, 0, 0, nil)
	return t
}

// final begins to follow the final run; from now on all work is known.
func (m *meter) final(p train.Privacy) *teller {
	m.mu.Lock()
	m.state.Total = m.state.Done + work(p)
	m.mu.Unlock()
	t := &teller{meter: m, privacy: p}
	t.advance(Started, 0, 0, nil)
	return t
}

// teller follows one run.
type teller struct {
	meter   *meter
	trial   int // 0 for the final run
	privacy train.Privacy
	step    int
	counted bool // among the trials that are done
}

// stepped tells of steps, if any were taken since.
func (t *teller) stepped(p train.Progress) {
	if p.Step > t.step {
		t.advance(Stepped, p.Step, 0, nil)
	}
}

// finished counts a run that stopped early as done: there is no more work in it.
func (t *teller) finished(score float64, err error) {
	t.advance(Finished, t.privacy.Steps, score, err)
}

func (t *teller) advance(kind Kind, step int, score float64, err error) {
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
