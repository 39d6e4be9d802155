package experiment

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxText bounds the bytes of a row of texts. The longest review of data set imdb has 13,704.
const maxText = 1 << 20

// Cells returns the unparsed cells of a column of a CSV or TSV file, packed by gzip or not. Its errors may cite the
// file, and then are private.
func Cells(path, column string) ([]string, error) {
	columns, err := cellsOf(path, column)
	if err != nil {
		return nil, err
	}
	if columns[0] == nil {
		return nil, inputf("%s: no column %q", path, column)
	}
	return columns[0], nil
}

// cellsOf returns the cells of columns, by the columns' names; nil for one that the file lacks.
func cellsOf(path string, names ...string) (columns [][]string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	name, packed := strings.CutSuffix(strings.ToLower(filepath.Base(path)), ".gz")
	comma := ','
	switch filepath.Ext(name) {
	case ".csv":
	case ".tsv":
		comma = '\t'
	default:
		return nil, inputf("%s: columns of texts are read from CSV and TSV files; save it as one", path)
	}
	var in io.Reader = file
	if packed {
		if in, err = gzip.NewReader(bufio.NewReader(file)); err != nil {
			return nil, inputf("%s: unpack: %w", path, err)
		}
	}
	columns, err = readCells(in, comma, names)
	if err != nil {
		return nil, inputf("%s: %w", path, err)
	}
	return columns, nil
}

func readCells(in io.Reader, comma rune, names []string) ([][]string, error) {
	limited := &perRow{in: in, left: maxText}
	buffered := bufio.NewReader(limited)
	if mark, _ := buffered.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = buffered.Discard(3) // can't fail after Peek
	}
	if beginning, _ := buffered.Peek(buffered.Size()); comma == ',' {
		// As package table does: a header with semicolons and without commas is separated by them.
		if header, _, _ := bytes.Cut(beginning, []byte("\n")); bytes.ContainsRune(header, ';') && !bytes.ContainsRune(header, ',') {
			comma = ';'
		}
	}
	rows := csv.NewReader(buffered)
	rows.Comma, rows.ReuseRecord = comma, true
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("no header line")
	}
	if err != nil {
		return nil, whereIn(err)
	}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	at, columns := make([]int, len(names)), make([][]string, len(names))
	for i, name := range names {
		if at[i] = slices.Index(header, name); at[i] >= 0 {
			columns[i] = []string{}
			if slices.Contains(header[at[i]+1:], name) {
				return nil, fmt.Errorf("two columns %q", name)
			}
		}
	}
	for {
		limited.left = maxText
		record, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return columns, nil
		}
		if err != nil {
			return nil, whereIn(err)
		}
		for i, k := range at {
			if k >= 0 {
				columns[i] = append(columns[i], strings.Clone(record[k]))
			}
		}
	}
}

// whereIn returns the error of a CSV reader, which never cites cells, with its line.
func whereIn(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("line %d: %w", parse.StartLine, parse.Err)
	}
	return err
}

// perRow is a reader that fails when a row takes more than left bytes: an unclosed quote would read the rest of the
// file.
type perRow struct {
	in   io.Reader
	left int
}

func (r *perRow) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, fmt.Errorf("a row of more than %d bytes; is a quote missing?", maxText)
	}
	n, err := r.in.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// lines returns the lines of a text file, without their ends; an empty last line is none.
func lines(path string) (texts [][]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, maxText)
	for scanner.Scan() {
		texts = append(texts, bytes.Clone(scanner.Bytes()))
	}
	if err := scanner.Err(); err != nil {
		return nil, inputf("%s: line %d: %w", path, len(texts)+1, err)
	}
	return texts, nil
}
