package page

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The plot of a 460 by 296 picture is between 60 and 436, and between 38 and 250.
func TestPositions(t *testing.T) {
	c := chart{x: axis{low: 1, high: 100, log: true}, y: axis{low: 0, high: 10}}
	c.curves = []curve{{class: "best", x: []float64{1, 10, 20, 100}, y: []float64{0, 5, math.Inf(1), 10}}}
	c.dots = []dot{{x: 10, y: 5, class: "here", shape: "square"}, {x: 10, y: math.NaN(), shape: "circle"}, {x: 0, y: 1, shape: "circle"}}
	d := c.draw()
	if len(d.Lines) != 1 || d.Lines[0].Path != "M60.00 250.00L248.00 144.00M436.00 38.00" {
		t.Errorf("%+v", d.Lines)
	}
	if len(d.Dots) != 1 || d.Dots[0].Transform != "translate(248.00 144.00)" {
		t.Errorf("%+v", d.Dots)
	}
}

// Names at the ends of curves don't cover each other, and stay in order.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ends []end
		for i, y := range rapid.SliceOfN(rapid.Float64Range(0, 300), 1, 10).Draw(t, "heights") {
			ends = append(ends, end{curve: curve{name: fmt.Sprint(i)}, y: y})
		}
		spread(ends, 30, 250)
		for i, e := range ends {
			if e.y < 30 || e.y > 250 || i > 0 && e.y < ends[i-1].y+labelHeight-1e-9 {
				t.Fatalf("%+v", ends)
			}
		}
	})
}

// Modes with the same curve share a line and a name, and a missing bound is a gap.
func TestCostFigure(t *testing.T) {
	a := madeUp()
	for i := range a.ByDelta {
		a.ByDelta[i].Y[2] = a.ByDelta[i].Y[1]
	}
	a.ByDelta[0].Y[0] = math.Inf(1)
	r := Run{Privacy: release().Privacy}
	figures := a.figures(r, "run1")
	if len(figures) != 2 || len(figures[0].Chart.Lines) != 2 || len(figures[1].Chart.Lines) != 3 {
		t.Fatalf("%+v", figures)
	}
	var names []string
	for _, n := range figures[0].Chart.Names {
		for _, s := range n.Text {
			names = append(names, s.Text)
		}
	}
	if got := strings.Join(names, "|"); got != "tight, paper|best|ε| = 4, |δ| = 10⁻⁵" {
		t.Errorf("names %s", got)
	}
	if best := figures[0].Chart.Lines[1]; best.Class != "best" || strings.Count(best.Path, "L") != 1 {
		t.Errorf("%+v", best)
	}
	if row := figures[0].Rows[0]; strings.Join(row, " ") != "10⁻¹⁰ none 7 7" {
		t.Errorf("%v", row)
	}
	if text := figures[1].Chart.Description; !strings.Contains(text, "best accounting from 2.5 to 6.75") || !strings.Contains(text, "at 1878, 4.") {
		t.Errorf("%s", text)
	}
}

// A score far below the axis, or none, is marked at its end.
func TestScoreDots(t *testing.T) {
	a := scoreAxis("R²", []float64{-1e60, 0.5, -0.25})
	if a.low != -1 || a.at(0.5) > 1 {
		t.Errorf("%+v", a)
	}
	far, fine := -1e60, 0.5
	for score, want := range map[*float64]dot{nil: {x: 2, y: -1, shape: "cross"}, &far: {x: 2, y: -1, shape: "down"}, &fine: {x: 2, y: 0.5, shape: "circle"}} {
		if got := scoreDot(a, 2, score, dot{shape: "circle"}); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if a := scoreAxis("accuracy", []float64{0.999, 1}); a.high != 1 {
		t.Errorf("accuracy up to %v", a.high)
	}
}

// The table has a row for each trial and one for the final run, and the chart marks the winner.
func TestPrivatePage(t *testing.T) {
	_, private := pages(t, runFolder(t, "run", release()))
	for what, count := range map[string]int{
		`<tr class="winner">`: 1, `<tr class="final">`: 1, `<tr class="lost">`: 1, `class="dot winner"`: 1, `class="dot final"`: 1, `class="dot trial"`: 2,
		"diverged": 2, "90.00 %": 1, "97.83 %": 2,
	} {
		if got := strings.Count(private, what); got != count {
			t.Errorf("%s is there %d times, want %d", what, got, count)
		}
	}
	for json, want := range map[string]string{
		`{"repetitions": 0, "best": -1, "trials": [], "final_seconds": 1}`: "no trial was drawn",
		`{"seconds": 7200}`: "7200",
	} {
		dir := runFolder(t, "run", release())
		write(t, dir+"/private/run.json", json)
		if _, private := pages(t, dir); want != "7200" && !strings.Contains(private, want) {
			t.Errorf("%s: %s isn't there", json, want)
		}
	}
}
