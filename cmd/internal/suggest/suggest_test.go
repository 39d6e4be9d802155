package suggest

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
)

// kinds are the columns that a table may have, by what a cell holds.
var kinds = []func(t *rapid.T, row int) string{
	func(t *rapid.T, row int) string { return fmt.Sprint(row + 1) },
	func(t *rapid.T, _ int) string {
		return rapid.SampledFrom([]string{"red", "green", "", "NA", "a,b", "*", "#x", "no"}).Draw(t, "c")
	},
	func(t *rapid.T, _ int) string { return fmt.Sprint(rapid.Float64Range(-1e9, 1e9).Draw(t, "x")) },
	func(t *rapid.T, _ int) string { return fmt.Sprint(rapid.IntRange(-5, 5).Draw(t, "n")) },
	func(t *rapid.T, _ int) string {
		return rapid.SampledFrom([]string{"1.5", "2.25", "3", "4", "5e3", "NaN", "unknown", "n/k"}).Draw(t, "w")
	},
	func(t *rapid.T, row int) string { return fmt.Sprintf("2024-01-%02d", 1+row%28) },
	func(t *rapid.T, row int) string {
		return fmt.Sprintf("id %d: %s", row, rapid.StringN(0, 5, 20).Draw(t, "text"))
	},
	func(*rapid.T, int) string { return "constant" },
	func(*rapid.T, int) string { return "7" },
	func(*rapid.T, int) string { return "" },
	func(t *rapid.T, _ int) string { return rapid.SampledFrom([]string{"7", ""}).Draw(t, "gap") },
	func(t *rapid.T, _ int) string { return rapid.StringN(0, 4, 12).Draw(t, "any") },
	func(t *rapid.T, _ int) string { return fmt.Sprint(1e300 * rapid.Float64Range(0, 1).Draw(t, "huge")) },
}

// written writes a file and opens it.
func written(path, text string) (*table.File, error) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return table.Open(path)
}

// Whatever a public table is like, the suggested settings can be resolved, and read the table that they were read off.
func TestSuggestedSettingsReadTheTable(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom([]string{"a", "y", "null", "~", "1", "true", "a: b", "#", "- x", `"q"`, "{", "é", "x,y", "a.b"}), rapid.StringN(1, 6, 12)).Filter(func(s string) bool {
			return s == strings.TrimSpace(s) && s != "" && s != "label" && s != "*" && !strings.ContainsAny(s, "\r\x00") && s != "\ufeff"
		})
		names := rapid.SliceOfNDistinct(name, 1, 6, rapid.ID[string]).Draw(t, "names")
		rows := rapid.IntRange(2, 40).Draw(t, "rows")
		records := [][]string{append(slices.Clone(names), "label")}
		var kind []int
		for range names {
			kind = append(kind, rapid.IntRange(0, len(kinds)-1).Draw(t, "kind"))
		}
		for row := range rows {
			var record []string
			for _, k := range kind {
				record = append(record, kinds[k](t, row))
			}
			records = append(records, append(record, []string{"no", "yes"}[row%2]))
		}
		path := filepath.Join(dir, "x.csv")
		var text strings.Builder
		w := csv.NewWriter(&text)
		if err := w.WriteAll(records); err != nil {
			t.Fatal(err)
		}
		file, err := written(path, text.String())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		d, err := file.Describe(table.Options{})
		if err != nil {
			t.Skip(err) // a text that is no CSV, such as one with a lone return
		}
		s, err := Describe(path, d, Options{Label: "label"})
		if err != nil {
			t.Fatal(err)
		}
		written, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		e, err := settings.Resolve(settings.File{Text: []byte(written)}, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		schema, err := table.Infer(file, table.Options{
			Label: e.Data.Label, Task: table.Task(e.Data.Task), Ignore: e.Data.Ignore, Categories: e.Data.Categories, Missing: e.Data.Missing, Clip: e.Data.Clip, Scale: e.Data.Scale,
		})
		if err != nil {
			if len(e.Data.Ignore) == len(names) && strings.Contains(err.Error(), "no column is left") {
				return
			}
			t.Fatalf("%v\n%s", err, written)
		}
		got, err := schema.Read(file, table.Testing)
		if err != nil || got.N != rows {
			t.Fatalf("%v\n%s\n%s", err, written, text.String())
		}
		for _, c := range schema.Columns {
			if c.Scale == nil && len(c.Categories) == 0 {
				t.Fatalf("column %s is neither scaled nor of categories\n%s", c.Name, written)
			}
		}
		for _, v := range slices.Concat(schema.Spans(got)...) {
			if v.High > 50 || v.Low < -50 {
				t.Fatalf("values from %v to %v\n%s", v.Low, v.High, written)
			}
		}
	})
}

// Notes say what a person should decide. Columns that nothing is learned from are listed with the reasons.
func TestNotes(t *testing.T) {
	text := "patient,sex,bmi,case,a\x1b,when,code,crp,change,y\n"
	for i := range 40 {
		text += fmt.Sprintf("p%d,%s,%s,%d,%q,2024-01-%02d,%03d,%s,%s,%s\n", i/2, []string{"F", "M", "f", "m"}[i%4], []string{"-9999", "21.5", "30", "25.5"}[min(i%20, 3)], 712345+i*i*7919%61001, "x, y: z", 1+i%28, i%3, []string{"<0.5", "0.7", "1.25", "3.1"}[i%4], fmt.Sprintf([]string{"(%d)", "%d"}[i%2], i%12), []string{"no", "yes"}[i%2])
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	file, err := written(path, text)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d, err := file.Describe(table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Describe("x.csv", d, Options{Label: "y", Unit: "patient"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "patient (says whose a row is), a  (always the same), when (dates or times); 6 of 9 columns are learned from"; s.LeftOut != want {
		t.Errorf("left out: %s", s.LeftOut)
	}
	written, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sex: F and f look like one", "bmi: -9999 in 2 rows, far from all other values, is taken", "case: named or written as ids are", `crp: texts such as "<0.5" in 10 rows are taken for missing`, `change: 12 different numbers and texts such as "(0)" are`} {
		if !slices.ContainsFunc(s.Notes, func(note string) bool { return strings.HasPrefix(note, want) }) || !strings.Contains(written, "\n# "+want) {
			t.Errorf("%q isn't noted: %q", want, s.Notes)
		}
	}
	for _, want := range []string{"\n  unit: patient # ", "\n    sex: [F, M, f, m, '*']\n", "\n    code: [\"000\", \"001\", \"002\", '*']\n", "\n    bmi: {fill: 25.5, indicator: true, words: [\"-9999\"]} # ", "\n    bmi: [21.5, 30]\n"} {
		if !strings.Contains(written, want) {
			t.Errorf("%q isn't in\n%s", want, written)
		}
	}
	if strings.Contains(written, "- patient") {
		t.Error("the unit is ignored as well")
	}
	for _, o := range []Options{{Label: "y", Unit: "y"}, {Label: "y", Unit: "patients"}} {
		if _, err := Describe("x.csv", d, o); err == nil {
			t.Errorf("%+v passes", o)
		}
	}
}
