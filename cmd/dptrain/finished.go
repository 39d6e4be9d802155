package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/internal/runs"
	"github.com/dptrain/dptrain/train"
)

// The names of states: of the last one of a run and what it depends on, and of both as a run has them that goes on.
const (
	lastState       = "state-0"
	fingerprint     = "fingerprint"
	fromState       = "from"
	fromFingerprint = "from-fingerprint"
)

// finished is a finished run, with what another takes to go on with it.
type finished struct {
	runs.Info
	settings           []byte
	hyperparameters    report.Hyperparameters
	state, fingerprint []byte
	curve              []train.Point // nil for none
}

// openFinished reads a run that can be extended, or returns an error that says why it can't.
func openFinished(dir string) (*finished, error) {
	info, err := runs.Open(dir)
	if err != nil {
		return nil, coded(codeInput, err)
	}
	refuse := func(format string, args ...any) (*finished, error) {
		return nil, coded(codeInput, fmt.Errorf("the run in %s can't be extended: %w", dir, fmt.Errorf(format, args...)))
	}
	switch {
	case info.Stage == runs.Failed:
		return refuse("it gave no model")
	case info.Stage != runs.Finished:
		return refuse("it isn't finished; dptrain resume %s goes on with it", quoted(dir))
	case experiment.Tuned(info.Manifest):
		return refuse("it is a tuned one, and which samples its final run trained on follows from a key that is destroyed; tune again, for more epochs")
	case info.Record == nil:
		return refuse("its folder private is missing; bring it back")
	}
	f := &finished{Info: info}
	if f.settings, err = experiment.ReadSettings(filepath.Join(dir, "private", "settings.yaml")); err != nil {
		return refuse("%w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "released", "hyperparameters.json"))
	if err == nil {
		err = json.Unmarshal(text, &f.hyperparameters)
	}
	if err != nil {
		return refuse("%w", err)
	}
	f.state, err = runs.ReadEnd(dir, lastState)
	if err == nil {
		f.fingerprint, err = runs.ReadEnd(dir, fingerprint)
	}
	if err != nil {
		return refuse("%w", err)
	}
	if f.state == nil || f.fingerprint == nil {
		return refuse("its last state isn't in private/end: it has a unit of privacy, or an earlier version made it; train again, for more epochs")
	}
	curve, err := report.ReadCurve(filepath.Join(dir, "released"))
	if err != nil {
		return refuse("%w", err)
	}
	if curve != nil {
		f.curve = curve.Points
	}
	return f, nil
}

// check returns an error unless the files of the run, which are apart, belong together: the guarantee of all steps is
// computed from some of them, and the steps are taken by others.
func (f *finished) check(e configs.Experiment) error {
	h := f.hyperparameters
	var state train.State
	if err := state.UnmarshalBinary(f.state); err != nil {
		return coded(codeInput, fmt.Errorf("the last state of the run in %s: %w", f.Dir, err))
	}
	event, err := accountant.MarshalEvent(train.Privacy{
		SamplingRate: e.Privacy.SamplingRate, NoiseMultiplier: h.NoiseMultiplier, ClippingNorm: h.ClippingNorm, Steps: state.Step(), NominalSize: float64(f.Samples),
	}.Event())
	if err != nil {
		return coded(codeInput, err)
	}
	if h.Steps != state.Step() || h.SamplingRate != e.Privacy.SamplingRate || h.ClippingNorm != e.Privacy.ClippingNorm || !sameJSON(event, f.Event) {
		return coded(codeInput, fmt.Errorf("the run in %s can't be extended: its files aren't those of one run, as its settings, released/hyperparameters.json and run.json have other steps, noise, sampling rates or clipping norms; bring back the files as they were",
			f.Dir))
	}
	return nil
}

// runs returns the ids of the runs whose steps the run has, its own last.
func (f *finished) runs() []string {
	if x := f.Record.Extends; x != nil {
		return append(slices.Clone(x.Runs), f.Record.ID)
	}
	return []string{f.Record.ID}
}

// states returns the states that a run begins with which goes on with this one, by their names: among them the curve so
// far, if it has one too.
func (f *finished) states(curve bool) (map[string][]byte, error) {
	states := shelf{fromState: f.state, fromFingerprint: f.fingerprint}
	if !curve || f.curve == nil {
		return states, nil
	}
	return states, train.Keeper{Store: states}.KeepCurve(0, f.curve)
}

// shelf is a store in memory.
type shelf map[string][]byte

func (s shelf) Save(name string, content []byte) error { s[name] = content; return nil }
func (s shelf) Load(name string) ([]byte, error)       { return s[name], nil }
func (s shelf) Remove(name string) error               { delete(s, name); return nil }

// storeOf returns the folder whose ledger has the run and all runs before it: given or, without one, that of the run. A
// ledger that lacked one would count the new steps alone.
func (f *finished) storeOf(given string) (string, error) {
	stores := []string{given}
	if given == "" {
		stores = []string{f.Record.Store, filepath.Dir(f.Dir)}
	}
	for _, store := range stores {
		releases, err := releasesIn(store)
		if err != nil {
			return "", err
		}
		if !slices.ContainsFunc(f.runs(), func(id string) bool {
			return !slices.ContainsFunc(releases, func(r ledger.Release) bool { return r.Run == id })
		}) {
			return store, nil
		}
	}
	return "", coded(codeInput, fmt.Errorf("the ledger in %s doesn't have the run in %s and its steps, so it would count the new steps alone: --store says where the ledger is that has them", stores[0], f.Dir))
}

// extendedState returns the state that the run goes on from.
func (r *run) extendedState() (*train.State, error) {
	r.from = map[string][]byte{}
	for _, name := range []string{fromState, fromFingerprint} {
		content, err := r.folder.Load(name)
		if err == nil && content == nil {
			err = errors.New("it is gone")
		}
		if err != nil {
			return nil, coded(codeInput, fmt.Errorf("the state that the run in %s goes on from: %w", r.folder.Dir(), err))
		}
		r.from[name] = content
	}
	state := new(train.State)
	if err := state.UnmarshalBinary(r.from[fromState]); err != nil {
		return nil, coded(codeInput, fmt.Errorf("the state that the run in %s goes on from: %w", r.folder.Dir(), err))
	}
	return state, nil
}

// checkExtended returns an error unless the run that this one extends had the same data, model and arithmetic. Call it
// before the release is recorded, since a refusal costs nothing then.
func (r *run) checkExtended(e train.Engine) error {
	if r.from == nil {
		return nil
	}
	var before map[string]string
	if err := json.Unmarshal(r.from[fromFingerprint], &before); err != nil {
		return coded(codeInput, fmt.Errorf("what the run in %s goes on from: %w", r.folder.Dir(), err))
	}
	return r.plan.CheckEnd(e, before)
}
