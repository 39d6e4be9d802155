package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// TrainKept is [Group.Train] with a keeper for each run, in the order of the runs. It first restores the states that
// the keepers' stores have of their runs, by [Settings.Trial]; so runs of the same trial need different stores. Then it
// trains, and saves states from time to time and at the end, be it that ctx is cancelled. A state that belongs to
// another run, or can't be saved, is a [*KeepError], and stops the training; what was saved before is still there, and
// the states of the other runs are saved. TrainKept returns a trace of each run, even with an error.
func (g *Group) TrainKept(ctx context.Context, keepers []Keeper, progress func([]Progress)) ([]PrivateTrace, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	end, err := g.begin()
	if err != nil {
		return nil, err
	}
	t := newTraining(g, slices.Clone(keepers))
	end()
	if len(keepers) != len(g.settings) {
		return nil, &SettingError{"number of keepers", len(keepers), fmt.Sprintf("%d, one for each run", len(g.settings))}
	}
	if err := t.restore(); err != nil {
		return t.traces, err
	}
	err = t.run(ctx, progress)
	last := t.save()
	var unkept *KeepError
	if errors.As(err, &unkept) {
		return t.traces, err // it is told once
	}
	return t.traces, errors.Join(err, last)
}

// training is a call of TrainKept.
type training struct {
	group   *Group
	keepers []Keeper
	traces  []PrivateTrace

	steps  []int       // of each run, when its progress was last read
	saved  []int       // the step of each run's last saved state
	scored []int       // the step of each run's last point
	saveAt []time.Time // when the next save of each run is due

	began, read time.Time     // when training began, and when progress was last read
	scoreAt     time.Time     // when the next score is due
	least       time.Duration // of a segment
}

// newTraining returns a training that changes the keepers.
func newTraining(g *Group, keepers []Keeper) *training {
	for i, k := range keepers {
		if k.Every == 0 {
			keepers[i].Every = time.Minute
		}
	}
	n := len(g.settings)
	return &training{
		group: g, keepers: keepers, traces: make([]PrivateTrace, n),
		steps: make([]int, n), saved: make([]int, n), scored: make([]int, n), saveAt: make([]time.Time, n),
	}
}

// restore restores the states that the stores have, and their traces. A trace has no points behind its state.
func (t *training) restore() error {
	for i, s := range t.group.settings {
		state, err := t.keepers[i].State(s.Trial)
		if err == nil && state != nil {
			err = t.group.Restore(i, *state)
		}
		if err != nil {
			return &KeepError{i, s.Trial, err}
		}
		if state == nil {
			continue
		}
		t.steps[i], t.saved[i], t.scored[i] = state.Step(), state.Step(), state.Step()
		trace := t.keepers[i].trace(s.Trial)
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
	t.read, t.scoreAt = t.began, t.began.Add(firstPoint)
	for i, k := range t.keepers {
		t.saveAt[i] = t.began.Add(k.Every)
	}
	for {
		paused, err := t.segment(ctx, func(runs []Progress) {
			t.measure(runs)
			if progress != nil {
				progress(runs)
			}
		})
		switch {
		case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded): // perhaps of a pause at the same time
			return ctx.Err()
		case ctx.Err() != nil || err == nil || !paused || t.ended(err):
			return err
		}
		if now := time.Now(); t.scores() && !now.Before(t.scoreAt) {
			t.score(ctx)
			t.read = time.Now()
			t.scoreAt = t.read.Add(max(firstPoint, now.Sub(t.began)/pointShare, scoreShare*t.read.Sub(now)))
		}
		if err := t.saveDue(); err != nil {
			return err
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

// scores reports whether any run has a learning curve.
func (t *training) scores() bool {
	return slices.ContainsFunc(t.keepers, func(k Keeper) bool { return k.Curve != nil })
}

// pauseAt returns the time of the next pause; zero for none.
func (t *training) pauseAt() time.Time {
	var at time.Time
	if t.scores() {
		at = t.scoreAt
	}
	for i, k := range t.keepers {
		if k.Store != nil && (at.IsZero() || t.saveAt[i].Before(at)) {
			at = t.saveAt[i]
		}
	}
	return at
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
	var sets []Labelled
	moved := map[Labelled][]int{} // the runs to score, by their test set
	for i, step := range t.steps {
		switch set := t.keepers[i].Curve.(type) {
		case *Classification, *Regression, *Measured: // all that can be scored on: see Loaded.CheckTest
			if step <= t.scored[i] {
				continue
			}
			if moved[set] == nil {
				sets = append(sets, set)
			}
			moved[set] = append(moved[set], i)
		}
	}
	for _, set := range sets {
		scores, err := t.group.Score(ctx, set, moved[set]...)
		if err != nil {
			continue
		}
		for k, i := range moved[set] {
			t.scored[i] = t.steps[i]
			t.traces[i].Curve = append(t.traces[i].Curve, PrivatePoint{t.steps[i], scores[k]})
		}
	}
}

// saveDue saves the states whose time has come. States that are saved together stay together, so that keepers of the
// same interval don't pause the group at different times.
func (t *training) saveDue() error {
	now := time.Now()
	var due []int
	for i, k := range t.keepers {
		if k.Store != nil && !now.Before(t.saveAt[i]) {
			due = append(due, i)
		}
	}
	for _, i := range due {
		if err := t.saveRun(i); err != nil {
			return err
		}
	}
	now = time.Now()
	for _, i := range due {
		t.saveAt[i] = now.Add(t.keepers[i].Every)
	}
	return nil
}

// save saves all states. It returns the first error, but a store that fails doesn't keep other runs from theirs.
func (t *training) save() error {
	var first error
	for i := range t.keepers {
		if err := t.saveRun(i); first == nil {
			first = err
		}
	}
	return first
}

// saveRun saves the state of a run that took steps since its state was saved. The error is a [*KeepError].
func (t *training) saveRun(i int) error {
	if t.keepers[i].Store == nil {
		return nil
	}
	trial := t.group.settings[i].Trial
	if err := t.saveState(i, trial); err != nil {
		return &KeepError{i, trial, err}
	}
	return nil
}

func (t *training) saveState(i int, trial uint32) error {
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
	store := t.keepers[i].Store
	if err := store.Save(stateName(trial), encoded); err != nil {
		return err
	}
	t.saved[i] = state.Step()
	return store.Save(traceName(trial), trace)
}
