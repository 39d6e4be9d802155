package table

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// deflated is a Deflate stream of a beginning and so many million bytes of one text, made without packing them all:
// blocks that were flushed can be repeated.
func deflated(t testing.TB, beginning, fill string, millions int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	more := func(s []byte) []byte {
		before := out.Len()
		if _, err := w.Write(s); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(out.Bytes()[before:])
	}
	million := bytes.Repeat([]byte(fill), 1_000_000/len(fill))
	start := slices.Concat(more([]byte(beginning)), more(million))
	again := more(million)
	return slices.Concat(start, bytes.Repeat(again, max(0, millions-1)), []byte{3, 0}) // and an empty last block
}

// gzipBomb is a file of deflated bytes. Its checksum is wrong, which shows at the end alone.
func gzipBomb(t testing.TB, beginning, fill string, millions int) string {
	const head = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
	return head + string(deflated(t, beginning, fill, millions)) + strings.Repeat("\x00", 8)
}

// A small file that is gzipped takes no more than it may, when rows are counted and when they are read.
func TestGzipBomb(t *testing.T) {
	file := gzipBomb(t, "x,y\n1,a\n", strings.Repeat("1", 499_997)+",a\n", 300)
	if len(file) > 1<<20 {
		t.Fatalf("%d bytes", len(file))
	}
	const want = "the file unpacks to more than 256 MB, the most for a packed file of "
	r, err := openCSV(strings.NewReader(file), int64(len(file)), ',', true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.count(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "gunzip") {
		t.Errorf("count: %v", err)
	}
}

// A reader gives all bytes up to the limit, and none behind it.
func TestLimited(t *testing.T) {
	for n, want := range map[int64]error{4: nil, 5: nil, 6: &Error{}} {
		got, err := io.ReadAll(&limited{r: strings.NewReader(strings.Repeat("x", int(n))), left: 5, size: 1})
		if (err == nil) != (want == nil) || int64(len(got)) != min(n, 5) {
			t.Errorf("%d bytes: %q, %v", n, got, err)
		}
	}
}

func TestMostUnpacked(t *testing.T) {
	for size, want := range map[int64]int64{0: 256 << 20, 1 << 20: 256 << 20, 2 << 20: 400 << 20, math.MaxInt64: math.MaxInt64 / 200 * 200} {
		if got := mostUnpacked(size); got != want {
			t.Errorf("%d: %d, want %d", size, got, want)
		}
	}
}

// npzOf makes an archive of deflated arrays.
func npzOf(t testing.TB, entries map[string][]byte) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	var names []string
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := w.CreateRaw(&zip.FileHeader{Name: name + ".npy", Method: zip.Deflate, CompressedSize64: uint64(len(entries[name])), UncompressedSize64: 1 << 40})
		if err == nil {
			_, err = f.Write(entries[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// An archive whose arrays unpack to too much is refused by their headers, before any of it is unpacked. Sizes in
// the archive's own list don't count.
func TestNPZBomb(t *testing.T) {
	array := func(rows, millions int) []byte {
		return deflated(t, npy(1, head("|u1", "False", fmt.Sprintf("(%d,)", rows)), nil), "\x00", millions)
	}
	for name, c := range map[string]struct {
		entries map[string][]byte
		want    string
	}{
		"one":         {map[string][]byte{"x": array(300_000_000, 300)}, "the file unpacks to more than 256 MB, the most for a packed file of "},
		"two":         {map[string][]byte{"x": array(200_000_000, 200), "y": array(200_000_000, 200)}, "save it by np.savez, not savez_compressed"},
		"fewer there": {map[string][]byte{"x": array(200_000_000, 10)}, "column x: the file is cut short"},
	} {
		file := npzOf(t, c.entries)
		frugal(t, 8, func() {
			if _, err := openNPZ(strings.NewReader(file), int64(len(file)), all); err == nil || !strings.Contains(inFile("f", err).Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		})
	}
}

// onlyPage is a page of a Parquet file that a test makes by hand.
type onlyPage struct {
	header format.PageHeader
	data   string
}

// onlyColumn is a Parquet file of one column, whose footer and pages make the claims of a test.
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

// readParquet returns the numbers of the one column, and the rows that count says there are.
func readParquet(file string) (values []float64, counted int, err error) {
	r, err := openParquet(strings.NewReader(file), int64(len(file)), all)
	if err != nil {
		return nil, 0, err
	}
	defer r.close()
	if counted, err = r.count(); err != nil {
		return nil, 0, err
	}
	for {
		cells, err := r.next()
		if errors.Is(err, io.EOF) {
			return values, counted, nil
		}
		if err != nil {
			return values, counted, err
		}
		values = append(values, cells[0].number)
	}
}

// Footer, groups of rows, chunks of columns and pages all say how many rows there are. Where they disagree, rows
// would be left out in silence.
func TestParquetRowsAgree(t *testing.T) {
	three := dataPage(3, format.Plain, int32s(5, 6, 7))
	whole := onlyColumn{kind: format.Int32, fileRows: 3, rows: 3, values: 3, pages: []onlyPage{three}}
	if got, n, err := readParquet(whole.file(t)); err != nil || n != 3 || !slices.Equal(got, []float64{5, 6, 7}) {
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
		if got, n, err := readParquet(changed.file(t)); err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
			t.Errorf("%s: %v, %d rows, %v; want %s", name, got, n, err, c.want)
		}
	}
}

// zstdBomb is a frame of so many blocks, each of 128 KiB of one byte.
func zstdBomb(blocks int) string {
	const windowOf128K = "\x38"
	block := func(last int) string {
		head := last | 1<<1 | (128<<10)<<3 // run-length
		return string([]byte{byte(head), byte(head >> 8), byte(head >> 16), 'x'})
	}
	return "\x28\xb5\x2f\xfd\x00" + windowOf128K + strings.Repeat(block(0), blocks-1) + block(1)
}

// A few bytes of a page can say that a value is repeated two billion times, and the library would allocate them all.
// A page that unpacks to more than it claims, too.
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
		"a small run":       {with(one, dictionaryPage(2, int32s(5, 7)), dataPage(1, format.RLEDictionary, "\x01"+run(1, "\x01"))), ""},
		"a run":             {with(one, dictionaryPage(2, int32s(5, 7)), dataPage(1, format.RLEDictionary, "\x01"+run(billions, "\x01"))), more},
		"runs":              {with(one, dictionaryPage(2, int32s(5, 7)), dataPage(1, format.RLEDictionary, "\x01"+strings.Repeat(run(1<<26, "\x01"), 40))), more},
		"no bits":           {with(one, dictionaryPage(1, int32s(7)), dataPage(1, format.RLEDictionary, "\x00"+run(billions, ""))), more},
		"small levels":      {with(optional, dataPage(1, format.Plain, prefixed(run(1, "\x01"))+int32s(7))), ""},
		"levels":            {with(optional, dataPage(1, format.Plain, prefixed(run(billions, "\x01"))+int32s(7))), more},
		"booleans":          {with(boolean, dataPage(1, format.RLE, prefixed(run(billions, "\x01")))), more},
		"differences":       {with(one, dataPage(1, format.DeltaBinaryPacked, delta(1<<30))), more},
		"a difference":      {with(one, dataPage(1, format.DeltaBinaryPacked, delta(1))), ""},
		"lengths":           {with(text, dataPage(1, format.DeltaLengthByteArray, delta(1<<30))), more},
		"prefixes":          {with(text, dataPage(1, format.DeltaByteArray, delta(1<<30))), more},
		"gzip":              {unpacking(format.Gzip, gzipBomb(t, "", "\x00", 2000)), "a page unpacks to more than its header claims"},
		"zstd":              {unpacking(format.Zstd, zstdBomb(10_000)), "a page unpacks to more than its header claims"},
		"snappy":            {snappy, "a page unpacks to more than its header claims"},
		"pages of a value":  {many, "the file unpacks to more than 256 MB, the most for a packed file of "},
		"an unknown scheme": {unpacking(99, ""), "compressed in an unknown way; save it by snappy"},
	} {
		file := c.column.file(t)
		frugal(t, 24, func() {
			got, _, err := readParquet(file)
			if c.want == "" && (err != nil || !slices.Equal(got, []float64{7})) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		})
	}
}

// Pages count even if they have nothing: any number of columns may claim the same ones.
func TestParquetEmptyPagesCount(t *testing.T) {
	column := onlyColumn{kind: format.Int32}
	for range 3 {
		column.pages = append(column.pages, dataPage(0, format.Plain, ""))
	}
	file := column.file(t)
	meta := &format.ColumnMetaData{DataPageOffset: 4, TotalCompressedSize: int64(strings.LastIndex(file, compact(t, &column.pages[2].header)) + len(compact(t, &column.pages[2].header)) - 4)}
	for pages, want := range map[int64]string{3: "", 2: "the file unpacks to more than 256 MB"} {
		left := pages * mostOverhead
		got, err := pagesOf(strings.NewReader(file), int64(len(file)), meta, &left)
		if want == "" && (err != nil || len(got) != 3) || want != "" && (err == nil || !strings.Contains(inFile("f", err).Error(), want)) {
			t.Errorf("%d pages: %d, %v", pages, len(got), err)
		}
	}
}

// Categories take memory after they were read, as many values for each cell as there are, and nothing else bounds that.
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

// Where a file says how many rows it has, its values are allocated once.
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
