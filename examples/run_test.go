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

	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/internal/long"
)

// bounds are the minimum scores of examples. Those on real data take few steps, or all in long tests: score is above
// what they have after one step. The keys are random: in ten runs or more no score came near its bound.
var bounds = map[string]struct {
	steps      int // 0 for an example on made-up data
	score, all float64
}{
	"regression": {score: 0.8}, "tuning": {score: 0.5},
	"gan": {600, 0.25, 0.5}, "language": {10, 0.03, 0.17}, "lowrank": {40, 0.6, 0.8}, "lstm": {60, 0.52, 0.65},
	"siamese": {30, 0.7, 0.85}, "augment": {10, 0.45, 0.74}, "vae": {40, 0.4, 0.64},
}

// Each example runs, learns and says what it costs; and its main file is short enough to be read at once.
func TestExamples(t *testing.T) {
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
			bound, arguments := bounds[name].score, []string{}
			if steps := bounds[name].steps; long.Tests() && steps > 0 {
				bound = bounds[name].all
			} else if steps > 0 {
				arguments = append(arguments, "-steps", strconv.Itoa(steps))
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if lines := bytes.Count(source, []byte("\n")); lines >= 60 {
				t.Errorf("%s has %d lines", file, lines)
			}
			if bounds[name].steps > 0 && os.Getenv(datasets.DirVariable) == "" {
				t.Skip("it needs real data: see CONTRIBUTING.md")
			}
			program := filepath.Join(t.TempDir(), name)
			if out, err := exec.Command("go", "build", "-o", program, "./"+name).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var stderr strings.Builder
			run := exec.CommandContext(t.Context(), program, arguments...)
			run.Stderr = &stderr
			out, err := run.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			t.Logf("%s", out)
			parts := said.FindSubmatch(out)
			if parts == nil {
				t.Fatalf("it says %q", out)
			}
			score, err := strconv.ParseFloat(string(parts[2]), 64)
			if err != nil || score < bound {
				t.Errorf("the score is %s, below %v", parts[2], bound)
			}
			if epsilon, err := strconv.ParseFloat(string(parts[4]), 64); err != nil || !(epsilon > 0 && epsilon < 10) {
				t.Errorf("epsilon is %s", parts[4])
			}
		})
	}
}
