package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/datasets/table"
)

// yesOrNo is a released model of one number: the logit of no is 0, and that of yes is slope times the number.
func yesOrNo(t *testing.T, temperature float64, slope float32) string {
	t.Helper()
	classes := []string{"no", "yes"}
	schema := table.Schema{
		Label:   table.Label{Name: "y", Task: table.Classification, Classes: classes},
		Columns: []table.Column{{Name: "x"}}, Shape: []int{1},
	}
	return writeReleased(t, release.Model{Version: 2, Temperature: temperature, Task: release.Classification, Classes: classes}, schema, []float32{0, slope}, []float32{0, 0})
}

// By hand: with a slope of 2 and temperature 2, x is the logit of yes. The measures of probabilities take the
// temperature.
func TestEvaluateProbabilities(t *testing.T) {
	dir := yesOrNo(t, 2, 2)
	rows := file(t, "x,y\n1,yes\n2,no\n-1,no\n-3,yes\n")
	var e evaluated
	if err := json.Unmarshal([]byte(output(t, "evaluate", dir, rows, "--json")), &e); err != nil {
		t.Fatal(err)
	}
	loss := (math.Log1p(math.Exp(-1)) + math.Log1p(math.Exp(2)) + math.Log1p(math.Exp(-1)) + math.Log1p(math.Exp(3))) / 4
	sure := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	// Of certainty 1 there are two right rows in one bin; 2 and 3 are wrong, and in bins of their own.
	gap := (2*(1-sure(1)) + sure(2) + sure(3)) / 4
	for what, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"accuracy": {e.Accuracy, 0.5}, "log loss": {e.LogLoss, loss}, "calibration error": {e.CalibrationError, gap},
		"AUC": {e.AUC, 0.25}, "F1": {e.F1, 0.5}, // 1 beats -1, and no other pair is in order
	} {
		if c.got == nil || math.Abs(*c.got-c.want) > 1e-7 {
			t.Errorf("%s: %v, want %v", what, c.got, c.want)
		}
	}
	if len(e.Confusion) != 2 || e.Confusion[0][0] != 1 || e.Confusion[0][1] != 1 || e.Confusion[1][0] != 1 || e.Confusion[1][1] != 1 {
		t.Errorf("confusion %v", e.Confusion)
	}
	text := output(t, "evaluate", dir, rows)
	for _, want := range []string{"log loss ", "calibration error ", "AUC, of yes", "F1, of yes", "PREDICTED AS  no  yes\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// What isn't defined is left out of JSON, which has no NaN, and text says why.
func TestEvaluateLeavesOutTheUndefined(t *testing.T) {
	huge := float32(3e38) // infinite logits
	for name, c := range map[string]struct {
		slope         float32
		rows          string
		absent, texts []string
	}{
		"one class":        {1, "x,y\n1,no\n-2,no\n", []string{"auc"}, []string{"none: the rows have one class"}},
		"never yes":        {1, "x,y\n-1,no\n-2,no\n", []string{"auc", "f1"}, []string{"none: it doesn't occur and isn't predicted"}},
		"infinite outputs": {huge, "x,y\n1,no\n2,yes\n", []string{"log_loss", "calibration_error", "auc"}, []string{"none: outputs aren't finite"}},
	} {
		dir, rows := yesOrNo(t, 1, c.slope), file(t, c.rows)
		var fields map[string]any
		if err := json.Unmarshal([]byte(output(t, "evaluate", dir, rows, "--json")), &fields); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		absent := 0
		for _, key := range []string{"log_loss", "calibration_error", "auc", "f1"} {
			if _, ok := fields[key]; !ok {
				absent++
			}
		}
		for _, key := range c.absent {
			if v, ok := fields[key]; ok {
				t.Errorf("%s: %s is %v", name, key, v)
			}
		}
		if absent != len(c.absent) {
			t.Errorf("%s: %v lacks other fields than %v", name, fields, c.absent)
		}
		for _, want := range c.texts {
			if text := output(t, "evaluate", dir, rows); !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
	}
}
