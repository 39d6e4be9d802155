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
		{"a.csv", "id,x\n", "id", "", "no rows"},
		{"a.csv", "id,x\n", "y", "", `no column "y"`},
		{"a.csv", "id,id\n1,2\n", "id", "", "columns 1 and 2 have one name"},
		{"a.csv", "", "id", "", "empty"},
		{"a.csv", "id,x\n1,2\n3\n", "id", "", "line 3: 1 cell, and the header has 2 cells"},
		{"a.csv", "id,x\n1,SECRET\"2\n", "id", "", "line 2: a quote in a cell without quotes"},
		{"a.csv", "id,x\n1,\"" + strings.Repeat("a\n", maxText), "id", "", "a quote is missing"},
		{"a.csv.gz", "id,x\n", "id", "", "cut short"},
		{"a.parquet", "PAR1", "id", "", "not a Parquet file"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Cells(path, c.column, false)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET")):
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		case c.want == "" && (err != nil || strings.Join(got, "|") != c.cells):
			t.Errorf("%.40q: %q, %v, want %q", c.text, got, err, c.cells)
		}
	}
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
