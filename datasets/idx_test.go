package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// encodeIDX encodes an array that parseIDX parses.
func encodeIDX(dims []int, data []byte) []byte {
	file := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		file = binary.BigEndian.AppendUint32(file, uint32(d))
	}
	return append(file, data...)
}

func compress(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func TestParseIDXRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.SliceOfN(rapid.IntRange(1, 6), 1, 4).Draw(t, "dims")
		size := 1
		for _, d := range dims {
			size *= d
		}
		data := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data")
		file := encodeIDX(dims, data)
		if rapid.Bool().Draw(t, "compressed") {
			file = compress(file)
		}
		a, err := parseIDX(file, io.ReadFull)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.dims, dims) || !bytes.Equal(a.data, data) {
			t.Fatalf("read %v %v, want %v %v", a.dims, a.data, dims, data)
		}
	})
}

// badIDX are files that parseIDX must refuse, and its messages.
var badIDX = map[string]struct {
	file []byte
	want string
}{
	"empty":               {nil, "read the idx header: EOF"},
	"short magic":         {[]byte{0, 0, 8}, "read the idx header: unexpected EOF"},
	"other magic":         {[]byte("PNG, say"), "not an idx file of unsigned bytes: it begins with 504e472c"},
	"floats":              {[]byte{0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0}, "not an idx file of unsigned bytes: it begins with 00000d01"},
	"no axes":             {[]byte{0, 0, 8, 0}, "not an idx file"},
	"short header":        {[]byte{0, 0, 8, 3, 0, 0, 0, 1, 0, 0}, "read the idx header: unexpected EOF"},
	"empty axis":          {encodeIDX([]int{2, 0}, nil), "no values: the lengths of the axes are [2 0]"},
	"overflow":            {encodeIDX([]int{1<<31 - 1, 1<<31 - 1, 4}, nil), "are too large"},
	"too large":           {encodeIDX([]int{1 << 16, 1 << 15}, nil), "are too large"},
	"truncated":           {encodeIDX([]int{2, 2}, []byte{1, 2, 3}), "value 3 of 4: the file ends here"},
	"trailing":            {encodeIDX([]int{2, 2}, []byte{1, 2, 3, 4, 5}), "more than the 4 values that the header announces"},
	"gzip header":         {[]byte{0x1f, 0x8b, 0, 0}, "unpack: "},
	"gzip truncated":      {cut(compress(encodeIDX([]int{4}, []byte{1, 2, 3, 4})), 4), "after the last value: unexpected EOF"},
	"gzip corrupt":        {flip(compress(encodeIDX([]int{4}, []byte{1, 2, 3, 4})), 6), "after the last value: gzip: invalid checksum"},
	"gzip trailing":       {append(compress(encodeIDX([]int{1}, []byte{1})), 1, 2, 3), "after the last value: "},
	"gzip second member":  {append(compress(encodeIDX([]int{1}, []byte{1})), compress([]byte{2})...), "more than the 1 values"},
	"gzip short contents": {compress(encodeIDX([]int{4}, []byte{1})), "value 1 of 4: the file ends here"},
}

func cut(b []byte, n int) []byte { return b[:len(b)-n] }

// flip inverts the byte at n from the end.
func flip(b []byte, n int) []byte {
	b[len(b)-n] ^= 0xff
	return b
}

func TestParseIDXRefuses(t *testing.T) {
	for name, c := range badIDX {
		t.Run(name, func(t *testing.T) {
			_, err := parseIDX(c.file, io.ReadFull)
			checkError(t, err, ErrInvalid, c.want)
		})
	}
}

// A header that announces 2 GiB must not make the parser allocate them.
func TestParseIDXLyingHeader(t *testing.T) {
	file := encodeIDX([]int{1<<31 - 1}, make([]byte, 100))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := parseIDX(file, io.ReadFull)
	runtime.ReadMemStats(&after)
	checkError(t, err, ErrInvalid, "value 100 of 2147483647: the file ends here")
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("allocated %d bytes for a file of %d", used, len(file))
	}
}

// Memory that is bounded by the size of the file still holds the values that compress best.
func TestParseIDXOfZeros(t *testing.T) {
	const n = 1 << 22
	a, err := parseIDX(compress(encodeIDX([]int{n}, make([]byte, n))), io.ReadFull)
	if err != nil || len(a.data) != n {
		t.Error(err)
	}
}

func FuzzParseIDX(f *testing.F) {
	for _, c := range badIDX {
		f.Add(c.file)
	}
	f.Add(encodeIDX([]int{2, 2, 2}, []byte("eight by")))
	f.Add(compress(encodeIDX([]int{3}, []byte{1, 2, 3})))
	f.Fuzz(func(t *testing.T, file []byte) {
		a, err := parseIDX(file, io.ReadFull)
		if err != nil {
			return
		}
		again, err := parseIDX(encodeIDX(a.dims, a.data), io.ReadFull)
		if err != nil || !slices.Equal(a.dims, again.dims) || !bytes.Equal(a.data, again.data) {
			t.Fatalf("%v %v read back as %v, %v", a.dims, a.data, again, err)
		}
	})
}

// tinyIDX returns the four files of a valid set of 2x2 images in three classes.
func tinyIDX() map[string][]byte {
	return map[string][]byte{
		trainImages: encodeIDX([]int{3, 2, 2}, []byte{0, 51, 102, 153, 204, 255, 0, 0, 0, 0, 0, 1}),
		trainLabels: encodeIDX([]int{3}, []byte{2, 0, 1}),
		testImages:  encodeIDX([]int{1, 2, 2}, []byte{255, 0, 0, 255}),
		testLabels:  encodeIDX([]int{1}, []byte{1}),
	}
}

func writeFiles(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, contents := range files {
		if err := os.WriteFile(filepath.Join(dir, name), contents, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tinyIDXEntry returns the data set of these files, and options for the folder that they are in.
func tinyIDXEntry(t *testing.T, files map[string][]byte) (*entry, Options) {
	t.Helper()
	d := idxSet{name: "tiny", classes: 3, mean: 0, std: 0.5}
	e := &entry{info: Info{Name: "tiny"}, images: d.images, load: d.load}
	o := options(t)
	o.Dir = t.TempDir()
	dir := filepath.Join(o.Dir, "tiny")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, files)
	for name, text := range files {
		sum := sha256.Sum256(text)
		e.files = append(e.files, file{name: name, sum: Checksum(sha256Prefix + hex.EncodeToString(sum[:]))})
	}
	return e, o
}

func TestOpenIDX(t *testing.T) {
	files := tinyIDX()
	files[testImages+".gz"] = compress(files[testImages])
	delete(files, testImages)
	e, o := tinyIDXEntry(t, files)
	set, err := e.open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if set.Name != "tiny" || set.Train.N != 3 || set.Test.N != 1 || set.Train.Classes != 3 ||
		!slices.Equal(set.Train.SampleShape, []int{1, 2, 2}) || !slices.Equal(set.Train.Labels, []int32{2, 0, 1}) ||
		!slices.Equal(set.Test.Samples, []float32{2, 0, 0, 2}) {
		t.Errorf("read %+v", set)
	}
	raw, err := e.openRaw(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(raw.set(), set); diff != "" {
		t.Errorf("samples of raw images (-) and samples (+)\n%s", diff)
	}
}

// Samples don't depend on the sizes of the parts that a file is unpacked in.
func TestNormalisingReadsAll(t *testing.T) {
	scale := Normalisation{Mean: []float64{0.2}, Std: []float64{0.4}}
	for _, n := range []int{0, 1, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1<<18 + 7} {
		im := Images{N: n, Shape: []int{1}, Pixels: make([]byte, n)}
		for i := range im.Pixels {
			im.Pixels[i] = byte(i % 251)
		}
		want := make([]float32, n)
		im.Normalise(want, 0, scale)
		for name, in := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "error with the last": iotest.DataErrReader,
		} {
			got := make([]float32, n)
			if k, err := scale.readFull(in(bytes.NewReader(append(im.Pixels, 1))), got); k != n || err != nil {
				t.Errorf("%s: read %d of %d pixels, error %v", name, k, n, err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d pixels have other samples", name, n)
			}
			if k, err := scale.readFull(in(bytes.NewReader(im.Pixels)), make([]float32, n+1)); k != n || err == nil {
				t.Errorf("%s: read %d of %d pixels where there are only %d, error %v", name, k, n+1, n, err)
			}
		}
	}
}

func TestOpenIDXRefuses(t *testing.T) {
	for _, c := range []struct {
		name, file string
		contents   []byte
		want       string
	}{
		{"label out of range", testLabels, encodeIDX([]int{1}, []byte{3}), testLabels + ": label 0 is 3, want 0 to 2"},
		{"too few labels", trainLabels, encodeIDX([]int{2}, []byte{0, 1}), trainLabels + " has 2 labels for the 3 images of "},
		{"other shape", testImages, encodeIDX([]int{1, 2, 3}, make([]byte, 6)), "test samples have the shape [1 2 3], training samples [1 2 2]"},
		{"labels for images", trainImages, encodeIDX([]int{3}, make([]byte, 3)), trainImages + ": 1 axes, want 3"},
		{"truncated", trainImages, encodeIDX([]int{3, 2, 2}, make([]byte, 7)), trainImages + ": value 7 of 12: the file ends here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := tinyIDX()
			files[c.file] = c.contents
			e, o := tinyIDXEntry(t, files)
			_, err := e.open(t.Context(), o)
			checkError(t, err, ErrInvalid, c.want)
			raw, err := e.openRaw(t.Context(), o)
			if err == nil {
				err = raw.set().Check()
			}
			checkError(t, err, ErrInvalid, c.want)
		})
	}
	e, o := tinyIDXEntry(t, tinyIDX())
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := e.open(ctx, o)
		checkError(t, err, context.Canceled, "tiny: ")
	})
	t.Run("missing", func(t *testing.T) {
		if err := os.Remove(filepath.Join(o.Dir, "tiny", trainImages)); err != nil {
			t.Fatal(err)
		}
		_, err := e.open(t.Context(), o)
		checkError(t, err, ErrUnavailable, trainImages)
	})
}
