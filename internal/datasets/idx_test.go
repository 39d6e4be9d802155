package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// encodeIDX encodes an array that DecodeIDX decodes.
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

func TestDecodeIDXRoundTrip(t *testing.T) {
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
		lengths, values, err := DecodeIDX(file, len(dims))
		if err != nil || !slices.Equal(lengths, dims) || !bytes.Equal(values, data) {
			t.Fatalf("read %v %v, %v, want %v %v", lengths, values, err, dims, data)
		}
	})
}

// badIDX are files that DecodeIDX must refuse, and its messages.
var badIDX = map[string]struct {
	file []byte
	want string
}{
	"empty":               {nil, "read the idx header: EOF"},
	"short magic":         {[]byte{0, 0, 8}, "read the idx header: unexpected EOF"},
	"other magic":         {[]byte("PNG, say"), "not an idx file of unsigned bytes: it begins with 504e472c"},
	"floats":              {[]byte{0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0}, "not an idx file of unsigned bytes: it begins with 00000d01"},
	"no axes":             {[]byte{0, 0, 8, 0}, "not an idx file"},
	"another axis":        {encodeIDX([]int{1, 1, 1, 1}, []byte{1}), "4 axes, want 3"},
	"short header":        {[]byte{0, 0, 8, 3, 0, 0, 0, 1, 0, 0}, "read the idx header: unexpected EOF"},
	"empty axis":          {encodeIDX([]int{2, 0}, nil), "an array of the lengths [2 0] has no values"},
	"overflow":            {encodeIDX([]int{1<<31 - 1, 1<<31 - 1, 4}, nil), "or too many"},
	"too large":           {encodeIDX([]int{1 << 16, 1 << 15}, nil), "or too many"},
	"truncated":           {encodeIDX([]int{2, 2}, []byte{1, 2, 3}), "value 3 of 4: the file ends here"},
	"trailing":            {encodeIDX([]int{2, 2}, []byte{1, 2, 3, 4, 5}), "more than the 4 values that the header announces"},
	"gzip header":         {[]byte{0x1f, 0x8b, 0, 0}, "unpack: "},
	"gzip truncated":      {cut(compress(encodeIDX([]int{4}, []byte{1, 2, 3, 4})), 4), "value 4 of 4: the file ends here"},
	"gzip corrupt":        {flip(compress(encodeIDX([]int{4}, []byte{1, 2, 3, 4})), 6), "value 4 of 4: gzip: invalid checksum"},
	"gzip trailing":       {append(compress(encodeIDX([]int{1}, []byte{1})), 1, 2, 3), "value 1 of 1: "},
	"gzip second member":  {append(compress(encodeIDX([]int{1}, []byte{1})), compress([]byte{2})...), "more than the 1 values"},
	"gzip short contents": {compress(encodeIDX([]int{4}, []byte{1})), "value 1 of 4: the file ends here"},
}

// axesOf returns the number of axes to pass to DecodeIDX, which most of the files have.
func axesOf(file []byte) int {
	if len(file) < 4 || bytes.HasPrefix(file, gzipMagic) {
		return 1
	}
	return min(3, int(file[3]))
}

func cut(b []byte, n int) []byte { return b[:len(b)-n] }

// flip inverts the byte at n from the end.
func flip(b []byte, n int) []byte {
	b[len(b)-n] ^= 0xff
	return b
}

func TestDecodeIDXRefuses(t *testing.T) {
	for name, c := range badIDX {
		t.Run(name, func(t *testing.T) {
			_, _, err := DecodeIDX(c.file, axesOf(c.file))
			checkError(t, err, ErrInvalid, c.want)
		})
	}
}

// A header that announces 2 GiB must not make the parser allocate them.
func TestDecodeIDXLyingHeader(t *testing.T) {
	file := encodeIDX([]int{1<<31 - 1}, make([]byte, 100))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := DecodeIDX(file, 1)
	runtime.ReadMemStats(&after)
	checkError(t, err, ErrInvalid, "value 100 of 2147483647: the file ends here")
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("allocated %d bytes for a file of %d", used, len(file))
	}
}

func FuzzDecodeIDX(f *testing.F) {
	for _, c := range badIDX {
		f.Add(c.file)
	}
	f.Add(encodeIDX([]int{2, 2, 2}, []byte("eight by")))
	f.Add(compress(encodeIDX([]int{3}, []byte{1, 2, 3})))
	f.Fuzz(func(t *testing.T, file []byte) {
		axes := axesOf(file)
		lengths, values, err := DecodeIDX(file, axes)
		if err != nil {
			return
		}
		again, same, err := DecodeIDX(encodeIDX(lengths, values), axes)
		if err != nil || !slices.Equal(lengths, again) || !bytes.Equal(values, same) {
			t.Fatalf("%v %v read back as %v %v, %v", lengths, values, again, same, err)
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
	e := &entry{info: Info{Name: "tiny", Classes: 3}, images: idxImages, normalisation: Normalisation{[]float64{0}, []float64{0.5}}}
	o := options(t)
	o.Dir = t.TempDir()
	dir := filepath.Join(o.Dir, "tiny")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, files)
	for _, name := range []string{trainImages, trainLabels, testImages, testLabels} {
		if files[name] == nil {
			name += ".gz"
		}
		text := files[name]
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
}

func TestOpenIDXRefuses(t *testing.T) {
	for _, c := range []struct {
		name, file string
		contents   []byte
		want       string
	}{
		{"labels for images", trainImages, encodeIDX([]int{3}, make([]byte, 3)), trainImages + ": 1 axes, want 3"},
		{"truncated", trainImages, encodeIDX([]int{3, 2, 2}, make([]byte, 7)), trainImages + ": value 7 of 12: the file ends here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := tinyIDX()
			files[c.file] = c.contents
			e, o := tinyIDXEntry(t, files)
			_, err := e.open(t.Context(), o)
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
