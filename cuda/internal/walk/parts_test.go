package walk

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Parts have the same number of terms, not too few. There are enough parts for all warps, or fewer.
func TestParts(t *testing.T) {
	for _, c := range []struct{ terms, columns, want int }{
		{512, 32, 8}, {784, 120, 2}, {120, 10, 3}, {64, 10, 2}, {63, 10, 1}, {32, 10, 1}, {97, 10, 1}, {5000, 256, 1}, {4096, 1, 8}, {256, 33, 4},
	} {
		if got := partsOf(c.terms, c.columns); got != c.want {
			t.Errorf("%d terms, %d columns: %d parts, want %d", c.terms, c.columns, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		terms, columns := rapid.IntRange(1, 5000).Draw(t, "terms"), rapid.IntRange(1, 500).Draw(t, "columns")
		n := partsOf(terms, columns)
		if n < 1 || terms%n != 0 || n > 1 && (terms/n < minTerms || n*((columns+31)/32) > wantUnits) {
			t.Fatalf("%d parts", n)
		}
	})
}

// Copied filters have each stored element once, in the order that a product reads them, and each step begins at a
// multiple of eight elements.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 7)
		x := turn{back: rapid.Bool().Draw(t, "back"), filters: size.Draw(t, "filters"), channels: size.Draw(t, "channels"), patch: size.Draw(t, "patch")}
		got := x.elements()
		for f := range x.filters {
			for c := range x.channels {
				for e := range x.patch {
					at := (c*x.patch+e)*eights(x.filters) + f
					if x.back {
						at = (e*x.filters+f)*eights(x.channels) + c
					}
					if want := (f*x.channels+c)*x.patch + e; int(got[at]) != want {
						t.Fatalf("element %d is %d, want %d", at, got[at], want)
					}
				}
			}
		}
		got = slices.DeleteFunc(got, func(k int32) bool { return k < 0 })
		if len(got) != x.filters*x.channels*x.patch {
			t.Fatal("an element is there twice")
		}
	})
}

func eights(n int) int { return (n + 7) / 8 * 8 }
