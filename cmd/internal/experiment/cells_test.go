package experiment

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCells(t *testing.T) {
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return b.String()
	}
	for _, c := range []struct{ name, text, column, cells, want string }{
		{"a.csv", "id,x\nA1,2\n\"B,\"\"2\"\"\",3\n", "id", "A1|B,\"2\"", ""},
		{"a.csv", "\ufeff id ;x\nA1;2\n", "id", "A1", ""},
		{"a.tsv", "x\tid\n2\tA 1\n", "id", "A 1", ""},
		{"a.csv.gz", packed("x,id\n2,=1+1\n"), "id", "=1+1", ""},
		{"a.csv", "id,x\n", "id", "", ""},
		{"a.csv", "id,x\n", "y", "", `no column "y"`},
		{"a.csv", "id,id\n1,2\n", "id", "", `two columns "id"`},
		{"a.csv", "", "id", "", "no header line"},
		{"a.csv", "id,x\n1,2\n3\n", "id", "", "line 3: wrong number of fields"},
		{"a.csv", "id,x\n1,SECRET\"2\n", "id", "", "line 2: bare"},
		{"a.csv", "id,x\n1,\"" + strings.Repeat("a\n", maxText), "id", "", "is a quote missing"},
		{"a.csv.gz", "id,x\n", "id", "", "unpack"},
		{"a.parquet", "PAR1", "id", "", "are read from CSV and TSV files"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Cells(path, c.column)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET")):
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		case c.want == "" && (err != nil || strings.Join(got, "|") != c.cells):
			t.Errorf("%.40q: %q, %v, want %q", c.text, got, err, c.cells)
		}
	}
}

// Whatever a file has, its cells are as many as its rows.
func FuzzCells(f *testing.F) {
	f.Add([]byte("id,x\n1,2\n"), "id")
	f.Add([]byte("\ufeffa;b\n\"1\n2\";3"), "b")
	f.Fuzz(func(t *testing.T, text []byte, column string) {
		columns, err := readCells(bytes.NewReader(text), ',', []string{column, "x"})
		if err == nil && columns[0] != nil && columns[1] != nil && len(columns[0]) != len(columns[1]) {
			t.Errorf("%d and %d cells", len(columns[0]), len(columns[1]))
		}
	})
}

func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reviews.txt")
	for text, want := range map[string]int{"good\r\n\nbad": 3, "good\n": 1, "": 0} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := lines(path)
		if err != nil || len(got) != want || want > 0 && string(got[0]) != "good" {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if err := os.WriteFile(path, slices.Repeat([]byte("x"), 2*maxText), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lines(path); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a long line: %v", err)
	}
}
