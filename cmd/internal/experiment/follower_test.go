package experiment

import (
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/tuner"
)

// recorder is a follower that keeps its reports.
type recorder struct {
	notes, warnings []string
	progress        int
	trials          []tuner.PrivateProgress
}

func (r *recorder) Note(text string)                  { r.notes = append(r.notes, text) }
func (r *recorder) Warn(text string)                  { r.warnings = append(r.warnings, text) }
func (r *recorder) Progress(float64, float64, string) { r.progress++ }
func (r *recorder) Tuning(p tuner.PrivateProgress)    { r.trials = append(r.trials, p) }

func TestFallbackIsOneLine(t *testing.T) {
	var r recorder
	warnOfFallback(&r, nil)
	warnOfFallback(&r, errors.Join(errors.New("no GPU has it"), errors.New("nor has the CPU")))
	if len(r.warnings) != 1 || !strings.HasSuffix(r.warnings[0], ": no GPU has it; nor has the CPU") {
		t.Errorf("got %q", r.warnings)
	}
}
