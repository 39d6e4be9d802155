package main

import (
	"encoding/json"
	"fmt"

	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// inputOf is how a file becomes samples for a released model: the input of [report.Model]. The one field that is set says
// which files those are. A data set whose files aren't among them has none; it can still be evaluated by its name.
type inputOf struct {
	Table *table.Schema `json:"table,omitempty"` // people's own files
}

// inputOfSet is that of a data set which is known by name.
func inputOfSet(*datasets.Set) (json.RawMessage, error) { return nil, nil }

// prepared is a file as samples for a released model.
type prepared struct {
	n      int
	values []float32
	labels train.Labelled // nil unless they were asked for
	schema *table.Schema
}

// prepare reads a file as a released model takes it.
func prepare(m report.Model, path string, use table.Use) (prepared, error) {
	var in inputOf
	if len(m.Input) > 0 {
		if err := json.Unmarshal(m.Input, &in); err != nil {
			return prepared{}, fmt.Errorf("%w: its input: %w", report.ErrNoModel, err)
		}
	}
	switch {
	case in.Table != nil:
		return prepareTable(m, in.Table, path, use)
	default:
		return prepared{}, usagef("models of data set %s take no files; evaluate without one tells how this one does on the public test set", m.Dataset)
	}
}

func prepareTable(m report.Model, s *table.Schema, path string, use table.Use) (prepared, error) {
	if err := s.Check(); err != nil {
		return prepared{}, fmt.Errorf("%w: %w", report.ErrNoModel, err)
	}
	if s.Outputs() != m.Outputs {
		return prepared{}, fmt.Errorf("%w: its schema takes %d outputs, the model has %d", report.ErrNoModel, s.Outputs(), m.Outputs)
	}
	rows, err := s.Read(path, use)
	if err != nil {
		return prepared{}, err
	}
	p := prepared{n: rows.N, values: rows.Values, schema: s}
	if use == table.Predicting {
		return p, nil
	}
	l, err := labelled(s, rows)
	if err != nil {
		return prepared{}, fmt.Errorf("%s: %w", path, err)
	}
	p.labels = l.labels
	return p, nil
}
