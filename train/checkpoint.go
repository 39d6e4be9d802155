package train

import (
	"errors"
	"fmt"
)

// State returns a copy of the run's state.
func (t *Trainer) State() State {
	return State{run: t.identity.derive(t.settings.Key, "state"), inner: t.run.State()}
}

// Restore takes the run to a state that the same run was in before: same settings, same key, same
// model and data. What follows is then the same to the last byte as if it had never stopped.
func (t *Trainer) Restore(s State) error {
	if s.run != t.identity.derive(t.settings.Key, "state") {
		return errors.New("the state belongs to a run with other settings, key, model or data: resume with the same ones")
	}
	if s.inner.Step > t.settings.Privacy.Steps {
		return fmt.Errorf("the state is at step %d of a run of %d", s.inner.Step, t.settings.Privacy.Steps)
	}
	if err := t.run.Restore(s.inner); err != nil {
		return fmt.Errorf("restore step %d: %w", s.inner.Step, err)
	}
	t.step = s.inner.Step
	return nil
}
