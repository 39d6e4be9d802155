package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// recoverParquet turns a panic into an error: parquet-go panics, in the goroutine that calls it, on some damaged files.
// The text of a panic may cite the file.
func recoverParquet(err *error) {
	if p := recover(); p != nil {
		*err = problemf("a damaged Parquet file").citing("%v", p)
	}
}

// openParquetFile opens a file after a check of the footer's length, which parquet-go allocates. The row groups must
// have as many rows as the file.
func openParquetFile(file io.ReaderAt, size int64) (*parquet.File, error) {
	var end [8]byte // the length, and PAR1
	if _, err := file.ReadAt(end[:], size-8); err == nil && string(end[4:]) == "PAR1" && int64(binary.LittleEndian.Uint32(end[:])) > size-12 {
		return nil, problemf("a damaged Parquet file: its footer is longer than the file")
	}
	opened, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, problemf("not a Parquet file, or one that is damaged or cut short").citing("%v", err)
	}
	n := opened.NumRows()
	if n > math.MaxInt32 {
		return nil, problemf("more than %d rows", math.MaxInt32)
	}
	for _, g := range opened.RowGroups() {
		n -= g.NumRows()
	}
	if n != 0 {
		return nil, problemf("a damaged Parquet file: it claims another number of rows than its row groups have").
			citing("it claims %d, which is %d more", opened.NumRows(), n)
	}
	return opened, nil
}

// parquetColumn iterates over the values of a column.
type parquetColumn struct {
	decode func(parquet.Value) cell
	chunks []parquet.ColumnChunk // not open yet: one in each row group
	empty  int                   // pages without bytes, which the library passes over with an error

	// Of the open chunk; nil between chunks.
	pages  parquet.Pages
	left   int64 // values not read yet
	page   parquet.Page
	reader parquet.ValueReader

	values []parquet.Value // read and not returned yet; in buffer
	buffer []parquet.Value
}

// open finds the chunks of the column at an index. It returns the number of bytes that they unpack to.
func (c *parquetColumn) open(opened *parquet.File, file io.ReaderAt, leaf int) (unpacked int64, err error) {
	for i, g := range opened.RowGroups() {
		meta := &opened.Metadata().RowGroups[i].Columns[leaf].MetaData
		switch meta.Codec {
		case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd:
		default: // on damaged LZ4 data parquet-go retries with ever more memory
			return 0, problemf("compressed by %s; save it by snappy, gzip, zstd or brotli, or not compressed", meta.Codec)
		}
		if meta.NumValues != g.NumRows() {
			return 0, problemf("row group %d has another number of values in this column than rows", i+1).
				citing("it has %d rows and %d values", g.NumRows(), meta.NumValues)
		}
		n, err := c.unpackedPages(file, opened.Size(), meta)
		if err != nil {
			return 0, err
		}
		unpacked += n
		c.chunks = append(c.chunks, g.ColumnChunks()[leaf])
	}
	c.buffer = make([]parquet.Value, 256)
	return unpacked, nil
}

// unpackedPages adds up the bytes that a chunk's pages unpack to by their headers: parquet-go allocates them, and a
// flipped bit turns kilobytes into gigabytes. A value counts as four bytes, since equal values may take almost none.
func (c *parquetColumn) unpackedPages(file io.ReaderAt, size int64, meta *format.ColumnMetaData) (unpacked int64, err error) {
	from := meta.DataPageOffset
	if meta.DictionaryPageOffset != 0 {
		from = meta.DictionaryPageOffset
	}
	if from < 0 || meta.TotalCompressedSize < 0 || meta.TotalCompressedSize > size-from {
		return 0, problemf("some of its bytes are not in the file").citing("they are %d from byte %d on", meta.TotalCompressedSize, from)
	}
	chunk := io.NewSectionReader(file, from, meta.TotalCompressedSize)
	for in := bufio.NewReader(chunk); ; in.Reset(chunk) {
		var page format.PageHeader
		err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(in)).Decode(&page)
		if errors.Is(err, io.EOF) {
			return unpacked, nil
		}
		if err != nil {
			return 0, err
		}
		values := max(page.DataPageHeader.V.NumValues, page.DataPageHeaderV2.V.NumValues, page.DictionaryPageHeader.V.NumValues)
		unpacked += max(int64(page.UncompressedPageSize), 4*int64(values))
		at, err := chunk.Seek(-int64(in.Buffered()), io.SeekCurrent)
		if err != nil {
			return 0, err
		}
		packed := int64(page.CompressedPageSize)
		if packed == 0 && page.DataPageHeaderV2.Valid {
			c.empty++
		}
		if packed < 0 || packed > chunk.Size()-at {
			return 0, problemf("a page claims bytes that aren't there").citing("it claims %d", packed)
		}
		if meta.Codec == format.Zstd { // which allocates the size that its frame claims
			levels := int64(page.DataPageHeaderV2.V.DefinitionLevelsByteLength) // not compressed
			head := make([]byte, min(zstd.HeaderMaxSize, max(0, packed-levels)))
			_, _ = chunk.ReadAt(head, at+levels)
			var frame zstd.Header
			if frame.Decode(head) == nil && frame.FrameContentSize > uint64(page.UncompressedPageSize) {
				return 0, problemf("a page unpacks to more than its header claims").citing("it claims %d bytes", page.UncompressedPageSize)
			}
		}
		if _, err := chunk.Seek(packed, io.SeekCurrent); err != nil {
			return 0, err
		}
	}
}

func (c *parquetColumn) next(out []cell) ([]cell, error) {
	if err := c.end(); err != nil {
		return nil, err
	}
	v := c.values[0]
	c.values = c.values[1:]
	if v.IsNull() {
		return append(out, cell{}), nil
	}
	decoded := c.decode(v)
	if !utf8.ValidString(decoded.text) { // JSON would merge different ones in a schema
		decoded.kind = rawBytes
	}
	return append(out, decoded), nil
}

func (c *parquetColumn) end() error {
	if len(c.values) > 0 {
		return nil
	}
	return c.read()
}

// read fills values. A chunk must have as many values as it claims: with fewer or more, rows would be lost or shifted.
func (c *parquetColumn) read() (err error) {
	defer recoverParquet(&err)
	for len(c.values) == 0 {
		if c.pages == nil {
			if len(c.chunks) == 0 {
				return io.EOF
			}
			c.pages, c.left, c.chunks = c.chunks[0].Pages(), c.chunks[0].NumValues(), c.chunks[1:]
		}
		if c.reader == nil {
			c.page, err = c.pages.ReadPage()
			if errors.Is(err, io.EOF) && c.left == 0 {
				if err := c.close(); err != nil {
					return err
				}
				continue
			}
			if err != nil && !errors.Is(err, io.EOF) && c.empty > 0 { // values that are lost so are missed at the end
				c.empty--
				continue
			}
			if err != nil {
				return err
			}
			c.reader = c.page.Values()
		}
		n, err := c.reader.ReadValues(c.buffer)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if c.left -= int64(n); c.left < 0 {
			return problemf("it has more values than its row group has rows")
		}
		if c.values = c.buffer[:n]; n == 0 {
			parquet.Release(c.page)
			c.page, c.reader = nil, nil
		}
	}
	return nil
}

// close releases the open chunk.
func (c *parquetColumn) close() (err error) {
	defer recoverParquet(&err)
	if c.page != nil {
		parquet.Release(c.page)
	}
	if c.pages != nil {
		err = c.pages.Close()
	}
	c.pages, c.page, c.reader, c.values = nil, nil, nil, nil
	return err
}
