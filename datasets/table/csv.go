package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxRecord bounds the bytes of one row, with its quoted line breaks: an unclosed quote would make the rest of the
// file a single cell in memory.
const maxRecord = 64 << 20

// maxCells bounds the cells of one row. An empty cell takes one byte in the file and a hundred in memory, and a row of
// empty ones can be packed to a thousandth: without a bound, 60 KB took more memory than most machines have.
const maxCells = 1 << 20

// csvRows reads comma-separated values.
type csvRows struct {
	csv    *csv.Reader
	budget *budget
	header []field
	cells  []cell
	line   int
}

// openCSV reads the header of a file. size is its size in bytes, which bounds the size that a compressed file unpacks
// to.
func openCSV(file io.Reader, size int64, comma rune, compressed bool) (rows, error) {
	r := &csvRows{budget: &budget{r: file, left: maxRecord, separators: maxCells}}
	if compressed {
		unpacked, err := gzip.NewReader(bufio.NewReader(file))
		if err != nil {
			return nil, failed(err)
		}
		r.budget.r = &limited{r: unpacked, left: maxUnpacked(size), size: size}
	}
	in := bufio.NewReader(r.budget)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = in.Discard(3) // can't fail after Peek
	}
	if beginning, _ := in.Peek(in.Size()); comma == ',' && semicolons(beginning) {
		comma = ';'
	}
	r.budget.comma = []byte(string(comma))
	r.csv = csv.NewReader(in)
	r.csv.Comma, r.csv.ReuseRecord = comma, true
	names, err := r.record()
	if errors.Is(err, io.EOF) {
		return nil, &Error{Problem: "no header line"}
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		r.header = append(r.header, field{name: strings.TrimSpace(name)})
	}
	r.cells = make([]cell, len(names))
	return r, nil
}

// semicolons reports whether semicolons separate the cells of the header: it has some, and no comma.
func semicolons(beginning []byte) bool {
	header, _, _ := bytes.Cut(beginning, []byte("\n"))
	return bytes.ContainsRune(header, ';') && !bytes.ContainsRune(header, ',')
}

// budget is a reader that fails after left bytes or so many separators.
type budget struct {
	r          io.Reader
	left       int
	comma      []byte // empty: none are counted
	separators int
}

var (
	errRecord = errors.New("a line")
	errCells  = errors.New("cells")
)

func (b *budget) Read(p []byte) (int, error) {
	switch {
	case b.left <= 0:
		return 0, errRecord
	case b.separators <= 0:
		return 0, errCells
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	if len(b.comma) > 0 {
		b.separators -= bytes.Count(p[:n], b.comma)
	}
	return n, err
}

func (r *csvRows) fields() []field { return r.header }
func (r *csvRows) where() string   { return fmt.Sprintf("line %d", r.line) }

// close does nothing: an unpacker holds no file.
func (r *csvRows) close() error { return nil }

func (r *csvRows) next() ([]cell, error) {
	record, err := r.record()
	if err != nil {
		return nil, err
	}
	for i, s := range record {
		r.cells[i] = textCell(s)
	}
	return r.cells, nil
}

func (r *csvRows) known() int { return 0 }

func (r *csvRows) count() (int, error) {
	for n := 0; ; n++ {
		switch _, err := r.record(); {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return 0, err
		}
	}
}

// record reads one row, which must have as many cells as the header.
func (r *csvRows) record() ([]string, error) {
	r.budget.left, r.budget.separators = maxRecord, maxCells
	record, err := r.csv.Read()
	var wrong *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, csv.ErrFieldCount):
		r.line, _ = r.csv.FieldPos(0)
		return nil, &Error{Row: r.where(), Problem: fmt.Sprintf("%s, and the header has %s", cells(len(record)), cells(len(r.header)))}
	case errors.As(err, &wrong):
		e := explained(wrong)
		return nil, &Error{Row: fmt.Sprintf("line %d", wrong.Line), Problem: e.Problem, Private: e.Private}
	case errors.Is(err, errRecord):
		return nil, &Error{Row: fmt.Sprintf("after line %d", r.line), Problem: fmt.Sprintf("a row of more than %d MB; is a quote not closed?", maxRecord>>20)}
	case errors.Is(err, errCells):
		return nil, &Error{Row: fmt.Sprintf("after line %d", r.line), Problem: fmt.Sprintf("a row of more than %d cells", maxCells)}
	case err != nil:
		e := failed(err)
		return nil, &Error{Row: fmt.Sprintf("after line %d", r.line), Problem: e.Problem, Private: e.Private}
	}
	r.line, _ = r.csv.FieldPos(0)
	for i, s := range record {
		if !utf8.ValidString(s) {
			return nil, &Error{Row: r.where(), Problem: fmt.Sprintf("cell %d isn't UTF-8; save the file as UTF-8", i+1)}
		}
	}
	return record, nil
}

func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}

func explained(e *csv.ParseError) *Error {
	switch {
	case errors.Is(e.Err, csv.ErrQuote):
		return problemf("a quote is missing or too many at byte %d; a quote within a quoted cell is written twice", e.Column)
	case errors.Is(e.Err, csv.ErrBareQuote):
		return problemf("a quote in a cell without quotes at byte %d; put the cell into quotes and write the quote twice", e.Column)
	}
	return failed(e.Err)
}
