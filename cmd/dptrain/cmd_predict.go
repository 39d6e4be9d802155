package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

type predictOptions struct{ out string }

func newPredictCommand(g *global) *cobra.Command {
	var opts predictOptions
	cmd := &cobra.Command{
		Use:   "predict RUN FILE",
		Short: "Use a released model on the rows of a file",
		Long: `Use a released model on the rows of a file. RUN is a run's folder, or its folder
"released" wherever that was copied to; the model was trained on files of your
own. FILE has the columns of the training file, in any order; others, and the
label if it is there, are left alone.

The result is CSV on standard output or in the file of --out: the number of the
row, the prediction, and for classes their probabilities.

The released model may be used as often as you like: that costs no privacy. A
prediction is as private as the row that it is made for.

` + exitCodes,
		Example: `  dptrain predict runs/files-20261122-100352 new.csv >predictions.csv
  dptrain predict released new.parquet --out predictions.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("%s wants a run and a file, got %d arguments; see %[1]s --help", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPredict(cmd.Context(), g, opts, args[0], args[1])
		},
	}
	cmd.Flags().StringVar(&opts.out, "out", "", "`file` for the predictions, which must not exist")
	return cmd
}

// prediction is a model's prediction for a row.
type prediction struct {
	Row           int                `json:"row"` // from 1
	Class         *string            `json:"class,omitempty"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Value         *float64           `json:"value,omitempty"`

	shares []float64 // the probabilities, in the order of the classes
}

// predictions are the predictions for all rows of a file.
type predictions struct {
	header []string
	rows   []prediction
}

func runPredict(ctx context.Context, g *global, opts predictOptions, run, file string) error {
	switch strings.ToLower(filepath.Ext(opts.out)) {
	case ".npz", ".npy", ".parquet", ".gz":
		return usagef("--out %s: predictions are CSV, or JSON with --json; give a name that says so", opts.out)
	}
	p, err := await(ctx, "predicting", func() (p predictions, err error) {
		r, err := experiment.Open(run, onCPU())
		if err != nil {
			return p, err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		warnOfModel(g, r)
		return predict(ctx, r, file)
	})
	if err != nil {
		return err
	}
	if opts.out == "" {
		return g.print(p.rows, p.write)
	}
	var b bytes.Buffer
	to := *g
	to.stdout = &checkedWriter{to: &b}
	if err := to.print(p.rows, p.write); err != nil {
		return err
	}
	return create(opts.out, b.Bytes())
}

// create writes a new file that its owner alone can read: predictions are as private as the rows.
func create(path string, contents []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return coded(codeInput, fmt.Errorf("%s already exists; give another by --out, or remove it", path))
	}
	if err == nil {
		_, err = f.Write(contents)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return coded(codeInput, fmt.Errorf("write predictions: %w", err))
	}
	return nil
}

func predict(ctx context.Context, r *experiment.Released, file string) (predictions, error) {
	read, err := r.Read(file, table.Predicting)
	if err != nil {
		return predictions{}, err
	}
	outputs, err := r.Predict(ctx, read.Data)
	if err != nil {
		return predictions{}, err
	}
	out := predictions{header: []string{"row", read.Label.Name}, rows: make([]prediction, read.Data.Samples())}
	if r.Task != report.Regression {
		for i := range r.Outputs {
			out.header = append(out.header, "p("+r.Class(i)+")")
		}
	}
	for i := range out.rows {
		out.rows[i] = newPrediction(r, read.Label, outputs[i*r.Outputs:(i+1)*r.Outputs])
		out.rows[i].Row = i + 1
	}
	return out, nil
}

func newPrediction(r *experiment.Released, label table.Label, outputs []float32) prediction {
	if r.Task == report.Regression {
		value := label.Number(outputs[0])
		return prediction{Value: &value}
	}
	out := prediction{Probabilities: map[string]float64{}, shares: train.TemperedProbabilities(outputs, r.Temperature)}
	if best := train.Predicted(outputs); best >= 0 {
		name := r.Class(best)
		out.Class = &name
	}
	for i, share := range out.shares {
		out.Probabilities[r.Class(i)] = share
	}
	return out
}

// write prints CSV.
func (p predictions) write(w io.Writer) {
	out := csv.NewWriter(w)
	_ = out.Write(p.header) // print reports w's error
	for _, row := range p.rows {
		record := []string{strconv.Itoa(row.Row)}
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
		_ = out.Write(record)
	}
	out.Flush()
}
