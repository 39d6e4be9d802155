package experiment

import (
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/internal/runs"
	"github.com/dptrain/dptrain/train"
)

// kept is a store in memory.
type kept map[string][]byte

func (k kept) Save(name string, content []byte) error { k[name] = slices.Clone(content); return nil }
func (k kept) Load(name string) ([]byte, error)       { return k[name], nil }
func (k kept) Remove(name string) error               { delete(k, name); return nil }

// An extension states the event of all steps and records that of the new ones, so that both runs together cost what it
// states. It goes on with the finished run's parameters and curve.
func TestExtension(t *testing.T) {
	quick := []string{"model=linear", "privacy.epochs=0.5", "privacy.accounting=tight", "training.optimizer=dp-adam", "privacy.epsilon=2"}
	first := resolve(t, false, quick...)
	if err := first.Load(t.Context(), nil, &recorder{}); err != nil {
		t.Fatal(err)
	}
	e, store := cpu.New(cpu.Options{}), kept{}
	o, err := first.Run(t.Context(), e, Job{Key: first.Key(), Store: store, Curve: train.Spacing{Points: 2}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := o.Release.Hyperparameters
	if c := o.Release.Curve; h.Steps != 10 || len(c.Points) != 3 || c.Points[1].Step != 5 || c.Epsilons[0] != 0 || c.Epsilons[2] != o.Release.Privacy.Epsilon {
		t.Fatalf("%d steps, curve %+v", h.Steps, c)
	}
	middle := train.Privacy{SamplingRate: h.SamplingRate, NoiseMultiplier: h.NoiseMultiplier, ClippingNorm: 1, Steps: 5, NominalSize: 100}
	if g, err := middle.Guarantee(1e-5, accountant.Options{Mode: accountant.Tight}); err != nil || g.Epsilon != o.Release.Curve.Epsilons[1] {
		t.Errorf("after 5 steps epsilon %v, want %v (%v)", o.Release.Curve.Epsilons[1], g.Epsilon, err)
	}

	x := Extension{Name: "first", Steps: 10, More: 7}
	more, err := New(Settings{Experiment: x.Of(first.Experiment, h), InsecureSeed: new(uint64(7)), Extends: &x})
	if err != nil {
		t.Fatal(err)
	}
	if err := more.Settle(); err != nil {
		t.Fatal(err)
	}
	whole := accountant.DPSGD(h.SamplingRate, h.NoiseMultiplier, 17)
	if !reflect.DeepEqual(more.Event(), whole) || more.Statement().Steps != 17 || more.Statement().EarlierSteps != 10 {
		t.Errorf("event %v of %+v", more.Event(), more.Statement())
	}
	release, err := more.Release(nil)
	if err != nil || !reflect.DeepEqual(release.Event, accountant.DPSGD(h.SamplingRate, h.NoiseMultiplier, 7)) {
		t.Errorf("recorded is %v, %v", release.Event, err)
	}
	both, err := accountant.Epsilon(accountant.Composed{Events: []accountant.Event{first.Event(), release.Event}}, 1e-5, accountant.Options{Mode: accountant.Tight})
	if err != nil || math.Abs(both.Epsilon/more.Statement().Epsilon-1) > 1e-9 {
		t.Errorf("both together cost %v (%v), stated is %v", both.Epsilon, err, more.Statement().Epsilon)
	}
	m, err := more.Manifest()
	if err != nil || m.Extends != "first" || m.EarlierSteps != 10 {
		t.Errorf("%+v, %v", m, err)
	}

	if err := more.LoadFrom(first); err != nil {
		t.Fatal(err)
	}
	if _, err := more.Run(t.Context(), e, Job{Key: more.Key()}, nil); err == nil {
		t.Error("runs without the state that it extends")
	}
	from := new(train.State)
	if err := from.UnmarshalBinary(store["state-0"]); err != nil {
		t.Fatal(err)
	}
	ended := kept{"curve-0": store["curve-0"]}
	o, err = more.Run(t.Context(), e, Job{Key: more.Key(), From: from, Store: ended, Curve: train.Spacing{Every: 100}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	for _, p := range o.Release.Curve.Points {
		steps = append(steps, p.Step)
	}
	if !slices.Equal(steps, []int{0, 5, 10, 17}) || o.Release.Hyperparameters.Steps != 17 {
		t.Errorf("points at %v of %d steps", steps, o.Release.Hyperparameters.Steps)
	}

	var before map[string]string
	loaded, err := train.Load(e, first.model, first.data.train)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if before, err = loaded.Fingerprint(first.data.test); err != nil {
		t.Fatal(err)
	}
	if err := more.CheckEnd(e, before); err != nil {
		t.Error(err)
	}
	for what := range before {
		value := before[what]
		before[what] = "other"
		if err := more.CheckEnd(e, before); !errors.Is(err, train.ErrOtherRun) || !strings.Contains(err.Error(), what) {
			t.Errorf("other %s: %v", what, err)
		}
		before[what] = value
	}
}

// A budget of an extension buys as many steps as it allows, and not one more.
func TestExtensionToABudget(t *testing.T) {
	first := resolve(t, false, "model=linear", "privacy.epochs=0.5", "privacy.accounting=tight", "privacy.noise_multiplier=1.5")
	noise := *first.Experiment.Privacy.NoiseMultiplier
	epsilon := 2 * first.Statement().Epsilon
	x := Extension{Steps: 10, Epsilon: &epsilon}
	p, err := New(Settings{Experiment: x.Of(first.Experiment, report.Hyperparameters{NoiseMultiplier: noise}), Extends: &x})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Settle(); err != nil {
		t.Fatal(err)
	}
	steps := p.Statement().Steps
	after, err := accountant.Epsilon(accountant.DPSGD(first.Statement().SamplingRate, noise, steps+1), 1e-5, accountant.Options{Mode: accountant.Tight})
	if err != nil || p.Statement().Epsilon > epsilon || after.Epsilon <= epsilon || p.Extended().More != steps-10 {
		t.Errorf("%d steps cost %v of %v, and one more %v (%v)", steps, p.Statement().Epsilon, epsilon, after.Epsilon, err)
	}
	for _, none := range []float64{first.Statement().Epsilon, first.Statement().Epsilon / 2, 1e-9} {
		x := Extension{Steps: 10, Epsilon: &none}
		p, err := New(Settings{Experiment: x.Of(first.Experiment, report.Hyperparameters{NoiseMultiplier: noise}), Extends: &x})
		if err != nil {
			t.Fatal(err)
		}
		var wrong *Error
		cost := "the run's 10 steps cost epsilon " + report.Up(first.Statement().Epsilon)
		if err := p.Settle(); !errors.As(err, &wrong) || wrong.Kind != Budget || !strings.Contains(err.Error(), "allows no further step: "+cost) {
			t.Errorf("epsilon %v: %v", none, err)
		}
	}
}

func TestExtensionIsChecked(t *testing.T) {
	given := experiment(t, "model=linear", "privacy.noise_multiplier=1")
	calibrated := experiment(t, "model=linear", "privacy.epsilon=1")
	units := given
	units.Data.RowsPerUnit = 2
	for name, s := range map[string]Settings{
		"tuned":      {Experiment: given, Tune: true, Extends: &Extension{Steps: 1, More: 1}},
		"units":      {Experiment: units, Extends: &Extension{Steps: 1, More: 1}},
		"calibrated": {Experiment: calibrated, Extends: &Extension{Steps: 1, More: 1}},
		"no step":    {Experiment: given, Extends: &Extension{Steps: 1}},
		"backwards":  {Experiment: given, Extends: &Extension{Steps: 1, More: -1}},
		"both":       {Experiment: given, Extends: &Extension{Steps: 1, More: 1, Epsilon: new(3.)}},
	} {
		var wrong *Error
		if _, err := New(s); !errors.As(err, &wrong) || wrong.Kind != Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The release of an extension in the ledger has the run's own id.
func TestExtensionIsARunOfItsOwn(t *testing.T) {
	x := Extension{Name: "first", Steps: 3, More: 2}
	p, err := New(Settings{Experiment: x.Of(experiment(t, "model=linear", "privacy.accounting=paper"), report.Hyperparameters{NoiseMultiplier: 2}), Extends: &x})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Settle(); err != nil {
		t.Fatal(err)
	}
	m, err := p.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	run, err := runs.Create(filepath.Join(t.TempDir(), "run"), false, m, runs.Record{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Release()
	r, err := p.Release(run)
	if err != nil || r.Run != run.Record.ID || r.Epsilon >= p.Statement().Epsilon || r.Void {
		t.Errorf("%+v, %v", r, err)
	}
}
