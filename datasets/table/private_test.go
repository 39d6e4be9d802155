package table

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/parquet-go/parquet-go"
)

// secret is part of all cells and names of a private file; numbers have its digits.
const (
	secret       = "5EcR3t"
	secretNumber = 918273645
)

// leaks reports whether a text contains the secret, or a part too long for chance.
func leaks(text string) bool {
	for _, part := range []string{secret, strings.ToLower(secret), secret[:4], secret[2:], fmt.Sprint(secretNumber), "9.18"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// publicSchema returns the schema that private files are read by.
func publicSchema(t testing.TB) *Schema {
	t.Helper()
	s := &Schema{
		Label:   Label{Name: "y", Task: Classification, Classes: []string{"a", "b"}},
		Columns: []Column{{Name: "x"}, {Name: "c", Categories: []string{"red", "green"}}},
		Shape:   []int{3},
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	return s
}

// told reads a file for every use, counts its rows, and returns the errors.
func told(t testing.TB, s *Schema, path string) []error {
	t.Helper()
	var all []error
	for _, use := range []Use{Training, Testing, Predicting} {
		if _, err := s.Read(open(t, path), use); err != nil {
			all = append(all, err)
		}
	}
	if _, err := s.Count(open(t, path)); err != nil {
		all = append(all, err)
	}
	return all
}

// No error's text quotes a cell or a name of a private file.
func TestErrorsKeepSecrets(t *testing.T) {
	s := publicSchema(t)
	regression := *s
	regression.Label = Label{Name: "y", Task: Regression}
	words := func(rows int, w string) string { // an array of text
		var b bytes.Buffer
		for range rows {
			units := utf16.Encode([]rune(w))
			for i := range 8 {
				var r uint32
				if i < len(units) {
					r = uint32(units[i])
				}
				_ = binary.Write(&b, binary.LittleEndian, r)
			}
		}
		return b.String()
	}
	array := func(rows int, w string) string {
		return npy(1, head("<U8", "False", fmt.Sprintf("(%d,)", rows)), nil) + words(rows, w)
	}
	texts := func(x, c, y string) map[string]string {
		return map[string]string{"x": array(2, x), "c": array(2, c), "y": array(2, y)}
	}
	type row struct {
		X string `parquet:"x"`
		C string `parquet:"c"`
		Y string `parquet:"y"`
	}
	type nameless struct {
		A string `parquet:"5EcR3t"`
		Y string `parquet:"y"`
	}
	type typed struct {
		X []string `parquet:"x"`
		C string   `parquet:"c"`
		Y string   `parquet:"y"`
	}
	csv := func(x, c, y string) string { return "x,c,y\n1,red,a\n" + x + "," + c + "," + y + "\n" }
	files := map[string]struct{ name, contents string }{
		"a number":           {"x.csv", csv(secret, "red", "a")},
		"a long number":      {"x.csv", csv(strings.Repeat(secret, 100), "red", "a")},
		"a category":         {"x.csv", csv("1", secret, "a")},
		"a class":            {"x.csv", csv("1", "red", secret)},
		"too large":          {"x.csv", csv(fmt.Sprintf("%de300", secretNumber), "red", "a")},
		"beyond double":      {"x.csv", csv(fmt.Sprintf("%de3000", secretNumber), "red", "a")},
		"cells":              {"x.csv", csv("1", "red", "a,"+secret)},
		"a bare quote":       {"x.csv", csv("1", secret+"\"", "a")},
		"an open quote":      {"x.csv", csv("1", "\""+secret, "a")},
		"a quote inside":     {"x.csv", csv("1", "\""+secret+"\"x\"", "a")},
		"Latin 1":            {"x.csv", csv("1", secret+"\xfc", "a")},
		"no header":          {"x.csv", secret + ",red,a\n" + secret + ",green,b\n"},
		"two names":          {"x.csv", secret + "," + secret + ",y\n"},
		"no name":            {"x.csv", secret + ",,y\n"},
		"a quote in a name":  {"x.csv", secret + "\",y\n"},
		"tabs":               {"x.tsv", strings.ReplaceAll(csv(secret, "red", "a"), ",", "\t")},
		"compressed":         {"x.csv.gz", gzipped(t, csv(secret, "red", "a"))},
		"another archive":    {"x.npz", csv(secret, "red", "a")},
		"another Parquet":    {"x.parquet", csv(secret, "red", "a") + "PAR1"},
		"not compressed":     {"x.csv.gz", csv(secret, "red", "a")},
		"a number in NPZ":    {"x.npz", npz(t, zip.Deflate, texts(secret, "red", "a"))},
		"a category in NPZ":  {"x.npz", npz(t, zip.Deflate, texts("1", secret, "a"))},
		"a class in NPZ":     {"x.npz", npz(t, zip.Deflate, texts("1", "red", secret))},
		"names in NPZ":       {"x.npz", npz(t, zip.Store, map[string]string{secret: array(2, secret), "y": array(2, "a")})},
		"a damaged name":     {"x.npz", npz(t, zip.Store, map[string]string{secret: secret, "y": array(2, "a")})},
		"an entry":           {"x.npz", strings.ReplaceAll(npz(t, zip.Store, map[string]string{secret: ""}), ".npy", ".txt")},
		"a key":              {"x.npz", npz(t, zip.Store, map[string]string{"x": npy(1, "{'"+secret+"': 3}", nil)})},
		"a key twice":        {"x.npz", npz(t, zip.Store, map[string]string{"x": npy(1, "{'descr': '<f4', 'descr': '"+secret+"'}", nil)})},
		"a type":             {"x.npz", npz(t, zip.Store, map[string]string{"x": npy(1, head("<"+secret, "False", "(2,)"), nil)})},
		"a header":           {"x.npz", npz(t, zip.Store, map[string]string{"x": npy(1, secret, nil)})},
		"a version":          {"x.npz", npz(t, zip.Store, map[string]string{"x": "\x93NUMPY" + secret})},
		"a number of axes":   {"x.npz", npz(t, zip.Store, map[string]string{"x": npy(1, head("<f4", "False", fmt.Sprintf("(2, %d)", secretNumber)), nil)})},
		"another shape":      {"x.npz", npz(t, zip.Store, map[string]string{"x": npy(1, head("|u1", "False", "(1, 918273)"), make([]byte, 918273)), "c": array(1, "red"), "y": array(1, "a")})},
		"a number, Parquet":  {"x.parquet", parquetFile(t, 10, row{"1", "red", "a"}, row{secret, "red", "a"})},
		"a category Parquet": {"x.parquet", parquetFile(t, 10, row{"1", secret, "a"})},
		"a class, Parquet":   {"x.parquet", parquetFile(t, 10, row{"1", "red", secret})},
		"names in Parquet":   {"x.parquet", parquetFile(t, 10, nameless{secret, "a"})},
		"a list in Parquet":  {"x.parquet", parquetFile(t, 10, typed{[]string{secret}, "red", "a"})},
	}
	for name, f := range files {
		t.Run(name, func(t *testing.T) {
			path := put(t, f.name, f.contents)
			errs := append(told(t, s, path), told(t, &regression, path)...)
			if len(errs) == 0 {
				t.Fatal("no error")
			}
			for _, err := range errs {
				if leaks(strings.ReplaceAll(err.Error(), path, "")) {
					t.Errorf("leaks: %v", err)
				}
				if !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n") {
					t.Errorf("not one line about the file: %q", err)
				}
			}
		})
	}
}

// Private quotes the cell.
func TestPrivateCitesTheCell(t *testing.T) {
	s := publicSchema(t)
	for name, c := range map[string]struct{ text, want string }{
		"a number":   {"x,c,y\n" + secret + ",red,a\n", `the cell is "` + secret + `"`},
		"a category": {"x,c,y\n1," + secret + ",a\n", `the cell is "` + secret + `"`},
		"a class":    {"x,c,y\n1,red," + secret + "\n", `the cell is "` + secret + `"`},
		"names":      {"x,c," + secret + "\n", `its columns are "x", "c", "` + secret + `"`},
	} {
		_, err := s.Read(open(t, put(t, "x.csv", c.text)), Training)
		var e *Error
		if !errors.As(err, &e) || e.Private != c.want {
			t.Errorf("%s: %+v, want %s", name, e, c.want)
		}
	}
}

// Errors of a public file quote it, so that a person finds the cell.
func TestErrorsOfPublicFilesCite(t *testing.T) {
	twice := put(t, "x.csv", "x,c,x\n1,red,a\n")
	if _, err := Infer(open(t, twice), Options{Label: "y"}); err == nil || !strings.Contains(err.Error(), `they are called "x"`) {
		t.Errorf("infer: %v", err)
	}
	if _, err := open(t, twice).Describe(Options{}); err == nil || !strings.Contains(err.Error(), `they are called "x"`) {
		t.Errorf("describe: %v", err)
	}
}

// Damage anywhere in a file puts none of its cells and names into an error's text.
func TestDamagedFilesKeepSecrets(t *testing.T) {
	s := publicSchema(t)
	type row struct {
		X      string  `parquet:"x"`
		C      string  `parquet:"c,dict"`
		Y      *string `parquet:"y,optional"`
		Hidden string  `parquet:"5EcR3t-n4me"`
		N      int64   `parquet:"n"`
	}
	plain := "x,c,y," + secret + "\n"
	rows := []row{}
	arrays := map[string][]uint32{"x": nil, "c": nil, "y": nil, secret: nil}
	for range 4 {
		plain += strings.Repeat(secret+",", 3) + secret + "\n"
		rows = append(rows, row{secret, secret, new(secret), secret, secretNumber})
		for name := range arrays {
			for _, r := range secret {
				arrays[name] = append(arrays[name], uint32(r))
			}
		}
	}
	packed := map[string]string{}
	for name, data := range arrays {
		packed[name] = npy(1, head("<U6", "False", "(4,)"), data)
	}
	var uncompressed bytes.Buffer
	w := parquet.NewGenericWriter[row](&uncompressed)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(7, 7))
	dir := t.TempDir()
	for name, whole := range map[string]string{
		"x.csv": plain, "x.tsv": strings.ReplaceAll(plain, ",", "\t"), "x.csv.gz": gzipped(t, plain),
		"s.npz": npz(t, zip.Store, packed), "d.npz": npz(t, zip.Deflate, packed),
		"s.parquet": parquetFile(t, 2, rows...), "u.parquet": uncompressed.String(),
	} {
		for range 60 {
			damaged := []byte(whole)
			switch draw.IntN(4) {
			case 0: // some bytes change
				for range 1 + draw.IntN(3) {
					damaged[draw.IntN(len(damaged))] = byte(draw.Uint32())
				}
			case 1: // cut short
				damaged = damaged[:1+draw.IntN(len(damaged)-1)]
			case 2: // a part is missing
				from := draw.IntN(len(damaged) - 1)
				damaged = append(damaged[:from:from], damaged[from+1+draw.IntN(min(20, len(damaged)-from-1)):]...)
			case 3: // a part is repeated elsewhere
				from, to := draw.IntN(len(damaged)), draw.IntN(len(damaged))
				copy(damaged[to:], bytes.Clone(damaged[from:min(len(damaged), from+1+draw.IntN(60))]))
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, err := range told(t, s, path) {
				if leaks(err.Error()) {
					t.Fatalf("%s leaks: %v\n%q", name, err, damaged)
				}
				var e *Error
				var file *fs.PathError
				if !errors.As(err, &e) && !errors.As(err, &file) {
					t.Fatalf("%s: %T: %v", name, err, err)
				}
			}
		}
	}
}
