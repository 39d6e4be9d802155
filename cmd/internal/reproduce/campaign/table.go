package campaign

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2/maybe"
)

// columns are those of [Table], with the field of a result that each of them shows.
var columns = []struct {
	name  string
	field func(*Result) any
}{
	{"dataset", func(r *Result) any { return &r.Dataset }},
	{"optimizer", func(r *Result) any { return &r.Optimizer }},
	{"tuned", func(r *Result) any { return (*string)(&r.Space) }},
	{"method", func(r *Result) any { return (*string)(&r.Method) }},
	{"accounting", func(r *Result) any { return &r.Accounting }},
	{"epsilon", func(r *Result) any { return &r.Job.Epsilon }},
	{"repetition", func(r *Result) any { return &r.Repetition }},
	{"size", func(r *Result) any { return &r.Size }},
	{"made_by", func(r *Result) any { return &r.MadeBy }},
	{"machine", func(r *Result) any { return &r.Machine }},
	{"day", func(r *Result) any { return &r.Day }},
	{"own_epsilon", func(r *Result) any { return &r.Epsilon }},
	{"accuracy", func(r *Result) any { return &r.Accuracy }},
	{"noise_multiplier", func(r *Result) any { return &r.NoiseMultiplier }},
	{"learning_rate", func(r *Result) any { return &r.LearningRate }},
	{"tuned_learning_rate", func(r *Result) any { return &r.TunedLearningRate }},
	{"sampling_rate", func(r *Result) any { return &r.SamplingRate }},
	{"clipping_norm", func(r *Result) any { return &r.ClippingNorm }},
	{"steps", func(r *Result) any { return &r.Steps }},
	{"trials", func(r *Result) any { return &r.Trials }},
	{"gradients", func(r *Result) any { return &r.Gradients }},
	{"seconds", func(r *Result) any { return &r.Seconds }},
	{"processor_seconds", func(r *Result) any { return &r.ProcessorSeconds }},
}

func header() []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// Table returns a row of column names and, ordered by their names, a row for each result. [ReadTable] reads it.
func Table(results []Result) [][]string {
	rows := [][]string{header()}
	for _, r := range slices.SortedFunc(slices.Values(results), func(a, b Result) int { return strings.Compare(a.Name(), b.Name()) }) {
		var row []string
		for _, c := range columns {
			switch field := c.field(&r).(type) {
			case *string:
				row = append(row, *field)
			case *int:
				row = append(row, strconv.Itoa(*field))
			case *float64:
				text := ""
				if !math.IsNaN(*field) {
					text = strconv.FormatFloat(*field, 'g', -1, 64)
				}
				row = append(row, text)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// keep writes results of other campaigns to the store's folder.
func (s *Store) keep(results []Result) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(Table(results)); err != nil {
		return err
	}
	return maybe.WriteFile(s.path(haveName), b.Bytes(), 0o644)
}

// ReadTable reads the CSV file of a [Table]: the results of runs that other campaigns have made.
func ReadTable(path string) (_ []Result, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w; want a tables/results.csv of dptrain reproduce", path, err)
		}
	}()
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], header()) {
		return nil, errors.New("its columns are others")
	}
	var results []Result
	for i, row := range rows[1:] {
		var r Result
		for k, c := range columns {
			var err error
			switch field := c.field(&r).(type) {
			case *string:
				*field = row[k]
			case *int:
				*field, err = strconv.Atoi(row[k])
			case *float64:
				if *field = math.NaN(); row[k] != "" {
					*field, err = strconv.ParseFloat(row[k], 64)
				}
				if err == nil && math.IsInf(*field, 0) {
					err = errors.New("want a finite number")
				}
			}
			if err != nil {
				return nil, fmt.Errorf("line %d, %s: %w", i+2, c.name, err)
			}
		}
		if j, ok := ParseJob(r.Name()); !ok || j != r.Job {
			return nil, fmt.Errorf("line %d: %q is no run of the paper's figures", i+2, r.Name())
		}
		if !(r.Accuracy >= 0 && r.Accuracy <= 1) {
			return nil, fmt.Errorf("line %d: accuracy %v; want a share from 0 to 1", i+2, r.Accuracy)
		}
		results = append(results, r)
	}
	return results, nil
}
