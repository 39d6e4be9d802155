package paper

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2/maybe"

	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// Input has all that [Write] needs.
type Input struct {
	Figures   []Figure
	Selection Selection
	Results   []campaign.Result // of jobs of the selection, each once
	Program   string            // name, version and commit of the program that makes the figures

	Quick string // describes how runs are smaller; empty for a campaign of full size

	// Seed is the campaign's, from which its runs' seeds follow: they guarantee nothing and can be repeated. Nil for
	// none.
	Seed *uint64

	// Noise has the noise multipliers of tunings, which need no runs: cells without a result are drawn too.
	Noise map[campaign.Cell]float64

	// Bounds has the bounds of figure compare_dp_bounds, by figure.ComputeBounds; nil if it isn't among the figures.
	Bounds *figure.Bounds
}

// Write writes figures, the table of all runs, and the page that shows them, and returns the page's path:
//
//	DIR/figures/LABEL.{png,svg,pdf,csv}
//	DIR/figures/LABEL_ACCOUNTING.{png,svg,pdf,csv}    if there are several accountings
//	DIR/tables/results.csv
//	DIR/index.html
//
// It replaces older files of these names; none is ever visible half written. It writes nothing before all is drawn.
// The same input gives the same bytes, and so do other days and times if there is a seed.
func Write(ctx context.Context, dir string, in Input) (page string, err error) {
	r := in.results()
	drawn, err := r.drawAll(in)
	if err != nil {
		return "", err
	}
	html, err := newPage(in, r, drawn).render()
	if err != nil {
		return "", err
	}
	files := map[string][]byte{}
	for _, d := range drawn {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		encoded, err := figure.Encode(d.picture)
		if err != nil {
			return "", fmt.Errorf("draw %s: %w", d.Label, err)
		}
		for _, file := range encoded {
			files[filepath.Join("figures", d.Label+"."+file.Extension)] = file.Content
		}
	}
	if files[filepath.Join("tables", "results.csv")], err = figure.CSV(campaign.Table(r.all)); err != nil {
		return "", err
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := save(filepath.Join(dir, path), files[path]); err != nil {
			return "", err
		}
	}
	page = filepath.Join(dir, "index.html") // the last one, since it links to all others
	return page, save(page, html)
}

func (in Input) results() *results {
	all := slices.Clone(in.Results)
	for i := range all {
		if in.Seed != nil { // these can't be repeated
			all[i].Day, all[i].Seconds, all[i].ProcessorSeconds = "", math.NaN(), math.NaN()
		}
	}
	r := collect(in.Selection, all)
	r.planned = in.Noise
	if in.Quick != "" {
		r.size = "quick"
	}
	return r
}

// drawAll draws figures. One that needs runs is followed by the same one by each accounting, if there are several.
func (r *results) drawAll(in Input) (drawn []drawnFigure, err error) {
	for _, f := range in.Figures {
		d := drawnFigure{Figure: f}
		switch {
		case f.Trains():
			d.picture = r.draw(f)
		case f.Bounds():
			d.picture = *in.Bounds
		default:
			if d.picture, err = figure.ComputeLines(figure.PaperLines()); err != nil {
				return nil, fmt.Errorf("draw %s: %w", f.Label, err)
			}
		}
		drawn = append(drawn, d)
		if !f.Trains() || len(r.Accountings) == 1 {
			continue
		}
		for _, accounting := range r.Accountings {
			one, by := *r, f
			one.Accountings, by.Label = []string{accounting}, f.Label+"_"+accounting
			drawn = append(drawn, drawnFigure{by, true, one.draw(f)})
		}
	}
	return drawn, nil
}

// drawnFigure is a figure of the paper with its picture.
type drawnFigure struct {
	Figure
	single  bool // by one accounting, after the figure by all of them
	picture figure.Figure
}

func save(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	if err := maybe.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	return nil
}
