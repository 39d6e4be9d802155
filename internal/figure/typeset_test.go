package figure

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"
)

func TestRuns(t *testing.T) {
	for label, want := range map[string][]run{
		"plain":       {{"plain", false, false}},
		"rate *q*":    {{"rate ", false, false}, {"q", true, false}},
		"*ε*(*α*)":    {{"ε", true, false}, {"(", false, false}, {"α", true, false}, {")", false, false}},
		"10^−5^ *x*":  {{"10", false, false}, {"−5", false, true}, {" ", false, false}, {"x", true, false}},
		"":            nil,
		"*a* = 2^*n*": {{"a", true, false}, {" = 2", false, false}, {"n", true, true}},
	} {
		if diff := cmp.Diff(want, runs(label), cmp.AllowUnexported(run{})); diff != "" {
			t.Errorf("%q (-want +got)\n%s", label, diff)
		}
	}
}

// box returns the extent of what is filled when a label is drawn at a point.
func box(t *testing.T, label string, sty text.Style, at vg.Point) (low, high vg.Point) {
	t.Helper()
	var canvas recorder.Canvas
	letters.Draw(&canvas, label, sty, at)
	low, high = vg.Point{X: vg.Length(math.Inf(1)), Y: vg.Length(math.Inf(1))}, vg.Point{X: vg.Length(math.Inf(-1)), Y: vg.Length(math.Inf(-1))}
	for _, action := range canvas.Actions {
		fill, ok := action.(*recorder.Fill)
		if !ok {
			continue
		}
		for _, c := range fill.Path {
			if c.Type == vg.MoveComp || c.Type == vg.LineComp || c.Type == vg.CurveComp {
				low.X, low.Y = min(low.X, c.Pos.X), min(low.Y, c.Pos.Y)
				high.X, high.Y = max(high.X, c.Pos.X), max(high.Y, c.Pos.Y)
			}
		}
	}
	return low, high
}

func TestTextIsAsWideAsItSays(t *testing.T) {
	sty := textStyle(100)
	for _, label := range []string{"subset rate *q*", "*ε* at *δ* = 10^−5^", "HAVE To", "H"} {
		low, high := box(t, label, sty, vg.Point{X: 7, Y: 3})
		width := sty.Width(label)
		// The ink is within the text's box but for the overhang of a letter, and the box is no wider than a letter more.
		if low.X < 7-10 || high.X > 7+width+10 || high.X-low.X < width-30 {
			t.Errorf("%q: ink from %v to %v, width %v", label, low.X-7, high.X-7, width)
		}
	}
}

func TestTextIsAligned(t *testing.T) {
	sty := textStyle(100)
	sty.XAlign = text.XCenter
	low, high := box(t, "HOH", sty, vg.Point{X: 50})
	if middle := (low.X + high.X) / 2; math.Abs(float64(middle-50)) > 1 {
		t.Errorf("centred on %v, want 50", middle)
	}
	// A quarter turn counterclockwise: what ran to the right runs up.
	turned := sty
	turned.Rotation = math.Pi / 2
	tlow, thigh := box(t, "HOH", turned, vg.Point{X: 50})
	if math.Abs(float64(thigh.Y-tlow.Y-(high.X-low.X))) > 1e-6 || math.Abs(float64(thigh.X-50+low.Y)) > 1e-6 {
		t.Errorf("upright %v to %v, turned %v to %v", low, high, tlow, thigh)
	}
}

func TestSuperscriptIsRaisedAndSmall(t *testing.T) {
	sty := textStyle(100)
	low, high := box(t, "H", sty, vg.Point{})
	slow, shigh := box(t, "^H^", sty, vg.Point{})
	if !(slow.Y > low.Y+30 && shigh.Y-slow.Y < 0.75*(high.Y-low.Y)) {
		t.Errorf("H from %v to %v, raised from %v to %v", low.Y, high.Y, slow.Y, shigh.Y)
	}
}
