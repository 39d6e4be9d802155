package table

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/sketch"
)

// Sketch returns a fingerprint of the file's rows, by which it is recognised later. It depends on the content
// alone. It doesn't change if the file is renamed or moved, its rows or columns are reordered, or it is saved in
// another format. No setting changes it, since all columns count, by name. Rows are equal if the cells of all columns
// are. Numbers are equal in any notation with a decimal point, and fractions if they are equal in single precision; a
// missing cell equals NaN, and true equals 1. Its method Share recognises a file after rows were added, removed or
// changed, and Alike after columns were added, removed, renamed, rounded or written with decimal commas.
//
// Sketch reads the file once and keeps some thousand hashes. It leaves out columns whose type can't be read, and arrays
// with another number of rows than those that have the most bytes.
//
// The sketch is private, since each hash of a row can confirm a guess at the row. Write it to files that only the owner
// of the data can read. The guarantee doesn't cover it.
func (f *File) Sketch() (s sketch.Sketch, err error) {
	err = f.pass(nil, func(r rows) error {
		if !slices.ContainsFunc(r.fields(), func(f field) bool { return !f.skipped }) {
			return problemf("no column can be read; save them as numbers, booleans or text")
		}
		var all sketch.Builder
		var columns sketch.Columns
		var values []sketch.Value
		h := newRowHash(r.fields())
		if err := each(r, "", func(row []cell) error {
			all.Add(h.of(row))
			values = h.values(row, values[:0])
			columns.Add(values)
			return nil
		}); err != nil {
			return err
		}
		s = all.Sketch().With(&columns)
		return checkCount(s.Rows())
	})
	if err != nil {
		return sketch.Sketch{}, anonymous(err)
	}
	return s, nil
}

// anonymous returns an error without the column's name, which may be private: no schema lists it.
func anonymous(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Column == "" {
		return err
	}
	public := *e
	public.Column = ""
	private := "the column is " + textCell(e.Column).quoted()
	if e.Private != "" {
		private += "; " + e.Private
	}
	public.Private = private
	return &public
}

// rowHash hashes rows. The hash of a row is a function of the sum of its cells' hashes, so the order of columns doesn't
// matter. Files of sketches hold these hashes: any change needs another form of sketches.
type rowHash []hashedColumn

type hashedColumn struct {
	seed  uint64
	cells int
}

func newRowHash(fields []field) rowHash {
	var h rowHash
	for _, f := range fields {
		h = append(h, hashedColumn{mixed64(textHash(f.name)), f.width()}) // of no cells if it is skipped
	}
	return h
}

func (h rowHash) of(row []cell) uint64 {
	sum := uint64(0)
	for _, column := range h {
		for position, c := range row[:column.cells] {
			sum += mixed64(mixed64(column.seed+uint64(position)) ^ mixed64(c.hash()))
		}
		row = row[column.cells:]
	}
	return mixed64(sum)
}

// values appends a row's values by column. A sketch looks at up to 256 columns; an array's cells in a row, such as
// those of an image, are one value.
func (h rowHash) values(row []cell, values []sketch.Value) []sketch.Value {
	for _, column := range h {
		if column.cells > 0 && len(values) < 256 {
			values = append(values, valueOf(row[:column.cells]))
		}
		row = row[column.cells:]
	}
	return values
}

func valueOf(cells []cell) (value sketch.Value) {
	value.Number = len(cells) == 1
	for _, c := range cells {
		exact := c.hash()
		v, isNumber := c.value()
		if plain := (notation{}); !isNumber && c.kind == text && strings.ContainsAny(c.text, numerals) { // as 33,4
			if v, isNumber = plain.number(c.text); isNumber {
				exact = numberHash(v)
			}
		}
		hashes := [...]uint64{exact, exact, exact}
		if isNumber && (v != math.Trunc(v) || math.Abs(v) >= 100) {
			unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-1)
			hashes[1], hashes[2] = numberHash(math.Round(v/unit)*unit), numberHash(math.Round(v))
		}
		if isNumber {
			value.Number = value.Number && v == math.Trunc(v)
		} else if !c.missing() {
			value.Number = value.Number && len(c.text) <= len("2006-01-02T15:04:05.999999999+00:00") && strings.ContainsAny(c.text, "0123456789")
		}
		for i, h := range hashes {
			value.Hashes[i] = mixed64(value.Hashes[i] + h)
		}
	}
	return value
}

// hash returns the same value for cells that are equal, in any format.
func (c cell) hash() uint64 {
	switch c.kind {
	case none:
		return numberHash(math.NaN())
	case number:
		return numberHash(c.number)
	}
	if v, ok := parse(c.text); ok {
		return numberHash(v)
	}
	if len(c.text) <= len("-infinity") {
		switch strings.ToLower(c.text) { // as other programs write them
		case "nan":
			return numberHash(math.NaN())
		case "inf", "+inf", "infinity", "+infinity":
			return numberHash(math.Inf(1))
		case "-inf", "-infinity":
			return numberHash(math.Inf(-1))
		case "true":
			return numberHash(1)
		case "false":
			return numberHash(0)
		}
	}
	return textHash(c.text)
}

// numberHash hashes whole numbers exactly, and fractions in single precision, which many files have.
func numberHash(v float64) uint64 {
	single := float64(float32(v))
	switch {
	case v != v:
		return 0x7ff8_0000_0000_0001 // the missing value
	case v == math.Trunc(v) && math.Abs(v) < 1<<53, math.IsInf(single, 0):
		return math.Float64bits(v + 0) // minus zero is zero
	}
	return math.Float64bits(single + 0)
}

// textHash is FNV-1a, of 64 bits.
func textHash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mixed64 is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014), a permutation whose every output bit depends on
// every input bit.
func mixed64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
