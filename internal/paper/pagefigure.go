package paper

import (
	"fmt"
	"html/template"

	"github.com/dptrain/dptrain/internal/figure"
)

func (r *results) pageFigure(d drawnFigure, outcomes []Outcome) pageFigure {
	key, panels := figure.Inline(d.picture)
	// Package figure escapes the texts of its pictures.
	out := pageFigure{Figure: d.Figure, Key: template.HTML(key.SVG), Wide: d.Detailed}
	for _, p := range panels {
		out.Panels = append(out.Panels, template.HTML(p.SVG))
	}
	if d.Detailed {
		out.Columned = fmt.Sprintf("of-%d", len(d.columns()))
	}
	if d.Trains() {
		have, want := r.count(d.Figure)
		out.Runs = fmt.Sprintf("%s of %s runs, at most %d of each point", grouped(have), grouped(want), r.Repetitions)
	}
	for _, o := range outcomes {
		if o.Figure != d.Label {
			continue
		}
		last := len(out.Claims) - 1
		if last < 0 || out.Claims[last].Label != o.Label {
			out.Claims = append(out.Claims, pageClaim{Claim: o.Claim, Note: o.Note})
			last++
		}
		out.Claims[last].Outcomes = append(out.Claims[last].Outcomes, o)
		if o.Note != "" {
			out.Claims[last].Note = o.Note
		}
	}
	return out
}
