package table

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestReadUnits(t *testing.T) {
	u, err := open(t, put(t, "rows.csv", "x,who,y\n1,a,2\n1, b ,2\n3,a,1\n")).Units("who")
	if err != nil || !slices.Equal(u.Of, []int32{0, 1, 0}) || !slices.Equal(u.Values, []string{"a", "b"}) {
		t.Errorf("%+v, %v", u, err)
	}
	for name, text := range map[string]string{
		"missing cell": "x,who\nsecret,a\nsecret,\n", "blank cell": "x,who\nsecret,a\nsecret,  \n", "NA": "x,who\nsecret,a\nsecret,NA\n", "missing column": "secret,y\n1,2\n", "no rows": "x,who\n",
	} {
		u, err := open(t, put(t, "rows.csv", text)).Units("who")
		var wrong *Error
		if !errors.As(err, &wrong) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
}

func rankOf(value string, row int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", row, value)
	return h.Sum64()
}

// Each unit keeps at most the limit of rows. After another unit is added, anywhere between the others' rows, the others
// keep the same rows.
func TestKeptRowsOfAUnitDependOnNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "new"}), 1, 40).Draw(t, "rows")
		most := rapid.IntRange(1, 5).Draw(t, "most")
		keep := func(names []string) (ofUnit map[string][]int) {
			u := &Units{}
			place := map[string]int{}
			number := make([]int, len(names)) // of a row among its unit's
			counts := map[string]int{}
			for i, name := range names {
				if _, ok := place[name]; !ok {
					place[name] = len(u.Values)
					u.Values = append(u.Values, name)
				}
				u.Of = append(u.Of, int32(place[name]))
				number[i] = counts[name]
				counts[name]++
			}
			kept := u.Keep(most, rankOf)
			if len(kept) != u.Count(most) || !slices.IsSorted(kept) {
				t.Fatalf("%v kept, %d counted", kept, u.Count(most))
			}
			ofUnit = map[string][]int{}
			for _, row := range kept {
				ofUnit[names[row]] = append(ofUnit[names[row]], number[row])
			}
			for name, rows := range ofUnit {
				if want := min(most, counts[name]); len(rows) != want {
					t.Fatalf("%d rows of %s are kept, want %d", len(rows), name, want)
				}
			}
			return ofUnit
		}
		with := keep(names)
		without := keep(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "new" }))
		for name, rows := range without {
			if !slices.Equal(rows, with[name]) {
				t.Fatalf("with another unit %s keeps rows %v, without it %v", name, with[name], rows)
			}
		}
	})
}

func TestUnitIsNoColumnToLearnFrom(t *testing.T) {
	o := Options{Label: "y", Task: Regression, Unit: "who"}
	for _, text := range []string{"x,who,y\n1,a,2\n2,b,3\n", "x,y\n1,2\n2,3\n"} {
		s, err := Infer(open(t, put(t, "rows.csv", text)), o)
		if err != nil || len(s.Columns) != 1 || s.Columns[0].Name != "x" {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	o.Unit = "y"
	if err := o.Validate(); err == nil {
		t.Error("the label is taken as the column of units")
	}
	o.Unit, o.Categories = "who", map[string][]string{"who": {"a", "b"}}
	if err := o.Validate(); err == nil {
		t.Error("units have categories")
	}
}

// Whole numbers from 2^53 on are rounded, so 2^53 and 2^53+1 would be one unit. NaN is no unit.
func TestReadUnitsOfNumbers(t *testing.T) {
	of := func(descr string, ids any) (*Units, error) {
		file := open(t, put(t, "rows.npz", npz(t, zip.Store, map[string]string{
			"who": npy(1, head(descr, "False", "(2,)"), ids), "x": npy(1, head("<f8", "False", "(2,)"), []float64{1, 2}),
		})))
		u, err := file.Units("who")
		if cells, unread := file.Cells("who"); (unread == nil) != (err == nil) && cells[1] != "NaN" {
			t.Errorf("units with %v, cells with %v", err, unread)
		}
		return u, err
	}
	if u, err := of("<i8", []int64{1<<53 - 1, 1<<53 - 2}); err != nil || len(u.Values) != 2 {
		t.Errorf("exact numbers: %+v, %v", u, err)
	}
	for name, c := range map[string]struct {
		descr string
		ids   any
	}{
		"int64":  {"<i8", []int64{1 << 53, 1<<53 + 1}},
		"uint64": {"<u8", []uint64{1<<64 - 1, 1<<64 - 2}},
		"below":  {"<i8", []int64{-1 << 53, -1<<53 - 1}},
		"inf":    {"<f8", []float64{1, math.Inf(1)}},
		"nan":    {"<f8", []float64{1, math.NaN()}},
	} {
		u, err := of(c.descr, c.ids)
		var wrong *Error
		if !errors.As(err, &wrong) || strings.Contains(err.Error(), "90071") {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
}

// A column of texts distinguishes them.
func TestUnitsOfLongTexts(t *testing.T) {
	u, err := open(t, put(t, "rows.csv", "who,x\n9007199254740992,1\n9007199254740993,1\n")).Units("who")
	if err != nil || len(u.Values) != 2 {
		t.Errorf("%+v, %v", u, err)
	}
}
