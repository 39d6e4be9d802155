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
// trains, and saves states from time to time and at the end, even if ctx is cancelled. A state that belongs to another
// run, or can't be saved, is a [*KeepError], and stops the training. Earlier saves remain, and the states of the other
// runs are saved. TrainKept returns a trace of each run, even with an error.
func (g *Group) TrainKept(ctx context.Context, keepers []Keeper, progress func([]Progress)) ([]PrivateTrace, error) {
	if len(keepers) != len(g.settings) {
		return nil, &SettingError{"number of keepers", len(keepers), fmt.Sprintf("%d, one for each run", len(g.settings))}
	}
	for _, k := range keepers {
		if err := k.Spacing.check(k.Curve); err != nil {
			return nil, err
		}
	}
	end, err := g.begin()
	if err != nil {
		return nil, err
	}
	t := newTraining(g, slices.Clone(keepers))
	end()
	if err := t.restore(); err != nil {
		return t.traces, err
	}
	err = t.run(ctx, progress)
	last := t.save()
	if errors.As(err, new(*KeepError)) {
		return t.traces, err // reported once
	}
	return t.traces, errors.Join(err, last)
}

// training is a call of TrainKept.
type training struct {
	group   *Group
	keepers []Keeper
	traces  []PrivateTrace

	steps  []int       // of each run, at the last reading of progress
	saved  []int       // the step of each run's last saved state
	scored []int       // the step of each run's last point, or -1
	marks  []marks     // the steps of each run's points
	saveAt []time.Time // when the next save of each run is due

	read  time.Time     // when progress was last read
	least time.Duration // of a segment
}

// newTraining returns a training that changes the keepers.
func newTraining(g *Group, keepers []Keeper) *training {
	for i, k := range keepers {
		if k.Every == 0 {
			keepers[i].Every = time.Minute
		}
	}
	n := len(g.settings)
	t := &training{
		group: g, keepers: keepers, traces: make([]PrivateTrace, n), marks: make([]marks, n), saveAt: make([]time.Time, n),
		steps: g.runs.Done(), saved: make([]int, n), scored: make([]int, n),
	}
	for i, s := range g.settings {
		t.saved[i], t.scored[i] = s.first(), -1
		t.marks[i] = keepers[i].Spacing.marks(s.first(), s.Privacy.Steps)
	}
	return t
}

// restore restores the stores' states, traces and curves. It drops points after the state: training adds the same
// points again. All earlier points are there, because they are saved before the state.
func (t *training) restore() error {
	for i, s := range t.group.settings {
		k := t.keepers[i]
		state, err := k.State(s.Trial)
		if err == nil && state != nil {
			err = t.group.Restore(i, *state)
		}
		if err != nil {
			return &KeepError{i, s.Trial, err}
		}
		if state == nil {
			continue
		}
		t.steps[i], t.saved[i] = state.Step(), state.Step()
		t.traces[i] = kept[PrivateTrace](k, traceName(s.Trial))
		if t.marks[i].every == 0 {
			continue
		}
		for _, p := range kept[[]Point](k, curveName(s.Trial)) {
			if p.Step <= t.steps[i] && p.Step > t.scored[i] {
				t.add(i, p)
			}
		}
	}
	return nil
}

// add adds a point to a learning curve.
func (t *training) add(i int, p Point) {
	t.scored[i] = p.Step
	t.traces[i].Released = append(t.traces[i].Released, p)
}

// mark adds the points that are due to the learning curves. If the context ends before a point is scored, it returns
// the context's error, and the point is still due. It leaves out a point whose score fails otherwise: a failing device
// shows in the steps too.
func (t *training) mark(ctx context.Context) error {
	due := func(i int) bool { return t.marks[i].has(t.steps[i]) && t.steps[i] > t.scored[i] }
	var sets []Labelled
	runs := map[Labelled][]int{} // that are due, by their test set
	for i, k := range t.keepers {
		if !due(i) {
			continue
		}
		if runs[k.Curve] == nil {
			sets = append(sets, k.Curve)
		}
		runs[k.Curve] = append(runs[k.Curve], i)
	}
	if sets == nil {
		return nil
	}
	for _, set := range sets {
		scores, err := t.group.Score(ctx, set, runs[set]...)
		if err != nil {
			continue
		}
		for k, i := range runs[set] {
			t.add(i, Point{t.steps[i], scores[k]})
		}
	}
	t.read = time.Now()
	for i := range t.steps {
		if due(i) {
			return ctx.Err()
		}
	}
	return nil
}

// run trains with pauses until all steps are taken.
func (t *training) run(ctx context.Context, progress func([]Progress)) error {
	t.read = time.Now()
	for i, k := range t.keepers {
		t.saveAt[i] = t.read.Add(k.Every)
	}
	if err := t.mark(ctx); err != nil {
		return err
	}
	for {
		until := t.until()
		paused, err := t.segment(ctx, until, func(runs []Progress) {
			t.measure(runs)
			if progress != nil {
				progress(runs)
			}
		})
		marked := t.mark(ctx) // also of runs that reached a mark while another failed
		failed, _ := errors.AsType[RunErrors](err)
		switch {
		case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded): // perhaps from a pause at the same time
			return ctx.Err()
		case err == nil && !t.unfinished(nil, t.steps):
			return marked
		case ctx.Err() != nil && err == nil: // at marks before the end
			return ctx.Err()
		case ctx.Err() != nil, failed == nil && err != nil && !paused:
			return err
		case failed != nil && (!paused && !t.unfinished(failed, until) || !t.unfinished(failed, t.steps)):
			return err
		}
		if err := t.saveDue(); err != nil {
			return err
		}
	}
}

// until returns the steps that the next segment trains to.
func (t *training) until() []int {
	until := make([]int, len(t.steps))
	for i, m := range t.marks {
		until[i] = m.after(t.steps[i])
	}
	return until
}

// unfinished reports whether a run that didn't fail has steps left after the given ones.
func (t *training) unfinished(failed RunErrors, steps []int) bool {
	for i, s := range t.group.settings {
		if (failed == nil || failed[i] == nil) && steps[i] < s.Privacy.Steps {
			return true
		}
	}
	return false
}

// segment trains until the next pause, or to the given steps. An error of a paused segment may come from the pause, or
// from a run that failed while the others were paused; those go on afterwards. A segment in which no run took a step
// makes the next one longer, so that the training advances even if pauses are always due.
func (t *training) segment(ctx context.Context, until []int, progress func([]Progress)) (paused bool, err error) {
	if pause := t.pauseAt(); !pause.IsZero() {
		if earliest := time.Now().Add(t.least); pause.Before(earliest) {
			pause = earliest
		}
		until, cancel := context.WithDeadline(ctx, pause)
		defer cancel()
		ctx = until
	}
	before := slices.Clone(t.steps)
	err = t.group.train(ctx, until, progress)
	if slices.Equal(before, t.steps) {
		t.least = 2*t.least + time.Millisecond
	}
	return ctx.Err() != nil, err
}

// pauseAt returns the time of the next save; zero for none.
func (t *training) pauseAt() time.Time {
	var at time.Time
	for i, k := range t.keepers {
		if k.Store != nil && (at.IsZero() || t.saveAt[i].Before(at)) {
			at = t.saveAt[i]
		}
	}
	return at
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

// save saves all states. It returns the first error, but still saves to the stores that don't fail.
func (t *training) save() error {
	var first error
	for i := range t.keepers {
		if err := t.saveRun(i); first == nil {
			first = err
		}
	}
	return first
}

// saveRun saves the state of a run, if it took steps since the last save. The error is a [*KeepError].
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
	store := t.keepers[i].Store
	if t.marks[i].every > 0 { // first: a state ahead of its curve would lose points
		points, err := json.Marshal(t.traces[i].Released)
		if err != nil {
			return err
		}
		if err := store.Save(curveName(trial), points); err != nil {
			return err
		}
	}
	if err := store.Save(stateName(trial), encoded); err != nil {
		return err
	}
	t.saved[i] = state.Step()
	return store.Save(traceName(trial), trace)
}
