package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// The most that a page may claim to hold, of which writers have a thousandth. The library makes room for it unseen.
const (
	mostPage       = 1 << 28 // bytes, unpacked
	mostPageValues = 1 << 26
	mostFooter     = 1 << 28
)

// pageHeader is what the header of a page claims: format.PageHeader has the numbers of the fields.
type pageHeader struct {
	unpacked, packed     int64 // bytes
	values, dictionary   int64
	repetition, definite int64 // bytes of levels
}

func (h *pageHeader) visit(path []int16, v int64) {
	switch {
	case at(path, 2):
		h.unpacked = v
	case at(path, 3):
		h.packed = v
	case at(path, 5, 1), at(path, 8, 1):
		h.values = max(h.values, v)
	case at(path, 7, 1):
		h.dictionary = v
	case at(path, 8, 5):
		h.definite = v
	case at(path, 8, 6):
		h.repetition = v
	}
}

// check holds the claims against the bytes that are left of the column. A value of a dictionary takes a byte at least.
func (h pageHeader) check(left int64) error {
	switch {
	case h.packed < 0 || h.packed > left:
		return fmt.Errorf("a page of %d bytes, of which %d are there", h.packed, left)
	case h.unpacked < 0 || h.unpacked > mostPage:
		return fmt.Errorf("a page of %d bytes; at most %d can be read", h.unpacked, mostPage)
	case h.values < 0 || h.values > mostPageValues:
		return fmt.Errorf("a page of %d values; at most %d can be read", h.values, mostPageValues)
	case h.dictionary < 0 || h.dictionary > h.unpacked:
		return fmt.Errorf("%d values in a dictionary of %d bytes", h.dictionary, h.unpacked)
	case h.repetition < 0 || h.definite < 0 || h.repetition+h.definite > h.packed:
		return fmt.Errorf("levels of %d and %d bytes in a page of %d", h.repetition, h.definite, h.packed)
	}
	return nil
}

// checkPages goes through the headers of a column's pages before the library does.
func checkPages(file io.ReaderAt, size int64, c *format.ColumnMetaData) error {
	from := c.DataPageOffset
	if c.DictionaryPageOffset != 0 {
		from = c.DictionaryPageOffset
	}
	if from < 0 || from > size || c.TotalCompressedSize < 0 || c.TotalCompressedSize > size-from {
		return fmt.Errorf("its %d bytes from byte %d on are not in the file", c.TotalCompressedSize, from)
	}
	for end := from + c.TotalCompressedSize; from < end; {
		h, length, err := readPageHeader(file, from, end)
		if err == nil {
			err = h.check(end - from - length)
		}
		if err != nil {
			return err
		}
		from += length + h.packed
	}
	return nil
}

// readPageHeader returns the header at a place and its length, which is mostly a hundred bytes; statistics can make it more.
func readPageHeader(file io.ReaderAt, from, end int64) (pageHeader, int64, error) {
	for window := int64(1 << 10); ; window <<= 5 {
		in := make([]byte, min(window, end-from))
		if _, err := file.ReadAt(in, from); err != nil {
			return pageHeader{}, 0, errors.New(ending(err))
		}
		var h pageHeader
		length, err := walkThrift(in, h.visit)
		if errors.Is(err, io.ErrUnexpectedEOF) && int64(len(in)) < end-from && window < mostPage {
			continue
		}
		if err != nil {
			return h, 0, errors.New(ending(err))
		}
		return h, int64(length), nil
	}
}
