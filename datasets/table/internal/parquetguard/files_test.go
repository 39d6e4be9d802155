package parquetguard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxUnpacked bounds the bytes that a file unpacks to in tests.
const maxUnpacked = 256 << 20

// open opens all columns of a file.
func open(file string) (*File, []*Column, error) {
	f, err := Open(strings.NewReader(file), int64(len(file)), maxUnpacked)
	if err != nil {
		return nil, nil, err
	}
	var columns []*Column
	for _, node := range f.Schema().Fields() {
		c, err := f.Column(node.Name())
		if err != nil {
			return f, columns, err
		}
		columns = append(columns, c)
	}
	return f, columns, nil
}

// read returns the numbers of a file's only column, and the number of its rows.
func read(file string) (values []int32, rows int, err error) {
	f, columns, err := open(file)
	if err != nil {
		return nil, 0, err
	}
	defer columns[0].Close()
	for {
		v, err := columns[0].Next()
		if errors.Is(err, io.EOF) {
			return values, f.Rows(), nil
		}
		if err != nil {
			return values, f.Rows(), err
		}
		values = append(values, v.Int32())
	}
}

// frugal runs f and fails if it takes more memory than so many MB.
func frugal(t *testing.T, most uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > most {
		t.Fatalf("%d MB", taken)
	}
}

// written returns a file that the library's writer wrote.
func written[T any](t testing.TB, rows ...T) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(2))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parquetFooter puts a footer behind what a file holds.
func parquetFooter(body, footer string) string {
	file := body + footer
	return file + string(binary.LittleEndian.AppendUint32(nil, uint32(len(footer)))) + "PAR1"
}

func compact(t testing.TB, v any) string {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// onlyPage is a page of a Parquet file made by hand.
type onlyPage struct {
	header format.PageHeader
	data   string
}

// onlyColumn is a Parquet file of one column made by hand, whose footer and pages may make false claims.
type onlyColumn struct {
	kind                   format.Type
	repetition             format.FieldRepetitionType
	codec                  format.CompressionCodec
	fileRows, rows, values int64
	pages                  []onlyPage
}

func (c onlyColumn) file(t testing.TB) string {
	t.Helper()
	body := ""
	for _, p := range c.pages {
		p.header.CompressedPageSize = int32(len(p.data))
		if p.header.UncompressedPageSize == 0 {
			p.header.UncompressedPageSize = int32(len(p.data))
		}
		body += compact(t, &p.header) + p.data
	}
	one := int32(1)
	return parquetFooter("PAR1"+body, compact(t, &format.FileMetaData{
		Version: 1, NumRows: c.fileRows,
		Schema: []format.SchemaElement{
			{Name: "root", NumChildren: thrift.New(one)},
			{Name: "x", Type: thrift.New(c.kind), RepetitionType: thrift.New(c.repetition)},
		},
		RowGroups: []format.RowGroup{{NumRows: c.rows, TotalByteSize: int64(len(body)), Columns: []format.ColumnChunk{{
			MetaData: format.ColumnMetaData{
				Type: c.kind, PathInSchema: []string{"x"}, Codec: c.codec, NumValues: c.values,
				TotalCompressedSize: int64(len(body)), TotalUncompressedSize: int64(len(body)), DataPageOffset: 4,
			},
		}}}},
	}))
}

// groups returns a Parquet file of one column of int32 with row groups of the given pages.
func groups(t testing.TB, all ...[]onlyPage) string {
	t.Helper()
	body := "PAR1"
	meta := format.FileMetaData{Version: 1, Schema: []format.SchemaElement{
		{Name: "root", NumChildren: thrift.New(int32(1))},
		{Name: "x", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Required)},
	}}
	for _, pages := range all {
		from, rows := len(body), int64(0)
		for _, p := range pages {
			p.header.CompressedPageSize, p.header.UncompressedPageSize = int32(len(p.data)), int32(len(p.data))
			body += compact(t, &p.header) + p.data
			rows += int64(p.header.DataPageHeader.V.NumValues)
		}
		size := int64(len(body) - from)
		meta.NumRows += rows
		meta.RowGroups = append(meta.RowGroups, format.RowGroup{NumRows: rows, TotalByteSize: size, Columns: []format.ColumnChunk{{
			MetaData: format.ColumnMetaData{
				Type: format.Int32, PathInSchema: []string{"x"}, NumValues: rows,
				TotalCompressedSize: size, TotalUncompressedSize: size, DataPageOffset: int64(from),
			},
		}}})
	}
	return parquetFooter(body, compact(t, &meta))
}

func dataPage(values int, encoding format.Encoding, data string) onlyPage {
	return onlyPage{format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(values), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}, data}
}

func dictionaryPage(values int, data string) onlyPage {
	return onlyPage{format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
		NumValues: int32(values), Encoding: format.Plain,
	})}, data}
}

func int32s(values ...int32) string {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return string(b)
}
