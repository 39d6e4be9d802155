package table

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// oneTable returns a table of two rows in each format, by the ending of its name.
func oneTable(t *testing.T) map[string]string {
	t.Helper()
	const csv = "x,y\n1,a\n2,b\n"
	type row struct {
		X float64 `parquet:"x"`
		Y string  `parquet:"y"`
	}
	return map[string]string{
		".csv":     csv,
		".csv.gz":  gzipped(t, csv),
		".parquet": parquetFile(t, 2, row{1, "a"}, row{2, "b"}),
		".npz": npz(t, zip.Store, map[string]string{
			"x": npy(1, head("<f8", "False", "(2,)"), []float64{1, 2}),
			"y": npy(1, head("<U1", "False", "(2,)"), []uint32{'a', 'b'}),
		}),
	}
}

// passes infers, describes, counts and reads a file, and returns all results and errors.
func passes(f *File) []any {
	s, inferred := Infer(f, Options{Label: "y"})
	d, described := f.Describe(Options{})
	n, counted := s.Count(f)
	out := []any{s, inferred, d, described, n, counted}
	for _, use := range []Use{Training, Testing, Predicting} {
		samples, err := s.Read(f, use)
		out = append(out, samples, err)
	}
	return out
}

// Only Open uses the name of a file. If another file takes the name afterwards, or it is removed, all passes still read
// the file that was opened.
func TestFilesAreOpenedOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open keep their names")
	}
	for format, contents := range oneTable(t) {
		path := put(t, "x"+format, contents)
		f := open(t, path)
		want := passes(f)
		for _, i := range []int{1, 3, 5, 7, 9, 11} {
			if want[i] != nil {
				t.Fatalf("%s: %v", format, want[i])
			}
		}
		other := put(t, "other"+format, strings.Repeat("another file\n", 10))
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
		if got := passes(f); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, replaced: %v, want %v", format, got, want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if got := passes(f); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, removed: %v, want %v", format, got, want)
		}
	}
}

// A file that was written to between two passes is an error.
func TestChangedFilesAreRefused(t *testing.T) {
	later := time.Now().Add(time.Hour)
	for how, change := range map[string]func(path, contents string) error{
		"longer":  func(path, contents string) error { return os.WriteFile(path, []byte(contents+contents), 0o600) },
		"shorter": func(path, contents string) error { return os.Truncate(path, int64(len(contents)-1)) },
		"empty":   func(path, contents string) error { return os.Truncate(path, 0) },
		"as long": func(path, contents string) error {
			return errors.Join(os.WriteFile(path, []byte(contents), 0o600), os.Chtimes(path, later, later))
		},
		"longer, as old": func(path, contents string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(path, []byte(contents+contents), 0o600), os.Chtimes(path, time.Time{}, info.ModTime()))
		},
		"older now": func(path, contents string) error { return os.Chtimes(path, time.Time{}, later.Add(-48*time.Hour)) },
	} {
		for format, contents := range oneTable(t) {
			path := put(t, "x"+format, contents)
			f := open(t, path)
			s, err := Infer(f, Options{Label: "y"})
			if err != nil {
				t.Fatal(err)
			}
			if err := change(path, contents); err != nil {
				t.Fatal(err)
			}
			_, inferred := Infer(f, Options{Label: "y"})
			_, described := f.Describe(Options{})
			n, counted := s.Count(f)
			samples, read := s.Read(f, Training)
			if n != 0 || samples != nil {
				t.Errorf("%s, %s: %d rows were counted, %v were read", format, how, n, samples)
			}
			for _, err := range []error{inferred, described, counted, read} {
				var e *Error
				if want := path + ": it has changed since it was opened; run again when nothing writes to it"; !errors.As(err, &e) || err.Error() != want {
					t.Errorf("%s, %s: %v, want %s", format, how, err, want)
				}
			}
		}
	}
}

// If a file changes during a pass, the error says so, whatever the pass returns.
func TestFilesThatChangeDuringAPass(t *testing.T) {
	path := put(t, "x.csv", "x,y\n1,a\n2,b\n")
	for name, result := range map[string]error{"read": nil, "wrong": errors.New("a row of half a line")} {
		f := open(t, path)
		err := f.pass(nil, func(rows) error {
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(path, later, later.Add(time.Duration(len(name))*time.Second)); err != nil {
				t.Fatal(err)
			}
			return result
		})
		if err == nil || !strings.Contains(err.Error(), "it has changed since it was opened") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A nil file, as after an overlooked error, and a closed file give errors.
func TestNoFile(t *testing.T) {
	s := publicSchema(t)
	closed := open(t, put(t, "x.csv", "x,c,y\n1,red,a\n"))
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*File{"nil": nil, "closed": closed} {
		_, inferred := Infer(f, Options{Label: "y"})
		_, described := f.Describe(Options{})
		_, counted := s.Count(f)
		_, read := s.Read(f, Testing)
		for _, err := range []error{inferred, described, counted, read} {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
	}
	f, err := Open(filepath.Join(t.TempDir(), "none.csv"))
	if f != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that isn't there: %v, %v", f, err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("a nil file is closed: %v", err)
	}
}
