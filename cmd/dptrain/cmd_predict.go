package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/float"
)

type predictOptions struct {
	out, id, threshold string
	keepGoing, json    bool
}

func newPredictCommand(g *global) *cobra.Command {
	var opts predictOptions
	cmd := &cobra.Command{
		Use:   "predict RUN FILE...",
		Short: "Use a released model on the rows of a file, on images or on texts",
		Long: `Use a released model on the rows of a file, on images or on texts. RUN is a run's
folder, or its folder "released" wherever that was copied to.

A model that was trained on files of your own takes a FILE that has the columns
of the training file, in any order; others, and the label if it is there, are
left alone.

A model of a data set of images takes PNG and JPEG files, of one image each and
of the set's size, or a file of images in MNIST's format (idx, packed by gzip or
not). A model of a data set of texts takes a text file (.txt) with a text in
each line, or a table with a column "text". All are prepared as the data
set's own samples.

The result is CSV on standard output or in the file of --out: the number of the
row, or its cell in the column of --id, or the name of an image's file; the
prediction; and for classes their probabilities. Probabilities are calibrated by
the model's temperature: see "dptrain evaluate --help". With --threshold CLASS=P
CLASS is predicted where its probability is at least P, not where it is the most
probable one. A number beyond the range that the training labels were clipped to
is clipped to that range, which standard error says.

A row that can't be read is an error, and there are no predictions. With --keep-going
it gets an empty one, and the reason in a further column, "problem", without cells.
The exit code is then 3 if there is such a row, though the predictions are written.
A file that can't be read from some row on, such as a damaged one, is an error
still, and so is one without any row that can be read.

The released model may be used as often as you like: that costs no privacy. A
prediction is as private as the row that it is made for.

` + term.ExitCodes,
		Example: `  dptrain predict runs/files-20261122-100352 new.csv >predictions.csv
  dptrain predict released new.parquet --out predictions.csv
  dptrain predict released new.csv.gz --id patient
  dptrain predict runs/mnist-20261122-100352 seven.png four.png`,
		Args: term.Takes(2, math.MaxInt, "a run and a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.json = g.JSON
			return runPredict(cmd.Context(), g, opts, args[0], args[1:])
		},
	}
	cmd.Flags().StringVar(&opts.out, "out", "", "`file` for the predictions, which must not exist")
	addThreshold(cmd, &opts.threshold)
	cmd.Flags().StringVar(&opts.id, "id", "", "`column` of the file to copy beside the predictions, instead of numbers of rows")
	cmd.Flags().BoolVar(&opts.keepGoing, "keep-going", false, "predict the other rows of a table where some can't be read; the exit code tells of these")
	return cmd
}

// prediction is a model's prediction for a row.
type prediction struct {
	Row           int                `json:"row"`          // from 1
	ID            *string            `json:"id,omitempty"` // the row's cell in the column of --id, or an image's file
	Class         *string            `json:"class,omitempty"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Value         *float64           `json:"value,omitempty"`
	Problem       string             `json:"problem,omitempty"` // of a row that can't be read, which has no prediction

	shares []float64 // the probabilities, in the order of the classes
}

// predictions are the predictions for all rows of a file.
type predictions struct {
	header []string
	rows   []prediction
	beyond int // numbers that were clipped; private

	keepGoing bool // whether the last column has problems
	bad       int  // rows that can't be read
}

func runPredict(ctx context.Context, g *global, opts predictOptions, run string, files []string) error {
	r, err := experiment.Open(run, engines.CPU())
	if err != nil {
		return err
	}
	r.KeepGoing = opts.keepGoing
	p, err := term.Follow(ctx, g.Console(), "predicting", func(f *term.Follower) (predictions, error) {
		p, err := predict(ctx, r, files, opts, f)
		return p, errors.Join(err, r.Close())
	})
	if err != nil {
		return err
	}
	if err := g.writePredictions(p, opts.out); err != nil {
		return err
	}
	warnOfModel(g, r)
	g.noteClipped(p)
	if p.bad > 0 {
		return term.Inputf("%s: not all rows were predicted; the column problem says why", files[0])
	}
	return nil
}

// writePredictions prints predictions, or writes them to a new file.
func (g *global) writePredictions(p predictions, out string) error {
	if out == "" {
		return g.Print(p.rows, p.write)
	}
	var b bytes.Buffer
	to := term.Terminal{JSON: g.JSON, Out: &term.Output{To: &b}}
	if err := to.Print(p.rows, p.write); err != nil {
		return err
	}
	return term.Create(out, b.Bytes(), 0o600) // as private as the rows
}

// noteClipped tells how many predictions were clipped, which depends on the rows.
func (g *global) noteClipped(p predictions) {
	switch {
	case p.beyond == 0:
	case g.Console().ShowsPrivate():
		g.Console().Log().Infof("%d of %d predictions were beyond the range that training labels are clipped to, and are clipped to it", p.beyond, len(p.rows))
	default:
		g.Console().Log().Info("some predictions were beyond the range that training labels are clipped to, and are clipped to it; --verbose shows how many, which is private")
	}
}

func predict(ctx context.Context, r *experiment.Released, files []string, opts predictOptions, f *term.Follower) (predictions, error) {
	threshold, err := thresholdOf(r, opts.threshold)
	if err != nil {
		return predictions{}, err
	}
	id := opts.id
	read, ids, err := r.ReadFiles(ctx, files, table.Predicting, f)
	if err != nil {
		return predictions{}, err
	}
	first := "row"
	if ids != nil {
		first = "file"
	}
	header := []string{cmp.Or(id, first), read.Label.Name}
	if r.Task != release.Regression {
		for i := range r.Outputs {
			header = append(header, "p("+r.Class(i)+")")
		}
	}
	if r.KeepGoing {
		header = append(header, "problem")
	}
	if id != "" {
		if slices.Contains(header[1:], id) {
			return predictions{}, term.Usagef("--id %s: predictions have a column of this name already; give another one", id)
		}
		if ids, err = experiment.Cells(files[0], id, r.KeepGoing); err != nil {
			return predictions{}, err
		}
		if len(ids) != read.Data.Samples()+len(read.Bad) {
			return predictions{}, term.Inputf("%s: it changed while it was read; run again when nothing writes to it", files[0])
		}
	}
	outputs, err := r.Predict(ctx, read.Data)
	if err != nil {
		return predictions{}, err
	}
	if slices.ContainsFunc(outputs, func(y float32) bool { return y-y != 0 }) {
		return predictions{}, term.Inputf("%s: its numbers are so large that the model's outputs aren't finite; a model whose columns are clipped takes any", files[0])
	}
	out := predictions{header: header, rows: make([]prediction, read.Data.Samples()+len(read.Bad)), keepGoing: r.KeepGoing, bad: len(read.Bad)}
	for i := range out.rows {
		if bad := read.Bad[i]; bad != nil {
			out.rows[i].Problem = bad.About()
		} else {
			out.rows[i] = newPrediction(r, read.Label, threshold, outputs[:r.Outputs], opts.json)
			outputs = outputs[r.Outputs:]
		}
		out.rows[i].Row = i + 1
		if ids != nil {
			out.rows[i].ID = &ids[i]
		}
		out.beyond += out.rows[i].clip(read.Label)
	}
	return out, nil
}

// clip clips a number to the range of the training labels, and returns 1 if it was beyond it, else 0.
func (p *prediction) clip(label table.Label) int {
	if p.Value == nil || label.Clip == nil {
		return 0
	}
	clipped := min(max(*p.Value, label.Clip.Low), label.Clip.High)
	if clipped == *p.Value || clipped != clipped {
		return 0
	}
	*p.Value = clipped
	return 1
}

func newPrediction(r *experiment.Released, label table.Label, threshold *scores.Threshold, outputs []float32, json bool) prediction {
	if r.Task == release.Regression {
		value := label.Number(outputs[0])
		return prediction{Value: &value}
	}
	out := prediction{shares: float.Softmax(outputs, r.Temperature)}
	if best := threshold.Predicted(outputs, r.Temperature); best >= 0 {
		name := r.Class(best)
		out.Class = &name
	}
	if json { // maps were a third of the memory that CSV takes
		out.Probabilities = map[string]float64{}
		for i, share := range out.shares {
			out.Probabilities[r.Class(i)] = share
		}
	}
	return out
}

// write prints CSV.
func (p predictions) write(w io.Writer) {
	out := csv.NewWriter(w)
	_ = out.Write(p.header) // print reports w's error
	for _, row := range p.rows {
		record := []string{strconv.Itoa(row.Row)}
		if row.ID != nil {
			record[0] = *row.ID
		}
		switch {
		case row.Value != nil:
			record = append(record, strconv.FormatFloat(*row.Value, 'g', 7, 64))
		case row.Class != nil:
			record = append(record, *row.Class)
		default:
			record = append(record, "")
		}
		for _, share := range row.shares {
			record = append(record, strconv.FormatFloat(share, 'g', 6, 64))
		}
		if p.keepGoing {
			record = append(record, make([]string, len(p.header)-1-len(record))...)
			record = append(record, row.Problem)
		}
		_ = out.Write(record)
	}
	out.Flush()
}
