package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// columns has one field of each type that can be read.
type columns struct {
	Age    int32   `parquet:"age"`
	Big    uint64  `parquet:"big"`
	Ratio  float32 `parquet:"ratio"`
	Income float64 `parquet:"income"`
	Member bool    `parquet:"member"`
	Colour string  `parquet:"colour"`
	Maybe  *int64  `parquet:"maybe,optional"`
	Class  string  `parquet:"class,dict"`
}

func parquetFile[T any](t testing.TB, group int, rows ...T) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(int64(group)))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func parquetRows3(t testing.TB, group int) string {
	return parquetFile(t, group,
		columns{31, 1 << 40, 0.5, -1e3, true, "red", new(int64(7)), "a"},
		columns{-2, 0, -1, 2.25, false, "green", new(int64(8)), "b"},
		columns{0, 1, 2, 3, true, " red ", new(int64(-9)), "a"})
}

// All types are read, with any row groups.
func TestParquetTypes(t *testing.T) {
	want := []float32{
		31, 1 << 40, 0.5, -1e3, 1, 1, 0, 7,
		-2, 0, -1, 2.25, 0, 0, 1, 8,
		0, 1, 2, 3, 1, 1, 0, -9,
	}
	for _, group := range []int{1, 2, 100} {
		s, got, err := read(t, put(t, "x.parquet", parquetRows3(t, group)), Options{Label: "class", Categories: map[string][]string{"colour": {"red", "green"}}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Values, want) || !slices.Equal(got.Classes, []int32{0, 1, 0}) {
			t.Errorf("groups of %d: %+v", group, got)
		}
		if n, err := s.Count(open(t, put(t, "y.parquet", parquetRows3(t, group)))); err != nil || n != 3 {
			t.Errorf("groups of %d: %d rows, %v", group, n, err)
		}
	}
}

// Many rows are read from many pages, with and without a dictionary.
func TestParquetPages(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
		C string  `parquet:"c,dict"`
		Y int8    `parquet:"y"`
	}
	rows := make([]row, 20000)
	for i := range rows {
		rows[i] = row{float64(i), []string{"red", "green", "blue"}[i%3], int8(i % 2)}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.PageBufferSize(1000))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, got, err := read(t, put(t, "x.parquet", b.String()), Options{Label: "y", Categories: map[string][]string{"c": {"red", "green", "blue"}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		v := got.Values[4*i : 4*i+4]
		if v[0] != float32(i) || v[1+i%3] != 1 || v[1]+v[2]+v[3] != 1 || got.Classes[i] != int32(i%2) {
			t.Fatalf("row %d: %v of class %d", i, v, got.Classes[i])
		}
	}
}

func TestWrongParquet(t *testing.T) {
	type nested struct {
		List []int64 `parquet:"list"`
		Raw  []byte  `parquet:"raw"`
		Day  int32   `parquet:"day,date"`
		Y    bool    `parquet:"y"`
	}
	whole := parquetRows3(t, 2)
	missing := parquetFile(t, 10, columns{Colour: "red", Maybe: new(int64(1)), Class: "a"}, columns{Colour: "red", Class: "b"})
	categories := map[string][]string{"colour": {"red", "green"}}
	for name, c := range map[string]struct {
		file    string
		options Options
		want    string
	}{
		"missing":   {missing, Options{Label: "class", Categories: categories}, "row 2, column maybe: no value (empty, NaN, NA or the like); give a public constant for missing ones, as in --missing maybe=NUMBER, or leave the row out"},
		"text":      {whole, Options{Label: "class"}, `row 1, column colour: not a number`},
		"list":      {parquetFile(t, 1, nested{}), Options{Label: "y"}, "column list: lists and groups; save it as columns of single values, or ignore it by --ignore list"},
		"bytes":     {parquetFile(t, 1, nested{Raw: []byte("\xff")}, nested{Y: true}), Options{Label: "y", Ignore: []string{"list", "day"}, Categories: map[string][]string{"raw": {"a", "*"}}}, "row 1, column raw: not UTF-8 text; save it as text"},
		"date":      {parquetFile(t, 1, nested{}, nested{Y: true}), Options{Label: "y", Ignore: []string{"list", "raw"}}, "row 1, column day: a date or time; have it read as days since 1970-01-01 by --written day=date"},
		"label":     {parquetFile(t, 1, nested{}), Options{Label: "list", Ignore: []string{"day"}}, "column list: lists and groups"},
		"no column": {whole, Options{Label: "klass"}, `label: `},
		"cut short": {whole[:len(whole)-1], Options{Label: "class"}, "damaged or cut short"},
		"footer":    {whole[:len(whole)-8] + "\xff\xff\xff\x7fPAR1", Options{Label: "class"}, "its footer is longer than the file"},
		"garbage":   {"PAR1" + strings.Repeat("x", 40) + "\x20\x00\x00\x00PAR1", Options{Label: "class"}, "not a Parquet file, or one that is damaged or cut short"},
	} {
		if _, _, err := read(t, put(t, "x.parquet", c.file), c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", name, err, c.want)
		}
	}
}

// Dates and times are those of CSV: days since 1970-01-01 on request.
func TestParquetDates(t *testing.T) {
	type row struct {
		D int32 `parquet:"d,date"`
		E int64 `parquet:"e,timestamp(microsecond)"`
		F int64 `parquet:"f,timestamp(nanosecond)"`
		Y bool  `parquet:"y"`
	}
	o := Options{Label: "y", Written: map[string]string{"d": "date", "e": "date", "f": "date"}}
	for _, format := range []string{".parquet", ".csv"} {
		file := "d,e,f,y\n1970-01-08,1970-01-01 12:00:00,1969-12-31T18:00:00Z,1\n1969-12-31,1969-12-31 23:59:59.5,2262-01-01,0\n"
		if format == ".parquet" {
			file = parquetFile(t, 2, row{7, 43200e6, -21600e9, true}, row{-1, -5e5, 106651 * 86400e9, false})
		}
		_, got, err := read(t, put(t, "x"+format, file), o)
		if err != nil || !slices.Equal(got.Values, []float32{7, 0.5, -0.25, -1, float32(-0.5 / 86400), 106651}) {
			t.Errorf("%s: %+v, %v", format, got, err)
		}
	}
}

// Decimals have their scale in all physical types. Booleans are those of CSV, whichever a schema was made from.
func TestDecimalsAndBooleans(t *testing.T) {
	type row struct {
		A int32   `parquet:"a,decimal(1:9)"`
		B int64   `parquet:"b,decimal(2:18)"`
		C [3]byte `parquet:"c,decimal(1:6)"`
		M bool    `parquet:"m"`
		Y bool    `parquet:"y"`
	}
	file := put(t, "x.parquet", parquetFile(t, 2, row{334, -1250, [3]byte{0xff, 0xff, 0xfb}, true, true}, row{-1, 5, [3]byte{0, 1, 0}, false, false}))
	_, got, err := read(t, file, Options{Label: "y"})
	if err != nil || !slices.Equal(got.Values, []float32{33.4, -12.5, -0.5, 1, -0.1, 0.05, 25.6, 0}) {
		t.Fatalf("%+v, %v", got, err)
	}
	text := func(yes, no string) string {
		return put(t, "x.csv", fmt.Sprintf("m,y\n%s,%[1]s\n%s,%[2]s\n", yes, no))
	}
	ignored := map[string][]string{".parquet": {"a", "b", "c"}}
	files := []string{file, text("true", "false"), text("True", "False"), text("TRUE", "FALSE")}
	for _, c := range [][]string{{"0", "1"}, {"False", "True", "*"}, {"*", "FALSE", "TRUE", ""}, {"false", "true", "perhaps"}} {
		for _, from := range files {
			s, _, err := read(t, from, Options{Label: "y", Columns: []string{"m"}, Ignore: ignored[filepath.Ext(from)], Categories: map[string][]string{"m": c}})
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range files {
				at := slices.IndexFunc(c, func(name string) bool { return name == "1" || strings.EqualFold(name, "true") })
				if got, err := s.Read(open(t, path), Testing); err != nil || got.Values[at] != 1 || got.Classes[0] != 1 || got.Classes[1] != 0 {
					t.Errorf("%v: %+v, %v", c, got, err)
				}
			}
		}
	}
	if index := withBooleans(indexOf([]string{"0", "1", "2", All})); len(index) != 4 {
		t.Errorf("codes: %v", index)
	}
}

// A page of the second version without bytes is no damage, and hides none.
func TestEmptyParquetPage(t *testing.T) {
	head := func(values int32, data string) string {
		return compact(t, &format.PageHeader{
			Type: format.DataPageV2, UncompressedPageSize: int32(len(data)), CompressedPageSize: int32(len(data)),
			DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: values, NumRows: values, Encoding: format.Plain, IsCompressed: thrift.New(data == "")}),
		}) + data
	}
	for claimed := range int32(2) { // values of the empty page
		body := head(claimed, "") + head(2, "\x01\x00\x00\x00\x02\x00\x00\x00")
		rows := int64(2 + claimed)
		footer := compact(t, &format.FileMetaData{
			Version: 1, NumRows: rows, Schema: []format.SchemaElement{
				{Name: "root", NumChildren: thrift.New(int32(1))}, {Name: "x", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Required)},
			},
			RowGroups: []format.RowGroup{{NumRows: rows, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
				Type: format.Int32, PathInSchema: []string{"x"}, Codec: format.Snappy, NumValues: rows,
				TotalCompressedSize: int64(len(body)), TotalUncompressedSize: int64(len(body)), DataPageOffset: 4,
			}}}}},
		})
		file := "PAR1" + body + footer + string(binary.LittleEndian.AppendUint32(nil, uint32(len(footer)))) + "PAR1"
		r, err := openParquet(strings.NewReader(file), int64(len(file)), all)
		if err = walk(t, r, err); errors.Is(err, io.EOF) != (claimed == 0) {
			t.Errorf("%d values claimed: %v", claimed, err)
		}
	}
}

// Files with a few damaged bytes are read or are errors, in little memory: for some of them the unguarded library takes
// all memory.
func TestDamagedParquet(t *testing.T) {
	whole := []byte(parquetRows3(t, 2))
	draw := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		damaged := bytes.Clone(whole)
		for range 1 + draw.IntN(4) {
			damaged[draw.IntN(len(damaged))] = byte(draw.Uint32())
		}
		frugal(t, 600, func() {
			r, err := openParquet(bytes.NewReader(damaged), int64(len(damaged)), all)
			walk(t, r, err)
		})
	}
}

// Truncated files are errors. Files with a flipped bit are errors, or are read in full. Neither takes much memory.
func TestTruncatedAndFlippedParquet(t *testing.T) {
	type row struct {
		X *float64 `parquet:"x,optional"`
		C string   `parquet:"c,dict"`
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Zstd} {
		for _, version := range []int{1, 2} {
			var b bytes.Buffer
			w := parquet.NewGenericWriter[row](&b, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.MaxRowsPerRowGroup(3))
			if _, err := w.Write([]row{{new(1.0), secret}, {nil, secret}, {new(3.0), "b"}, {new(4.0), "c"}}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			whole := b.Bytes()
			try := func(file []byte) (err error) {
				frugal(t, 300, func() {
					r, opening := openParquet(bytes.NewReader(file), int64(len(file)), all)
					err = walk(t, r, opening)
				})
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Fatalf("its text cites the file: %v", err)
				}
				return err
			}
			for n := range whole {
				if err := try(whole[:n]); err == nil || errors.Is(err, io.EOF) {
					t.Fatalf("%s, version %d, cut to %d bytes: no error", codec, version, n)
				}
			}
			for i := range whole {
				damaged := bytes.Clone(whole)
				damaged[i] ^= 1 << (i % 8)
				_ = try(damaged)
			}
		}
	}
}

// The footer, row groups, column chunks and pages state the number of rows. If they disagree, rows would be lost or
// shifted.
func TestParquetRowsAgree(t *testing.T) {
	type meta = *format.FileMetaData
	for name, c := range map[string]struct {
		pages  int
		change func(meta)
		want   string
	}{
		"all agree":         {1, func(meta) {}, ""},
		"a footer of fewer": {1, func(m meta) { m.NumRows = 1 }, "it claims another number of rows than its row groups have"},
		"a footer of more":  {1, func(m meta) { m.NumRows = 3 }, "it claims another number of rows than its row groups have"},
		"another chunk":     {1, func(m meta) { m.RowGroups[0].Columns[0].MetaData.NumValues = 1 }, "row group 1 has another number of values in this column than rows"},
		"fewer pages": {1, func(m meta) {
			m.NumRows, m.RowGroups[0].NumRows, m.RowGroups[0].Columns[0].MetaData.NumValues = 4, 4, 4
		}, "the file is cut short"},
		"more pages": {2, func(m meta) {
			m.NumRows, m.RowGroups[0].NumRows, m.RowGroups[0].Columns[0].MetaData.NumValues = 2, 2, 2
		}, "it has more values than its row group has rows"},
		"a longer chunk": {1, func(m meta) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 20 }, "some of its bytes are not in the file"},
	} {
		header := format.PageHeader{UncompressedPageSize: 8, DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: 2, Encoding: format.Plain, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		})}
		file := onePage(t, c.pages, header, format.Uncompressed, "\x01\x00\x00\x00\x02\x00\x00\x00", c.change)
		r, err := openParquet(strings.NewReader(file), int64(len(file)), all)
		if err = walk(t, r, err); c.want == "" && !errors.Is(err, io.EOF) || c.want != "" && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Files of a real writer are read in all encodings, codecs and versions, with missing values.
func TestParquetEncodings(t *testing.T) {
	type row struct {
		Plain    float64  `parquet:"plain"`
		Split    float64  `parquet:"split,split"`
		Delta    int64    `parquet:"delta,delta"`
		Small    int32    `parquet:"small,dict"`
		Maybe    *float64 `parquet:"maybe,optional"`
		MaybeToo *int64   `parquet:"maybetoo,optional,dict"`
		Text     string   `parquet:"text,delta"`
		Lengths  string   `parquet:"lengths,dict"`
		Flag     bool     `parquet:"flag"`
	}
	draw := rand.New(rand.NewPCG(3, 1))
	rows := make([]row, 5000)
	for i := range rows {
		run := i / 700 // runs as well as changing values
		rows[i] = row{Plain: draw.Float64(), Split: draw.Float64(), Delta: int64(i * i), Small: int32(draw.IntN(1+run) * 3), Text: fmt.Sprintf("text %d", i%100), Lengths: fmt.Sprint(run), Flag: run%2 == 0}
		if draw.IntN(2+run) > 0 {
			rows[i].Maybe = new(float64(i))
		}
		if run%2 == 0 || i%3 == 0 {
			rows[i].MaybeToo = new(int64(i % 5))
		}
	}
	optional := func(v *float64) cell {
		if v == nil {
			return cell{}
		}
		return numberCell(*v)
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli} {
		for _, version := range []int{1, 2} {
			var b bytes.Buffer
			w := parquet.NewGenericWriter[row](&b, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(3000), parquet.MaxRowsPerRowGroup(2100))
			if _, err := w.Write(rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := openParquet(bytes.NewReader(b.Bytes()), int64(b.Len()), all)
			if err != nil {
				t.Fatalf("%s, version %d: %v", codec, version, err)
			}
			for i, want := range rows {
				got, err := r.next()
				if err != nil {
					t.Fatalf("%s, version %d: %v", codec, version, err)
				}
				var tooMaybe *float64
				if want.MaybeToo != nil {
					tooMaybe = new(float64(*want.MaybeToo))
				}
				flag := 0.0
				if want.Flag {
					flag = 1
				}
				if !slices.Equal(got, []cell{numberCell(want.Plain), numberCell(want.Split), numberCell(float64(want.Delta)), numberCell(float64(want.Small)),
					optional(want.Maybe), optional(tooMaybe), textCell(want.Text), textCell(want.Lengths), numberCell(flag)}) {
					t.Fatalf("%s, version %d, row %d: %+v, want %+v", codec, version, i, got, want)
				}
			}
			if _, err := r.next(); !errors.Is(err, io.EOF) {
				t.Errorf("%s, version %d: %v at the end", codec, version, err)
			}
			if err := r.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestParquetEncodings has the codecs that can be read.
func TestParquetCodec(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
		Y bool    `parquet:"y"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.Compression(&parquet.Lz4Raw))
	if _, err := w.Write([]row{{1, true}, {2, false}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, err := read(t, put(t, "x.parquet", b.String()), Options{Label: "y"})
	if err == nil || !strings.Contains(err.Error(), "column x: compressed by LZ4_RAW; save it by snappy, gzip, zstd or brotli, or not compressed") {
		t.Error(err)
	}
}
