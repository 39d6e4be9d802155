package experiment

import (
	"context"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// drawer is a store in memory that can't save from some moment on.
type drawer struct {
	kept map[string][]byte
	left int // saves; negative for any number
}

var errFull = errors.New("the disk is full")

func (d *drawer) Save(name string, content []byte) error {
	if d.left == 0 {
		return errFull
	}
	d.left--
	d.kept[name] = slices.Clone(content)
	return nil
}
func (d *drawer) Load(name string) ([]byte, error) { return d.kept[name], nil }
func (d *drawer) Remove(name string) error {
	delete(d.kept, name)
	return nil
}

func newDrawer() *drawer { return &drawer{kept: map[string][]byte{}, left: -1} }

// covered returns the part of an outcome that the guarantee covers.
func covered(o Outcome) Outcome {
	o.Private = nil
	return o
}

// several returns plans that share their data: three tunings and three trainings, of which the last diverges.
func several(t *testing.T) []*Plan {
	t.Helper()
	settings := own(t)
	tune := resolve(t, true, settings...)
	if err := tune.Load(t.Context(), nil, new(recorder)); err != nil {
		t.Fatal(err)
	}
	from := func(tune bool, from *Plan, settings ...string) *Plan {
		p := resolve(t, tune, settings...)
		if err := p.LoadFrom(from); err != nil {
			t.Fatal(err)
		}
		return p
	}
	once := from(false, tune, settings...)
	return []*Plan{
		once, tune, once.Again(new(uint64(8))), from(true, tune, replaced(settings, "privacy.noise_multiplier", "2")...),
		from(false, once, replaced(settings, "training.learning_rate", "1e60")...), tune.Again(new(uint64(9))),
	}
}

// Plans of all sorts side by side end as they do alone. Each reports to its own follower and keeps in its own store.
func TestPlansSideBySide(t *testing.T) {
	plans := several(t)
	e := cpu.New(cpu.Options{})
	var jobs []Job
	recorders, stores := make([]recorder, len(plans)), make([]*drawer, len(plans))
	for i, p := range plans {
		stores[i] = newDrawer()
		jobs = append(jobs, Job{p, Options{Key: p.Key(), Store: stores[i]}, &recorders[i]})
	}
	outcomes, err := RunAll(t.Context(), e, jobs)
	failed, ok := err.(tuner.PlanErrors)
	if !ok || len(outcomes) != len(plans) {
		t.Fatal(err)
	}
	for i, p := range plans {
		var r recorder
		store := newDrawer()
		want, alone := p.Run(t.Context(), e, Options{Key: p.Key(), Store: store}, &r)
		if diverges := i == 4; diverges != errors.Is(alone, train.ErrDiverged) || diverges != errors.Is(failed[i], train.ErrDiverged) || !diverges && failed[i] != nil {
			t.Errorf("plan %d: %v, alone %v", i, failed[i], alone)
		}
		if diff := cmp.Diff(covered(want), covered(outcomes[i])); diff != "" {
			t.Errorf("plan %d (-alone +beside others)\n%s", i, diff)
		}
		if p.tune {
			if k, n := len(want.Private.(runs.PrivateTuning).Trials), len(outcomes[i].Private.(runs.PrivateTuning).Trials); k != n {
				t.Errorf("plan %d: %d trials, alone %d", i, n, k)
			}
		}
		if got, want := slices.Sorted(maps.Keys(stores[i].kept)), slices.Sorted(maps.Keys(store.kept)); !slices.Equal(got, want) || !slices.Equal(stores[i].kept["state-0"], store.kept["state-0"]) || !slices.Equal(stores[i].kept["fingerprint"], store.kept["fingerprint"]) {
			t.Errorf("plan %d kept %q, alone %q", i, got, want)
		}
		if (len(recorders[i].trials) > 0) != p.tune || (recorders[i].progress == 0) != p.tune {
			t.Errorf("plan %d: %d events, %d times progress", i, len(recorders[i].trials), recorders[i].progress)
		}
	}
	if reflect.DeepEqual(outcomes[0].Release.Parameters, outcomes[2].Release.Parameters) || reflect.DeepEqual(outcomes[1].Release.Parameters, outcomes[5].Release.Parameters) {
		t.Error("two seeds release the same model")
	}
	again, err := RunAll(t.Context(), e, jobs) // all has ended: what is kept is the outcome
	if failed, ok := err.(tuner.PlanErrors); !ok || !errors.Is(failed[4], train.ErrDiverged) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outcomes, again); diff != "" {
		t.Errorf("gone on with (-want +got)\n%s", diff)
	}
}

// A plan that isn't ready fails alone.
func TestAPlanThatIsNotReadyFailsAlone(t *testing.T) {
	plans := several(t)[:2]
	unready := resolve(t, false, own(t)...)
	jobs := []Job{{Plan: nil}, {plans[0], Options{Key: plans[0].Key()}, silent{}}, {Plan: unready}, {plans[1], Options{Key: plans[1].Key()}, silent{}}, {Plan: plans[1]}, {Plan: plans[0]}}
	out, err := RunAll(t.Context(), cpu.New(cpu.Options{}), jobs)
	failed, ok := err.(tuner.PlanErrors)
	if !ok {
		t.Fatal(err)
	}
	for i, p := range jobs {
		good := i == 1 || i == 3 // the others have no data or no key
		if good != (failed[i] == nil) || good != (out[i].Release.Parameters != nil) {
			t.Errorf("%d, %v: %v", i, p.Plan != nil, failed[i])
		}
	}
	other := resolve(t, false, own(t)...)
	if err := other.Load(t.Context(), nil, new(recorder)); err != nil {
		t.Fatal(err)
	}
	jobs[2] = Job{other, Options{Key: other.Key()}, silent{}}
	if out, err := RunAll(t.Context(), cpu.New(cpu.Options{}), jobs); err == nil || out != nil || !strings.Contains(err.Error(), "plan 2 has loaded data of its own") {
		t.Errorf("%v", err)
	}
	if out, err := RunAll(t.Context(), cpu.New(cpu.Options{}), nil); err != nil || len(out) != 0 {
		t.Errorf("no jobs: %v, %v", out, err)
	}
}

// A store that fails stops all plans. The error names the plan, wherever it is among them, and all go on afterwards.
func TestAStoreThatFailsIsNamedByItsItem(t *testing.T) {
	plans := several(t)
	plans = append(plans[:4], plans[5])
	e := cpu.New(cpu.Options{})
	for culprit := range plans {
		var jobs []Job
		stores := make([]*drawer, len(plans))
		for i, p := range plans {
			stores[i] = newDrawer()
			jobs = append(jobs, Job{p, Options{Key: p.Key(), Store: stores[i], Every: time.Hour}, silent{}})
		}
		stores[culprit].left = 1 // the fingerprint
		out, err := RunAll(t.Context(), e, jobs)
		var unkept *tuner.PlanError
		if out != nil || !errors.As(err, &unkept) || unkept.Plan != culprit || !errors.Is(err, errFull) {
			t.Errorf("the store of %d is full: %v", culprit, err)
		}
		stores[culprit].left = -1
		if out, err = RunAll(t.Context(), e, jobs); err != nil {
			t.Fatal(err)
		}
		for i, p := range plans {
			want, err := p.Run(t.Context(), e, Options{Key: p.Key()}, silent{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(covered(want), covered(out[i])); diff != "" {
				t.Errorf("plan %d (-alone +beside others)\n%s", i, diff)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		jobs[0].Options.Store = newDrawer()
		if out, err := RunAll(ctx, e, jobs[:1]); out != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v, %v", out, err)
		}
		if _, err := plans[culprit].Run(t.Context(), e, Options{Key: plans[culprit].Key(), Store: &drawer{map[string][]byte{}, 1}}, silent{}); !errors.Is(err, errFull) || errors.As(err, &unkept) {
			t.Errorf("alone: %v", err)
		}
	}
}

// A damaged state of a single training, or one of another training, fails it alone.
func TestADamagedStateIsItsTrainings(t *testing.T) {
	plans := several(t)
	used := newDrawer()
	if _, err := plans[0].Run(t.Context(), cpu.New(cpu.Options{}), Options{Key: plans[0].Key(), Store: used}, silent{}); err != nil {
		t.Fatal(err)
	}
	others := []Job{{plans[2], Options{Key: plans[2].Key(), Store: used}, silent{}}, {plans[0], Options{Key: plans[0].Key()}, silent{}}}
	if _, err := RunAll(t.Context(), cpu.New(cpu.Options{}), others); !errors.Is(err, train.ErrOtherRun) || err.(tuner.PlanErrors)[1] != nil {
		t.Errorf("the store of another training: %v", err)
	}
	jobs := []Job{{plans[0], Options{Key: plans[0].Key(), Store: newDrawer()}, silent{}}, {plans[2], Options{Key: plans[2].Key()}, silent{}}}
	jobs[0].Options.Store.(*drawer).kept["state-0"] = []byte("damaged")
	out, err := RunAll(t.Context(), cpu.New(cpu.Options{}), jobs)
	if failed, ok := err.(tuner.PlanErrors); !ok || !errors.Is(failed[0], train.ErrState) || failed[1] != nil || out[1].Release.Parameters == nil {
		t.Errorf("%v", err)
	}
}

// Data and model come from another plan only if all settings that they depend on are the same, and the rows too.
func TestLoadFromChecks(t *testing.T) {
	settings := own(t)
	loaded := resolve(t, true, settings...)
	if err := resolve(t, true, settings...).LoadFrom(loaded); err == nil || !strings.Contains(err.Error(), "from one that is") {
		t.Errorf("%v", err)
	}
	if err := loaded.LoadFrom(nil); err == nil {
		t.Error("loaded from nothing")
	}
	if err := loaded.Load(t.Context(), nil, new(recorder)); err != nil {
		t.Fatal(err)
	}
	for name, others := range map[string][]string{
		"model":      replaced(settings, "model", "mlp:3"),
		"activation": append(slices.Clone(settings), "activation.scale=3"),
		"data":       own(t),
		"dataset":    {"model=linear", "privacy.accounting=paper"},
		"data ":      append(slices.Clone(settings), `data.clip={x: [-1, 1]}`),
	} {
		p := resolve(t, true, others...)
		if err := p.LoadFrom(loaded); err == nil || !strings.Contains(err.Error(), "its data or its model is another one") || p.data != nil {
			t.Errorf("another %s: %v", name, err)
		}
		if err := p.Load(t.Context(), nil, new(recorder)); err != nil { // it can load its own
			t.Errorf("another %s: %v", name, err)
		}
		if err := p.LoadFrom(loaded); err == nil {
			t.Errorf("another %s: loaded twice", name)
		}
	}
	// Settings that decide neither data nor model may differ.
	p := resolve(t, false, append(replaced(settings, "privacy.noise_multiplier", "3"), "training.optimizer=dp-adam", "performance.workers=1")...)
	if err := p.LoadFrom(loaded); err != nil || p.data != loaded.data || p.Warnings() == nil {
		t.Errorf("%v", err)
	}
	// The private file is replaced by one of fewer rows.
	path := strings.TrimPrefix(settings[0], "data.train=")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x,y\n"+strings.Repeat("-1,no\n1,yes\n-0.7,no\n", 99)), 0o600); err != nil {
		t.Fatal(err)
	}
	p = resolve(t, true, settings...)
	err := p.LoadFrom(loaded)
	if failed, ok := err.(*Error); !ok || failed.Kind != Input || !strings.Contains(err.Error(), "the files have changed") || p.data != nil {
		t.Errorf("other rows: %v", err)
	}
}

// Another run of a plan has its settings, noise and data, and its own seed.
func TestAgain(t *testing.T) {
	settings := own(t)
	p := resolve(t, true, settings...)
	early := p.Again(nil)
	if err := early.Load(t.Context(), nil, new(recorder)); err == nil || !strings.Contains(err.Error(), "files are closed") {
		t.Errorf("files that another plan has open are loaded: %v", err)
	}
	if _, err := early.Release(nil); err == nil { // the ledger would know the rows by a name that all files have
		t.Error("a release without the rows' sketch")
	}
	if err := p.Load(t.Context(), nil, new(recorder)); err != nil {
		t.Fatal(err)
	}
	if err := early.LoadFrom(p); err != nil {
		t.Fatal(err)
	}
	for _, again := range []*Plan{early, p.Again(nil)} {
		s := again.Statement()
		if again.Seed() != nil || s.Insecure || slices.ContainsFunc(again.Warnings(), func(w string) bool { return strings.Contains(w, "insecure") }) {
			t.Errorf("no seed: %+v", s)
		}
		if first, second := again.Key(), again.Key(); first == second || first == p.Key() {
			t.Error("keys are drawn anew")
		}
		if s.Insecure, s.Warnings = true, p.Statement().Warnings; !cmp.Equal(s, p.Statement()) || again.Memory != p.Memory || again.Space() != p.Space() {
			t.Errorf("another statement %+v, want %+v", s, p.Statement())
		}
		if again.data != p.data || again.Event() == nil {
			t.Error("its data are read again")
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	seed := uint64(11)
	again := p.Again(&seed)
	seed++
	if *again.Seed() != 11 || again.Key() != train.InsecureKey(11) || !again.Statement().Insecure || p.Key() != train.InsecureKey(7) {
		t.Errorf("seed %v, %+v", *again.Seed(), again.Statement())
	}
	// A plan without a seed whose other run has one keeps its guarantee.
	honest := p.Again(nil)
	honest.Again(new(uint64(1)))
	if honest.Statement().Insecure {
		t.Error("the seed of another run voids the guarantee")
	}
	a, err := p.Release(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Again(nil).Release(nil)
	if err != nil || !reflect.DeepEqual(a.Data, b.Data) || !a.Void || b.Void {
		t.Errorf("released %+v and %+v, %v", a, b, err)
	}
}
