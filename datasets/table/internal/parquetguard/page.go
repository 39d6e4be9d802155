package parquetguard

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// Bounds of what a page may claim. Writers make pages of a thousandth of them.
const (
	maxPage       = 1 << 28 // bytes, unpacked
	maxPageValues = 1 << 26
)

// page is the position of a page in the file and the claims of its header, whose field numbers format.PageHeader has.
type page struct {
	at               int64 // position of the bytes after the header
	kind             format.PageType
	unpacked, packed int64 // bytes
	values1, values2 int64 // of a data page of version 1 or 2
	most             int64 // the largest number of values that it claims anywhere
	dictionary       int64 // values
	encoding         format.Encoding
	repetition       int64 // bytes of levels in version 2, which are never packed
	definition       int64
	plain            bool // version 2: nothing is packed, whatever the column's codec
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

// values returns the number of rows that the page has, nulls included: 0 for a dictionary.
func (p *page) values() int64 {
	switch p.kind {
	case format.DataPage:
		return p.values1
	case format.DataPageV2:
		return p.values2
	}
	return 0
}

// check checks the claims against the bytes that are left of the column. A value of a dictionary takes at least one
// byte. The claims of a damaged file may be bytes of its rows, and so errors cite them in private.
func (p *page) check(left int64) error {
	switch {
	case p.kind != format.DataPage && p.kind != format.DataPageV2 && p.kind != format.DictionaryPage:
		return problemf("a page of an unknown kind").citing("its kind is %d", p.kind)
	case p.packed < 0 || p.packed > left:
		return problemf("a page claims bytes that aren't there").citing("it claims %d, and %d are there", p.packed, left)
	case p.unpacked < 0 || p.unpacked > maxPage:
		return problemf("a page of more than %d bytes", maxPage).citing("it claims %d", p.unpacked)
	case p.values1 < 0 || p.values2 < 0 || p.most > maxPageValues:
		return problemf("a page of more than %d values, or of fewer than none", maxPageValues).citing("it claims %d", p.most)
	case p.dictionary < 0 || p.dictionary > p.unpacked:
		return problemf("a dictionary claims more values than it has bytes").citing("it claims %d of %d bytes", p.dictionary, p.unpacked)
	case p.repetition < 0 || p.definition < 0 || p.repetition+p.definition > min(p.packed, p.unpacked):
		return problemf("a page claims more levels than it has bytes").citing("it claims %d and %d of %d bytes", p.repetition, p.definition, p.packed)
	}
	return nil
}

// codecs lists the codecs that can be read. LZ4 isn't among them: on damaged data the library retries it with ever more
// memory.
var codecs = []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd}

// readPageHeaders reads the headers of a column's pages in one row group and checks them. left is the number of bytes
// that the file may still unpack to. A page takes from it its unpacked size, or four bytes for each value if that is
// more, since a page of few bytes may have many values, or pageOverhead.
func readPageHeaders(file io.ReaderAt, size int64, c *format.ColumnMetaData, left *int64) ([]page, error) {
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
		if *left -= max(p.unpacked, 4*p.values(), pageOverhead); err == nil && *left < 0 {
			err = ErrUnpacked
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

// checkSnappy checks the length at the beginning of packed data, which the library allocates, against the page's size.
func (p *page) checkSnappy(file io.ReaderAt) error {
	levels := p.repetition + p.definition
	in := make([]byte, min(binary.MaxVarintLen64, p.packed-levels))
	if _, err := file.ReadAt(in, p.at+levels); err != nil {
		return err
	}
	if length, n := binary.Uvarint(in); n > 0 && length > uint64(p.unpacked-levels) {
		return overPage(p.unpacked)
	}
	return nil
}

// overPage returns the error of a page that unpacks to more than it claims.
func overPage(unpacked int64) error {
	return problemf("a page unpacks to more than its header claims").citing("it claims %d bytes", unpacked)
}

// readPageHeader returns the header at a position and its length. Most headers have about a hundred bytes; statistics
// can make them longer.
func readPageHeader(file io.ReaderAt, from, end int64) (page, int64, error) {
	for window := int64(1 << 10); ; window <<= 5 {
		in := make([]byte, min(window, end-from))
		if _, err := file.ReadAt(in, from); err != nil {
			return page{}, 0, err
		}
		p := page{kind: -1}
		length, err := walkThrift(in, p.visit)
		if errors.Is(err, io.ErrUnexpectedEOF) && int64(len(in)) < end-from && window < maxPage {
			continue
		}
		if err != nil {
			return p, 0, err
		}
		return p, int64(length), nil
	}
}

// pageOverhead bounds the bytes of memory that an empty page takes. Several columns may claim the same page.
const pageOverhead = 256
