package train

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Settings are the settings of one run. [New] and [Loaded.Start] copy their slices.
type Settings struct {
	Privacy   Privacy
	Optimizer Optimizer
	Key       Key

	// Trial is a number that distinguishes runs of one Key. Runs that differ in the trial, another setting, the data or
	// the model draw different noise. Otherwise they are the same run and draw the same noise.
	Trial uint32
	// Members are the positions of the samples to train on, ascending. Nil means all samples, an empty slice none.
	Members []int32
	// Initial holds the initial values of the parameters, in the order of [Model.Parameters]. If it is nil,
	// [Model.Initial] draws the values from Key and Trial; if that function is nil too, the graph's bound values are
	// used.
	Initial [][]float32
	// From is a state that the run goes on from, or nil. The state's run must have the same model and method, and must
	// accumulate and average if this one does; with DPAdam both or neither must have groups. The state's parameters
	// replace Initial, which must be nil, and Privacy.Steps includes its steps. [Result].Event is the event of both
	// runs together, so Privacy must be the other run's, except for Steps: see [State.Privacy]. Further steps of the
	// other run, and other runs that go on from the state, cost as much again.
	//
	// A run that goes on shares no draw with the other run. Key and a hash of all settings, including From and Steps,
	// name its streams, and no two such hashes name the same stream: see identity.
	From *State
}

// first returns the number of steps that the run begins with.
func (s Settings) first() int {
	if s.From == nil {
		return 0
	}
	return s.From.Step()
}

// goingOn returns the settings with the parameters of From as initial values, or an error if the run can't go on from
// it.
func (s Settings) goingOn(l engine.Layout) (Settings, error) {
	if s.Initial != nil {
		return s, &SettingError{"initial parameters", "given beside a state to go on from", "one of the two"}
	}
	if s.first() > s.Privacy.Steps {
		return s, &SettingError{"steps", s.Privacy.Steps, fmt.Sprintf("at least the %d of the state to go on from", s.first())}
	}
	from := *s.From
	if err := from.sameMechanism(s.Privacy); err != nil {
		return s, err
	}
	if _, err := from.inner.laidOut(l); err != nil {
		return s, err
	}
	if len(from.inner.Params) != len(l.Lengths) {
		return s, fmt.Errorf("%w: it has no parameters", ErrState)
	}
	s.From, s.Initial = &from, from.inner.Params
	return s, nil
}

// sameMechanism returns a [*SettingError] unless the state's steps were taken with these privacy settings: one event
// states them for all steps.
func (s State) sameMechanism(p Privacy) error {
	for _, v := range []struct {
		name      string
		now, then any
	}{
		{"sampling rate", p.SamplingRate, s.privacy.SamplingRate},
		{"noise multiplier", p.NoiseMultiplier, s.privacy.NoiseMultiplier},
		{"clipping norm", p.ClippingNorm, s.privacy.ClippingNorm},
		{"clipping", p.Clipping, s.privacy.Clipping},
		{"nominal size", p.NominalSize, s.privacy.NominalSize},
	} {
		if v.now != v.then {
			return &SettingError{v.name, v.now, fmt.Sprintf("%v, that of the state to go on from: one event states all steps", v.then)}
		}
	}
	return nil
}

// Format prints the settings for any verb. It leaves out the key, which is secret, and the members, which may be a
// private choice. It leaves out fixed clipping too: text of earlier versions, with which runs are resumed, lacks it.
func (s Settings) Format(f fmt.State, _ rune) {
	privacy := strings.Replace(fmt.Sprintf("%+v", s.Privacy), " Clipping:fixed", "", 1)
	fmt.Fprintf(f, "%s at learning rate %v, %s", s.Optimizer, s.Optimizer.LearningRate, privacy)
}

// Parameter is one trained parameter of a model.
type Parameter struct {
	Name   string
	Shape  []int
	Values []float32
}

// Result is the result of a finished run. The guarantee of Event covers both fields.
type Result struct {
	Parameters []Parameter
	Event      accountant.Event
}

// ErrDiverged reports that training gave no finite model to release. The privacy budget is spent nevertheless. Package
// tuner returns this error; for a single run call [Result.Diverged].
var ErrDiverged = errors.New("training diverged: parameters aren't finite; try smaller learning rates")

// Diverged reports whether a parameter is infinite or NaN.
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

// Progress reports that a run has taken Step of its Steps steps.
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
		for _, v := range initial[i] {
			if !finite(float64(v)) {
				return &SettingError{fmt.Sprintf("initial parameter %q", param.Name), v, "finite numbers"}
			}
		}
	}
	return nil
}
