package examples_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Each example runs, learns and says what it costs; and its main file is short enough to be read at once. The keys are
// random: in 40 runs of each no score came near its bound.
func TestExamples(t *testing.T) {
	bounds := map[string]float64{"regression": 0.8, "attention": 0.7, "gru": 0.7, "tuning": 0.5}
	found, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(bounds) {
		t.Errorf("there are %d examples, and bounds for %d", len(found), len(bounds))
	}
	said := regexp.MustCompile(`^(R²|accuracy|least recall) (-?[0-9.]+)( .*)?, epsilon ([0-9.]+) at delta 1e-05\n$`)
	for _, file := range found {
		name := filepath.Dir(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if lines := bytes.Count(source, []byte("\n")); lines >= 60 {
				t.Errorf("%s has %d lines", file, lines)
			}
			program := filepath.Join(t.TempDir(), name)
			if out, err := exec.Command("go", "build", "-o", program, "./"+name).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var stderr strings.Builder
			run := exec.CommandContext(t.Context(), program)
			run.Stderr = &stderr
			out, err := run.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			parts := said.FindSubmatch(out)
			if parts == nil {
				t.Fatalf("it says %q", out)
			}
			score, err := strconv.ParseFloat(string(parts[2]), 64)
			if err != nil || score < bounds[name] {
				t.Errorf("the score is %s, below %v", parts[2], bounds[name])
			}
			if epsilon, err := strconv.ParseFloat(string(parts[4]), 64); err != nil || !(epsilon > 0 && epsilon < 10) {
				t.Errorf("epsilon is %s", parts[4])
			}
		})
	}
}
