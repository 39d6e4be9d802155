package nearest

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"mnist", "mnist", 0},
		{"", "cnn", 3},
		{"mnits", "mnist", 2}, // a swap is two replacements
		{"glyph", "glyphs", 1},
		{"MNIST", "mnist", 5},
		{"kitten", "sitting", 3},
		{"é", "e", 2}, // bytes
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Distance(c.b, c.a); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

// recursive is the definition of Distance, without a matrix.
func recursive(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	case a[0] == b[0]:
		return recursive(a[1:], b[1:])
	}
	return 1 + min(recursive(a[1:], b), recursive(a, b[1:]), recursive(a[1:], b[1:]))
}

func TestDistanceIsTheDefinition(t *testing.T) {
	word := rapid.StringMatching("[abc]{0,6}")
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if got, want := Distance(a, b), recursive(a, b); got != want {
			t.Fatalf("%q to %q: %d, want %d", a, b, got, want)
		}
	})
}

func TestName(t *testing.T) {
	edits := map[string]int{"far": 9, "near": 3, "nearer": 2, "as near": 2, "same": 0}
	within := func(limit int) func(string) (int, bool) {
		return func(c string) (int, bool) { return edits[c], edits[c] <= limit }
	}
	for _, c := range []struct {
		candidates []string
		limit      int
		want       string
	}{
		{nil, 100, ""},
		{[]string{"far"}, 8, ""},
		{[]string{"far"}, 9, "far"},
		{[]string{"far", "near", "nearer"}, 9, "nearer"},
		{[]string{"nearer", "near", "far"}, 9, "nearer"},
		{[]string{"near", "nearer", "as near"}, 9, "nearer"}, // the first of equals
		{[]string{"as near", "nearer"}, 9, "as near"},
		{[]string{"near", "same"}, 0, "same"},
		{[]string{"same"}, -1, ""},
	} {
		if got := Name(c.candidates, within(c.limit)); got != c.want {
			t.Errorf("%v within %d: %q, want %q", c.candidates, c.limit, got, c.want)
		}
	}
	// Different candidates may have different thresholds.
	only := func(c string) (int, bool) { return edits[c], c == "far" }
	if got := Name([]string{"near", "far", "nearer"}, only); got != "far" {
		t.Errorf("got %q, want the only one that is near enough", got)
	}
}
