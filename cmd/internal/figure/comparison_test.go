package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"pgregory.net/rapid"
)

var missing = math.NaN()

// compared is a figure with every mark: two accountings, gaps, a panel without a value, notes, a logarithmic axis.
func compared(t *testing.T) Comparison {
	t.Helper()
	line := func(method, accounting int, y ...float64) Series {
		s := Series{Method: method, Accounting: accounting}
		for i, v := range y {
			s.Points = append(s.Points, Mean{X: float64(i + 1), Y: v, Half: 0.3, Runs: []float64{v - 1, v, v + 2, v + 2}})
		}
		return s
	}
	return Comparison{
		Methods: []string{"variant 1", "variant 2", "baseline", "single run"}, Accountings: []string{"paper", "best"}, Columns: 2, Apart: 3,
		Panels: []ComparisonPanel{
			{Title: "MNIST", Note: "baseline trained 6.1 (paper), 6.0 (best) times as long", X: "epsilon", Y: "test accuracy (%)", Series: []Series{
				line(0, 0, 96, 97, missing, 98), line(1, 0, 95, 96.5, 97.5, 97.9), line(2, 1, 91, 94, 95, 96), line(3, 0, 94, 95, 96, 96.5),
			}},
			{Title: "IMDB", X: "epsilon", Y: "learning rate", LogY: true, Series: []Series{line(0, 0, 1, 10, 20, 0), line(2, 1, missing, missing, 4, missing)}},
			{Title: "CIFAR-10", X: "epsilon", Y: "noise multiplier", Series: []Series{line(0, 0, missing, missing)}},
		},
		Numbers: [][]string{{"a", "b"}, {"1", ""}},
	}
}

// A missing point breaks the line: the points before and after it aren't joined.
func TestMissingPointsLeaveGaps(t *testing.T) {
	for name, c := range map[string]struct {
		y    []float64
		want []int // points of each piece
	}{
		"whole":         {[]float64{1, 2, 3}, []int{3}},
		"in the middle": {[]float64{1, missing, 3, 4}, []int{1, 2}},
		"at the ends":   {[]float64{missing, 2, 3, missing}, []int{2}},
		"all":           {[]float64{missing, missing}, nil},
	} {
		x := []float64{1, 2, 3, 4}[:len(c.y)]
		var got []int
		markers := 0
		for _, part := range (curve{x: x, y: c.y, every: 1}).parts() {
			switch what := part.(shifted).what.(type) {
			case *plotter.Line:
				got = append(got, len(what.XYs))
			case *plotter.Scatter:
				markers = len(what.XYs)
			}
		}
		total := 0
		for i, n := range c.want {
			if i >= len(got) || got[i] != n {
				t.Errorf("%s: pieces of %v, want %v", name, got, c.want)
				break
			}
			total += n
		}
		if len(got) != len(c.want) || markers != total {
			t.Errorf("%s: pieces of %v and %d markers, want %v and %d", name, got, markers, c.want, total)
		}
	}
}

// A bar reaches to both sides, within the panel, as dots do. Medians of three runs or more have dashes.
func TestBarsDotsAndMedians(t *testing.T) {
	p := ComparisonPanel{Series: []Series{{Points: []Mean{
		{X: 1, Y: 5, Half: 0.5, Runs: []float64{5, 4.75, 5.25}}, {X: 2, Y: 6, Half: missing, Runs: []float64{9}},
		{X: 3, Y: 7, Half: 0.25, Runs: []float64{3, 8, missing, 8.5, 8.5}}, {X: 4, Y: 7, Half: 0.25, Runs: []float64{8, 8.5, 6, 3}},
	}}}}
	panel := p.panel(1)
	parts := panel.curves[0].parts()
	dots, bars, medians := parts[0].(shifted).what.(*plotter.Scatter), parts[1].(shifted).what.(*plotter.YErrorBars), parts[2].(shifted).what.(*plotter.Scatter)
	if want := (plotter.XYs{{X: 1, Y: 5}, {X: 3, Y: 7}, {X: 4, Y: 7}}); !slices.Equal(bars.XYs, want) || bars.YErrors[0].Low != 0.5 || bars.YErrors[0].High != 0.5 {
		t.Errorf("bars %v of %v, want some at %v", bars.YErrors, bars.XYs, want)
	}
	if want := (plotter.XYs{{X: 1, Y: 5}, {X: 4, Y: 7}}); len(dots.XYs) != 12 || !slices.Equal(medians.XYs, want) {
		t.Errorf("%d dots, medians %v, want 12 and %v", len(dots.XYs), medians.XYs, want)
	}
	if _, _, _, alpha := dots.GlyphStyle.Color.RGBA(); alpha != 0x6060 {
		t.Errorf("dots have alpha %#x", alpha)
	}
	if high := (ComparisonPanel{Series: []Series{{Points: []Mean{{X: 1, Y: 5, Half: 4, Runs: []float64{5}}}}}}).panel(0).y.high; high != 9 {
		t.Errorf("a bar up to 9 is in an axis up to %v", high)
	}
	if panel.y.low != 3 || panel.y.high != 9 {
		t.Errorf("the axis reaches from %v to %v", panel.y.low, panel.y.high)
	}
	var ink recorder.Canvas
	plot := newPlot(panel)
	bars.Plot(draw.NewCanvas(&ink, 100, 100), plot)
	_, to := plot.Transforms(new(draw.NewCanvas(&ink, 100, 100)))
	i := slices.IndexFunc(ink.Actions, func(a recorder.Action) bool { _, ok := a.(*recorder.Stroke); return ok })
	if path := ink.Actions[i].(*recorder.Stroke).Path; path[0].Pos.Y != to(4.5) || path[1].Pos.Y != to(5.5) {
		t.Errorf("the first bar is drawn along %v, want %v to %v", path, to(4.5), to(5.5))
	}
}

// On a logarithmic axis a point is the logarithm of the mean, or of the median, and a bar ends at those of its ends.
func TestLogarithmicBars(t *testing.T) {
	if c := (ComparisonPanel{LogY: true, Series: []Series{{Points: []Mean{{X: 1, Y: 5, Runs: []float64{1, 2, 18, 99}}}}}}).panel(1).curves[0]; c.medians[0].Y != 1 {
		t.Errorf("the median of 1, 2, 18 and 99 is at %v", c.medians[0].Y)
	}
	p := ComparisonPanel{LogY: true, Series: []Series{{Points: []Mean{{X: 1, Y: 10, Half: 9}, {X: 2, Y: 10, Half: 10}, {X: 3, Y: 0, Half: missing}}}}}
	c := p.panel(1).curves[0]
	if c.y[0] != 1 || c.bars[0] != [2]float64{0, math.Log10(19)} {
		t.Errorf("point %v with bar %v", c.y[0], c.bars[0])
	}
	if !math.IsNaN(c.bars[1][0]) || !math.IsNaN(c.y[2]) {
		t.Errorf("a bar down to 0 ends at %v, a point at 0 is %v", c.bars[1][0], c.y[2])
	}
	axis := newPlot(p.panel(1)).Y
	for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
		if v, err := strconv.ParseFloat(tick.Label, 64); err != nil || math.Log10(v) != tick.Value {
			t.Errorf("a tick says %s at 10^%v, %v", tick.Label, tick.Value, err)
		}
	}
}

func TestPanelsWithoutValuesSaySo(t *testing.T) {
	_, panels := Inline(compared(t))
	for i, want := range []bool{false, false, true} {
		if got := strings.Contains(string(panels[i]), ">no values<"); got != want {
			t.Errorf("panel %d says so: %v", i, got)
		}
	}
}

// Methods have their own markers, accountings their own dashes: no colour is needed. Methods are side by side, and
// panels have one x axis.
func TestComparisonNeedsNoColour(t *testing.T) {
	d := compared(t).drawing()
	if len(d.key) != 2 || len(d.key[0]) != 4 || len(d.key[1]) != 2 {
		t.Fatalf("key %v", d.key)
	}
	for i, p := range d.panels {
		if p.x.high != 4 {
			t.Errorf("%s: x ends at %v", p.title, p.x.high)
		}
		for k, c := range p.curves {
			s := compared(t).Panels[i].Series[k]
			if c.marker != d.key[0][s.Method].marker || !reflect.DeepEqual(c.stroke, d.key[1][s.Accounting].stroke) || c.line().Color != c.marker.Color {
				t.Errorf("%s: curve %d isn't drawn as the key says", p.title, k)
			}
			if k > 0 && s.Method < 3 && c.shift <= p.curves[k-1].shift {
				t.Errorf("%s: curve %d isn't beside the one before", p.title, k)
			}
			if s.Method == 3 && c.shift != 0 {
				t.Errorf("%s: curve %d isn't at its x", p.title, k)
			}
		}
	}
	one := compared(t)
	one.Accountings = one.Accountings[:1]
	if key := one.drawing().key; len(key) != 1 {
		t.Errorf("a single accounting is explained: %v", key)
	}
}

// Any values can be drawn: tiny, huge, equal, far apart, missing.
func TestComparisonsOfAnything(t *testing.T) {
	value := rapid.OneOf(rapid.Just(missing), rapid.Just(0.), rapid.Float64(), rapid.Float64Range(-1e300, 1e300), rapid.Float64Range(1e-300, 1e-290), rapid.Float64Range(0, 1))
	rapid.Check(t, func(t *rapid.T) {
		s := Series{Label: "x", Points: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Mean {
			return Mean{X: value.Draw(t, "x"), Y: value.Draw(t, "y"), Half: math.Abs(value.Draw(t, "dy")), Runs: rapid.SliceOfN(value, 0, 3).Draw(t, "runs")}
		}), 0, 4).Draw(t, "points")}
		c := Comparison{Methods: []string{"m"}, Accountings: []string{"a"}, Columns: 1, Panels: []ComparisonPanel{{LogX: rapid.Bool().Draw(t, "log x"), LogY: rapid.Bool().Draw(t, "log y"), Series: []Series{s}}}}
		_, panels := Inline(c)
		if svg := string(panels[0]); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Fatal(svg)
		}
	})
}

// Pictures of a page are well-formed, escape their texts, and have no style attribute, which the page's policy forbids.
func TestInlinePictures(t *testing.T) {
	const hostile = `</svg><script>alert("1")</script>&`
	c := compared(t)
	c.Panels[0].Title, c.Methods[0] = hostile, hostile
	key, panels := Inline(c)
	if want := `aria-label="key: &lt;/svg&gt;`; !strings.Contains(string(key), want) || !strings.Contains(string(key), "; best accounting\"") {
		t.Errorf("the key's label doesn't name its entries: %.300s", key)
	}
	for i, p := range append(panels, key) {
		decoder := xml.NewDecoder(strings.NewReader(string(p)))
		texts := map[string]bool{}
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("picture %d: %v\n%s", i, err, p)
			}
			switch token := token.(type) {
			case xml.StartElement:
				if !strings.Contains(" svg g path text ", " "+token.Name.Local+" ") {
					t.Errorf("picture %d has an element %s", i, token.Name.Local)
				}
				for _, a := range token.Attr {
					if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
						t.Errorf("picture %d: attribute %s", i, a.Name.Local)
					}
				}
			case xml.CharData:
				texts[string(token)] = true
			}
		}
		if i == 0 && (!texts[hostile] || !texts["98"] || !texts["baseline trained 6.1 (paper), 6.0 (best) times as long"]) {
			t.Errorf("picture %d has texts %v", i, texts)
		}
	}
}

func TestEncodeMakesEveryFormat(t *testing.T) {
	files, err := Encode(compared(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ extension, begins string }{{"csv", "a,b\n1,\n"}, {"pdf", "%PDF-"}, {"png", "\x89PNG"}, {"svg", "<?xml"}} {
		if files[i].Extension != want.extension || !bytes.HasPrefix(files[i].Content, []byte(want.begins)) {
			t.Errorf("file %d is %s: %.10q", i, files[i].Extension, files[i].Content)
		}
	}
}
