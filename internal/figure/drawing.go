package figure

import "image/color"

// A drawing is what a figure shows, whatever the format. Texts are in the markup of typeset.
type drawing struct {
	panels []panel // side by side
	key    []keyRow
}

type panel struct {
	title  string
	x, y   axis
	curves []curve // later ones over earlier ones
}

// An axis without min and max spans its curves.
type axis struct {
	label    string
	min, max float64
	zero     bool // span 0 as well
}

type curve struct {
	x, y         []float64
	stroke       stroke
	marker       marker
	first, every int    // which points get a marker: so that those of close curves don't coincide
	label        string // beside the last point
}

// A stroke is a line style but for its colour. Lengths are in points.
type stroke struct {
	width  float64
	dashes []float64
}

// A marker is a regular polygon, filled white so that it stands out from its line; without sides it is
// nothing but the colour of the line.
type marker struct {
	colour color.Color
	sides  int
	turn   float64 // from a corner on top, in turns
}

type keyRow []keyEntry

type keyEntry struct {
	text   string
	stroke stroke
	marker marker
}

// strokes tell groups of curves apart.
var strokes = []stroke{
	{width: 1},
	{width: 1, dashes: []float64{5, 2.5}},
	{width: 1.3, dashes: []float64{1.3, 1.7}},
}

// markers tell curves of a group apart. The colours are of different lightness, and different to people
// who don't see red or green (Okabe and Ito).
var markers = []marker{
	{color.RGBA{0x00, 0x72, 0xb2, 0xff}, 32, 0},
	{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, 3, 0},
	{color.Gray{0}, 4, 1. / 8},
	{color.Gray{0x70}, 4, 0},
}
