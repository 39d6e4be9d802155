package release

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/train"
)

// A description of version 1 has no temperature, which means 1. One of version 2 may have one above 0.
func TestReadModelTakesVersions1And2(t *testing.T) {
	for _, c := range []struct {
		fields string
		want   float64
		refuse string
	}{
		{`"version": 1`, 1, ""},
		{`"version": 2`, 1, ""},
		{`"version": 2, "temperature": null`, 1, ""},
		{`"version": 2, "temperature": 0.25`, 0.25, ""},
		{`"version": 2, "temperature": 0`, 0, "temperature 0, want a number above 0"},
		{`"version": 2, "temperature": -3`, 0, "temperature -3, want a number above 0"},
		{`"version": 2, "temperature": 1e999`, 0, "cannot unmarshal number"},
		{`"version": 1, "temperature": 2`, 0, "version 1 has no temperature"},
		{`"version": 0`, 0, "version 0, and this dptrain reads versions 1 to 2"},
		{`"version": 3`, 0, "version 3, and this dptrain reads versions 1 to 2"},
	} {
		path := filepath.Join(t.TempDir(), modelFile)
		if err := os.WriteFile(path, fmt.Appendf(nil, `{%s, "outputs": 2, "task": "classification"}`, c.fields), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := readModel(path)
		switch {
		case c.refuse == "" && (err != nil || m.Temperature != c.want):
			t.Errorf("%s: temperature %v, %v; want %v", c.fields, m.Temperature, err, c.want)
		case c.refuse != "" && (!errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), c.refuse)):
			t.Errorf("%s: %v, want %q", c.fields, err, c.refuse)
		}
	}
}

// Written models have version 2, and their temperature is read back; without one the field is absent.
func TestReleasedTemperature(t *testing.T) {
	for _, temperature := range []float64{0, 1, 1.25} {
		dir := t.TempDir()
		r := Release{Model: Model{Outputs: 2, Task: Classification, Temperature: temperature}}
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"version": 2,`) || strings.Contains(string(text), "\n  \"temperature\"") != (temperature != 0) {
			t.Errorf("temperature %v is written as %s", temperature, text)
		}
		want := temperature
		if want == 0 {
			want = 1
		}
		if m, _, err := ReadModel(dir); err != nil || m.Temperature != want {
			t.Errorf("%v is read as %v, %v", temperature, m.Temperature, err)
		}
	}
	for _, temperature := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := (Release{Model: Model{Temperature: temperature}}).Write(t.TempDir()); err == nil || !strings.Contains(err.Error(), "temperature") {
			t.Errorf("temperature %v: %v", temperature, err)
		}
	}
}

// If a flipped bit made a parameter infinite, predictions would be NaN.
func TestReadModelWantsFiniteParameters(t *testing.T) {
	for _, v := range []float32{math.MaxFloat32, float32(math.Inf(-1)), float32(math.NaN())} {
		dir := t.TempDir()
		r := Release{Model: Model{Outputs: 2, Task: Classification}, Parameters: []train.Parameter{{Name: "w", Shape: []int{2}, Values: []float32{0, v}}}}
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadModel(dir); (v == math.MaxFloat32) != (err == nil) || err != nil && !errors.Is(err, ErrNoModel) {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// A model that isn't better than a constant answer says so in all files.
func TestReleasedWarning(t *testing.T) {
	dir := t.TempDir()
	const warning = "the model is no better than one answer for every row"
	r := Release{Model: Model{Outputs: 2, Task: Classification, Warning: warning}}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	if m, _, err := ReadModel(dir); err != nil || m.Warning != warning {
		t.Errorf("%q, %v", m.Warning, err)
	}
	statement, err := os.ReadFile(filepath.Join(dir, "STATEMENT.md"))
	if err != nil || !strings.Contains(string(statement), "which follows from the model and public data. **It says that "+warning+".**\n\nNothing in") {
		t.Errorf("%s, %v", statement, err)
	}
}
