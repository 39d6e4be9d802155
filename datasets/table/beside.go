package table

import (
	"errors"
	"fmt"
	"io"
)

// columnCells reads the cells of a column one row after the other.
type columnCells interface {
	// next appends the cells of the next row.
	next(out []cell) ([]cell, error)
	// end returns io.EOF if the column ends after the last row.
	end() error
	close() error
}

// columnRows reads the columns of a file side by side.
type columnRows struct {
	header  []field
	columns []columnCells // by header; nil for those that are skipped
	cells   []cell
	n, at   int // rows of the file, and rows read
}

func (r *columnRows) fields() []field { return r.header }
func (r *columnRows) where() string   { return fmt.Sprintf("row %d", r.at) }
func (r *columnRows) known() int      { return r.n }

func (r *columnRows) next() ([]cell, error) {
	if r.at == r.n {
		return nil, r.end()
	}
	r.at++
	r.cells = r.cells[:0]
	for i, c := range r.columns {
		if c == nil {
			continue
		}
		var err error
		if r.cells, err = c.next(r.cells); err != nil {
			e := inColumn(err, r.header[i].name)
			e.Row = r.where()
			return nil, e
		}
	}
	return r.cells, nil
}

// end returns io.EOF if every column ends after the last row.
func (r *columnRows) end() error {
	for i, c := range r.columns {
		if c == nil {
			continue
		}
		if err := c.end(); !errors.Is(err, io.EOF) {
			return inColumn(err, r.header[i].name)
		}
	}
	return io.EOF
}

func (r *columnRows) close() error {
	var errs []error
	for i, c := range r.columns {
		if c == nil {
			continue
		}
		if err := c.close(); err != nil {
			errs = append(errs, inColumn(err, r.header[i].name))
		}
	}
	return errors.Join(errs...)
}
