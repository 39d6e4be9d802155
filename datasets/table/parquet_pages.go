package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// What a page may claim. The library makes room for a page's bytes, packed and unpacked, and for its values before it reads
// any; writers keep pages near a megabyte.
const (
	mostPage       = 256 << 20 // bytes
	mostPageValues = 1 << 26
	mostPageHeader = 1 << 20 // bytes
)

// checkPages goes through the headers of a column's pages before the library does, and holds what they claim against
// the file.
func checkPages(file io.ReaderAt, size int64, column format.ColumnMetaData) error {
	at, end := column.DataPageOffset, int64(0)
	if d := column.DictionaryPageOffset; d > 0 && d < at {
		at = d
	}
	if at < 0 || column.TotalCompressedSize < 0 || at > size-column.TotalCompressedSize {
		return errors.New("pages outside the file")
	}
	end = at + column.TotalCompressedSize
	if !slices.Contains(codecs, column.Codec) {
		return fmt.Errorf("compressed by %s; save it by snappy, gzip, zstd or brotli, or not compressed", column.Codec)
	}
	for at < end {
		header, length, err := readPageHeader(file, at, end)
		if err != nil {
			return fmt.Errorf("a damaged page at byte %d: %w", at, err)
		}
		packed, unpacked := int64(header.CompressedPageSize), int64(header.UncompressedPageSize)
		values := max(header.DataPageHeader.V.NumValues, header.DataPageHeaderV2.V.NumValues, header.DictionaryPageHeader.V.NumValues)
		if packed < 0 || packed > end-at-length || unpacked < 0 || unpacked > mostPage || values > mostPageValues {
			return fmt.Errorf("a page at byte %d claims %d bytes, %d unpacked, and %d values; %d bytes are left, and a page has up to %d MB and %d values",
				at, packed, unpacked, values, end-at-length, mostPage>>20, mostPageValues)
		}
		if column.Codec == format.Snappy {
			if err := checkSnappy(file, at+length, at+length+packed, header); err != nil {
				return err
			}
		}
		at += length + packed
	}
	return nil
}

// codecs are those that can be read. On damaged data the library tries LZ4 with ever more memory.
var codecs = []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd}

// checkSnappy holds the length that packed data begin with against the page. The levels of a page of version 2 stand before
// them and aren't packed.
func checkSnappy(file io.ReaderAt, at, end int64, h format.PageHeader) error {
	if v2 := h.DataPageHeaderV2.V; h.Type == format.DataPageV2 {
		if v2.RepetitionLevelsByteLength < 0 || v2.DefinitionLevelsByteLength < 0 {
			return errors.New("a page with levels of negative length")
		}
		at += int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
	}
	text := make([]byte, max(0, min(binary.MaxVarintLen64, end-at)))
	if _, err := file.ReadAt(text, at); err != nil {
		return err
	}
	if length, n := binary.Uvarint(text); n > 0 && length > mostPage {
		return fmt.Errorf("a page at byte %d claims %d bytes unpacked; a page has up to %d MB", at, length, mostPage>>20)
	}
	return nil
}

// readPageHeader returns the header at a byte of the file, and its length.
func readPageHeader(file io.ReaderAt, at, end int64) (header format.PageHeader, length int64, err error) {
	for most := int64(1 << 12); ; most *= 16 {
		text := make([]byte, min(most, end-at))
		if _, err := file.ReadAt(text, at); err != nil {
			return header, 0, err
		}
		in := bytes.NewReader(text)
		header = format.PageHeader{}
		err = thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(in)).Decode(&header)
		if err == nil {
			return header, int64(len(text) - in.Len()), nil
		}
		if most >= mostPageHeader || most >= end-at {
			return header, 0, err
		}
	}
}

// checkPages checks the column's pages in all row groups.
func (c *parquetColumn) checkPages(file io.ReaderAt, size int64, groups []format.RowGroup) error {
	if c.skipped {
		return nil
	}
	for _, g := range groups {
		if c.leaf >= len(g.Columns) {
			return errors.New("a row group lacks it")
		}
		if err := checkPages(file, size, g.Columns[c.leaf].MetaData); err != nil {
			return err
		}
	}
	return nil
}
