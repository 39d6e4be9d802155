package table

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// onePage returns a Parquet file of a column of int32 whose only page, repeated, has a header and data made by hand.
// changes edit its footer.
func onePage(t testing.TB, repeated int, page format.PageHeader, codec format.CompressionCodec, data string, changes ...func(*format.FileMetaData)) string {
	t.Helper()
	page.Type, page.CompressedPageSize = format.DataPage, int32(len(data))
	body := strings.Repeat(compact(t, &page)+data, repeated)
	values := int64(repeated) * int64(page.DataPageHeader.V.NumValues)
	meta := &format.FileMetaData{
		Version: 1, NumRows: values,
		Schema: []format.SchemaElement{
			{Name: "root", NumChildren: thrift.New(int32(1))},
			{Name: "x", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Required)},
		},
		RowGroups: []format.RowGroup{{NumRows: values, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: format.Int32, PathInSchema: []string{"x"}, Codec: codec, NumValues: values,
			TotalCompressedSize: int64(len(body)), TotalUncompressedSize: int64(len(body)), DataPageOffset: 4,
		}}}}},
	}
	for _, change := range changes {
		change(meta)
	}
	footer := compact(t, meta)
	return "PAR1" + body + footer + string(binary.LittleEndian.AppendUint32(nil, uint32(len(footer)))) + "PAR1"
}

// Pages count by the claims of their headers, before any of them is read.
func TestParquetBomb(t *testing.T) {
	values := func(n int32) thrift.Null[format.DataPageHeader] {
		return thrift.New(format.DataPageHeader{NumValues: n, Encoding: format.RLEDictionary})
	}
	many := onePage(t, 2, format.PageHeader{DataPageHeader: values(1 << 26)}, format.Uncompressed, "")
	large := onePage(t, 1, format.PageHeader{DataPageHeader: values(1), UncompressedPageSize: 1 << 29}, format.Snappy, "\x00")
	frame := onePage(t, 1, format.PageHeader{DataPageHeader: values(1), UncompressedPageSize: 4}, format.Zstd, "\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x7f")
	over := "the file unpacks to more than 256 MB, the most for a file of %d bytes; if it is meant to, save it as CSV"
	for file, want := range map[string]string{
		many:  fmt.Sprintf(over, len(many)),
		large: fmt.Sprintf(over, len(large)),
		frame: "a page unpacks to more than its header claims",
	} {
		frugal(t, 8, func() {
			_, err := openParquet(strings.NewReader(file), int64(len(file)), all)
			if err == nil || inFile("f", err).Error() != "f: column x: "+want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

func compact(t testing.TB, v any) string {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A cell of categories takes as many values as there are categories, bounded only by the machine's memory.
func TestMemoryIsCheckedBeforeItIsTaken(t *testing.T) {
	defer func(was func() (uint64, bool)) { available = was }(available)
	s := &Schema{Label: Label{Name: "y", Task: Classification, Classes: []string{"a", "b"}}, Columns: []Column{{Name: "c"}}}
	for i := range 1000 {
		s.Columns[0].Categories = append(s.Columns[0].Categories, fmt.Sprintf("c%d", i))
	}
	s.Shape = []int{1000}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	path := put(t, "x.csv", "c,y\n"+strings.Repeat("c1,a\nc2,b\n", 2000)) // 16 MB of values
	for _, c := range []struct {
		free  uint64
		known bool
		want  string
	}{
		{64 << 20, true, ""},
		{8 << 20, true, "more memory, and the machine has 8 MB left; use a machine with more"},
		{1000, true, "the machine has 1000 bytes left"},
		{0, false, ""},
	} {
		available = func() (uint64, bool) { return c.free, c.known }
		got, err := s.Read(open(t, path), Training)
		if c.want == "" && (err != nil || got.N != 4000) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d bytes left: %v, want %q", c.free, err, c.want)
		}
	}
}

// If headers state the number of rows, values are allocated once.
func TestKnownRowsAreAllocatedOnce(t *testing.T) {
	const rows = 100_000
	values := make([]float32, rows)
	labels := make([]uint8, rows)
	labels[1] = 1
	file := put(t, "x.npz", npz(t, zip.Store, map[string]string{
		"x": npy(1, head("<f4", "False", fmt.Sprintf("(%d,)", rows)), values),
		"y": npy(1, head("|u1", "False", fmt.Sprintf("(%d,)", rows)), labels),
	}))
	_, got, err := read(t, file, Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if cap(got.Values) != rows || cap(got.Classes) != rows {
		t.Errorf("capacities of %d and %d for %d rows", cap(got.Values), cap(got.Classes), rows)
	}
}

// Names are found by an index, not by a search through all others.
func TestManyIgnoredColumns(t *testing.T) {
	const n = 60_000
	var header, row strings.Builder
	o := Options{Label: "y", Clip: map[string][2]float64{}}
	for i := range n {
		fmt.Fprintf(&header, "c%d,", i)
		row.WriteString("1,")
		if name := fmt.Sprintf("c%d", i); i > 0 {
			o.Ignore = append(o.Ignore, name)
		} else {
			o.Clip[name] = [2]float64{0, 1}
		}
	}
	path := put(t, "x.csv", header.String()+"y\n"+row.String()+"a\n"+row.String()+"b\n")
	s, err := Infer(open(t, path), o)
	if err != nil || len(s.Columns) != 1 {
		t.Fatalf("%v", err)
	}
}

func TestFlagList(t *testing.T) {
	for _, c := range [][]string{{"a,b", "a", "b"}, {`'"height, cm",a'`, "height, cm", "a"}} {
		if got := flagList(c[1:]); got != c[0] {
			t.Errorf("got %s, want %s", got, c[0])
		}
	}
}
