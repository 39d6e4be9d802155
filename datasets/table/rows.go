package table

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// open begins to read a file, of the columns that are wanted; nil means all.
func open(path string, wanted func(name string) bool) (r rows, err error) {
	name := strings.ToLower(filepath.Base(path))
	ends := func(suffix string) bool { return strings.HasSuffix(name, suffix) }
	if !slices.ContainsFunc(Formats(), ends) {
		return nil, &Error{File: path, Problem: fmt.Sprintf("its name says no format; the formats are %s", strings.Join(Formats(), ", "))}
	}
	info, err := os.Stat(path) // first: to open a named pipe can take forever
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &Error{File: path, Problem: "a folder, not a file"}
	case !info.Mode().IsRegular():
		return nil, &Error{File: path, Problem: "not a regular file; save the rows to one"}
	case info.Size() == 0:
		return nil, &Error{File: path, Problem: "empty"}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(inFile(path, err), file.Close())
		}
	}()
	if wanted == nil {
		wanted = func(string) bool { return true }
	}
	switch {
	case ends(".parquet"):
		r, err = openParquet(file, info.Size(), wanted)
	case ends(".npz"):
		r, err = openNPZ(file, info.Size(), wanted)
	default:
		comma := ','
		if strings.Contains(name, ".tsv") {
			comma = '\t'
		}
		r, err = openCSV(file, info.Size(), comma, ends(".gz"))
	}
	if err != nil {
		return nil, err
	}
	if err := checkFields(r.fields()); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return closing{r, file}, nil
}

// closing closes the file with its reader.
type closing struct {
	rows
	file io.Closer
}

func (c closing) close() error { return errors.Join(c.rows.close(), c.file.Close()) }

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

// inFile makes an [Error] that names its file.
func inFile(path string, err error) error {
	e := *failed(err)
	if e.File == "" {
		e.File = path
	}
	return &e
}

func checkCount(path string, n int) error {
	switch {
	case n == 0:
		return &Error{File: path, Problem: "no rows"}
	case n > mostRows:
		return &Error{File: path, Problem: fmt.Sprintf("%d rows; at most %d can be trained on", n, mostRows)}
	}
	return nil
}
