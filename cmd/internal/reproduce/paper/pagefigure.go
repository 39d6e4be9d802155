package paper

import (
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/release"
)

func (r *results) pageFigure(d drawnFigure, outcomes []Outcome) pageFigure {
	out := pageFigure{Figure: d.Figure, Wide: d.Detailed}
	out.Key, out.Panels = figure.Inline(d.picture)
	if d.Detailed {
		out.Columned = fmt.Sprintf("of-%d", len(d.columns()))
	}
	if d.Trains() {
		have, want := r.count(d.Figure)
		out.Runs = fmt.Sprintf("%s of %s runs, at most %d of each point", release.Grouped(have), release.Grouped(want), r.Repetitions)
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
