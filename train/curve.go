package train

import (
	"context"
	"errors"
	"fmt"
)

// Point is a point of a learning curve that may be released: see [Spacing].
type Point struct {
	Step  int     `json:"step"`  // steps taken
	Score float64 `json:"score"` // on a public test set
}

// Spacing sets the steps after which a run's model is scored on a public test set, for a learning curve that may be
// released with the model. Set one of its fields. The zero value asks for no curve.
//
// The curve costs no privacy. A run's guarantee covers the noisy sums of all its steps together, and so the parameters
// after every step. A score on public samples is a function of these parameters and of nothing private. The scored
// steps follow from the settings alone: points spaced by the clock would reveal how long steps take. A curve of
// held-out private samples would cost privacy at each point, and is refused.
type Spacing struct {
	Points int // about this many points, at equal distances
	Every  int // or the steps between two points
}

// check returns a [*SettingError] for an invalid spacing, or for one without public samples to score on.
func (s Spacing) check(on Labelled) error {
	if s == (Spacing{}) {
		return nil
	}
	if s.Points < 0 || s.Every < 0 || s.Points > 0 && s.Every > 0 {
		return &SettingError{"spacing of the learning curve", fmt.Sprintf("%+v", s), "either Points or Every, 1 or more"}
	}
	switch on.(type) {
	case *Classification, *Regression, *Measured: // all are of public samples: see ScoredBy
		return nil
	case *HeldOut:
		return &SettingError{"learning curve", "of held-out samples", "a public test set: each score on private samples would cost privacy"}
	case nil:
		return &SettingError{"learning curve", "without a test set", "a public one in Keeper.Curve"}
	}
	return &SettingError{"test set of the learning curve", fmt.Sprintf("a %T", on), "a *train.Classification or *train.Regression, or what train.ScoredBy makes of one"}
}

// marks are the steps of a run after which points are due: first, first + every, first + 2·every, … and last. None if
// every is 0.
type marks struct{ first, every, last int }

// marks returns the scored steps of a run that takes the steps from first to last.
func (s Spacing) marks(first, last int) marks {
	every := s.Every
	if s.Points > 0 {
		every = max(1, (last-first+s.Points-1)/s.Points)
	}
	return marks{first, every, last}
}

// has reports whether step is one of the marks.
func (m marks) has(step int) bool {
	return m.every > 0 && step >= m.first && (step == m.last || step < m.last && (step-m.first)%m.every == 0)
}

// after returns the first mark after step, or the run's last step if there are none.
func (m marks) after(step int) int {
	if m.every == 0 || step >= m.last {
		return m.last
	}
	if step < m.first {
		return m.first
	}
	if done := (step - m.first) % m.every; m.every-done < m.last-step { // no sum, which could overflow
		return step + m.every - done
	}
	return m.last
}

// TrainEvery is [Group.Train] with pauses: it calls at for each run after its steps 0, every, 2·every, … and after its
// last. Meanwhile at may use the group: it can read a run's [Group.State] or compute its [Group.Score]. The runs take
// the same steps as without pauses, to the last bit. It doesn't call at twice for a step of a run, unless
// [Group.Restore] set the run to that step. An error of at ends the training and is returned; a later call goes on with
// that step.
func (g *Group) TrainEvery(ctx context.Context, every int, at func(run, step int) error, progress func([]Progress)) error {
	if every < 1 || at == nil {
		return &SettingError{"steps between two calls", every, "1 or more, and a function to call"}
	}
	var failed RunErrors
	for {
		due, until, ended, err := g.visits(every, failed)
		if err != nil {
			return err
		}
		for _, v := range due {
			if err := at(v.Run, v.Step); err != nil {
				return err
			}
			g.mu.Lock()
			g.visited[v.Run] = v.Step
			g.mu.Unlock()
		}
		if ended && failed != nil {
			return failed
		}
		if ended {
			return nil
		}
		failed = nil
		if err := g.train(ctx, until, progress); err != nil && !errors.As(err, &failed) {
			return err
		}
	}
}

// visit is a call that TrainEvery owes.
type visit struct{ Run, Step int }

// visits returns the calls that are due, the step until which each run trains next, and whether all have ended.
func (g *Group) visits(every int, failed RunErrors) (due []visit, until []int, ended bool, err error) {
	end, err := g.begin()
	if err != nil {
		return nil, nil, false, err
	}
	defer end()
	if g.visited == nil {
		g.visited = make([]int, len(g.settings))
		for i := range g.visited {
			g.visited[i] = unvisited
		}
	}
	ended = true
	for i, step := range g.runs.Done() {
		m := marks{0, every, g.settings[i].Privacy.Steps}
		until = append(until, m.after(step))
		if failed != nil && failed[i] != nil {
			continue
		}
		if m.has(step) && g.visited[i] != step {
			due = append(due, visit{i, step})
		}
		ended = ended && step >= m.last
	}
	return due, until, ended, nil
}

// unvisited is no step.
const unvisited = -1
