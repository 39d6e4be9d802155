package train

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/train/compile"
)

// State returns a copy of the run's state.
func (t *Trainer) State() State {
	return State{run: t.fingerprint(), inner: t.run.State()}
}

// Restore takes the run to a state that the same run was in before: same settings, same key, same
// model and data. What follows is then the same to the last byte as if it had never stopped.
func (t *Trainer) Restore(s State) error {
	if s.run != t.fingerprint() {
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

// fingerprint is a hash of all that decides the run's course. The data are in it because a state resumed
// on other data would meet the same noise again, and the difference of two such models has none. The key
// is in it as well: it is too long to be guessed from its hash.
func (t *Trainer) fingerprint() [sha256.Size]byte {
	identity, err := json.Marshal(struct {
		Privacy   Privacy
		Optimizer Optimizer
		Trial     uint32
		Members   []int32
		Samples   int
		Inputs    [][]int
		Params    [][]int
	}{
		t.settings.Privacy, t.settings.Optimizer, t.settings.Trial, t.settings.Members,
		t.data.Samples(), shapes(t.program.Inputs), shapes(t.program.Params),
	})
	if err != nil {
		panic(err) // plain numbers and names, all checked to be finite
	}
	h := sha256.New()
	h.Write([]byte("dptrain run\n"))
	h.Write(t.settings.Key[:])
	for _, sum := range [][sha256.Size]byte{t.data.digest(), digest(t.settings.Initial)} {
		h.Write(sum[:])
	}
	h.Write(identity)
	return [sha256.Size]byte(h.Sum(nil))
}

func shapes(tensors []compile.Tensor) [][]int {
	out := make([][]int, len(tensors))
	for i, t := range tensors {
		out[i] = t.Shape
	}
	return out
}
