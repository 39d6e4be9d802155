package table

import (
	"cmp"
	"errors"
	"io"
	"math"
)

// field is a column of a file.
type field struct {
	name    string
	shape   []int // of one row's values; nil for a single value
	skipped bool  // not wanted: rows leave out its cells
	// problem is the reason why the column can't be read, such as its type. It is an error only if the column is
	// wanted. cited quotes the file.
	problem, cited string
	// rows is the number of rows of a wanted array, which an archive may have with another number of rows.
	rows int
	// written is how its numbers are written, as in [Options.Written], by the options or a public file. unclear is the
	// reason why neither says it.
	written, unclear string
}

// unreadable returns an error about a column with a problem.
func (f field) unreadable() *Error {
	return &Error{Column: f.name, Problem: f.problem, Private: f.cited}
}

// width returns the number of the field's cells in a row.
func (f field) width() int {
	if f.skipped {
		return 0
	}
	return product(f.shape)
}

// rows reads a file row by row.
type rows interface {
	fields() []field
	// next returns the cells of the next row, which are valid until the next call, in the order of the fields that
	// aren't skipped. At the end it returns io.EOF. Other errors are an [*Error] that lacks the file.
	next() ([]cell, error)
	// where names the last row that next returned, such as "line 7".
	where() string
	// known returns the number of rows that the file's headers state, or 0 in formats whose headers don't.
	known() int
	close() error
}

// lenientRows leaves out rows that can't be read if those behind them can.
type lenientRows struct {
	rows
	n   int // rows read, those that are left out included
	bad map[int]*Error
}

func (r *lenientRows) next() ([]cell, error) {
	for {
		cells, err := r.rows.next()
		r.n++
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.alone {
			return cells, err
		}
		r.bad[r.n-1] = e
	}
}

// Formats returns the file name extensions that [Open] accepts.
func Formats() []string { return []string{".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".npz"} }

// maxRows bounds the rows of a training set.
const maxRows = 1<<31 - 1

// maxValues bounds the values of all rows, so that a small file that unpacks to a huge one is an early error.
const maxValues = 1 << 32

func checkFields(fields []field) error {
	if len(fields) == 0 {
		return &Error{Problem: "no columns"}
	}
	seen := map[string]int{}
	for i, f := range fields {
		if f.name == "" && (i > 0 || len(fields) == 1) {
			return problemf("column %d has no name in the header; give it one, or leave the column out%s", i+1, unheaded(namesOf(fields)))
		}
		if first, twice := seen[f.name]; twice {
			return problemf("columns %d and %d have one name; rename one, or leave it out%s", first+1, i+1, unheaded(namesOf(fields))).citing("they are called %q", f.name)
		}
		seen[f.name] = i
	}
	return nil
}

// unheaded returns an addition to an error about names that look like data: half of them or more are numbers, which
// don't only grow as positions and years do.
func unheaded(names []string) string {
	numbers, last, growing := 0, math.Inf(-1), true
	for _, name := range names {
		if x, ok := parse(name); ok {
			numbers, last, growing = numbers+1, x, growing && x > last
		}
	}
	if growing || 2*numbers < len(names) {
		return ""
	}
	return "; the first line looks like data; put a line of names above it"
}

// column calls use with each cell of a column that has one value a row.
func (f *File) column(name string, use func(cell) error) error {
	f.call(name)
	return f.pass(func(column string) bool { return column == name }, func(r rows) error {
		at, n := 0, 0
		for _, x := range r.fields() {
			if x.name != name {
				at += x.width()
				continue
			}
			if x.problem != "" {
				return x.unreadable()
			}
			if x.width() != 1 {
				return &Error{Column: name, Problem: "a row has several values, and can have one"}
			}
			err := each(r, name, func(cells []cell) error {
				n++
				if cells[at].kind == rawBytes {
					return problemf(noText)
				}
				return use(cells[at])
			})
			return cmp.Or(err, checkCount(n))
		}
		return problemf("no column %q; name another one", name)
	})
}

// each calls f with each remaining row. Its errors name the row, and column if that isn't "".
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
			return atRow(err, r.where(), column)
		}
	}
}

// atRow adds the row and the column to an error that doesn't name a row.
func atRow(err error, row, column string) error {
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
	case n > maxRows:
		return problemf("%d rows; at most %d can be trained on", n, maxRows)
	}
	return nil
}
