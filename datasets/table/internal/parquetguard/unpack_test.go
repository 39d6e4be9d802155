package parquetguard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

type row struct {
	X int64  `parquet:"x"`
	Y string `parquet:"y,dict"`
}

// The library's text may cite the file.
func TestParquetLibraryTextIsPrivate(t *testing.T) {
	file := "5EcR" + strings.TrimPrefix(written(t, row{1, "a"}), "PAR1")
	_, _, err := open(file)
	if err == nil || strings.Contains(err.Error(), "5EcR") {
		t.Fatalf("%v", err)
	}
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Private, "5EcR") {
		t.Errorf("in private: %+v; the test shows nothing", e)
	}
}

// A panic of the library may cite the file as well.
func TestPanicsArePrivate(t *testing.T) {
	panics := func() (err error) {
		defer Recover(&err)
		panic("found 5EcR")
	}
	var e *Error
	if err := panics(); !errors.As(err, &e) || strings.Contains(err.Error(), "5EcR") || !strings.Contains(e.Private, "5EcR") {
		t.Errorf("%v; private: %+v", err, e)
	}
}

// Neither a negative number of rows nor an overflow can make the sum of row groups right.
func TestParquetRowGroups(t *testing.T) {
	for _, c := range []struct {
		groups []int64
		total  int64
		good   bool
	}{
		{[]int64{1, 2}, 3, true},
		{[]int64{-1, 4}, 3, false},
		{[]int64{4, -1}, 3, false},
		{[]int64{-3}, -3, false},
		{[]int64{maxRows - 1, 1}, maxRows, true},
		{[]int64{maxRows, 1}, maxRows + 1, false},
		{[]int64{1 << 62, 1 << 62, 1 << 62, 1<<62 + 3}, 3, false},
	} {
		meta := &format.FileMetaData{NumRows: c.total}
		for _, rows := range c.groups {
			meta.RowGroups = append(meta.RowGroups, format.RowGroup{NumRows: rows})
		}
		if n, err := countRows(meta); c.good && (err != nil || int64(n) != c.total) || !c.good && err == nil {
			t.Errorf("groups of %d rows: %d, %v", c.groups, n, err)
		}
	}
}

// packedDeltas encodes numbers with equal differences: a block of 128 in 4 parts whose numbers take no bits.
func packedDeltas(count uint64, first, difference int64) []byte {
	out := binary.AppendUvarint([]byte{0x80, 1, 4}, count)
	out = binary.AppendVarint(binary.AppendVarint(out, first), difference)
	return append(out, 0, 0, 0, 0)
}

// Texts of a page repeat no more bytes than a page may have. Negative lengths don't make up for others.
func TestParquetPrefixes(t *testing.T) {
	const most = 268435456
	for _, c := range []struct {
		count             uint64
		first, difference int64
		good              bool
	}{
		{2, most, -most, true},
		{2, most, 1 - most, false},
		{128, most / 128, 0, true},
		{129, most / 128, 0, false},
		{2, -most, 2 * most, true},
		{2, -most, 2*most + 1, false},
	} {
		if err := checkPrefixes(packedDeltas(c.count, c.first, c.difference)); c.good != (err == nil) || err != nil && !strings.Contains(err.Error(), "a page of more than 268435456 bytes") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The size that a frame claims counts, whatever its contents.
func TestZstdFrameClaims(t *testing.T) {
	frame := func(claimed uint64) []byte { // with an 8-byte size and one raw block of four bytes
		out := binary.LittleEndian.AppendUint64([]byte("\x28\xb5\x2f\xfd\xc0\x38"), claimed)
		return append(out, "\x21\x00\x00abcd"...)
	}
	if got, err := unpack(frame(4), format.Zstd, 4); err != nil || string(got) != "abcd" {
		t.Errorf("%q, %v", got, err)
	}
	for _, claimed := range []uint64{5, 1 << 40} {
		frugal(t, 16, func() {
			if got, err := unpack(frame(claimed), format.Zstd, 4); err == nil || !strings.Contains(err.Error(), "a page unpacks to more than its header claims") {
				t.Errorf("a frame of %d: %q, %v", claimed, got, err)
			}
		})
	}
}

// Runs may have twice the values of their page and 1,024 more, since writers pad groups of eight.
func TestParquetRunsAreFilledUp(t *testing.T) {
	p := &page{kind: format.DataPage, values1: 8}
	repeated := func(n uint64) []byte { return append(binary.AppendUvarint(nil, n<<1), 1) }
	packed := func(groups int) []byte {
		return append(binary.AppendUvarint(nil, uint64(groups)<<1|1), make([]byte, groups)...)
	}
	for name, c := range map[string]struct {
		runs []byte
		good bool
	}{
		"a run":                {repeated(1040), true},
		"a longer run":         {repeated(1041), false},
		"groups":               {packed(130), true},
		"more groups":          {packed(131), false},
		"a run after groups":   {bytes.Join([][]byte{packed(129), repeated(8)}, nil), true},
		"one more than groups": {bytes.Join([][]byte{packed(129), repeated(9)}, nil), false},
	} {
		if err := p.checkRuns(c.runs, 1, 0); c.good != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
