package table

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// npy writes an array of little-endian data as NumPy does.
func npy(version byte, header string, data any) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\x93NUMPY%c\x00", version)
	header += strings.Repeat(" ", (128-len(header)%64)%64) + "\n"
	if version == 1 {
		_ = binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	} else {
		_ = binary.Write(&b, binary.LittleEndian, uint32(len(header)))
	}
	b.WriteString(header)
	if data != nil {
		_ = binary.Write(&b, binary.LittleEndian, data)
	}
	return b.String()
}

func head(descr, order, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
}

// npz packs arrays, in the order of their names.
func npz(t testing.TB, method uint16, arrays map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	var names []string
	for name := range arrays {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		if err == nil {
			_, err = io.WriteString(f, arrays[name])
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

// All types, byte orders, axis orders and versions give the same numbers.
func TestNPYTypes(t *testing.T) {
	swapped := func(data any) []byte {
		var b bytes.Buffer
		_ = binary.Write(&b, binary.BigEndian, data)
		return b.Bytes()
	}
	want := []float32{0, 1, 2, 3, 4, 5} // of shape [2 3]
	for name, array := range map[string]string{
		"f8":          npy(1, head("<f8", "False", "(2, 3)"), []float64{0, 1, 2, 3, 4, 5}),
		"f4":          npy(2, head("<f4", "False", "(2, 3)"), []float32{0, 1, 2, 3, 4, 5}),
		"f2":          npy(1, head("<f2", "False", "(2, 3)"), []uint16{0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500}),
		"i1":          npy(3, head("|i1", "False", "(2, 3)"), []int8{0, 1, 2, 3, 4, 5}),
		"i2":          npy(1, head("<i2", "False", "(2, 3)"), []int16{0, 1, 2, 3, 4, 5}),
		"i4":          npy(1, head("<i4", "False", "(2, 3)"), []int32{0, 1, 2, 3, 4, 5}),
		"i8":          npy(1, head("<i8", "False", "(2, 3)"), []int64{0, 1, 2, 3, 4, 5}),
		"u1":          npy(1, head("|u1", "False", "(2, 3)"), []uint8{0, 1, 2, 3, 4, 5}),
		"u8":          npy(1, head("<u8", "False", "(2, 3)"), []uint64{0, 1, 2, 3, 4, 5}),
		"big-endian":  npy(1, head(">i4", "False", "(2, 3)"), swapped([]int32{0, 1, 2, 3, 4, 5})),
		"big f8":      npy(1, head(">f8", "False", "(2, 3)"), swapped([]float64{0, 1, 2, 3, 4, 5})),
		"Fortran":     npy(1, head("<f4", "True", "(2, 3)"), []float32{0, 3, 1, 4, 2, 5}),
		"other order": npy(1, `{"shape":(2,3),"fortran_order":False,"descr":"<i2"}`, []int16{0, 1, 2, 3, 4, 5}),
		"Python 2":    npy(1, head("<i2", "False", "(2L, 3L)"), []int16{0, 1, 2, 3, 4, 5}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, method := range []uint16{zip.Store, zip.Deflate} {
				path := put(t, "x.npz", npz(t, method, map[string]string{
					"x": array, "y": npy(1, head("|b1", "False", "(2,)"), []uint8{1, 0}),
				}))
				s, got, err := read(t, path, Options{Label: "y"})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Values, want) || !slices.Equal(got.Classes, []int32{1, 0}) || !slices.Equal(s.Shape, []int{3}) {
					t.Errorf("%+v of shape %v", got, s.Shape)
				}
			}
		})
	}
}

func TestHalves(t *testing.T) {
	for bits, want := range map[uint16]float64{0x0001: 0x1p-24, 0x03ff: 1023 * 0x1p-24, 0x0400: 0x1p-14, 0x7bff: 65504, 0xc000: -2, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1)} {
		if got := half(bits); got != want {
			t.Errorf("%#x is %v, want %v", bits, got, want)
		}
	}
	if got := half(0x7c01); got == got {
		t.Errorf("a NaN is %v", got)
	}
}

// Images keep their shape, and Fortran order becomes C order. The oracle indexes the array by a formula.
func TestFortranOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 4), 2, 4).Draw(t, "shape")
		size := product(shape)
		data := make([]int32, size)
		value := func(index []int) int32 { // any function of the index
			v := 0
			for _, i := range index {
				v = 10*v + i
			}
			return int32(v)
		}
		index := make([]int, len(shape))
		for k := range data { // the first axis moves fastest
			for axis, rest := 0, k; axis < len(shape); axis++ {
				index[axis] = rest % shape[axis]
				rest /= shape[axis]
			}
			data[k] = value(index)
		}
		text := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ")
		a, err := newNPYArray(strings.NewReader(npy(1, head("<i4", "True", "("+text+")"), data)), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for row := range shape[0] {
			cells, err := a.next(nil)
			if err != nil {
				t.Fatal(err)
			}
			for k, c := range cells { // the last axis moves fastest
				index[0] = row
				for axis, rest := len(shape)-1, k; axis > 0; axis-- {
					index[axis] = rest % shape[axis]
					rest /= shape[axis]
				}
				if c.number != float64(value(index)) {
					t.Fatalf("row %d, value %d is %v, want %d", row, k, c.number, value(index))
				}
			}
		}
	})
}

func TestNPZShapesAndText(t *testing.T) {
	words := func(list ...string) []uint32 {
		var out []uint32
		for _, w := range list {
			runes := []rune(w)
			for i := range 5 {
				var r uint32
				if i < len(runes) {
					r = uint32(runes[i])
				}
				out = append(out, r)
			}
		}
		return out
	}
	images := make([]uint8, 2*3*4)
	for i := range images {
		images[i] = uint8(i)
	}
	path := put(t, "x.npz", npz(t, zip.Deflate, map[string]string{
		"images": npy(1, head("|u1", "False", "(2, 3, 4)"), images),
		"names":  npy(1, head("<U5", "False", "(2,)"), words("grün", "rot")),
		"extra":  npy(1, head("|O", "False", "(7,)"), []uint8{1, 2, 3}),
	}))
	s, got, err := read(t, path, Options{Label: "names", Ignore: []string{"extra"}, Scale: map[string][2]float64{"images": {10, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Shape, []int{3, 4}) || !slices.Equal(s.Label.Classes, []string{"grün", "rot"}) || got.Values[5] != -2.5 || got.Classes[1] != 1 {
		t.Errorf("%+v, %+v", s, got)
	}
	if n, err := s.Count(open(t, path)); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// No claim is allocated: that would end the test.
func TestWrongNPZ(t *testing.T) {
	label := npy(1, head("|u1", "False", "(2,)"), []uint8{1, 0})
	const huge = "(2, 500000000)"
	for name, c := range map[string]struct{ array, want string }{
		"no magic":      {"NUMPY", "column x: not a NumPy array"},
		"version":       {npy(4, head("<f4", "False", "(2,)"), []float32{1, 2}), "an unknown version of NumPy's format; 1 to 3 can be read, or ignore it by --ignore x; its version is 4"},
		"cut header":    {npy(1, head("<f4", "False", "(2,)"), nil)[:40], "the file is cut short"},
		"header's size": {"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", "a header of more than 65536 bytes, or ignore it by --ignore x; it claims 4294967295"},
		"no header":     {npy(1, "", nil), "its header can't be read"},
		"missing key":   {npy(1, "{'descr': '<f4', 'shape': (2,)}", nil), "its header can't be read"},
		"another key":   {npy(1, "{'descr': '<f4', 'shape': (2,), 'color': 3}", nil), "its header can't be read"},
		"twice":         {npy(1, "{'descr': '<f4', 'descr': '<f4', 'shape': (2,)}", nil), "its header can't be read"},
		"negative":      {npy(1, head("<f4", "False", "(2, -3)"), nil), "its header can't be read"},
		"objects":       {npy(1, head("|O", "False", "(2,)"), nil), "elements that are Python objects; save it as numbers, booleans or text"},
		"structured":    {npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", nil), "of a structured array, save each field as an array"},
		"complex":       {npy(1, head("<c8", "False", "(2,)"), nil), `another type; save it as numbers, booleans or text, or ignore it by --ignore x; its type is "<c8"`},
		"empty text":    {npy(1, head("<U0", "False", "(2,)"), nil), `its type is "<U0"`},
		"scalar":        {npy(1, head("<f4", "False", "()"), []float32{1}), "no column is left to learn from; y and x have different numbers of rows"},
		"other length":  {npy(1, head("<f4", "False", "(3,)"), []float32{1, 2, 3}), "no column is left to learn from; y and x have different numbers of rows"},
		"no values":     {npy(1, head("<f4", "False", "(2, 0)"), nil), "rows of no values, or of more than 16777216, or ignore it by --ignore x; its shape is [2 0]"},
		"short":         {npy(1, head("<f4", "False", "(2, 2)"), []float32{1, 2, 3}), "row 2, column x: the file is cut short"},
		"long":          {npy(1, head("<f4", "False", "(2, 2)"), []float32{1, 2, 3, 4, 5}), "column x: it has more bytes than its shape takes"},
		"huge":          {npy(1, head("<f8", "False", huge), []float64{1}), "column x: the file is cut short"},
		"huge, Fortran": {npy(1, head("<f8", "True", "(2, 16000000)"), []float64{1}), "column x: the file is cut short"},
		"overflow":      {npy(1, head("<f8", "False", "(2, 9223372036854775807, 9)"), nil), "more than 4294967296 values"},
		"surrogate":     {npy(1, head("<U1", "False", "(2,)"), []uint32{0xd800, 'a'}), "row 1, column x: not UTF-8 text"},
		"NaN":           {npy(1, head("<f4", "False", "(2, 2)"), []float32{1, 2, 3, float32(math.NaN())}), `row 2, column x[1]: no value (empty, NaN, NA or the like); fill it in, or leave the row out`},
	} {
		t.Run(name, func(t *testing.T) {
			path := put(t, "x.npz", npz(t, zip.Deflate, map[string]string{"x": c.array, "y": label}))
			if _, _, err := read(t, path, Options{Label: "y"}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	packed := npz(t, zip.Store, map[string]string{"x": npy(1, head("<f4", "False", "(2,)"), []float32{1, 2}), "y": label})
	damaged := []byte(packed)
	damaged[bytes.Index(damaged, []byte("\x80?\x00\x00\x00@"))] ^= 1 // another number, which the checksum detects
	for name, c := range map[string]struct{ file, want string }{
		"cut short":  {packed[:len(packed)-30], "not an NPZ archive"},
		"no array":   {npz(t, zip.Store, nil), "no columns"},
		"other file": {strings.ReplaceAll(packed, "x.npy", "x.txt"), `entry 1 is no .npy array; save the arrays alone, by np.savez; it is called "x.txt"`},
		"twice":      {strings.ReplaceAll(packed, "x.npy", "y.npy"), `have one name; rename one, or leave it out; they are called "y"`},
		"damaged":    {string(damaged), "checksum error"},
	} {
		if _, _, err := read(t, put(t, "x.npz", c.file), Options{Label: "y"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// An unpacker returns its error again when it is closed.
func TestDamagedNPZIsOneError(t *testing.T) {
	var packed, archive bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestSpeed)
	_, _ = w.Write([]byte(npy(1, head("<i8", "False", "(4,)"), []int64{0, 1, 1}))) // and nothing for the fourth
	_ = w.Flush()
	packed.WriteByte(0xff) // there are no blocks of type 3
	z := zip.NewWriter(&archive)
	entry, err := z.CreateRaw(&zip.FileHeader{Name: "y.npy", Method: zip.Deflate, CompressedSize64: uint64(packed.Len()), UncompressedSize64: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = entry.Write(packed.Bytes())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := put(t, "x.npz", archive.String())
	s := &Schema{Label: Label{Name: "y", Task: Classification, Classes: []string{"0", "1"}}}
	_, err = s.Read(open(t, path), Training)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), path+": row 4, column y: it is damaged") {
		t.Errorf("read: %v", err)
	}
	if n, err := s.Count(open(t, path)); n != 4 || err != nil {
		t.Errorf("count: %d, %v", n, err)
	}
}

// A row may have 2²⁴ values and no more.
func TestNPZWidth(t *testing.T) {
	for width, want := range map[int]string{1 << 24: "", 1<<24 + 1: "rows of no values, or of more than 16777216"} {
		file := npz(t, zip.Deflate, map[string]string{"x": npy(1, head("|u1", "False", fmt.Sprintf("(1, %d)", width)), make([]byte, width))})
		r, err := openNPZ(strings.NewReader(file), int64(len(file)), all)
		if err != nil || r.fields()[0].problem != want {
			t.Errorf("%d values: %v, %v, want %q", width, r, err, want)
		}
	}
}

// An array in Fortran order is read at once, if there is memory for it; one in C order isn't.
func TestFortranOrderChecksMemory(t *testing.T) {
	defer func(was func() (uint64, bool)) { available = was }(available)
	for _, c := range []struct {
		order string
		free  uint64
		want  string
	}{
		{"True", 2400, ""},
		{"True", 2399, "2400 bytes more memory, and the machine has 2399 bytes left"},
		{"False", 0, ""},
	} {
		available = func() (uint64, bool) { return c.free, true }
		a, err := newNPYArray(strings.NewReader(npy(1, head("<f8", c.order, "(100, 3)"), make([]float64, 300))), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		cells, err := a.next(nil)
		if c.want == "" && (err != nil || len(cells) != 3) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("order %s, %d bytes free: %v, want %q", c.order, c.free, err, c.want)
		}
	}
}

// A label that isn't finite is an error in both tasks.
func TestLabelsAreFinite(t *testing.T) {
	for _, task := range []Task{"", Classification, Regression} {
		for _, wrong := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			path := put(t, "x.npz", npz(t, zip.Store, map[string]string{
				"x": npy(1, head("<f8", "False", "(3,)"), []float64{1, 2, 3}),
				"y": npy(1, head("<f8", "False", "(3,)"), []float64{0, 1, wrong}),
			}))
			want := "row 3, column y: not a"
			if math.IsNaN(wrong) {
				want = "row 3, column y: no label (empty, NaN"
			}
			if _, _, err := read(t, path, Options{Label: "y", Task: task}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("task %q, label %v: %v", task, wrong, err)
			}
		}
	}
}
