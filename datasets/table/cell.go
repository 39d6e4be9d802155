package table

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

type kind byte

const (
	none kind = iota // an empty cell, or null
	text
	number
	rawBytes // in text; no UTF-8
)

const noText = "not UTF-8 text; save it as text"

// cell is one value of a row.
type cell struct {
	kind   kind
	text   string  // of a text, or bytes; of a number that was written as a text
	number float64 // of a number; may be NaN
	word   bool    // whether a text is no number, although parse may read one
}

// textCell returns a cell with the text between two separators, without the blanks around it.
func textCell(s string) cell {
	if s = strings.TrimSpace(s); s == "" {
		return cell{}
	}
	return cell{kind: text, text: s}
}

// String returns the cell as the name of a category.
func (c cell) String() string {
	switch c.kind {
	case text, rawBytes:
		return c.text
	case number:
		return cmp.Or(c.text, decimal(c.number))
	}
	return ""
}

// decimal formats a number, without an exponent if it is whole.
func decimal(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// missingWords mark missing values, besides empty cells.
var missingWords = []string{"NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"}

// missing reports whether the cell marks a missing value.
func (c cell) missing() bool {
	switch c.kind {
	case number:
		return math.IsNaN(c.number)
	case text:
		return slices.Contains(missingWords, c.text)
	}
	return c.kind == none
}

// value returns the cell's number, and false if it isn't a finite number.
func (c cell) value() (float64, bool) {
	switch c.kind {
	case number:
		return c.number, c.number-c.number == 0
	case text:
		x, ok := parse(c.text)
		return x, ok && !c.word
	}
	return 0, false
}

// parse parses a decimal number. It refuses strconv's other notations.
func parse(s string) (float64, bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '.', c == '+', c == '-', c == 'e', c == 'E':
		default:
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// wrong returns an error about the cell, which it quotes in Private unless it is empty.
func (c cell) wrong(column, format string, args ...any) error {
	e := problemf(format, args...)
	if e.Column = column; c.kind != none {
		e.Private = "the cell is " + c.quoted()
	}
	return e
}

// quoted returns the cell's excerpt in quotes, for errors.
func (c cell) quoted() string { return strconv.Quote(c.excerpt()) }

// excerpt returns the first 40 bytes of the cell's text.
func (c cell) excerpt() string {
	const most = 40
	s := c.String()
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
