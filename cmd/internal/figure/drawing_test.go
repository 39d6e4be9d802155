package figure

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dptrain/dptrain/accountant"
)

func drawings(t *testing.T) []drawing {
	t.Helper()
	return []drawing{fewBounds(t).drawing(), paperLines(t).drawing()}
}

// Without colour a curve is identified by its dashes and its marker's shape.
func TestKeyNeedsNoColour(t *testing.T) {
	for _, d := range drawings(t) {
		for _, row := range d.key {
			for i, e := range row {
				for _, f := range row[:i] {
					if reflect.DeepEqual(e.stroke, f.stroke) && e.marker.Shape == f.marker.Shape {
						t.Errorf("%q looks like %q", e.text, f.text)
					}
				}
			}
		}
	}
}

// Every mark of a panel of the bounds is explained by one entry of each row of the key, whose values the curve has.
func TestKeyExplainsEveryCurve(t *testing.T) {
	b := fewBounds(t)
	d := b.drawing()
	count := 0
	for i, p := range d.panels {
		for _, c := range p.curves {
			for k, e := range d.key[0] {
				for _, f := range d.key[1] {
					if e.marker == c.marker && reflect.DeepEqual(f.stroke, c.stroke) {
						count++
						m := slices.Index(b.settings.Modes, accountant.Mode(strings.Fields(f.text)[0]))
						if y := b.epsilon[i][m][k]; e.text != methods[k].name || !slices.Equal(c.y, y) {
							t.Errorf("%s by %s: %v, want %v", e.text, f.text, c.y, y)
						}
					}
				}
			}
		}
	}
	// Three modes of four methods in two panels, less the run alone, whose paper and tight curves are one.
	if want := 2 * (3*4 - 1); count != want {
		t.Errorf("%d curves are explained, want %d", count, want)
	}
}

func TestKeyFits(t *testing.T) {
	for _, d := range drawings(t) {
		for _, width := range []vg.Length{250, 520} {
			key, height := layKey(d.key, width)
			free := map[vg.Length]vg.Length{} // the left end of the free part of a line
			for _, l := range key {
				right := l.XOffs + l.Rectangle(draw.Canvas{}).Size().X
				if right > width || -l.YOffs+keyLine > height {
					t.Errorf("an entry ends at %v of %v, %v of %v", right, width, -l.YOffs+keyLine, height)
				}
				if l.XOffs < free[l.YOffs] {
					t.Errorf("an entry begins at %v, before %v", l.XOffs, free[l.YOffs])
				}
				free[l.YOffs] = right
			}
		}
	}
}

// Fonts of PDF files have no other letters.
func TestLabelsAreASCII(t *testing.T) {
	for _, f := range []Figure{fewBounds(t), paperLines(t), compared(t)} {
		key, panels := Inline(f)
		for _, picture := range append(panels, key) {
			if at := strings.IndexFunc(string(picture), func(r rune) bool { return r > unicode.MaxASCII }); at >= 0 {
				t.Errorf("%.40s", picture[at:])
			}
		}
	}
}

func TestLabelsAreSpread(t *testing.T) {
	for name, c := range map[string]struct{ ends, want []float64 }{
		"apart":        {[]float64{30, 0, 50}, []float64{0, 30, 50}},
		"close":        {[]float64{0, 2, 40, 41, 42}, []float64{0, 10, 40, 50, 60}},
		"at the top":   {[]float64{99, 98, 20}, []float64{20, 90, 100}},
		"all the same": {[]float64{100, 100, 100}, []float64{80, 90, 100}},
	} {
		var curves []curve
		curves = append(curves, curve{x: []float64{9}, y: []float64{0}, label: "of a point to the right"}, curve{x: []float64{7}, y: []float64{math.NaN()}, label: "missing"})
		for _, y := range c.ends {
			curves = append(curves, curve{x: []float64{0, 7}, y: []float64{5, y}, label: fmt.Sprint(y)}, curve{x: []float64{1}, y: []float64{3}})
		}
		got := endLabels(curves, 100, 10)
		var at []float64
		for _, p := range got.XYs {
			at = append(at, p.Y)
		}
		at = at[:len(at)-1]
		if !slices.Equal(at, c.want) || got.XYs[0].X != 7 || got.Labels[0] != fmt.Sprint(slices.Min(c.ends)) {
			t.Errorf("%s: %v at %v, want %v", name, got.Labels, got.XYs, c.want)
		}
	}
}
