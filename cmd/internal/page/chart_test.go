package page

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/figure"
)

// A missing bound is a gap in the chart and "none" in its table, and the stated guarantee is marked.
func TestCostCharts(t *testing.T) {
	a := madeUp()
	a.ByDelta[0].Epsilon[0], a.ByDelta[0].Epsilon[1] = math.Inf(1), 7.00001
	c := a.chart(aRelease().Privacy)
	if row := c.Rows[0]; strings.Join(row, " ") != "10⁻¹⁰ none 7.0001 7.5" || strings.Join(c.Columns, " ") != "delta best tight paper" {
		t.Errorf("%v", row)
	}
	lines := map[bool][]int{} // by dashes: the numbers of lines between points
	for _, path := range regexp.MustCompile(`<path d="([^"]*)"[^>]*stroke="?#0072B2[^>]*>`).FindAllStringSubmatch(string(c.Picture), -1) {
		dashed := strings.Contains(path[0], "stroke-dasharray")
		lines[dashed] = append(lines[dashed], strings.Count(path[1], "L"))
	}
	if !slices.Equal(lines[false], []int{1}) || !slices.Equal(lines[true], []int{2, 2}) { // best lacks a point
		t.Errorf("solid lines of %v pieces, dashed ones of %v: %s", lines[false], lines[true], c.Picture)
	}
	// A logarithmic axis of deltas. The stated guarantee, at 1e-5, doesn't stretch it.
	if p := string(c.Picture); !strings.Contains(p, ">1e-09<") {
		t.Errorf("%s", p)
	}
	for _, want := range []string{"best accounting", "tight accounting", "paper accounting", "stated guarantee"} {
		if !strings.Contains(string(c.Key), ">"+want+"<") && !strings.Contains(string(c.Key), "> "+want+"<") {
			t.Errorf("the key doesn't have %s: %s", want, c.Key)
		}
	}
}

// Scores far below the others would stretch the axis.
func TestDrawnScores(t *testing.T) {
	far, fine := -1e60, 0.5
	for _, got := range []float64{drawn("R²", nil), drawn("R²", &far)} {
		if !math.IsNaN(got) {
			t.Errorf("%v is drawn", got)
		}
	}
	if r2, accuracy := drawn("R²", &fine), drawn("accuracy", &fine); r2 != 0.5 || accuracy != 50 || figure.WorstDrawn != -1 {
		t.Errorf("%v and %v", r2, accuracy)
	}
}

// The table has a row for each trial and one for the final run, and the charts a marker for each score.
func TestPrivatePage(t *testing.T) {
	_, private := pages(t, runFolder(t, "run", aRelease()))
	for what, count := range map[string]int{
		`<tr class="winner">`: 1, `<tr class="final">`: 1, `<tr class="lost">`: 1, "diverged": 1, "90.00 %": 1, "97.83 %": 1, "Scores of the trials": 2,
	} {
		if got := strings.Count(private, what); got != count {
			t.Errorf("%s is there %d times, want %d", what, got, count)
		}
	}
	dir := runFolder(t, "run", aRelease())
	write(t, dir+"/private/run.json", `{"repetitions": 0, "best": -1, "trials": [], "final_seconds": 1}`)
	if _, private := pages(t, dir); !strings.Contains(private, "no trial was drawn") {
		t.Error("a run without trials doesn't say so")
	}
	a, b := mustOpen(t, dir), mustOpen(t, dir)
	a.Name, b.Name = "alpha", "beta"
	if page, err := Private([]Run{a, b}, []*PrivateRun{{}, {}}); err != nil || !strings.Contains(string(page), "alpha") || !strings.Contains(string(page), "beta") {
		t.Errorf("two runs: %s, %v", page, err)
	}
}
