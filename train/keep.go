package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Store keeps what a later process needs to go on with runs. All of it is private. Names consist of lower-case letters,
// digits and "-".
type Store interface {
	// Save replaces what is kept under a name. Whenever the process or the machine dies, either the old or the new
	// content is there afterwards, whole.
	Save(name string, content []byte) error
	// Load returns what is kept under a name, or nil for nothing.
	Load(name string) ([]byte, error)
	// Remove removes what is kept under a name, if there is anything.
	Remove(name string) error
}

// Keeper keeps the states of runs that train, so that runs of another process go on from them, and scores learning
// curves. Its zero value does neither. It changes no result.
type Keeper struct {
	Store Store         // nil keeps nothing
	Every time.Duration // between two saves of a run that trains; 0 means a minute
	// Curve is the public test set that learning curves are scored on, nil for none. It takes about 3 % of the time.
	Curve Labelled
}

// PrivateTrace is what no guarantee covers of a run that trained: its time and its learning curve.
type PrivateTrace struct {
	// Seconds is the run's share of the time in which its group trained: by expected gradients, so that the shares of
	// runs side by side add up to that time.
	Seconds float64        `json:"seconds"`
	Curve   []PrivatePoint `json:"curve,omitempty"`
}

// PrivatePoint is a point of a learning curve: the score on the public test set after a number of steps.
type PrivatePoint struct {
	Step  int     `json:"step"`
	Score float64 `json:"score"`
}

// TrainKept is [Group.Train] with a keeper. It first restores the states that the keeper's store has of the group's
// runs, by their [Settings.Trial]. Then it trains, and saves states from time to time and at the end, be it that ctx is
// cancelled. A state that belongs to another run, or can't be saved, is a [*KeepError], and stops the training; what
// was saved before is still there. TrainKept returns a trace of each run, even with an error.
func (g *Group) TrainKept(ctx context.Context, k Keeper, progress func([]Progress)) ([]PrivateTrace, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	end, err := g.begin()
	if err != nil {
		return nil, err
	}
	t := newTraining(g, k)
	end()
	if err := t.restore(); err != nil {
		return t.traces, err
	}
	err = t.run(ctx, progress)
	return t.traces, errors.Join(err, t.save())
}

// Check keeps the fingerprint of a run that begins, by [Loaded.Fingerprint] and whatever else decides its course. If
// the run has begun before, Check compares the kept one: the error names what differs, and wraps [ErrOtherRun].
func (k Keeper) Check(fingerprint map[string]string) error {
	if k.Store == nil {
		return nil
	}
	kept, err := k.Store.Load("fingerprint")
	if err != nil {
		return err
	}
	if kept == nil {
		text, err := json.Marshal(fingerprint)
		if err != nil {
			return err
		}
		return k.Store.Save("fingerprint", text)
	}
	var before map[string]string
	if err := json.Unmarshal(kept, &before); err != nil {
		return fmt.Errorf("%w: its fingerprint: %w", ErrState, err)
	}
	for _, what := range slices.Sorted(maps.Keys(fingerprint)) {
		if before[what] != fingerprint[what] {
			return &ChangedError{What: what, Before: before[what], Now: fingerprint[what]}
		}
	}
	return nil
}

// ChangedError reports that something changed since a run began, which therefore can't go on. It wraps [ErrOtherRun].
type ChangedError struct {
	What, Before, Now string // Before and Now are private hashes, but for the engine
}

func (e *ChangedError) Error() string {
	if e.What == "engine" {
		return fmt.Sprintf("the run began with engine arithmetic %q, and this is %q: go on where it began", e.Before, e.Now)
	}
	return fmt.Sprintf("the %s changed since the run began: go on with the same", e.What)
}

func (e *ChangedError) Unwrap() error { return ErrOtherRun }

// KeepError reports that a run's state can't be saved or restored. It is no fault of the run.
type KeepError struct {
	Trial uint32
	Err   error
}

func (e *KeepError) Error() string { return fmt.Sprintf("state of run %d: %v", e.Trial, e.Err) }
func (e *KeepError) Unwrap() error { return e.Err }

// State returns the state that is kept of the run with a number, or nil for none.
func (k Keeper) State(trial uint32) (*State, error) {
	if k.Store == nil {
		return nil, nil
	}
	kept, err := k.Store.Load(stateName(trial))
	if err != nil || kept == nil {
		return nil, err
	}
	s := new(State)
	return s, s.UnmarshalBinary(kept)
}

// trace returns the trace that is kept of the run with a number. A missing or damaged one is empty: it decides nothing.
func (k Keeper) trace(trial uint32) PrivateTrace {
	var trace PrivateTrace
	if k.Store == nil {
		return trace
	}
	kept, err := k.Store.Load(traceName(trial))
	if err != nil || json.Unmarshal(kept, &trace) != nil {
		return PrivateTrace{}
	}
	return trace
}

// Forget removes what a keeper's store has of the runs with the given numbers.
func (k Keeper) Forget(trials ...uint32) error {
	if k.Store == nil {
		return nil
	}
	var failed error
	for _, trial := range trials {
		failed = errors.Join(failed, k.Store.Remove(stateName(trial)), k.Store.Remove(traceName(trial)))
	}
	return failed
}

func stateName(trial uint32) string { return fmt.Sprintf("state-%d", trial) }
func traceName(trial uint32) string { return fmt.Sprintf("trace-%d", trial) }

// training is a call of TrainKept.
type training struct {
	group  *Group
	keeper Keeper
	traces []PrivateTrace

	steps  []int // of each run, when its progress was last read
	saved  []int // the step of each run's last saved state
	scored []int // the step of each run's last point

	began, read     time.Time     // when training began, and when progress was last read
	scoreAt, saveAt time.Time     // when the next score and the next save are due
	least           time.Duration // of a segment
}

func newTraining(g *Group, k Keeper) *training {
	if k.Every == 0 {
		k.Every = time.Minute
	}
	n := len(g.settings)
	return &training{group: g, keeper: k, traces: make([]PrivateTrace, n), steps: make([]int, n), saved: make([]int, n), scored: make([]int, n)}
}

// restore restores the states that the store has, and their traces. A trace has no points behind its state.
func (t *training) restore() error {
	for i, s := range t.group.settings {
		state, err := t.keeper.State(s.Trial)
		if err == nil && state != nil {
			err = t.group.Restore(i, *state)
		}
		if err != nil {
			return &KeepError{s.Trial, err}
		}
		if state == nil {
			continue
		}
		t.steps[i], t.saved[i], t.scored[i] = state.Step(), state.Step(), state.Step()
		trace := t.keeper.trace(s.Trial)
		for len(trace.Curve) > 0 && trace.Curve[len(trace.Curve)-1].Step > state.Step() {
			trace.Curve = trace.Curve[:len(trace.Curve)-1]
		}
		t.traces[i] = trace
	}
	return nil
}

// The time between two points grows with the time that the group has trained, so that the points of a curve are as
// dense at the beginning as at its end, in proportion. Scoring takes at most a thirtieth of the time.
const (
	firstPoint = 500 * time.Millisecond
	pointShare = 10 // of the time so far
	scoreShare = 30 // times the time that the last scoring took
)

// run trains until all steps are taken, with pauses.
func (t *training) run(ctx context.Context, progress func([]Progress)) error {
	t.began = time.Now()
	t.read, t.scoreAt, t.saveAt = t.began, t.began.Add(firstPoint), t.began.Add(t.keeper.Every)
	for {
		paused, err := t.segment(ctx, func(runs []Progress) {
			t.measure(runs)
			if progress != nil {
				progress(runs)
			}
		})
		if ctx.Err() != nil || err == nil || !paused || t.ended(err) {
			return err
		}
		if now := time.Now(); t.keeper.Curve != nil && !now.Before(t.scoreAt) {
			t.score(ctx)
			t.read = time.Now()
			t.scoreAt = t.read.Add(max(firstPoint, now.Sub(t.began)/pointShare, scoreShare*t.read.Sub(now)))
		}
		if t.keeper.Store != nil && !time.Now().Before(t.saveAt) {
			if err := t.save(); err != nil {
				return err
			}
			t.saveAt = time.Now().Add(t.keeper.Every)
		}
	}
}

// segment trains until the next pause or to the end. An error in a segment that is paused may be that of the pause, or
// of a run that failed while the others, which go on afterwards, were paused. A segment in which no run took a step
// makes the next one longer, so that pauses which are due all the time don't end the training.
func (t *training) segment(ctx context.Context, progress func([]Progress)) (paused bool, err error) {
	if pause := t.pauseAt(); !pause.IsZero() {
		if earliest := time.Now().Add(t.least); pause.Before(earliest) {
			pause = earliest
		}
		until, cancel := context.WithDeadline(ctx, pause)
		defer cancel()
		ctx = until
	}
	before := slices.Clone(t.steps)
	err = t.group.Train(ctx, progress)
	if slices.Equal(before, t.steps) {
		t.least = 2*t.least + time.Millisecond
	}
	return ctx.Err() != nil, err
}

// pauseAt returns the time of the next pause; zero for none.
func (t *training) pauseAt() time.Time {
	switch {
	case t.keeper.Curve != nil && (t.keeper.Store == nil || t.scoreAt.Before(t.saveAt)):
		return t.scoreAt
	case t.keeper.Store != nil:
		return t.saveAt
	}
	return time.Time{}
}

// ended reports whether, after an error of runs, all the others have taken all their steps.
func (t *training) ended(err error) bool {
	var failed RunErrors
	if !errors.As(err, &failed) {
		return false
	}
	for i, s := range t.group.settings {
		if failed[i] == nil && t.steps[i] < s.Privacy.Steps {
			return false
		}
	}
	return true
}

// measure shares the time since the last call among the runs that took steps in it.
func (t *training) measure(runs []Progress) {
	now := time.Now()
	work, total := make([]float64, len(runs)), 0.0
	for i, p := range runs {
		work[i] = float64(p.Step-t.steps[i]) * t.group.settings[i].Privacy.ExpectedBatchSize()
		t.steps[i] = p.Step
		total += work[i]
	}
	if total > 0 {
		for i := range work {
			t.traces[i].Seconds += work[i] / total * now.Sub(t.read).Seconds()
		}
		t.read = now
	}
}

// score adds a point to the curve of each run that took steps since its last point. A score that can't be had is left
// out: what is wrong with the device shows in the steps too.
func (t *training) score(ctx context.Context) {
	var moved []int
	for i, step := range t.steps {
		if step > t.scored[i] {
			moved = append(moved, i)
		}
	}
	scores, err := t.group.Score(ctx, t.keeper.Curve, moved...)
	if err != nil {
		return
	}
	for k, i := range moved {
		t.scored[i] = t.steps[i]
		t.traces[i].Curve = append(t.traces[i].Curve, PrivatePoint{t.steps[i], scores[k]})
	}
}

// save saves the state of each run that took steps since its state was saved.
func (t *training) save() error {
	if t.keeper.Store == nil {
		return nil
	}
	for i, s := range t.group.settings {
		if err := t.saveRun(i, s.Trial); err != nil {
			return &KeepError{s.Trial, err}
		}
	}
	return nil
}

func (t *training) saveRun(i int, trial uint32) error {
	state, err := t.group.State(i)
	if err != nil {
		return err
	}
	if state.Step() == t.saved[i] {
		return nil
	}
	encoded, err := state.MarshalBinary()
	if err != nil {
		return err
	}
	trace, err := json.Marshal(t.traces[i])
	if err != nil {
		return err
	}
	// The trace comes second: one that is older than its state lacks points, which no result depends on.
	if err := t.keeper.Store.Save(stateName(trial), encoded); err != nil {
		return err
	}
	t.saved[i] = state.Step()
	return t.keeper.Store.Save(traceName(trial), trace)
}
