package experiment

import (
	"bufio"
	"bytes"
	"errors"
	"os"

	"github.com/dptrain/dptrain/datasets/table"
)

// maxText bounds the bytes of a line of a text file. The longest review of data set imdb has 13,704.
const maxText = 1 << 20

// Cells returns the cells of a column of a table as texts. With keepGoing they may be empty in rows that can't be read,
// which are an error without it.
func Cells(path, column string, keepGoing bool) (cells []string, err error) {
	file, err := table.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if keepGoing {
		file.KeepGoing()
	}
	return file.Cells(column)
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
