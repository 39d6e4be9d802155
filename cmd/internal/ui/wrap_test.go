package ui

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line          string
		width, indent int
		want          string
	}{
		{"as it is, without a limit", 0, 4, "as it is, without a limit"},
		{"exactly ten", 11, 4, "exactly ten"},
		{"data  a b c d e f", 12, 6, "data  a b c\n      d e f"},
		{"  kept at the left", 9, 2, "  kept at\n  the\n  left"},
		{"a longerthanwide b", 8, 2, "a\n  longerthanwide\n  b"},
		{"label                one two", 24, 21, "label                one\n    two"}, // no room beside the label
		{"εεεε εεεε", 9, 0, "εεεε εεεε"},
	} {
		if got := Wrap(c.line, c.width, c.indent); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.line, c.width, got, c.want)
		}
	}
}

// Words stay whole and in order, and a part is wider than the width only if it is a single word.
func TestWrapKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[a-zé]{1,12}( {1,3}[a-zé]{1,12}){0,12}`).Draw(t, "line")
		width, indent := rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(0, 30).Draw(t, "indent")
		got := Wrap(line, width, indent)
		if a, b := fmt.Sprint(strings.Fields(line)), fmt.Sprint(strings.Fields(got)); a != b {
			t.Fatalf("the words %s of %s", b, a)
		}
		for _, part := range strings.Split(got, "\n") {
			if utf8.RuneCountInString(part) > width && len(strings.Fields(part)) > 1 {
				t.Fatalf("%q is wider than %d", part, width)
			}
		}
	})
}

func TestColumns(t *testing.T) {
	const pairs = "data\ta set of digits with ten classes\nmodel\tcnn\n"
	if got, want := Columns(pairs, 0), "data   a set of digits with ten classes\nmodel  cnn\n"; got != want {
		t.Errorf("for a program: %q", got)
	}
	if got, want := Columns(pairs, 30), "data   a set of digits with\n       ten classes\nmodel  cnn\n"; got != want {
		t.Errorf("30 wide: %q", got)
	}
	if got, want := Columns(pairs, 20), "data   a set of\n    digits with ten\n    classes\nmodel  cnn\n"; got != want {
		t.Errorf("20 wide: %q", got)
	}
	const table = "name\tsize in bytes\tstate\nfirst one\t1\tas it was\n"
	if got, want := Columns(table, 26), "name       size in bytes\n    state\nfirst one  1\n    as it was\n"; got != want {
		t.Errorf("a table: %q, want %q", got, want)
	}
}
