package table

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
)

// Notes returns what is odd about the file's form, and what is left out for it, in sentences without anything
// from the file. It is known of a file whose rows were read.
func (f *File) Notes() (notes []string) {
	if f == nil {
		return nil
	}
	name := filepath.Base(f.path)
	if f.unnamed() {
		notes = append(notes, fmt.Sprintf("the first column of %s has no name; it is left out as row numbers or names", name))
	}
	if f.blank {
		notes = append(notes, fmt.Sprintf("blank rows at the end of %s are left out", name))
	}
	if f.unheaded != "" {
		notes = append(notes, name+":"+strings.TrimPrefix(f.unheaded, ";"))
	}
	return notes
}

// unnamed reports whether the first column had no name when the file was last read. R's write.csv and pandas's to_csv
// write row numbers or names there, and no schema has such a column, so it is left out.
func (f *File) unnamed() bool { return len(f.names) > 0 && f.names[0] == "" }

// Columns returns the names of all columns when the file was last read, ignored ones among them. Those of a private
// file are private.
func (f *File) Columns() []string {
	if f == nil {
		return nil
	}
	return f.names
}

// checkUnnamed returns an error for a first column without a name that isn't a row number or name: its values would
// be lost without notice. The file must be public, and must have been read.
func (f *File) checkUnnamed() error {
	if !f.unnamed() {
		return nil
	}
	seen := map[uint64]struct{}{}
	return f.pass(func(name string) bool { return name == "" }, func(r rows) error {
		return each(r, "", func(row []cell) error {
			v := row[0] // of all columns in CSV, and of this one elsewhere
			x, number := v.value()
			_, twice := seen[v.hash()]
			if v.missing() || number && x != math.Trunc(x) || twice {
				return v.wrong("", "column 1 has no name in the header, and its values are no row numbers, which differ in all rows; give it a name, or leave the column out")
			}
			seen[v.hash()] = struct{}{}
			return nil
		})
	})
}
