package figure

import (
	"reflect"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/vg"
)

func drawings(t *testing.T) []drawing {
	t.Helper()
	return []drawing{fewBounds(t).drawing(), paperLines(t).drawing()}
}

// Without colour a curve is its dashes and its marker's shape.
func TestKeyNeedsNoColour(t *testing.T) {
	for _, d := range drawings(t) {
		for _, row := range d.key {
			for i, e := range row {
				for _, f := range row[:i] {
					if reflect.DeepEqual(e.stroke, f.stroke) && e.marker.sides == f.marker.sides && e.marker.turn == f.marker.turn {
						t.Errorf("%q looks like %q", e.text, f.text)
					}
				}
			}
		}
	}
}

// Every mark of a panel of the bounds is explained by one entry of each row of the key.
func TestKeyExplainsEveryCurve(t *testing.T) {
	d := drawings(t)[0]
	count := 0
	for _, p := range d.panels {
		for _, c := range p.curves {
			for _, e := range d.key[0] {
				for _, f := range d.key[1] {
					if e.marker == c.marker && reflect.DeepEqual(f.stroke, c.stroke) {
						count++
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
			entries, height := layKey(d.key, width)
			free := map[vg.Length]vg.Length{} // from where on a line is
			for _, e := range entries {
				right := e.x + keySample + keyGap + textStyle(textSize).Width(e.text)
				if right > width || e.y > height {
					t.Errorf("%q ends at %v of %v, %v of %v", e.text, right, width, e.y, height)
				}
				if e.x < free[e.y] {
					t.Errorf("%q begins at %v, before %v", e.text, e.x, free[e.y])
				}
				free[e.y] = right
			}
		}
	}
}

func TestFontsHaveEveryLetter(t *testing.T) {
	var texts []string
	for _, d := range drawings(t) {
		for _, p := range d.panels {
			texts = append(texts, p.title, p.x.label, p.y.label)
			for _, c := range p.curves {
				texts = append(texts, c.label)
			}
		}
		for _, row := range d.key {
			for _, e := range row {
				texts = append(texts, e.text)
			}
		}
	}
	for _, text := range texts {
		for _, r := range runs(text) {
			face := letters.face(r, textStyle(textSize).Font)
			for _, letter := range r.text {
				if glyph, err := face.Face.GlyphIndex(&sfnt.Buffer{}, letter); err != nil || glyph == 0 {
					t.Errorf("%q: no letter %q in the font", text, letter)
				}
			}
		}
	}
}

func TestLabelsAreSpread(t *testing.T) {
	got := spread([]vg.Length{0, 2, 40, 41, 42})
	want := []vg.Length{0, labelLine, 40, 40 + labelLine, 40 + 2*labelLine}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
