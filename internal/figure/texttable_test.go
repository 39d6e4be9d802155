package figure

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/accountant"
)

func words() TextTable {
	return TextTable{
		Title:   "A table of words and numbers",
		Columns: []string{"data", "*μ*", "what it says"},
		Rows: [][]string{
			{"MNIST", "15", strings.Repeat("a long sentence that wraps, with *E*(*μqn*+*n*) and 10^−5^, ", 4)},
			{"FashionMNIST", "−4.5", ""},
			{"IMDB", "", strings.Repeat("x", 300)},
		},
		Notes: []string{"A note below the table."},
	}
}

func TestRightAligned(t *testing.T) {
	if got := words().RightAligned(); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("%v", got)
	}
	if got := (TextTable{Columns: []string{"a"}}).RightAligned(); !slices.Equal(got, []bool{false}) {
		t.Errorf("without rows: %v", got)
	}
}

func TestUnmarked(t *testing.T) {
	for label, want := range map[string]string{"": "", "*q*·*n*": "q·n", "10^−5^ here": "10^-5 here", "10^−*i*^, *i* = 4": "10^-i, i = 4", "a^b": "a^b"} {
		if got := Unmarked(label); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

func TestTableOfNumbersOrTexts(t *testing.T) {
	table := words()
	if got := table.Table(); got[0][1] != "μ" || !strings.Contains(got[1][2], "E(μqn+n) and 10^-5") {
		t.Errorf("%q", got)
	}
	table.Numbers = [][]string{{"mu"}, {"15"}}
	if got := table.Table(); len(got) != 2 || got[1][0] != "15" {
		t.Errorf("%q", got)
	}
}

func TestTablesAreChecked(t *testing.T) {
	for _, bad := range []TextTable{{}, {Columns: []string{"a"}, Rows: [][]string{{"1"}, {"1", "2"}}}} {
		if err := bad.Validate(); !errors.Is(err, accountant.ErrInvalid) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if err := words().Validate(); err != nil {
		t.Error(err)
	}
}

// A wrapped label has all its letters, in lines that fit, each with whole markup.
func TestWrappedLabels(t *testing.T) {
	style := textStyle(cellSize)
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.StringMatching(`([a-zA-Zμ0-9]{1,30}|\*[a-z]{1,9}\*|10\^−5\^|\*some words\*)( ([a-z]{1,8}|\*q\*|[a-z]{50})){0,12}`).Draw(t, "label")
		width := vg.Length(rapid.Float64Range(12, 300).Draw(t, "width"))
		lines := wrapped(label, width, style)
		letters := func(text string) string { return strings.NewReplacer("*", "", "^", "", " ", "").Replace(text) }
		if got := letters(strings.Join(lines, "")); got != letters(label) {
			t.Fatalf("%q became %q", label, lines)
		}
		for _, line := range lines {
			if strings.Count(line, "*")%2+strings.Count(line, "^")%2 > 0 {
				t.Fatalf("%q: a line %q", label, line)
			}
			if len(letters(line)) > 3 && style.Width(line) > width*1.05+3 {
				t.Fatalf("%q: a line %q of %v in %v", label, line, style.Width(line), width)
			}
		}
	})
}

// Words break only where a table has no space left.
func TestColumnsKeepTheirWords(t *testing.T) {
	table := words()
	table.Rows = table.Rows[:2]
	style := textStyle(cellSize)
	widths := (&textTable{table}).widths(style)
	full := vg.Length(len(widths)-1) * tableGap
	for _, w := range widths {
		full += w
	}
	if full > tableWidth || widths[0] < style.Width("FashionMNIST") {
		t.Errorf("columns of %v", widths)
	}
}
