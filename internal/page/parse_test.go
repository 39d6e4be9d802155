package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParseStatement(t *testing.T) {
	got := parseStatement("# Title\n\nOne **bold**\nand `code`.\n\n## Head\n\nText.\n- a\n  goes on\n- **b\n\n* c\n")
	want := []Block{
		{"paragraph", [][]Span{{{"One ", ""}, {"bold", "bold"}, {" and ", ""}, {"code", "code"}, {".", ""}}}},
		{"heading", [][]Span{{{"Head", ""}}}},
		{"paragraph", [][]Span{{{"Text.", ""}}}},
		{"list", [][]Span{{{"a goes on", ""}}, {{"**b", ""}}}},
		{"paragraph", [][]Span{{{"* c", ""}}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every word of the statements of package report is on the page.
func TestStatementsAreWhole(t *testing.T) {
	files, err := filepath.Glob("../report/testdata/statement-*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range parseStatement(string(text)) {
			for _, item := range b.Items {
				for _, s := range item {
					got = append(got, s.Text)
				}
				got = append(got, " ")
			}
		}
		plain := strings.NewReplacer("**", "", "`", "", "## ", "").Replace(string(text))
		_, plain, _ = strings.Cut(plain, "\n") // the title
		plain = strings.ReplaceAll(plain, "\n- ", "\n")
		if want := strings.Join(strings.Fields(plain), " "); strings.Join(strings.Fields(strings.Join(got, "")), " ") != want {
			t.Errorf("%s: the parts are\n%s\nwant\n%s", file, strings.Join(got, ""), want)
		}
	}
}

func FuzzStatement(f *testing.F) {
	f.Add("# a\n## b\n- c\nd **e** `f`")
	f.Add("**`**`")
	f.Fuzz(func(t *testing.T, text string) {
		for _, b := range parseStatement(text) {
			if len(b.Items) == 0 || b.Kind != "list" && len(b.Items) != 1 {
				t.Errorf("%q", b)
			}
		}
	})
}

func TestParseHeader(t *testing.T) {
	h, err := parseHeader([]byte(`{"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "b": {"shape": []}, "__metadata__": {"test_r2": "-0.5"}}`))
	if err != nil || h.parameters != 7 || h.score == nil || h.score.Metric != "R²" || h.score.Value != -0.5 {
		t.Errorf("%+v, %v", h, err)
	}
	for _, score := range []string{"NaN", "Inf", "", "1e999", "x"} {
		if h, err := parseHeader([]byte(`{"__metadata__": {"test_accuracy": "` + score + `"}}`)); err != nil || h.score != nil {
			t.Errorf("score %q: %+v, %v", score, h.score, err)
		}
	}
	for _, bad := range []string{"", "[]", `{"a": 1}`, `{"a": {"shape": [-1]}}`, `{"a": {"shape": [9007199254740993, 9007199254740993]}}`, `{"__metadata__": []}`} {
		if _, err := parseHeader([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte(`{"a": {"shape": [2, 3]}, "__metadata__": {"test_accuracy": "0.5"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if h, err := parseHeader(text); err == nil && h.parameters < 0 {
			t.Errorf("%d parameters", h.parameters)
		}
	})
}

// Whatever a run.json says, there is a page of it, without a tag that isn't ours.
func FuzzPrivate(f *testing.F) {
	f.Add([]byte(privateJSON))
	f.Add([]byte(`{"trials": [{"learning_rate": -1, "score": 1e308, "curve": [{"step": -5, "score": -1e308}, {}]}, {"learning_rate": 1e308, "failure": "<img>"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var p PrivateRun
		if json.Unmarshal(text, &p) != nil || p.best() < -1 || p.best() >= len(p.Trials) {
			return
		}
		r := Run{Privacy: release().Privacy}
		page, err := Private([]Run{r}, []*PrivateRun{&p})
		if err != nil || strings.Contains(string(page), "<img") || strings.Contains(string(page), "NaN") {
			t.Errorf("%v\n%s", err, page)
		}
	})
}
