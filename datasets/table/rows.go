package table

import (
	"errors"
	"fmt"
	"io"
)

// field is a column of a file.
type field struct {
	name    string
	shape   []int // of what one row has of it; nil for one value
	skipped bool  // it isn't wanted: its cells are left out
	// problem says why the column can't be read, such as a type without numbers or text; it doesn't count unless the
	// column is wanted.
	problem string
}

// width returns the number of cells that a row has of the field.
func (f field) width() int {
	if f.skipped {
		return 0
	}
	w := 1
	for _, d := range f.shape {
		w *= d
	}
	return w
}

// rows goes through a file.
type rows interface {
	fields() []field
	// next returns the cells of the next row, field after field but for those that are skipped; they are good until the next call. At the end it returns
	// io.EOF. Its errors are those of [Error], without the file.
	next() ([]cell, error)
	// where names the row that next returned last.
	where() string
	// known returns the number of rows that the file says it has, or 0 where only reading tells.
	known() int
	// count returns the number of rows that are left, without looking at values where the format allows that.
	count() (int, error)
	close() error
}

// Formats are the endings of the names of files that can be read.
func Formats() []string { return []string{".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".npz"} }

// mostRows is what a training set can number.
const mostRows = 1<<31 - 1

// mostValues bounds the values of all rows, so that a small file that unpacks to a huge one is an error before memory is
// full.
const mostValues = 1 << 32

func checkFields(fields []field) error {
	if len(fields) == 0 {
		return &Error{Problem: "no columns"}
	}
	seen := map[string]int{}
	for i, f := range fields {
		if f.name == "" {
			return &Error{Problem: fmt.Sprintf("column %d has no name in the header; give it one, or leave the column out", i+1)}
		}
		if first, twice := seen[f.name]; twice {
			return problemf("columns %d and %d have one name; rename one, or leave it out", first+1, i+1).citing("they are called %q", f.name)
		}
		seen[f.name] = i
	}
	return nil
}

// each calls f with every row that is left. Errors name the row, and the column if it is about one alone.
func each(r rows, column string, f func([]cell) error) error {
	for {
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f(row)
		}
		if err != nil {
			return placed(err, r.where(), column)
		}
	}
}

// placed adds the row and the column to an error that doesn't name a row.
func placed(err error, row, column string) error {
	e := *failed(err)
	if e.Row == "" {
		e.Row = row
		if e.Column == "" {
			e.Column = column
		}
	}
	return &e
}

func checkCount(n int) error {
	switch {
	case n == 0:
		return &Error{Problem: "no rows"}
	case n > mostRows:
		return problemf("%d rows; at most %d can be trained on", n, mostRows)
	}
	return nil
}
