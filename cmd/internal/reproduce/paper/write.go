package paper

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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

	Quick          string  // describes how runs are smaller; empty for a campaign of full size
	Epochs, Trials float64 // the shares of the paper's epochs and mean numbers of trials that runs have; 0 means all

	// Seed is the campaign's, from which its runs' seeds follow: they guarantee nothing and can be repeated. Nil for
	// none.
	Seed *uint64

	// Noise has the noise multipliers of tunings, which need no runs: cells without a result are drawn too.
	Noise map[campaign.Cell]float64

	// Bounds has the bounds of figure compare_dp_bounds, by figure.ComputeBounds; nil if it isn't among the figures.
	Bounds *figure.Bounds
}

// Write writes figures, tables and the page that shows them, and returns the page's path:
//
//	DIR/figures/LABEL.{png,svg,pdf,csv}
//	DIR/tables/NAME.csv
//	DIR/index.html
//
// It replaces older files of these names; none is ever visible half written. It writes nothing before all is drawn.
// The same input gives the same bytes, in all files but tables/times.csv if there is a seed.
func Write(ctx context.Context, dir string, in Input) (page string, err error) {
	r := in.results()
	drawn, outcomes, err := r.drawAll(ctx, in)
	if err != nil {
		return "", err
	}
	tables, err := r.tables(in.Figures, outcomes)
	if err != nil {
		return "", err
	}
	html, err := newPage(in, r, drawn, tables, outcomes).render()
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
	for _, t := range tables {
		if files[filepath.Join("tables", t.Name+".csv")], err = figure.CSV(t.Numbers); err != nil {
			return "", err
		}
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
	r := collect(in.Selection, in.Results)
	r.seeded, r.planned = in.Seed != nil, in.Noise
	r.epochs, r.trials = cmp.Or(in.Epochs, 1), cmp.Or(in.Trials, 1)
	return r
}

// drawAll draws figures and judges the claims about them.
func (r *results) drawAll(ctx context.Context, in Input) (drawn []drawnFigure, outcomes []Outcome, err error) {
	for _, f := range in.Figures {
		d := drawnFigure{Figure: f}
		switch {
		case f.Trains():
			d.picture, err = r.draw(f)
			outcomes = append(outcomes, r.outcomes(f)...)
		case f.Bounds():
			d.picture = *in.Bounds
			outcomes = append(outcomes, boundsOutcomes(*in.Bounds)...)
		default:
			d.picture, err = figure.ComputeLines(figure.PaperLines())
		}
		if err != nil {
			return nil, nil, fmt.Errorf("draw %s: %w", f.Label, err)
		}
		drawn = append(drawn, d)
	}
	return drawn, outcomes, nil
}

// drawnFigure is a figure of the paper with its picture.
type drawnFigure struct {
	Figure
	picture figure.Figure
}

// tables returns all tables of some figures.
func (r *results) tables(figures []Figure, outcomes []Outcome) ([]Table, error) {
	tables := []Table{claimsTable(outcomes)}
	if len(tunings(figures)) > 0 {
		savings, err := r.savingsTable(figures)
		if err != nil {
			return nil, err
		}
		tables = append(tables, savings, r.timesTable(figures), r.resultsTable())
		if gains, ok := r.gainsTable(figures); ok {
			tables = append(tables, gains)
		}
	}
	return tables, nil
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
