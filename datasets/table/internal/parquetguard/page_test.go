package parquetguard

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A footer of a few bytes that claims a long list took more memory than any machine has, which ends a program without a
// panic.
func TestParquetFooterClaims(t *testing.T) {
	most := binary.AppendUvarint(nil, math.MaxInt32)
	for name, footer := range map[string]string{
		"structs":   "\x15\x02\x19\xfc" + string(most),
		"in a list": "\x15\x02\x19\x1c\x59\xf8" + string(most),
		"text":      "\x15\x02\x58" + string(most),
		"map":       "\x15\x02\x1b" + string(most) + "\x88",
		"deep":      strings.Repeat("\x1c", 1<<10),
		"deep list": strings.Repeat("\x19", 1<<20),
	} {
		frugal(t, 16, func() {
			if n, err := walkThrift([]byte(footer), nil); err == nil || n > 1<<10 {
				t.Errorf("%s: %d bytes, %v", name, n, err)
			}
			if _, err := Open(strings.NewReader(parquetFooter("PAR1", footer)), int64(len(footer)+12), maxUnpacked); err == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

// onePage returns a file with one page and any header for it.
func onePage(t testing.TB, header format.PageHeader, page string, codec format.CompressionCodec) string {
	t.Helper()
	body := compact(t, &header) + page
	one := int32(1)
	meta := format.FileMetaData{
		Version: 1, NumRows: 1,
		Schema: []format.SchemaElement{
			{Name: "root", NumChildren: thrift.New(one)},
			{Name: "x", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Required)},
		},
		RowGroups: []format.RowGroup{{NumRows: 1, TotalByteSize: int64(len(body)), Columns: []format.ColumnChunk{{
			MetaData: format.ColumnMetaData{
				Type: format.Int32, PathInSchema: []string{"x"}, Codec: codec, NumValues: 1,
				TotalCompressedSize: int64(len(body)), TotalUncompressedSize: int64(len(body)), DataPageOffset: 4,
			},
		}}}},
	}
	return parquetFooter("PAR1"+body, compact(t, &meta))
}

// No memory is allocated because the header of a page claims it.
func TestParquetPageClaims(t *testing.T) {
	value := "\x07\x00\x00\x00"
	header := func(change func(*format.PageHeader)) format.PageHeader {
		h := format.PageHeader{Type: format.DataPage, UncompressedPageSize: 4, CompressedPageSize: 4,
			DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 1})}
		change(&h)
		return h
	}
	dictionary := func(n int32) func(*format.PageHeader) {
		return func(h *format.PageHeader) {
			*h = format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: 4, CompressedPageSize: 4,
				DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: n})}
		}
	}
	levels := func(packed, unpacked, definition, repetition int32) func(*format.PageHeader) {
		return func(h *format.PageHeader) {
			*h = format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: unpacked, CompressedPageSize: packed,
				DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: 1, DefinitionLevelsByteLength: definition, RepetitionLevelsByteLength: repetition})}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*format.PageHeader)
		codec  format.CompressionCodec
		want   string
	}{
		{"nothing", func(*format.PageHeader) {}, format.Uncompressed, ""},
		{"packed", func(h *format.PageHeader) { h.CompressedPageSize = math.MaxInt32 }, format.Uncompressed, "a page claims bytes that aren't there"},
		{"fewer than none packed", func(h *format.PageHeader) { h.CompressedPageSize = -1 }, format.Uncompressed, "a page claims bytes that aren't there"},
		{"no levels", levels(4, 4, 0, 0), format.Uncompressed, ""},
		{"levels beyond the packed bytes", levels(4, 8, 3, 2), format.Gzip, "a page claims more levels than it has bytes"},
		{"levels beyond the unpacked bytes", levels(4, 3, 2, 2), format.Gzip, "a page claims more levels than it has bytes"},
		{"fewer definition levels than none", levels(4, 4, -1, 2), format.Uncompressed, "a page claims more levels than it has bytes"},
		{"fewer repetition levels than none", levels(4, 4, 2, -1), format.Uncompressed, "a page claims more levels than it has bytes"},
		{"unpacked", func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 }, format.Snappy, "a page of more than 268435456 bytes"},
		{"values", func(h *format.PageHeader) { h.DataPageHeader.V.NumValues = math.MaxInt32 }, format.Uncompressed, "a page of more than 67108864 values"},
		{"dictionary", dictionary(math.MaxInt32), format.Uncompressed, "a page of more than 67108864 values"},
		{"small dictionary", dictionary(5), format.Uncompressed, "a dictionary claims more values than it has bytes"},
		{"values of version 2", func(h *format.PageHeader) {
			h.Type, h.DataPageHeader = format.DataPageV2, thrift.Null[format.DataPageHeader]{}
			h.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: math.MaxInt32, DefinitionLevelsByteLength: 4})
		}, format.Uncompressed, "a page of more than 67108864 values"},
	} {
		file := onePage(t, header(c.change), value, c.codec)
		frugal(t, 16, func() {
			got, _, err := read(file)
			if c.want == "" && (err != nil || !slices.Equal(got, []int32{7})) {
				t.Errorf("%s: %v, %v", c.name, got, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		})
	}
}

// A column's bytes lie in the file, wherever the footer claims them to begin.
func TestParquetColumnClaims(t *testing.T) {
	file := onlyColumn{kind: format.Int32, fileRows: 1, rows: 1, values: 1, pages: []onlyPage{dataPage(1, format.Plain, int32s(7))}}.file(t)
	size := int64(len(file))
	for _, c := range [][2]int64{{-1, 1}, {size + 1, 0}, {size, 1}, {4, -1}, {4, size - 3}, {4, math.MaxInt64}} {
		left := int64(maxUnpacked)
		pages, err := readPageHeaders(strings.NewReader(file), size, &format.ColumnMetaData{DataPageOffset: c[0], TotalCompressedSize: c[1]}, &left)
		if err == nil || err.Error() != "some of its bytes are not in the file" || pages != nil {
			t.Errorf("%d bytes from %d on: %v, %v", c[1], c[0], pages, err)
		}
	}
}

// A header with long statistics is longer than the first read.
func TestParquetLongHeader(t *testing.T) {
	h := format.PageHeader{Type: format.DataPage, UncompressedPageSize: 4, CompressedPageSize: 4,
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 1, Statistics: format.Statistics{Max: bytes.Repeat([]byte("x"), 100_000)}})}
	file := onePage(t, h, "\x07\x00\x00\x00", format.Uncompressed)
	if got, _, err := read(file); err != nil || !slices.Equal(got, []int32{7}) {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzThrift(f *testing.F) {
	f.Add([]byte(compact(f, &format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 3})})))
	f.Fuzz(func(t *testing.T, in []byte) {
		frugal(t, 1, func() {
			if n, err := walkThrift(in, func([]int16, int64) {}); n < 0 || n > len(in) || err == nil && n == 0 {
				t.Errorf("%d bytes of %d, %v", n, len(in), err)
			}
		})
	})
}
