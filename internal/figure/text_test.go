package figure

import (
	"math"
	"slices"
	"testing"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"
)

func TestMarkup(t *testing.T) {
	type part struct {
		text           string
		italic, raised bool
	}
	for label, want := range map[string][]part{
		"plain":       {{"plain", false, false}},
		"rate *q*":    {{"rate ", false, false}, {"q", true, false}},
		"*ε*(*α*)":    {{"ε", true, false}, {"(", false, false}, {"α", true, false}, {")", false, false}},
		"10^−5^ *x*":  {{"10", false, false}, {"−5", false, true}, {" ", false, false}, {"x", true, false}},
		"":            nil,
		"*a* = 2^*n*": {{"a", true, false}, {" = 2", false, false}, {"n", true, true}},
	} {
		var got []part
		setLetters.each(label, textStyle(textSize).Font, func(face font.Face, rise vg.Length, text string) {
			if text != "" {
				got = append(got, part{text, face.Font.Style == stdfont.StyleItalic, rise > 0})
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", label, got, want)
		}
	}
}

// box returns the corners of a label's ink when it is drawn at a point.
func box(t *testing.T, label string, sty text.Style, at vg.Point) (low, high vg.Point) {
	t.Helper()
	var canvas recorder.Canvas
	setLetters.Draw(&canvas, label, sty, at)
	low, high = vg.Point{X: vg.Length(math.Inf(1)), Y: vg.Length(math.Inf(1))}, vg.Point{X: vg.Length(math.Inf(-1)), Y: vg.Length(math.Inf(-1))}
	move, sin, cos := vg.Point{}, 0., 1.
	for _, action := range canvas.Actions {
		switch a := action.(type) {
		case *recorder.Translate:
			move = a.Point
		case *recorder.Rotate:
			sin, cos = math.Sincos(a.Angle)
		case *recorder.Fill:
			for _, c := range a.Path {
				if c.Type != vg.MoveComp && c.Type != vg.LineComp && c.Type != vg.CurveComp {
					continue
				}
				p := move.Add(vg.Point{
					X: c.Pos.X*vg.Length(cos) - c.Pos.Y*vg.Length(sin), Y: c.Pos.X*vg.Length(sin) + c.Pos.Y*vg.Length(cos),
				})
				low.X, low.Y = min(low.X, p.X), min(low.Y, p.Y)
				high.X, high.Y = max(high.X, p.X), max(high.Y, p.Y)
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
		// The ink is within the text's box but for the overhang of a letter, and the box is no wider than a letter
		// more.
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
	// A quarter turn counterclockwise turns right into up.
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
