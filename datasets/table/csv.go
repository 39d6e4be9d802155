package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxRecord bounds the bytes of one row, with its quoted line breaks: an unclosed quote would make the rest of the
// file a single cell in memory.
const maxRecord = 64 << 20

// csvRows reads comma-separated values.
type csvRows struct {
	csv    *csv.Reader
	budget *budget
	header []field
	cells  []cell
	line   int
	end    int   // line that the last record ends in
	offset int64 // of that end

	// Rows of empty cells are held until another row follows: at the end of a file they are none.
	blank []int // lines of such rows
	held  bool  // whether the row behind them was read: cells, or err
	err   error
	after int // its line
}

// openCSV reads the header of a file.
func openCSV(file io.Reader, comma rune, compressed bool) (rows, error) {
	r := &csvRows{budget: &budget{file, maxRecord}}
	if compressed {
		unpacked, err := gzip.NewReader(bufio.NewReader(file))
		if err != nil {
			return nil, failed(err)
		}
		r.budget.r = unpacked
	}
	in := bufio.NewReaderSize(r.budget, 1<<16)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = in.Discard(3) // can't fail after Peek
	}
	beginning, _ := in.Peek(in.Size())
	switch {
	case bytes.IndexByte(beginning[:min(2, len(beginning))], 0) >= 0:
		return nil, problemf("not UTF-8, but seemingly UTF-16; save it as UTF-8")
	case bytes.HasPrefix(beginning, []byte("PK\x03\x04")):
		return nil, problemf("no CSV but a zip archive, as Excel's sheets are too; unpack it, or save the sheet as CSV UTF-8")
	case bytes.HasPrefix(beginning, []byte("PAR1")):
		return nil, problemf("no CSV but a Parquet file; let its name end in .parquet")
	case bytes.ContainsRune(beginning, '\r') && !bytes.ContainsRune(beginning, '\n'):
		return nil, problemf("its lines end in carriage returns alone, as Excel's CSV for Macintosh has them; save it as CSV UTF-8")
	}
	comma, header := dialect(beginning, comma)
	above := beginning[:len(beginning)-len(header)]
	blank := strings.Repeat("\n", bytes.Count(above, []byte("\n"))) // lines that are counted and not read
	_, _ = in.Discard(len(above))
	r.csv = csv.NewReader(io.MultiReader(strings.NewReader(blank), in))
	r.csv.Comma, r.csv.ReuseRecord, r.csv.LazyQuotes = comma, true, excelText.Match(beginning)
	names, err := r.record()
	if errors.Is(err, io.EOF) {
		return nil, &Error{Problem: "no header line"}
	}
	if err != nil {
		return nil, err
	}
	r.header, r.cells = make([]field, len(names)), make([]cell, len(names))
	for i, name := range names {
		r.header[i].name = strings.TrimSpace(name)
	}
	return r, nil
}

const separators = ",;\t"

// separatorLine matches Excel's first line, which names the separator.
var separatorLine = regexp.MustCompile(`^"?sep=([,;\t|:])"?\r?\n`)

// excelText matches cells such as ="007", in which Excel takes quotes for its own: to CSV they are wrong.
var excelText = regexp.MustCompile(`(^|[,;\t\n])=\(?"`)

// dialect returns the separator of cells, and the text from the header on: without the line of the separator, and
// without lines of comments. A separator other than the comma is given by the file's name.
func dialect(text []byte, comma rune) (rune, []byte) {
	given := comma != ','
	if m := separatorLine.FindSubmatch(text); m != nil {
		given, comma, text = true, rune(m[1][0]), text[len(m[0]):]
	}
	header, rest, _ := bytes.Cut(text, []byte("\n"))
	for bytes.HasPrefix(header, []byte("#")) && comment(header, rest, separators+string(comma)) {
		text = rest
		header, rest, _ = bytes.Cut(text, []byte("\n"))
	}
	if given {
		return comma, text
	}
	for _, c := range separators { // a comma may stand in a name
		if n := width(text, c); n > 1 && n == width(rest, c) {
			return c, text
		}
	}
	for _, c := range separators {
		if bytes.ContainsRune(header, c) {
			return c, text
		}
	}
	return comma, text
}

// comment reports whether a line that begins with # is no header: it has another number of cells than the first row
// below that doesn't begin so, or both have one cell, and that isn't a number.
func comment(line, below []byte, separators string) bool {
	for bytes.HasPrefix(below, []byte("#")) {
		_, below, _ = bytes.Cut(below, []byte("\n"))
	}
	first, _, _ := bytes.Cut(below, []byte("\n"))
	_, number := parse(string(bytes.TrimSpace(first)))
	return len(below) > 0 && !number && !strings.ContainsFunc(separators, func(c rune) bool {
		n := width(line, c)
		return n > 1 && n == width(below, c)
	})
}

// width returns the number of cells of the first row.
func width(text []byte, separator rune) int {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma = separator
	row, _ := r.Read() // what can't be read is an error later
	return len(row)
}

// budget is a reader that fails after left bytes.
type budget struct {
	r    io.Reader
	left int
}

var errRecord = errors.New("a line")

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errRecord
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (r *csvRows) fields() []field { return r.header }
func (r *csvRows) where() string   { return fmt.Sprintf("line %d", r.line) }

// close does nothing: an unpacker holds no file.
func (r *csvRows) close() error { return nil }

func (r *csvRows) next() ([]cell, error) {
	for !r.held {
		record, err := r.record()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		r.held, r.err, r.after = err != nil || len(record) == 1, err, r.line
		for i, s := range record {
			r.cells[i] = textCell(s)
			r.held = r.held || r.cells[i].kind != none
		}
		if !r.held {
			r.blank = append(r.blank, r.line)
		}
	}
	if len(r.blank) > 0 {
		r.line, r.blank = r.blank[0], r.blank[1:]
		return make([]cell, len(r.cells)), nil
	}
	r.line, r.held = r.after, false
	return r.cells, r.err
}

func (r *csvRows) known() int { return 0 }

// record reads one row, which must have as many cells as the header.
func (r *csvRows) record() ([]string, error) {
	r.budget.left = maxRecord
	record, err := r.csv.Read()
	var wrong *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		if len(r.header) == 1 && r.csv.InputOffset() > r.offset { // lines that the library skips
			r.blank = append(r.blank, r.end+1)
		}
		return nil, io.EOF
	case errors.Is(err, csv.ErrFieldCount):
		r.line, _ = r.csv.FieldPos(0)
		r.end = r.line + strings.Count(record[len(record)-1], "\n")
		return nil, &Error{Row: r.where(), Problem: fmt.Sprintf("%s, and the header has %s", cells(len(record)), cells(len(r.header))), alone: true}
	case errors.As(err, &wrong):
		e := explained(wrong)
		return nil, &Error{Row: fmt.Sprintf("line %d", wrong.StartLine), Problem: e.Problem, Private: e.Private}
	case errors.Is(err, errRecord):
		return nil, &Error{Row: fmt.Sprintf("after line %d", r.line), Problem: fmt.Sprintf("a row of more than %d MB; is a quote not closed?", maxRecord>>20)}
	case err != nil:
		e := failed(err)
		return nil, &Error{Row: fmt.Sprintf("after line %d", r.line), Problem: e.Problem, Private: e.Private}
	}
	r.line, _ = r.csv.FieldPos(0)
	if len(record) == 1 && r.end > 0 && r.line > r.end+1 { // the library skips it, so later rows would move up
		return nil, &Error{Row: fmt.Sprintf("line %d", r.end+1), Problem: `blank, in a file of one column; write "" for a missing value, or leave the line out`}
	}
	r.end, r.offset = r.line+strings.Count(record[len(record)-1], "\n"), r.csv.InputOffset()
	for i, s := range record {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") { // zeros of a damaged file may hide line breaks
			return nil, &Error{Row: r.where(), Problem: fmt.Sprintf("cell %d isn't UTF-8, or has a zero byte; save the file as UTF-8", i+1), alone: len(r.header) > 0}
		}
		if r.csv.LazyQuotes && strings.Contains(s, "\n") { // a quote that isn't closed would swallow rows
			return nil, &Error{Row: r.where(), Problem: fmt.Sprintf(`cell %d has several lines, and the file cells such as ="1", beside which a missing quote can't be told; write 1 or "=""1"""`, i+1)}
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
		return problemf("a quote is missing or too many, which shows at byte %d of line %d; a quote within a quoted cell is written twice", e.Column, e.Line)
	case errors.Is(e.Err, csv.ErrBareQuote):
		return problemf("a quote in a cell without quotes at byte %d of line %d; put the cell into quotes and write the quote twice", e.Column, e.Line)
	}
	return failed(e.Err)
}
