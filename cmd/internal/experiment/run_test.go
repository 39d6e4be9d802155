package experiment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/train"
)

func resolve(t *testing.T, tune bool, overrides ...string) *Plan {
	t.Helper()
	p, err := New(Settings{Experiment: experiment(t, overrides...), Tune: tune, InsecureSeed: new(uint64(7))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if err := p.Settle(); err != nil {
		t.Fatal(err)
	}
	return p
}

// carryOut loads and runs a plan.
func carryOut(t *testing.T, p *Plan) (Outcome, *recorder) {
	t.Helper()
	var r recorder
	if err := p.Load(t.Context(), nil, &r); err != nil {
		t.Fatal(err)
	}
	o, err := p.Run(t.Context(), cpu.New(cpu.Options{}), Options{Key: p.Key()}, &r)
	if err != nil {
		t.Fatal(err)
	}
	return o, &r
}

// The statement of a plan, made before anything is read, is the statement of its outcome and of the run's directory.
func TestPlansOnAKnownDataSet(t *testing.T) {
	quick := []string{"model=linear", "privacy.epochs=0.2", "privacy.accounting=paper", "privacy.mean_repetitions=3"}
	for _, tune := range []bool{false, true} {
		p := resolve(t, tune, quick...)
		before := p.Statement()
		if !before.Insecure || (before.Tuning != nil) != tune || before.Samples != p.Samples.Train || p.Memory < programBytes {
			t.Errorf("tune %t: %+v", tune, before)
		}
		if w := p.Warnings(); len(w) == 0 || !strings.Contains(w[0], "insecure seed") {
			t.Errorf("tune %t: warnings %q", tune, w)
		}
		o, r := carryOut(t, p)
		after := o.Release.Privacy
		if diff := cmp.Diff(before.Of(o.Release.Hyperparameters), after); diff != "" {
			t.Errorf("tune %t: the statement changed (-want +got)\n%s", tune, diff)
		}
		if o.Release.Model.Dataset != "glyphs" || o.Release.Model.Network != "linear" || len(o.Release.Parameters) != 2 || o.Verdict.Answer == "" {
			t.Errorf("tune %t: %+v, %+v", tune, o.Release.Model, o.Verdict)
		}
		if o.Release.Score.Value < 0.2 { // a tenth is chance
			t.Errorf("tune %t: nothing was learnt: %v", tune, o.Release.Score)
		}
		if (len(r.trials) > 0) != tune || (r.progress > 0) == tune {
			t.Errorf("tune %t: %d turns of events, %d times progress", tune, len(r.trials), r.progress)
		}
		checkWritten(t, p, o)
	}
}

// checkWritten writes a release, and checks its contents.
func checkWritten(t *testing.T, p *Plan, o Outcome) {
	t.Helper()
	dir := t.TempDir()
	if err := o.Release.Write(dir); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir, cpu.New(cpu.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if diff := cmp.Diff(o.Release.Model.Classes, r.Classes); diff != "" || r.Network != p.Experiment.Model {
		t.Errorf("released %+v (-want +got)\n%s", r.Model, diff)
	}
	text, err := p.Experiment.YAML()
	if err != nil {
		t.Fatal(err)
	}
	e, err := settings.Resolve(settings.File{Text: text}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Experiment, e); diff != "" {
		t.Errorf("settings (-want +got)\n%s", diff)
	}
	if text, err := o.PrivateJSON(); err != nil || !json.Valid(text) {
		t.Errorf("%s, %v", text, err)
	}
}

// own writes two files of rows that a linear model separates, and returns the settings that name them.
func own(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, row string, n int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x,y\n"+strings.Repeat(row, n)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return []string{
		"data.train=" + write("private.csv", "-1,no\n1,yes\n-0.8,no\n", 100), "data.test=" + write("public.csv", "-2,no\n2,yes\n", 30), "data.label=y",
		"model=linear", "privacy.delta=0.001", "privacy.sampling_rate=0.2", "privacy.epochs=2", "privacy.noise_multiplier=1", "privacy.accounting=paper",
		"training.learning_rate=1", "privacy.mean_repetitions=2",
	}
}

func TestPlansOnOwnFiles(t *testing.T) {
	for _, tune := range []bool{false, true} {
		p := resolve(t, tune, own(t)...)
		if p.Samples.Train != 300 || p.Samples.Test != 60 || p.Samples.Schema == nil {
			t.Fatalf("%+v", p.Samples)
		}
		o, r := carryOut(t, p)
		if m := o.Release.Model; m.Task != release.Classification || !slices.Equal(m.Classes, []string{"no", "yes"}) || len(m.Input) == 0 {
			t.Errorf("%+v", m)
		}
		if !slices.ContainsFunc(r.notes, func(s string) bool { return strings.Contains(s, "a row is the unit of privacy") }) {
			t.Errorf("notes %q", r.notes)
		}
		checkWritten(t, p, o)
	}
}

// A plan never trains on files that took the names of its own, nor on files that have changed.
func TestFilesStayThoseOfThePlan(t *testing.T) {
	path := func(settings []string, key string) string {
		_, path, _ := strings.Cut(settings[slices.IndexFunc(settings, func(s string) bool { return strings.HasPrefix(s, key+"=") })], "=")
		return path
	}
	settings := own(t)
	p := resolve(t, false, settings...)
	for _, key := range []string{"data.train", "data.test"} { // another file of the same name
		other := filepath.Join(t.TempDir(), "other.csv")
		if err := os.WriteFile(other, []byte("z,y\n1,maybe\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, path(settings, key)); err != nil {
			t.Fatal(err)
		}
	}
	carryOut(t, p)

	settings = own(t)
	p = resolve(t, false, settings...)
	private, err := os.OpenFile(path(settings, "data.train"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := private.WriteString("1,yes\n"); err != nil {
		t.Fatal(err)
	}
	if err := private.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Load(t.Context(), nil, new(recorder)); err == nil || !strings.Contains(err.Error(), "it has changed since it was opened") {
		t.Errorf("a longer file: %v", err)
	}
}

// Load hashes the data, beside the accountant, so that no step has to wait for it.
func TestLoadHashesTheData(t *testing.T) {
	const (
		rows  = 30_000
		noise = 40_000 // bytes: more than the runtime allocates in the background, less than a hash of these rows does
	)
	unhashed, err := train.NewData(rows, make([]float32, rows), make([]float32, 2*rows))
	if err != nil {
		t.Fatal(err)
	}
	if n := allocated(unhashed.Prepare); n < 2*noise {
		t.Fatalf("a hash of as many values allocates only %d bytes: this test wouldn't notice it", n)
	}
	settings := own(t)
	if err := os.WriteFile(strings.TrimPrefix(settings[0], "data.train="), []byte("x,y\n"+strings.Repeat("-1,no\n1,yes\n", rows/2)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := resolve(t, true, settings...)
	if err := p.Load(t.Context(), nil, new(recorder)); err != nil {
		t.Fatal(err)
	}
	if n := allocated(p.data.train.Prepare); n > noise {
		t.Errorf("Load left the data unhashed: a hash allocated %d bytes", n)
	}
}

// allocated returns the bytes that f allocates. Nothing may run beside it.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The guarantee is for the number of rows that are trained on.
func TestAnotherNumberOfRowsIsAnError(t *testing.T) {
	p := resolve(t, false, own(t)...)
	p.Samples.Train++
	err := p.Load(t.Context(), nil, new(recorder))
	if failed, ok := err.(*Error); !ok || failed.Kind != Input || !strings.HasSuffix(err.Error(), "private.csv: 300 rows, and the plan is for 301; run again when nothing writes to the file") {
		t.Errorf("%v", err)
	}
}

// A plan is loaded before it runs, once, and not after it was closed.
func TestPlansInTheWrongOrder(t *testing.T) {
	p := resolve(t, false, own(t)...)
	if _, err := p.Run(t.Context(), cpu.New(cpu.Options{}), Options{Key: p.Key()}, new(recorder)); err == nil {
		t.Error("a plan ran without data")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Load(t.Context(), nil, new(recorder)); err == nil {
		t.Error("a closed plan was loaded")
	}
	if err := p.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// A released model reads files by its schema.
func TestReleasedReadsRows(t *testing.T) {
	settings := own(t)
	p := resolve(t, false, settings...)
	o, _ := carryOut(t, p)
	dir := t.TempDir()
	if err := o.Release.Write(dir); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir, cpu.New(cpu.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for use, labelled := range map[table.Use]bool{table.Testing: true, table.Predicting: false} {
		rows, err := r.Read(t.Context(), p.Experiment.Data.Test, use, silent{})
		if err != nil {
			t.Fatal(err)
		}
		if rows.Data.Samples() != 60 || (rows.Labels != nil) != labelled || rows.Label.Name != "y" {
			t.Errorf("%+v", rows)
		}
	}
}

// A plan runs neither without its noise nor without its data.
func TestUnpreparedPlansDoNotRun(t *testing.T) {
	quick := experiment(t, "model=linear", "privacy.epochs=0.2", "privacy.accounting=paper")
	for name, prepare := range map[string]func(*Plan) error{
		"settled": (*Plan).Settle,
		"loaded":  func(p *Plan) error { return p.Load(t.Context(), nil, &recorder{}) },
	} {
		p, err := New(Settings{Experiment: quick, Tune: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := prepare(p); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(t.Context(), cpu.New(cpu.Options{}), Options{Key: p.Key()}, &recorder{}); err == nil || !strings.Contains(err.Error(), "isn't settled, or") {
			t.Errorf("%s only: %v", name, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
