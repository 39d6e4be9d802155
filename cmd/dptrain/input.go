package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// inputOf is how a file becomes samples for a released model: the input of [report.Model]. The one field that is set says
// which files those are. A data set whose files aren't among them has none; it can still be evaluated by its name.
type inputOf struct {
	Table *table.Schema `json:"table,omitempty"` // people's own files
}

// prepared is a file as samples for a released model.
type prepared struct {
	data   *train.Data    // with labels of zero if there are none
	labels train.Labelled // nil unless they were asked for
	label  table.Label    // what the model tells
}

// prepare reads a file as a released model takes it.
func prepare(m report.Model, path string, use table.Use) (prepared, error) {
	var in inputOf
	if len(m.Input) > 0 {
		if err := json.Unmarshal(m.Input, &in); err != nil {
			return prepared{}, fmt.Errorf("%w: its input: %w", report.ErrNoModel, err)
		}
	}
	if in.Table != nil {
		return prepareTable(m, in.Table, path, use)
	}
	return prepared{}, usagef("models of data set %s take no files; evaluate without one tells how this one does on the public test set", m.Dataset)
}

func prepareTable(m report.Model, s *table.Schema, path string, use table.Use) (p prepared, err error) {
	if err := s.Check(); err != nil {
		return p, fmt.Errorf("%w: %w", report.ErrNoModel, err)
	}
	if s.Outputs() != m.Outputs {
		return p, fmt.Errorf("%w: its schema takes %d outputs, the model has %d", report.ErrNoModel, s.Outputs(), m.Outputs)
	}
	if string(s.Label.Task) != m.Task || !slices.Equal(s.Label.Classes, m.Classes) {
		return p, fmt.Errorf("%w: its schema tells %s of %v, the model %s of %v", report.ErrNoModel, s.Label.Task, s.Label.Classes, m.Task, m.Classes)
	}
	rows, err := readRows(s, path, use)
	if err != nil {
		return p, err
	}
	p.label = s.Label
	if use == table.Predicting {
		p.data, err = train.NewData(rows.N, rows.Values, make([]float32, rows.N*m.Outputs))
	} else if p.labels, err = labelled(s, rows); err == nil {
		p.data = p.labels.Inputs()
	}
	if err != nil {
		return prepared{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}
