package table

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
)

// walk reads a file to its end. Each row must have the cells of all columns, errors must be an [Error], and if headers
// state the number of rows, as many must be read. Nothing may panic. It returns the last error.
func walk(t *testing.T, r rows, err error) error {
	t.Helper()
	counted, n := 0, 0
	if err == nil {
		counted = r.known()
	}
	defer func() {
		if errors.Is(err, io.EOF) && counted > 0 && n != counted {
			t.Fatalf("%d rows of %d", n, counted)
		}
	}()
	for ; err == nil && n < 1000; n++ {
		var cells []cell
		if cells, err = r.next(); err == nil {
			width := 0
			for _, f := range r.fields() {
				width += f.width()
			}
			if len(cells) != width {
				t.Fatalf("%s: %d cells in %d columns", r.where(), len(cells), len(r.fields()))
			}
			continue
		}
		break
	}
	var told *Error
	if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &told) {
		t.Fatalf("%T: %v", err, err)
	}
	if r != nil {
		_ = r.close()
	}
	return err
}

func all(string) bool { return true }

// frugal runs f and fails if it allocates more than most MB.
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

func FuzzCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "\ufeffa;b\r\n\"1\n\";2", "a\tb\n1\n", "\"", "a,a\n", "\xff\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		frugal(t, 64, func() {
			r, err := openCSV(bytes.NewReader(text), ',', bytes.HasPrefix(text, []byte("\x1f\x8b")))
			walk(t, r, err)
		})
	})
}

func FuzzNPY(f *testing.F) {
	f.Add([]byte(npy(1, head("<f4", "False", "(2, 2)"), []float32{1, 2, 3, 4})))
	f.Add([]byte(npy(2, head(">i8", "True", "(2, 2, 1)"), []int64{1, 2, 3, 4})))
	f.Add([]byte(npy(3, head("<U2", "False", "(1,)"), []uint32{65, 66})))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := newNPYArray(bytes.NewReader(text), uint64(len(text)))
		if err != nil || a.width == 0 {
			return
		}
		for range min(a.length(), 1000) {
			cells, err := a.next(nil)
			if err != nil {
				return
			}
			if len(cells) != a.width {
				t.Fatalf("%d elements in a row of %d", len(cells), a.width)
			}
		}
	})
}

func FuzzNPZ(f *testing.F) {
	label := npy(1, head("|u1", "False", "(2,)"), []uint8{1, 0})
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		f.Add([]byte(npz(f, method, map[string]string{"x": npy(1, head("<f4", "True", "(2, 2)"), []float32{1, 2, 3, 4}), "y": label})))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		frugal(t, 64, func() {
			r, err := openNPZ(bytes.NewReader(file), int64(len(file)), all)
			walk(t, r, err)
		})
	})
}

func FuzzParquet(f *testing.F) {
	f.Add([]byte(parquetRows3(f, 2)))
	f.Add([]byte(parquetFile(f, 5, struct {
		X *float64 `parquet:"x,optional"`
		Y string   `parquet:"y,dict"`
	}{nil, "a"})))
	f.Fuzz(func(t *testing.T, file []byte) {
		frugal(t, 600, func() {
			r, err := openParquet(bytes.NewReader(file), int64(len(file)), all)
			walk(t, r, err)
		})
	})
}
