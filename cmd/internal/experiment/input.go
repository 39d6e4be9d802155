package experiment

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/train"
)

// inputOf is the input of a [release.Model]: how files become samples. It has one field for each kind of files, one of
// them set. Models of named data sets have no input: see [Released.ReadFiles].
type inputOf struct {
	Table *table.Schema `json:"table,omitempty"` // a person's own files
}

// Rows has the rows of a file, or of a test set, as samples for a released model.
type Rows struct {
	Data   *train.Data    // with zeros for labels that weren't read
	Labels train.Labelled // nil for [table.Predicting]
	Label  table.Label    // the column that the model predicts; only for files
	// Bad has the errors of rows of a table that can't be read, by number from 0, which Data lacks: see KeepGoing.
	Bad map[int]*table.Error
}

// Read reads the rows of a file as samples for the model.
func (r *Released) Read(ctx context.Context, path string, use table.Use, f Follower) (out Rows, err error) {
	m := r.Model
	var in inputOf
	if err := json.Unmarshal(m.Input, &in); err != nil {
		return out, fmt.Errorf("%w: its input: %w", release.ErrNoModel, err)
	}
	s := in.Table
	if err := s.Check(); err != nil { // also if there is none
		return out, fmt.Errorf("%w: %w", release.ErrNoModel, err)
	}
	s.Settle()
	if m.Version < 2 {
		s.EmptyOnly()
	}
	if s.Outputs() != m.Outputs || string(s.Label.Task) != m.Task || !slices.Equal(s.Label.Classes, m.Classes) ||
		(s.Text() != nil) != (m.Vocabulary > 0) || !slices.Equal(s.Shape, m.Shape) {
		return out, fmt.Errorf("%w: model.json says one thing of its input and another of its network; restore the file", release.ErrNoModel)
	}
	rows, err := r.readRows(s, path, use, f)
	if err != nil {
		return out, err
	}
	t, err := tokensOf(ctx, s, rows, f)
	if err != nil {
		return out, err
	}
	if t.size() != m.Vocabulary {
		return out, otherVocabulary(t.size(), m.Vocabulary)
	}
	out.Label, out.Bad = s.Label, rows.Bad
	if use == table.Predicting {
		out.Data, err = train.NewTypedData(rows.N, append(t.columns(rows), train.Column{Floats: make([]float32, rows.N*m.Outputs)})...)
	} else if out.Labels, err = labelled(s, rows, t); err == nil {
		out.Data = out.Labels.Inputs()
	}
	if err != nil {
		return Rows{}, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

func (r *Released) readRows(s *table.Schema, path string, use table.Use, f Follower) (rows *table.Samples, err error) {
	if s.Text() != nil && use == table.Predicting && strings.EqualFold(filepath.Ext(path), ".txt") {
		texts, err := lines(path)
		if err == nil && len(texts) == 0 {
			err = inputf("%s: no texts", path)
		}
		return &table.Samples{N: len(texts), Texts: texts}, err
	}
	file, err := table.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if r.KeepGoing {
		file.KeepGoing()
	}
	rows, err = s.Read(file, use)
	for _, note := range file.Notes() {
		f.Note(note)
	}
	if err == nil {
		for i, share := range rows.Clipped {
			if c := s.Columns[i]; len(c.Categories) > 0 && share > 0.9 {
				f.Note(fmt.Sprintf("nearly all cells of %s are none of the model's categories, and count as \"*\"; are they written otherwise?", c.Name))
			}
		}
	}
	return rows, err
}

// maxText bounds the bytes of a line of a text file. The longest review of data set imdb has 13,704.
const maxText = 1 << 20

// Cells returns the cells of a column of a table as texts. With keepGoing they may be empty in rows that can't be read,
// which are an error without it.
func Cells(path, column string, keepGoing bool) (cells []string, err error) {
	file, err := table.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if keepGoing {
		file.KeepGoing()
	}
	return file.Cells(column)
}

// lines returns the lines of a text file, without their ends; an empty last line is none.
func lines(path string) (texts [][]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, maxText)
	for scanner.Scan() {
		texts = append(texts, bytes.Clone(scanner.Bytes()))
	}
	if err := scanner.Err(); err != nil {
		return nil, inputf("%s: line %d: %w", path, len(texts)+1, err)
	}
	return texts, nil
}

// Kind says what the user has to change to avoid an [Error].
type Kind int

// The kinds.
const (
	Usage  Kind = iota + 1 // invalid settings
	Input                  // data or files that can't be used
	Budget                 // a privacy budget that no noise meets
)

// Error is an error with its kind. The errors of other packages keep their own types.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error  { return &Error{Usage, fmt.Errorf(format, args...)} }
func inputf(format string, args ...any) error  { return &Error{Input, fmt.Errorf(format, args...)} }
func budgetf(format string, args ...any) error { return &Error{Budget, fmt.Errorf(format, args...)} }
