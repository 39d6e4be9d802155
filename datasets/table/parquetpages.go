package table

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// The most that a page may claim to hold, of which writers have a thousandth. The library allocates it unseen.
const (
	mostPage       = 1 << 28 // bytes, unpacked
	mostPageValues = 1 << 26
	mostFooter     = 1 << 28
)

// page is the position of a page in the file and the claims of its header: format.PageHeader has the numbers of the
// fields.
type page struct {
	at               int64 // where the bytes behind the header begin
	kind             format.PageType
	unpacked, packed int64 // bytes
	values1, values2 int64 // of a data page of version 1 or 2
	most             int64 // of all numbers of values that it claims, even where the last one counts
	dictionary       int64 // values
	encoding         format.Encoding
	repetition       int64 // bytes of levels in version 2, which aren't packed
	definition       int64
	plain            bool // version 2: nor is anything else, whatever the column's codec
}

func (p *page) visit(path []int16, v int64) {
	switch {
	case at(path, 1):
		p.kind = format.PageType(v)
	case at(path, 2):
		p.unpacked = v
	case at(path, 3):
		p.packed = v
	case at(path, 5, 1):
		p.values1, p.most = v, max(p.most, v)
	case at(path, 8, 1):
		p.values2, p.most = v, max(p.most, v)
	case at(path, 7, 1):
		p.dictionary, p.most = v, max(p.most, v)
	case at(path, 5, 2), at(path, 8, 4):
		p.encoding = format.Encoding(v)
	case at(path, 8, 5):
		p.definition = v
	case at(path, 8, 6):
		p.repetition = v
	case at(path, 8, 7):
		p.plain = v == 0
	}
}

// values returns the rows that the page has, nulls included: none for a dictionary.
func (p *page) values() int64 {
	switch p.kind {
	case format.DataPage:
		return p.values1
	case format.DataPageV2:
		return p.values2
	}
	return 0
}

// check compares the claims with the bytes that are left of the column. A value of a dictionary takes a byte at
// least. What is claimed may be a damaged file's rows, and is private.
func (p *page) check(left int64) error {
	switch {
	case p.kind != format.DataPage && p.kind != format.DataPageV2 && p.kind != format.DictionaryPage:
		return problemf("a page of an unknown kind").citing("its kind is %d", p.kind)
	case p.packed < 0 || p.packed > left:
		return problemf("a page claims bytes that aren't there").citing("it claims %d, and %d are there", p.packed, left)
	case p.unpacked < 0 || p.unpacked > mostPage:
		return problemf("a page of more than %d bytes", mostPage).citing("it claims %d", p.unpacked)
	case p.values1 < 0 || p.values2 < 0 || p.most > mostPageValues:
		return problemf("a page of more than %d values, or of fewer than none", mostPageValues).citing("it claims %d", p.most)
	case p.dictionary < 0 || p.dictionary > p.unpacked:
		return problemf("a dictionary claims more values than it has bytes").citing("it claims %d of %d bytes", p.dictionary, p.unpacked)
	case p.repetition < 0 || p.definition < 0 || p.repetition+p.definition > min(p.packed, p.unpacked):
		return problemf("a page claims more levels than it has bytes").citing("it claims %d and %d of %d bytes", p.repetition, p.definition, p.packed)
	}
	return nil
}

// codecs are those that can be read. On damaged data the library tries LZ4 with ever more memory.
var codecs = []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd}

// pagesOf goes through the headers of a column's pages in a group of rows, before the library does. left is the
// number of bytes that the file may still unpack to. A page takes its unpacked size from it: four bytes at least for
// each value, as a page of few bytes may have many, and mostOverhead for a page.
func pagesOf(file io.ReaderAt, size int64, c *format.ColumnMetaData, left *int64) ([]page, error) {
	if !slices.Contains(codecs, c.Codec) {
		return nil, unknownCodec(c.Codec)
	}
	from := c.DataPageOffset
	if c.DictionaryPageOffset != 0 {
		from = c.DictionaryPageOffset
	}
	if from < 0 || from > size || c.TotalCompressedSize < 0 || c.TotalCompressedSize > size-from {
		return nil, problemf("some of its bytes are not in the file").citing("they are %d from byte %d on", c.TotalCompressedSize, from)
	}
	var pages []page
	for end := from + c.TotalCompressedSize; from < end; {
		p, length, err := readPageHeader(file, from, end)
		if err == nil {
			err = p.check(end - from - length)
		}
		p.at = from + length
		if err == nil && c.Codec == format.Snappy && !p.plain {
			err = p.checkSnappy(file)
		}
		if *left -= max(p.unpacked, 4*p.values(), mostOverhead); err == nil && *left < 0 {
			err = overUnpacked(size, "save it as CSV")
		}
		if err != nil {
			return nil, err
		}
		pages = append(pages, p)
		from = p.at + p.packed
	}
	return pages, nil
}

func unknownCodec(c format.CompressionCodec) error {
	const remedy = "save it by snappy, gzip, zstd or brotli, or not compressed"
	if c < format.Uncompressed || c > format.Lz4Raw {
		return problemf("compressed in an unknown way; " + remedy)
	}
	return problemf("compressed by %s; "+remedy, c)
}

// checkSnappy compares the length that packed data begin with to the page's size: the library allocates it.
func (p *page) checkSnappy(file io.ReaderAt) error {
	levels := p.repetition + p.definition
	in := make([]byte, min(binary.MaxVarintLen64, p.packed-levels))
	if _, err := file.ReadAt(in, p.at+levels); err != nil {
		return failed(err)
	}
	if length, n := binary.Uvarint(in); n > 0 && length > uint64(p.unpacked-levels) {
		return overPage(p.unpacked)
	}
	return nil
}

// overPage is the error of a page that unpacks to more than it claims.
func overPage(unpacked int64) error {
	return problemf("a page unpacks to more than its header claims").citing("it claims %d bytes", unpacked)
}

// readPageHeader returns the header at a place and its length, which is mostly a hundred bytes; statistics can make it more.
func readPageHeader(file io.ReaderAt, from, end int64) (page, int64, error) {
	for window := int64(1 << 10); ; window <<= 5 {
		in := make([]byte, min(window, end-from))
		if _, err := file.ReadAt(in, from); err != nil {
			return page{}, 0, failed(err)
		}
		p := page{kind: -1}
		length, err := walkThrift(in, p.visit)
		if errors.Is(err, io.ErrUnexpectedEOF) && int64(len(in)) < end-from && window < mostPage {
			continue
		}
		if err != nil {
			return p, 0, failed(err)
		}
		return p, int64(length), nil
	}
}

// mostOverhead bounds the memory that a page takes even if it is empty. Several columns may claim one page.
const mostOverhead = 256

// checkPages checks the column's pages in all groups of rows, and that they have as many values as these have rows.
func (c *parquetColumn) checkPages(file io.ReaderAt, size int64, groups []format.RowGroup, left *int64) error {
	for i := range groups {
		if c.leaf >= len(groups[i].Columns) {
			return problemf("a row group lacks it")
		}
		meta := &groups[i].Columns[c.leaf].MetaData
		pages, err := pagesOf(file, size, meta, left)
		if err != nil {
			return err
		}
		values := int64(0)
		for _, p := range pages {
			values += p.values()
		}
		if rows := groups[i].NumRows; values != rows || meta.NumValues != rows {
			return problemf("row group %d has another number of values in this column than rows", i+1).
				citing("it has %d rows, claims %d values, and its pages have %d", rows, meta.NumValues, values)
		}
		c.chunks = append(c.chunks, chunk{meta.Codec, pages})
	}
	return nil
}

// chunk is a column in a group of rows.
type chunk struct {
	codec format.CompressionCodec
	pages []page // that weren't read yet
}
