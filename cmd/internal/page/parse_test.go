package page

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/runs"
)

// A value that isn't finite is no score.
func TestScoreOf(t *testing.T) {
	if s := scoreOf(map[string]string{"test_r2": "-0.5"}); s == nil || s.Metric != "R²" || s.Value != -0.5 {
		t.Errorf("%+v", s)
	}
	for _, text := range []string{"NaN", "Inf", "", "1e999", "x"} {
		if s := scoreOf(map[string]string{"test_accuracy": text}); s != nil {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

// Any run.json gives a page, without foreign tags.
func FuzzPrivate(f *testing.F) {
	f.Add([]byte(privateJSON))
	f.Add([]byte(`{"trials": [{"learning_rate": -1, "score": 1e308, "curve": [{"step": -5, "score": -1e308}, {}]}, {"learning_rate": 1e308, "failure": "<img>"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p := PrivateRun{PrivateTuning: runs.PrivateTuning{Best: -1}}
		if json.Unmarshal(text, &p) != nil || p.Best < -1 || p.Best >= len(p.Trials) {
			return
		}
		r := Run{Privacy: aRelease().Privacy}
		page, err := Private([]Run{r}, []*PrivateRun{&p})
		if err != nil || strings.Contains(string(page), "<img") || strings.Contains(string(page), "NaN") {
			t.Errorf("%v\n%s", err, page)
		}
	})
}
