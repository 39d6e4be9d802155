package experiment

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/experiment/planner"
	"github.com/dptrain/dptrain/tuner"
)

// refused checks that an error is of a kind and has a text.
func refused(t *testing.T, name string, err error, kind Kind, text string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want kind %d, %q", name, err, kind, text)
	}
}

// replaced returns settings with one of them replaced.
func replaced(settings []string, key, value string) []string {
	others := slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return strings.HasPrefix(s, key+"=") })
	return append(others, key+"="+value)
}

// New and Settle refuse a plan that its run would refuse.
func TestPlansOnOwnFilesAreRefused(t *testing.T) {
	settings := own(t)
	e := experiment(t, settings...)
	link := filepath.Join(t.TempDir(), "link.csv")
	if err := os.Link(e.Data.Train, link); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		key, value string
		kind       Kind
		text       string
	}{
		{"data.label", "", Usage, "label"},
		{"data.test", e.Data.Train, Usage, "give two files"},
		{"data.test", link, Usage, "are one file"},
		{"data.task", "sorting", Usage, "data.task"},
		{"model", "cnn", Usage, "model: "},
		{"privacy.epochs", "1e-6", Usage, "less than one step"},
		{"privacy.noise_multiplier", "1e-9", Budget, "no finite epsilon"},
	} {
		e := e
		switch c.key { // some that settings refuse, as a library's may have them
		case "data.label":
			e.Data.Label = c.value
		case "data.task":
			e.Data.Task = c.value
		default:
			e = experiment(t, replaced(settings, c.key, c.value)...)
		}
		p, err := New(Settings{Experiment: e})
		if err == nil {
			err = p.Settle()
			p.Close()
		}
		refused(t, c.key+" "+c.value, err, c.kind, c.text)
	}
}

// Public rows that are private ones too protect none of these: all of them are an error, many a private warning.
func TestSharedRows(t *testing.T) {
	rows := func(from, to int) (out string) {
		for i := from; i < to; i++ {
			out += fmt.Sprintf("%d,%c\n", i, 'a'+i%2)
		}
		return out
	}
	for name, c := range map[string]struct{ private, public, warning, err string }{
		"all":  {rows(0, 100), rows(30, 60), "", "all 30 rows of public.csv are rows of private.csv too"},
		"many": {rows(0, 100), rows(80, 120), "20 of the 40 rows of public.csv are rows of private.csv too", ""},
		"none": {rows(0, 100), rows(200, 230), "", ""},
	} {
		settings, dir := own(t), t.TempDir()
		for file, rows := range map[string]string{"private.csv": c.private, "public.csv": c.public} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("x,y\n"+rows), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		settings = replaced(replaced(settings, "data.train", filepath.Join(dir, "private.csv")), "data.test", filepath.Join(dir, "public.csv"))
		p := resolve(t, false, replaced(settings, "privacy.sampling_rate", "0.5")...)
		var r recorder
		err := p.Load(t.Context(), nil, &r)
		if c.err != "" {
			refused(t, name, err, Input, c.err)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if all := strings.Join(r.warnings, "\n"); !strings.Contains(all, c.warning) || c.warning == "" && strings.Contains(all, "too: test rows") {
			t.Errorf("%s: warnings %q, want %q", name, r.warnings, c.warning)
		}
	}
}

// The private file is closed as soon as it is loaded, or with its plan.
func TestPrivateFilesAreClosed(t *testing.T) {
	for name, end := range map[string]func(*Plan) error{
		"loaded": func(p *Plan) error { return p.Load(t.Context(), nil, new(recorder)) },
		"closed": (*Plan).Close,
	} {
		p := resolve(t, false, own(t)...)
		file := p.files.Load().private
		if err := end(p); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: the file was open: %v", name, err)
		}
	}
}

func TestFamiliesByName(t *testing.T) {
	p := experiment(t).Privacy
	p.Shape = 3
	for name, want := range map[string]planner.Family{"poisson": {Name: "poisson"}, "negative-binomial": {Name: "negative-binomial:3"}, "negative-binomial:2": {Name: "negative-binomial:2"}} {
		f, err := FamilyOf(p, name)
		if err != nil || f.Name != want.Name {
			t.Errorf("%s: %q, %v", name, f.Name, err)
			continue
		}
		r, err := f.OfMean(7)
		if err != nil || math.Abs(r.Expected()-7) > 1e-6 {
			t.Errorf("%s: %#v, %v", name, r, err)
		}
		if r, ok := r.(accountant.TruncatedNegativeBinomial); ok && (r.Shape == 2) != (name == "negative-binomial:2") {
			t.Errorf("%s: %#v", name, r)
		}
	}
	for _, name := range []string{"poisson:2", "geometric:1", "negative-binomial:-1", "negative-binomial:x", "negative-binomial:1e7"} {
		_, err := FamilyOf(p, name)
		refused(t, name, err, Usage, "a shape is a number above -1")
	}
}

// The recommended option has the guarantee that is returned with it.
func TestRecommendedIsSettled(t *testing.T) {
	e := experiment(t, "privacy.accounting=paper", "privacy.epsilon=2")
	s, err := Compared(e, 12000)
	if err != nil {
		t.Fatal(err)
	}
	family, err := FamilyOf(e.Privacy, "poisson")
	if err != nil {
		t.Fatal(err)
	}
	s.Methods, s.SubsetRates, s.Families, s.Tried, s.MinRate = []tuner.Method{tuner.Variant1}, []float64{0.05, 0.3}, []planner.Family{family}, 0.8, 0.01
	trials, options, err := planner.Compare(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	least, g, err := Recommended(e, s, trials, options)
	if err != nil {
		t.Fatal(err)
	}
	run := accountant.DPSGD(s.Grid[0].SamplingRate, least.NoiseMultiplier, s.Grid[0].Steps)
	want, err := accountant.Epsilon(accountant.Variant1(least.SubsetRate, least.Repetitions, run), s.Delta, s.Accounting)
	if err != nil || g.Epsilon != want.Epsilon || g.Epsilon > 2 || g.Epsilon < 2*(1-1e-6) {
		t.Errorf("%+v: epsilon %v, want %v, %v", least, g.Epsilon, want.Epsilon, err)
	}
	s.MaxWork = 1e-3
	_, _, err = Recommended(e, s, trials, options)
	refused(t, "no work", err, Usage, "no plan that meets the budget")
}
