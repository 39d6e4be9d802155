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

// mostRecord bounds the bytes of one line with its quoted line breaks: a file without any would otherwise be a single cell
// in memory.
const mostRecord = 64 << 20

// mostCells bounds the cells of one line. Each takes a hundred times the one byte that an empty one has in the file, and a line of
// empty ones can be packed into a thousandth: without a bound 60 KB took more memory than most machines have.
const mostCells = 1 << 20

// csvRows reads comma-separated values.
type csvRows struct {
	csv    *csv.Reader
	budget *budget
	header []field
	cells  []cell
	line   int
}

// openCSV reads a file of so many bytes, which count if it is compressed.
func openCSV(file io.Reader, size int64, comma rune, compressed bool) (rows, error) {
	r := &csvRows{budget: &budget{r: file, left: mostRecord, separators: mostCells}}
	if compressed {
		unpacked, err := gzip.NewReader(bufio.NewReader(file))
		if err != nil {
			return nil, failed(err)
		}
		r.budget.r = &limited{r: unpacked, left: mostUnpacked(size), size: size}
	}
	in := bufio.NewReader(r.budget)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = in.Discard(3) // they were peeked at
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

// semicolons tells whether a header is separated by them: it has some and no comma.
func semicolons(beginning []byte) bool {
	header, _, _ := bytes.Cut(beginning, []byte("\n"))
	return bytes.ContainsRune(header, ';') && !bytes.ContainsRune(header, ',')
}

// budget is a reader that gives up after so many bytes, or separators.
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

// close has nothing to give back: an unpacker holds no file.
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

// record reads one line, whose length is that of the header.
func (r *csvRows) record() ([]string, error) {
	r.budget.left, r.budget.separators = mostRecord, mostCells
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
		return nil, &Error{Row: fmt.Sprintf("after line %d", r.line), Problem: fmt.Sprintf("a row of more than %d MB; is a quote not closed?", mostRecord>>20)}
	case errors.Is(err, errCells):
		return nil, &Error{Row: fmt.Sprintf("after line %d", r.line), Problem: fmt.Sprintf("a row of more than %d cells", mostCells)}
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
