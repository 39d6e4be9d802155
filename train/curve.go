package train

import "fmt"

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
	return &SettingError{"test set of the learning curve", fmt.Sprintf("a %T", on), "a *train.Classification or *train.Regression, or what train.ScoredBy or train.NewScored makes"}
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
