package parquetguard

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const (
	maxRows   = math.MaxInt32
	maxFooter = 1 << 28 // bytes
)

// File is an open Parquet file.
type File struct {
	file   io.ReaderAt
	size   int64
	left   int64 // bytes that columns may still unpack to
	opened *parquet.File
	rows   int
}

// Open opens a Parquet file of size bytes. unpacked is the maximum number of bytes that all its columns together may
// unpack to.
func Open(file io.ReaderAt, size, unpacked int64) (_ *File, err error) {
	defer Recover(&err)
	if err := checkFooter(file, size); err != nil {
		return nil, err
	}
	opened, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, problemf("not a Parquet file, or a damaged one").citing("%v", err)
	}
	rows, err := countRows(opened.Metadata())
	if err != nil {
		return nil, err
	}
	return &File{file: file, size: size, left: unpacked, opened: opened, rows: rows}, nil
}

// Rows returns the number of rows, which is the same in the footer and in the row groups.
func (f *File) Rows() int { return f.rows }

// Schema returns the file's schema. Its methods may panic if the file is damaged: see [Recover].
func (f *File) Schema() *parquet.Schema { return f.opened.Schema() }

// checkFooter checks the length of the footer against that of the file, and all lengths in the footer against its own.
func checkFooter(file io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return problemf("not a Parquet file: it is too short")
	}
	if _, err := file.ReadAt(end[:], size-8); err != nil {
		return err
	}
	if string(end[4:]) != "PAR1" {
		return problemf("not a Parquet file, or one cut short: it doesn't end like one")
	}
	length := int64(binary.LittleEndian.Uint32(end[:4]))
	if length > size-12 {
		return problemf("a damaged Parquet file: its footer is longer than the file")
	}
	if length > maxFooter {
		return problemf("a footer of %d bytes; at most %d can be read", length, maxFooter)
	}
	footer := make([]byte, length)
	if _, err := file.ReadAt(footer, size-8-length); err != nil {
		return err
	}
	if _, err := walkThrift(footer, nil); err != nil {
		return problemf("not a Parquet file, or a damaged one: its footer claims what isn't there")
	}
	return nil
}

// countRows returns the number of rows, on which the footer and the row groups must agree.
func countRows(meta *format.FileMetaData) (int, error) {
	n := int64(0)
	for i := range meta.RowGroups {
		rows := meta.RowGroups[i].NumRows
		if rows < 0 || n+rows > maxRows {
			return 0, problemf("more than %d rows, or fewer than none, in its row groups", maxRows).citing("one has %d", rows)
		}
		n += rows
	}
	if n != meta.NumRows {
		return 0, problemf("a damaged Parquet file: it claims another number of rows than its row groups have").
			citing("it claims %d, and they have %d", meta.NumRows, n)
	}
	return int(n), nil
}
