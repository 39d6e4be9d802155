package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// overlapOf compares two CSV files as a run does.
func overlapOf(t *testing.T, o Options, header string, private, public []string) Overlap {
	t.Helper()
	write := func(name string, rows []string) string {
		return put(t, name, header+"\n"+strings.Join(rows, "\n")+"\n")
	}
	test := write("public.csv", public)
	s, err := Infer(open(t, test), o)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Read(open(t, write("private.csv", private)), Training)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Read(open(t, test), Testing)
	if err != nil {
		t.Fatal(err)
	}
	return s.Overlap(a, b)
}

// Rows are drawn from a fixed stream, so that no verdict changes by chance.
func TestOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	people := func(n int) []string { // no two alike
		rows := make([]string, n)
		for i := range rows {
			rows[i] = fmt.Sprintf("%.6f,%d,%d", r.NormFloat64(), r.IntN(100), i%2)
		}
		return rows
	}
	answers := func(n int) []string { // 18 kinds of rows: every public row is among 2,000 private ones
		rows := make([]string, n)
		for i := range rows {
			rows[i] = fmt.Sprintf("%d,%d,%d", r.IntN(3), r.IntN(3), i%2)
		}
		return rows
	}
	half := func(n int) []string { // half of the rows are equal, as from people who answered nothing
		rows := people(n)
		for i := range rows {
			if r.IntN(2) == 0 {
				rows[i] = fmt.Sprintf("0,0,%d", i%2)
			}
		}
		return rows
	}
	var coins []string
	for range 60 {
		coins = append(coins, fmt.Sprintf("7,7,%d", r.IntN(2)))
	}
	reversed := func(rows []string) []string {
		out := make([]string, len(rows))
		for i, row := range rows {
			out[len(rows)-1-i] = row
		}
		return out
	}
	private, coarse, blank := people(2000), answers(2000), half(2000)
	for _, c := range []struct {
		name            string
		private, public []string
		all, many       bool
		shared          int // -1: not known
	}{
		{"other people", private, people(500), false, false, 0},
		{"a copy", private, private, true, true, 2000},
		{"a copy in another order", private, reversed(private), true, true, 2000},
		{"a part", private, private[:300], true, true, 300},
		{"a part of four rows", private, private[7:11], true, true, 4},
		{"a part among others", private, append(people(500), private[:40]...), false, true, 40},
		{"four rows among others", private, append(people(500), private[:4]...), false, true, 4},
		{"one row among others", private, append(people(500), private[0]), false, false, 1},
		{"all of it among others", private, append(people(5000), private...), false, true, 2000},
		{"few kinds of rows", coarse, answers(500), false, false, 500},
		{"a copy with few kinds of rows", coarse, coarse, true, false, 2000},
		{"half of the rows alike", blank, half(500), false, false, -1},
		{"a part with half of the rows alike", blank, blank[:500], true, true, 500},
		{"a copy with two kinds of rows", coins, coins, false, false, 60}, // as two sorted files may be
		{"five of ten rows", private[:10], private[:5], false, true, 5},   // 0.3⁵ is above 1/1,000, 0.3⁶ below
		{"six of ten rows", private[:10], private[:6], true, true, 6},
		{"a copy of twelve rows", private[:12], private[:12], true, true, 12},
		{"six of twelve rows", private[:12], private[:6], true, true, 6},
		{"a copy of five rows", private[:5], private[:5], true, true, 5},
		{"a copy of four rows", private[:4], private[:4], false, false, 4},
		{"two rows of two kinds", []string{"1,1,0", "2,2,1"}, []string{"1,1,0", "2,2,1"}, false, false, 2},
	} {
		o := overlapOf(t, Options{Label: "y", Task: Classification, Classes: []string{"0", "1"}}, "a,b,y", c.private, c.public)
		if o.All() != c.all || o.Many() != c.many && !c.all || c.shared >= 0 && o.Shared != c.shared || o.Public != len(c.public) {
			t.Errorf("%s: all %t, many %t, %+v", c.name, o.All(), o.Many(), o)
		}
	}
}

// Rows are compared as training reads them: numbers by value, labels clipped, columns by name, without ignored ones.
func TestOverlapComparesWhatIsTrainedOn(t *testing.T) {
	o := Options{
		Label: "y", Task: Regression, Ignore: []string{"id"}, Categories: map[string][]string{"c": {"x", "z"}},
		Clip:  map[string][2]float64{"y": {0, 10}, "a": {0, 5}},
		Scale: map[string][2]float64{"y": {3, 7}},
	}
	private := []string{"1,1.50,x,99", "2,0,z,0.25", "3,3,x,-4", "4,4.25,z,3", "5,5,x,1"}
	public := []string{"9,1.5,x,12", "8,-0.0,z,.25", "7,3.0,x,-1e3", "6,425e-2,z,3"}
	if got := overlapOf(t, o, "id,a,c,y", private, public); got.Shared != 4 {
		t.Errorf("the same rows in other words: %+v", got)
	}
	for _, row := range []string{"9,1.5,z,12", "9,1.25,x,12", "9,1.5,x,2"} {
		if got := overlapOf(t, o, "id,a,c,y", private, []string{row, "1,2,x,3"}); got.Shared != 0 {
			t.Errorf("%s isn't among the private rows: %+v", row, got)
		}
	}
}

// Honest files that were once refused: many rows are equal and the private file has few, or rows are sorted, or all
// public rows are equal.
func TestOverlapOfHonestFiles(t *testing.T) {
	rows := func(pattern string, times int) []string { // a row for each letter
		var out []string
		for range times {
			for _, c := range pattern {
				out = append(out, fmt.Sprintf("%d,7,%d", c, c%2))
			}
		}
		return out
	}
	half := rows("a", 50)
	for i := range 450 {
		half = append(half, fmt.Sprintf("%d,1,0", i))
	}
	for _, c := range []struct {
		name            string
		private, public []string
		many            bool
	}{
		{"three kinds", rows("abc", 1), rows("cabba", 3), false},
		{"five kinds", rows("abcde", 1), rows("edcba", 3), true},
		{"three of many kinds", rows("abcdefghijk", 1), rows("kfa", 1), true},
		{"sorted", slices.Concat(rows("a", 40), rows("b", 60)), slices.Concat(rows("a", 40), rows("b", 60)), false},
		{"the most frequent rows alone", half, rows("a", 30), true},
		{"a much larger public file", rows("abcdefgh", 1), slices.Concat(rows("abcdefgh", 20), rows("opqrstuv", 25)), false},
	} {
		o := overlapOf(t, Options{Label: "y", Task: Classification, Classes: []string{"0", "1"}}, "a,b,y", c.private, c.public)
		if o.All() || o.Many() != c.many {
			t.Errorf("%s: all %t, many %t, %+v", c.name, o.All(), o.Many(), o)
		}
	}
}

// A tenth of the public rows is expected to be private rows. Chance itself is uncertain by one private row, which
// counts if the public file has more than twice as many rows: 20·0.1 + 4√(20·0.09) is 7.4, and 30·0.1 + 4√(30·0.09 +
// 1²) is 10.7.
func TestManyByHand(t *testing.T) {
	for _, c := range []struct {
		public, shared int
		want           bool
	}{{20, 7, false}, {20, 8, true}, {30, 10, false}, {30, 11, true}} {
		o := Overlap{Private: 10, Public: c.public, Distinct: c.public, Shared: c.shared, Chance: 0.1}
		if o.Many() != c.want {
			t.Errorf("%d of %d rows: %t", c.shared, c.public, o.Many())
		}
	}
}
