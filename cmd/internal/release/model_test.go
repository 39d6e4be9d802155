package release

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/released"
	"github.com/dptrain/dptrain/train"
)

// Written models have version 2, and their temperature is read back; without one the field is absent.
func TestReleasedTemperature(t *testing.T) {
	for _, temperature := range []float64{0, 1, 1.25} {
		dir := t.TempDir()
		r := Release{Model: Model{Outputs: 2, Task: Classification, Temperature: temperature}}
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "model.json"))
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
		if m, _, err := released.Read(dir); err != nil || m.Temperature != want {
			t.Errorf("%v is read as %v, %v", temperature, m.Temperature, err)
		}
		// Older files have no checksum, and parameters of another release have another one.
		sum := regexp.MustCompile(`,\s*"parameters_sha256": "[^"]*`)
		for change, wrong := range map[string]string{"": "", `, "parameters_sha256": "00`: "their SHA-256 differ"} {
			if change == "" {
				change = `, "features_of": "`
			}
			if err := os.WriteFile(filepath.Join(dir, "model.json"), sum.ReplaceAll(text, []byte(change)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := released.Read(dir); (wrong == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s: %v", change, err)
			}
		}
	}
	dir := t.TempDir() // numbers in text take version 3
	if err := (Release{Model: Model{Version: released.Notated, Outputs: 2, Task: Classification}}).Write(dir); err != nil {
		t.Fatal(err)
	}
	if m, _, err := released.Read(dir); err != nil || m.Version != released.Notated {
		t.Errorf("version %d, %v", m.Version, err)
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
		if _, _, err := released.Read(dir); (v == math.MaxFloat32) != (err == nil) || err != nil && !errors.Is(err, ErrNoModel) {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// A model that isn't better than a constant answer says so in all files.
func TestReleasedWarning(t *testing.T) {
	dir := t.TempDir()
	const warning = "the model is no better than one answer for every row"
	r := Release{Model: Model{Outputs: 2, Task: Classification, Warning: warning}, Score: Score{Metric: "accuracy", Value: 0.5}}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	if m, _, err := released.Read(dir); err != nil || m.Warning != warning {
		t.Errorf("%q, %v", m.Warning, err)
	}
	statement, err := os.ReadFile(filepath.Join(dir, "STATEMENT.md"))
	if err != nil || !strings.Contains(string(statement), "which follows from the model and public data. **It says that "+warning+".**\n\nNothing in") {
		t.Errorf("%s, %v", statement, err)
	}
}

func TestScore(t *testing.T) {
	for s, want := range map[Score]string{
		{Metric: "accuracy", Value: 0.97831}: "97.83 %", {Metric: "R²", Value: 0.91456}: "0.9146", {Metric: "R²", Value: -37.77}: "-37.7700", {Metric: "R²", Value: -3.21e60}: "-3.21e+60",
	} {
		if got := s.String(); got != want {
			t.Errorf("%v prints as %s, want %s", s.Value, got, want)
		}
	}
}
