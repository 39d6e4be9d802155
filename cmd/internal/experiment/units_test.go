package experiment

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/train"
)

// unitsOf returns rows whose only value says which row of the list they are, and whose units they are.
func unitsOf(names ...string) *loaded {
	s := &table.Schema{Columns: []table.Column{{Name: "x"}}, Label: table.Label{Name: "y", Task: table.Regression}, Shape: []int{1}}
	rows, u := &table.Samples{N: len(names)}, &table.Units{}
	for i, name := range names {
		at := slices.Index(u.Values, name)
		if at < 0 {
			at = len(u.Values)
			u.Values = append(u.Values, name)
		}
		u.Of = append(u.Of, int32(at))
		rows.Values, rows.Numbers = append(rows.Values, float32(i)), append(rows.Numbers, 0)
	}
	return &loaded{units: &unitRows{schema: s, rows: rows, units: u, most: 2}}
}

// A key keeps the same rows each time, two keys keep different ones, and no more of a unit than the settings say.
func TestKeyChoosesRowsOfUnits(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprint("unit ", i%6)) // ten rows each
	}
	digests := map[[32]byte]int{}
	for key := range uint64(4) {
		for range 2 {
			l, err := unitsOf(names...).forKey(train.InsecureKey(key))
			if err != nil {
				t.Fatal(err)
			}
			if l.train.Samples() != 12 || l.units != nil {
				t.Fatalf("%d rows are kept, want 2 of each of 6", l.train.Samples())
			}
			digests[l.train.Digest()]++
		}
	}
	if len(digests) != 4 {
		t.Errorf("4 keys keep %d sets of rows", len(digests))
	}
	l := &loaded{}
	if same, err := l.forKey(train.InsecureKey(1)); err != nil || same != l {
		t.Errorf("rows without units are cut: %v, %v", same, err)
	}
}
