package parquetguard

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The footer, row groups, column chunks and pages all state the number of rows. If they disagree, rows would be lost in
// silence.
func TestParquetRowsAgree(t *testing.T) {
	three := dataPage(3, format.Plain, int32s(5, 6, 7))
	whole := onlyColumn{kind: format.Int32, fileRows: 3, rows: 3, values: 3, pages: []onlyPage{three}}
	if got, n, err := read(whole.file(t)); err != nil || n != 3 || !slices.Equal(got, []int32{5, 6, 7}) {
		t.Fatalf("%v, %d rows, %v", got, n, err)
	}
	const claims, column = "it claims another number of rows than its row groups have", "row group 1 has another number of values in this column than rows"
	for name, c := range map[string]struct {
		change func(*onlyColumn)
		want   string
	}{
		"a footer of fewer":   {func(c *onlyColumn) { c.fileRows = 2 }, claims},
		"a footer of more":    {func(c *onlyColumn) { c.fileRows = 4 }, claims},
		"a group of fewer":    {func(c *onlyColumn) { c.fileRows, c.rows = 2, 2 }, column},
		"a group of more":     {func(c *onlyColumn) { c.fileRows, c.rows = 4, 4 }, column},
		"a chunk of fewer":    {func(c *onlyColumn) { c.fileRows, c.rows, c.values = 2, 2, 2 }, column},
		"a chunk of more":     {func(c *onlyColumn) { c.fileRows, c.rows, c.values = 4, 4, 4 }, column},
		"another chunk":       {func(c *onlyColumn) { c.values = 2 }, column},
		"another page":        {func(c *onlyColumn) { c.pages = append(c.pages, three) }, column},
		"a page of fewer":     {func(c *onlyColumn) { c.pages = []onlyPage{dataPage(2, format.Plain, int32s(5, 6, 7))} }, column},
		"fewer than none":     {func(c *onlyColumn) { c.fileRows, c.rows = -1, -1 }, "a damaged one"},
		"a page of no values": {func(c *onlyColumn) { c.pages = []onlyPage{dictionaryPage(3, int32s(5, 6, 7))} }, column},
	} {
		changed := whole
		c.change(&changed)
		if got, n, err := read(changed.file(t)); err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
			t.Errorf("%s: %v, %d rows, %v; want %s", name, got, n, err, c.want)
		}
	}
}

// gzipBomb returns a file of 100 KB that unpacks to 100 MB.
func gzipBomb(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	million := make([]byte, 1_000_000)
	for range 100 {
		if _, err := w.Write(million); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// zstdBomb returns a frame of so many blocks, each of 128 KiB of one byte.
func zstdBomb(blocks int) string {
	const windowOf128K = "\x38"
	block := func(last int) string {
		head := last | 1<<1 | (128<<10)<<3 // run-length
		return string([]byte{byte(head), byte(head >> 8), byte(head >> 16), 'x'})
	}
	return "\x28\xb5\x2f\xfd\x00" + windowOf128K + strings.Repeat(block(0), blocks-1) + block(1)
}

// A few bytes of a page can claim two billion equal values, all of which the library would allocate. It would also
// unpack a page to more than it claims.
func TestParquetBombs(t *testing.T) {
	run := func(n uint64, value string) string { return string(binary.AppendUvarint(nil, n<<1)) + value }
	prefixed := func(s string) string { return int32s(int32(len(s))) + s }
	const more = "a page holds more values than its header claims"
	const billions = 1<<31 - 1
	unpacking := func(codec format.CompressionCodec, data string) onlyColumn {
		p := dataPage(1, format.Plain, data)
		p.header.UncompressedPageSize = 4
		return onlyColumn{kind: format.Int32, codec: codec, fileRows: 1, rows: 1, values: 1, pages: []onlyPage{p}}
	}
	one := onlyColumn{kind: format.Int32, fileRows: 1, rows: 1, values: 1}
	with := func(c onlyColumn, pages ...onlyPage) onlyColumn {
		c.pages = pages
		return c
	}
	optional, boolean, text := one, one, one
	optional.repetition, boolean.kind, text.kind = format.Optional, format.Boolean, format.ByteArray
	delta := func(count uint64) string {
		return string(binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4), count)) + "\x0e"
	}
	second := func(encoding format.Encoding, data string) onlyPage {
		return onlyPage{format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: 1, Encoding: encoding})}, data}
	}
	many := onlyColumn{kind: format.Int32, fileRows: 5 << 26, rows: 5 << 26, values: 5 << 26}
	for range 5 {
		many.pages = append(many.pages, dataPage(1<<26, format.RLEDictionary, "\x01"+run(1<<26, "\x00")))
	}
	packed := dataPage(1, format.Plain, "\xff\xff\xff\x7f\x00")
	packed.header.UncompressedPageSize = 4
	snappy := with(one, packed)
	snappy.codec = format.Snappy
	for name, c := range map[string]struct {
		column onlyColumn
		want   string
	}{
		"a small run":        {with(one, dictionaryPage(2, int32s(5, 7)), dataPage(1, format.RLEDictionary, "\x01"+run(1, "\x01"))), ""},
		"a run":              {with(one, dictionaryPage(2, int32s(5, 7)), dataPage(1, format.RLEDictionary, "\x01"+run(billions, "\x01"))), more},
		"runs":               {with(one, dictionaryPage(2, int32s(5, 7)), dataPage(1, format.RLEDictionary, "\x01"+strings.Repeat(run(1<<26, "\x01"), 40))), more},
		"a run of version 2": {with(one, dictionaryPage(2, int32s(5, 7)), second(format.RLEDictionary, "\x01"+run(billions, "\x01"))), more},
		"no bits":            {with(one, dictionaryPage(1, int32s(7)), dataPage(1, format.RLEDictionary, "\x00"+run(billions, ""))), more},
		"small levels":       {with(optional, dataPage(1, format.Plain, prefixed(run(1, "\x01"))+int32s(7))), ""},
		"levels":             {with(optional, dataPage(1, format.Plain, prefixed(run(billions, "\x01"))+int32s(7))), more},
		"booleans":           {with(boolean, dataPage(1, format.RLE, prefixed(run(billions, "\x01")))), more},
		"differences":        {with(one, dataPage(1, format.DeltaBinaryPacked, delta(1<<30))), more},
		"a difference":       {with(one, dataPage(1, format.DeltaBinaryPacked, delta(1))), ""},
		"lengths":            {with(text, dataPage(1, format.DeltaLengthByteArray, delta(1<<30))), more},
		"prefixes":           {with(text, dataPage(1, format.DeltaByteArray, delta(1<<30))), more},
		"gzip":               {unpacking(format.Gzip, gzipBomb(t)), "a page unpacks to more than its header claims"},
		"zstd":               {unpacking(format.Zstd, zstdBomb(10_000)), "a page unpacks to more than its header claims"},
		"snappy":             {snappy, "a page unpacks to more than its header claims"},
		"pages of a value":   {many, ErrUnpacked.Error()},
		"an unknown scheme":  {unpacking(99, ""), "compressed in an unknown way; save it by snappy"},
	} {
		file := c.column.file(t)
		frugal(t, 24, func() {
			got, _, err := read(file)
			if c.want == "" && (err != nil || !slices.Equal(got, []int32{7})) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		})
	}
}

// A column goes from row group to row group, of which some are empty, and the pages of all are checked.
func TestParquetGroups(t *testing.T) {
	plain := func(values ...int32) onlyPage { return dataPage(len(values), format.Plain, int32s(values...)) }
	file := groups(t, []onlyPage{plain(1, 2), plain(3)}, nil, nil, []onlyPage{plain(4)}, nil)
	if got, n, err := read(file); err != nil || n != 4 || !slices.Equal(got, []int32{1, 2, 3, 4}) {
		t.Errorf("%v, %d rows, %v", got, n, err)
	}
	bomb := dataPage(1, format.DeltaBinaryPacked, string(packedDeltas(1<<24, 5, 0)))
	file = groups(t, []onlyPage{plain(1, 2)}, []onlyPage{bomb})
	frugal(t, 24, func() {
		got, _, err := read(file)
		if err == nil || !strings.Contains(err.Error(), "a page holds more values than its header claims") || !slices.Equal(got, []int32{1, 2}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// A page that holds more values than it claims adds no rows.
func TestParquetPagesOfMoreValues(t *testing.T) {
	for name, pages := range map[string][]onlyPage{
		"plain":  {dataPage(1, format.Plain, int32s(7, 6))},
		"a run":  {dictionaryPage(1, int32s(7)), dataPage(1, format.RLEDictionary, "\x01\x06\x00")},
		"groups": {dictionaryPage(1, int32s(7)), dataPage(1, format.RLEDictionary, "\x01\x03\x00")},
	} {
		c := onlyColumn{kind: format.Int32, fileRows: 1, rows: 1, values: 1, pages: pages}
		if got, n, err := read(c.file(t)); n != 1 || err == nil && !slices.Equal(got, []int32{7}) {
			t.Errorf("%s: %v, %d rows, %v", name, got, n, err)
		}
	}
}

// Empty pages count: any number of columns may claim the same ones.
func TestParquetEmptyPagesCount(t *testing.T) {
	column := onlyColumn{kind: format.Int32}
	for range 3 {
		column.pages = append(column.pages, dataPage(0, format.Plain, ""))
	}
	file := column.file(t)
	meta := &format.ColumnMetaData{DataPageOffset: 4, TotalCompressedSize: int64(strings.LastIndex(file, compact(t, &column.pages[2].header)) + len(compact(t, &column.pages[2].header)) - 4)}
	for pages, want := range map[int64]string{3: "", 2: ErrUnpacked.Error()} {
		left := pages * pageOverhead
		got, err := readPageHeaders(strings.NewReader(file), int64(len(file)), meta, &left)
		if want == "" && (err != nil || len(got) != 3) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d pages: %d, %v", pages, len(got), err)
		}
	}
}

// A column of any file ends after as many values as the file has rows, or with an error: never with a panic, nor with
// memory by a claim.
func FuzzColumns(f *testing.F) {
	f.Add([]byte(written(f, row{1, "a"}, row{2, "b"}, row{3, "a"})))
	f.Add([]byte(onlyColumn{kind: format.Int32, fileRows: 3, rows: 3, values: 3, pages: []onlyPage{
		dictionaryPage(2, int32s(5, 7)), dataPage(3, format.RLEDictionary, "\x01\x06\x01"),
	}}.file(f)))
	f.Fuzz(func(t *testing.T, file []byte) {
		frugal(t, 600, func() {
			opened, err := Open(bytes.NewReader(file), int64(len(file)), maxUnpacked)
			if err != nil {
				return
			}
			for _, name := range []string{"x", "y"} {
				c, err := opened.Column(name)
				n := 0
				for ; err == nil && n <= 1000; n++ {
					_, err = c.Next()
				}
				if errors.Is(err, io.EOF) && n-1 != opened.Rows() {
					t.Fatalf("%d values of %s in %d rows", n-1, name, opened.Rows())
				}
				if c != nil {
					_ = c.Close()
				}
			}
		})
	})
}

// A page that claims more values than it has is refused. The library would fill them up from its buffers, with what
// another page left there.
func TestShortPages(t *testing.T) {
	version2 := func(values int, encoding format.Encoding, levels, data string) onlyPage {
		return onlyPage{format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: int32(values), NumRows: int32(values), Encoding: encoding, DefinitionLevelsByteLength: int32(len(levels)),
		})}, levels + data}
	}
	prefix := func(levels string) string { return int32s(int32(len(levels))) + levels }
	dictionary := dictionaryPage(2, int32s(5, 6))
	const (
		allThree  = "\x06\x01"     // a run of three levels of 1
		onlyFirst = "\x03\x01"     // a group of eight levels, of which the first is 1
		indices3  = "\x01\x06\x01" // one bit each: a run of three
		indices2  = "\x01\x04\x01"
		delta3    = "\x80\x01\x04\x03\x0a\x01\x00\x00\x00\x00" // 5, 6, 7
		delta2    = "\x80\x01\x04\x02\x0a\x01\x00\x00\x00\x00"
	)
	for name, c := range map[string]struct {
		nullable  bool
		good, bad []onlyPage
	}{
		"plain": {false, []onlyPage{dataPage(3, format.Plain, int32s(5, 6, 7))}, []onlyPage{dataPage(3, format.Plain, int32s(5, 6))}},
		"plain, version 2": {false, []onlyPage{version2(3, format.Plain, "", int32s(5, 6, 7))},
			[]onlyPage{version2(3, format.Plain, "", int32s(5, 6))}},
		"plain, nullable": {true, []onlyPage{dataPage(3, format.Plain, prefix(allThree)+int32s(5, 6, 7))},
			[]onlyPage{dataPage(3, format.Plain, prefix(allThree)+int32s(5, 6))}},
		"plain, nullable, version 2": {true, []onlyPage{version2(3, format.Plain, allThree, int32s(5, 6, 7))},
			[]onlyPage{version2(3, format.Plain, allThree, int32s(5, 6))}},
		"nulls": {true, []onlyPage{dataPage(3, format.Plain, prefix(onlyFirst)+int32s(5))},
			[]onlyPage{dataPage(3, format.Plain, prefix(onlyFirst))}},
		"levels": {true, []onlyPage{dataPage(3, format.Plain, prefix(allThree)+int32s(5, 6, 7))},
			[]onlyPage{dataPage(3, format.Plain, prefix("\x04\x01")+int32s(5, 6, 7))}},
		"dictionary": {false, []onlyPage{dictionary, dataPage(3, format.RLEDictionary, indices3)},
			[]onlyPage{dictionary, dataPage(3, format.RLEDictionary, indices2)}},
		"delta": {false, []onlyPage{dataPage(3, format.DeltaBinaryPacked, delta3)}, []onlyPage{dataPage(3, format.DeltaBinaryPacked, delta2)}},
	} {
		column := onlyColumn{kind: format.Int32, fileRows: 3, rows: 3, values: 3}
		if c.nullable {
			column.repetition = format.Optional
		}
		column.pages = c.good
		if values, _, err := read(column.file(t)); err != nil || len(values) != 3 {
			t.Errorf("%s: %v, %v", name, values, err)
		}
		column.pages = c.bad
		if values, _, err := read(column.file(t)); err == nil || !strings.Contains(err.Error(), "fewer values") {
			t.Errorf("%s, short: %v, %v", name, values, err)
		}
	}
}
