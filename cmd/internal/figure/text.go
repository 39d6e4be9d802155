package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// setText sets labels. Labels of figures that become PDF files are ASCII: gonum's PDF fonts have no Greek
// (gonum.org/v1/plot v0.17.0).
var setText = text.Plain{Fonts: font.NewCache(liberation.Collection())}

func textStyle(size vg.Length) text.Style {
	s := text.Style{Color: color.Black, Font: plot.DefaultFont, Handler: setText}
	s.Font.Variant, s.Font.Size = "Sans", size
	return s
}
