package train

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/compile"
)

// Settings says how a run trains. [New] and [Loaded.Start] copy its slices.
type Settings struct {
	Privacy   Privacy
	Optimizer Optimizer
	Key       Key

	// Trial is one more thing to tell runs apart. Runs with the same Key that differ in it, or in any other setting, the
	// data, the members or the model, draw different noise; runs that differ in nothing are the same run.
	Trial uint32
	// Members are the samples in play, ascending; nil means all. An empty, non-nil slice means none.
	Members []int32
	// Initial are the values that the parameters begin with, in the order of the model's. Nil means the values that
	// [Model.Initial] draws from Key and Trial, or without it those bound in the graph.
	Initial [][]float32
}

// Format leaves out, whatever the verb, what must not be printed: the key, and the members, who may be a
// private choice.
func (s Settings) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "%s at learning rate %v, %+v", s.Optimizer.Method, s.Optimizer.LearningRate, s.Privacy)
}

// Parameter is one trained parameter of a model.
type Parameter struct {
	Name   string
	Shape  []int
	Values []float32
}

// Result is what a finished run gives: all of it is covered by the guarantee of Event.
type Result struct {
	Parameters []Parameter
	Event      accountant.Event
}

// ErrDiverged says that there is no finite model to release. The budget is spent all the same.
var ErrDiverged = errors.New("training diverged: parameters aren't finite; try smaller learning rates")

// Diverged tells whether a parameter isn't finite.
func (r Result) Diverged() bool {
	for _, p := range r.Parameters {
		for _, v := range p.Values {
			if v-v != 0 { // NaN or infinite
				return true
			}
		}
	}
	return false
}

// Progress tells how far a run came.
type Progress struct {
	Step, Steps int
}

func checkMembers(members []int32, samples int) error {
	for i, m := range members {
		switch {
		case m < 0 || int(m) >= samples:
			return &SettingError{"member", m, fmt.Sprintf("a sample's number, 0 to %d", samples-1)}
		case i > 0 && m <= members[i-1]:
			return &SettingError{"member", m, fmt.Sprintf("members in ascending order, once each; it follows %d", members[i-1])}
		}
	}
	return nil
}

func checkInitial(initial [][]float32, p *compile.Program) error {
	if initial == nil {
		return &SettingError{"initial parameters", "missing", "some in Settings.Initial, or values bound in the graph"}
	}
	if len(initial) != len(p.Params) {
		return &SettingError{"number of initial parameters", len(initial), fmt.Sprintf("the model's %d", len(p.Params))}
	}
	for i, param := range p.Params {
		if len(initial[i]) != param.Size {
			return &SettingError{fmt.Sprintf("size of initial parameter %q", param.Name), len(initial[i]), fmt.Sprint(param.Size)}
		}
	}
	return nil
}
