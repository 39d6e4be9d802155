package paper

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"

	"github.com/dptrain/dptrain/internal/campaign"
	"github.com/dptrain/dptrain/internal/figure"
)

// Input is what a campaign's folder of figures is made of.
type Input struct {
	Figures   []Figure
	Selection Selection
	Results   []campaign.Result // those of other tasks are left out
	Quick     string            // what was made smaller; empty for a campaign of full size
	Program   string            // that makes the figures: its name, version and commit

	// Bounds are the settings of figure compare_dp_bounds; nil means the paper's, which take a minute of a core.
	Bounds *figure.BoundsSettings
	// Progress is called while bounds are computed; nil for no calls.
	Progress func(done, total int)
}

// Write is like [WriteContext] with a context that is never cancelled.
func Write(dir string, in Input) error { return WriteContext(context.Background(), dir, in) }

// WriteContext writes figures, tables and the page that shows them:
//
//	DIR/figures/LABEL.{png,svg,pdf,csv}
//	DIR/tables/NAME.{png,svg,pdf,csv}
//	DIR/tables/claims.csv
//	DIR/index.html
//
// It replaces older files of these names; none is ever visible half written. It writes nothing before all is drawn.
// The same input gives the same bytes, in all files but tables/times if a result has a seed. The error wraps
// [ErrResults] if the results contradict each other.
func WriteContext(ctx context.Context, dir string, in Input) error {
	r, err := collect(in.Selection, in.Results)
	if err != nil {
		return err
	}
	var bounds figure.Bounds
	var drawn []drawnFigure
	for _, f := range in.Figures {
		d := drawnFigure{Figure: f}
		switch {
		case f.Trains():
			d.picture, err = r.draw(f)
		case f.Label == boundsLabel:
			settings := figure.PaperBounds()
			if in.Bounds != nil {
				settings = *in.Bounds
			}
			bounds, err = figure.ComputeBounds(ctx, settings, in.Progress)
			d.picture, d.bounds = bounds, true
		case f.Label == linesLabel:
			d.picture, err = figure.ComputeLines(figure.PaperLines())
		default:
			err = fmt.Errorf("figure %s: it trains nothing, and nothing else is known of it", f.Label)
		}
		if err != nil {
			return fmt.Errorf("draw %s: %w", f.Label, err)
		}
		drawn = append(drawn, d)
	}
	outcomes := r.outcomes(in.Figures)
	for _, d := range drawn {
		if d.bounds {
			outcomes = append(boundsOutcomes(bounds), outcomes...)
		}
	}
	tables, err := r.tables(in.Figures, outcomes)
	if err != nil {
		return err
	}
	page, err := newPage(in, r, drawn, tables, outcomes).render()
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, d := range drawn {
		if err := encode(ctx, files, filepath.Join("figures", d.Label), d.picture); err != nil {
			return err
		}
	}
	for _, t := range tables {
		path := filepath.Join("tables", t.Name)
		if t.CSVOnly {
			files[path+".csv"], err = figure.CSV(t.TextTable)
		} else {
			err = encode(ctx, files, path, t.TextTable)
		}
		if err != nil {
			return err
		}
	}
	return save(dir, files, page)
}

// drawnFigure is a figure of the paper with its picture.
type drawnFigure struct {
	Figure
	picture figure.Figure
	bounds  bool
}

// Labels of the figures that need no runs.
const (
	boundsLabel = "compare_dp_bounds"
	linesLabel  = "mnist_novel_x"
)

// tables returns all tables of some figures.
func (r *results) tables(figures []Figure, outcomes []Outcome) ([]Table, error) {
	tables, err := Tables(r.Datasets)
	if err != nil {
		return nil, err
	}
	if len(groups(figures)) > 0 {
		savings, err := r.savingsTable(figures)
		if err != nil {
			return nil, err
		}
		tables = append(tables, savings, r.timesTable(figures))
		if gains, ok := r.gainsTable(figures); ok {
			tables = append(tables, gains)
		}
	}
	if len(outcomes) > 0 {
		tables = append(tables, claimsTable(outcomes))
	}
	return tables, nil
}

// encode adds a figure's files, by their paths.
func encode(ctx context.Context, files map[string][]byte, path string, f figure.Figure) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	encoded, err := figure.Encode(f)
	if err != nil {
		return fmt.Errorf("draw %s: %w", filepath.Base(path), err)
	}
	for _, file := range encoded {
		files[path+"."+file.Extension] = file.Content
	}
	return nil
}

// save writes the files and, last, the page that links to them.
func save(dir string, files map[string][]byte, page []byte) error {
	var failed error
	for _, folder := range []string{"figures", "tables"} {
		failed = cmp.Or(failed, os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	for path, content := range files {
		failed = cmp.Or(failed, maybe.WriteFile(filepath.Join(dir, path), content, 0o644))
	}
	failed = cmp.Or(failed, maybe.WriteFile(filepath.Join(dir, "index.html"), page, 0o644))
	if failed != nil {
		return fmt.Errorf("write figures: %w", failed)
	}
	return nil
}
