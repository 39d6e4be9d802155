package table

import (
	"archive/zip"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// x has three unlike columns; z is alike. The other arrays are no columns.
func oddArrays(t *testing.T, more map[string]string) string {
	arrays := map[string]string{
		"x":     npy(1, head("<f8", "False", "(4, 3)"), []float64{1, 100, 5, 2, 900, 5, 3, 300, 5, 5, 400, 5}),
		"y":     npy(1, head("|u1", "False", "(4,)"), []uint8{0, 1, 0, 1}),
		"z":     npy(1, head("|u1", "False", "(4, 2)"), []uint8{0, 9, 9, 0, 4, 5, 5, 4}),
		"names": npy(1, head("<U1", "False", "(3,)"), []uint32{'a', 'b', 'c'}),
		"odd":   npy(1, head("|O", "False", "(3,)"), []uint8{1}),
		"size":  npy(1, head("<f4", "False", "()"), []float32{1}),
		"day":   npy(1, head("<M8[D]", "False", "(4,)"), []int64{1, 2, 3, 4}),
	}
	for name, array := range more {
		arrays[name] = array
	}
	return npz(t, zip.Deflate, arrays)
}

// Each value of an array may have constants of its own. An array from which nothing is learned may be unreadable.
func TestOddArrays(t *testing.T) {
	path := put(t, "x.npz", oddArrays(t, nil))
	o := Options{Label: "y", Ignore: []string{"day", "x[2]"}, Scale: map[string][2]float64{"x[1]": {100, 100}, "x": {1, 1}}, Clip: map[string][2]float64{"x[1]": {0, 600}}}
	want := []float32{0, 0, 0, 9, 1, 5, 9, 0, 2, 2, 4, 5, 4, 3, 5, 4}
	s := infer(t, path, o)
	if got := reading(t, s, path, Training); !slices.Equal(got.Values, want) || !slices.Equal(s.LeftOut(), []string{"names", "odd", "size"}) {
		t.Errorf("%v, without %v", got.Values, s.LeftOut())
	}
	o.Columns, o.Ignore, o.Task, o.Classes, o.Shapes = []string{"x", "z"}, o.Ignore[1:], Classification, []string{"0", "1"}, map[string][]int{"x": {3}, "z": {2}}
	s, err := SchemaOf(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := reading(t, s, path, Training); !slices.Equal(got.Values, want) {
		t.Errorf("by a schema of settings: %v", got.Values)
	}
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"a type":        {Options{Label: "y"}, `column day: dates or times; save it as numbers, such as days, or text, or ignore it by --ignore day; its type is "<M8[D]"`},
		"no such value": {Options{Label: "y", Ignore: []string{"day"}, Scale: map[string][2]float64{"x[3]": {0, 1}}}, `scale: ` + path + ` has no column "x[3]"; it has day, names, odd, size, x[0], x[1], x[2], y, z`},
		"names":         {Options{Label: "y", Ignore: []string{"day"}, Categories: map[string][]string{"names": {"a"}}}, "another number of rows than an array before it; save them apart; it has 4, and \"names\" has 3"},
	} {
		s, err := Infer(open(t, path), c.o)
		if err == nil {
			_, err = s.ReadPublic(open(t, path))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	_, err = Infer(open(t, path), Options{Label: "y", Ignore: []string{"day"}, Missing: map[string]Missing{"z": {Indicator: true}}})
	if err == nil || !strings.HasPrefix(err.Error(), "missing: z has shape [2]") { // not damaged
		t.Error(err)
	}
	o = Options{Label: "y", Columns: []string{"x[0]", "x[1]", "z"}, Ignore: []string{"day", "names", "odd", "size"}}
	var e *Error
	if err := o.CheckColumns(open(t, path)); !errors.As(err, &e) || e.Private != `called "x[2]"` {
		t.Errorf("%v, want that x[2] isn't listed", err)
	}
	short := put(t, "short.npz", oddArrays(t, map[string]string{"z": npy(1, head("|u1", "False", "(3, 2)"), make([]uint8, 6))}))
	if n, err := s.Count(open(t, short)); err == nil || !strings.Contains(err.Error(), "column z: another number of rows") {
		t.Errorf("%d rows, %v: an array is shorter than the label", n, err)
	}
	if !sketchOf(t, "odd.npz", oddArrays(t, nil)).Equal(sketchOf(t, "more.npz", oddArrays(t, map[string]string{"more": "damaged"}))) {
		t.Error("an array that can't be read is part of the sketch")
	}
}

// Unlike values of an array are described one by one. Reasons say why arrays are left out.
func TestDescribedArrays(t *testing.T) {
	d, err := open(t, put(t, "x.npz", oddArrays(t, map[string]string{
		"w":  npy(1, head("<f4", "False", "(4, 2)"), []float32{1, 2, 3, float32(math.Inf(1)), 1, 2, 3, 4}),
		"no": npy(1, head("|O", "False", "(4,)"), []uint8{1}),
	}))).Describe(Options{Ignore: []string{"no"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range d.Columns {
		got = append(got, c.Name+": "+c.Useless)
	}
	if want := []string{
		`day: dates or times; save it as numbers, such as days, or text; its type is "<M8[D]"`, "names: 3 rows, and other arrays have 4", "no: every value is missing",
		"odd: elements that are Python objects; save it as numbers, booleans or text", "size: a single number, which has no rows",
		"w: numbers that aren't finite, such as +Inf; write NaN for missing ones", "x[0]: ", "x[1]: ", "x[2]: always the same: 5", "y: ", "z: ",
	}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	wide := "y"
	for i := range maxDescribed {
		wide += fmt.Sprintf(",%d", i)
	}
	if _, err := open(t, put(t, "wide.csv", wide+"\n")).Describe(Options{}); err == nil || !strings.Contains(err.Error(), "20001 columns; up to 20000 can be described") {
		t.Error(err)
	}
}

// Pixels are alike, also where those at the edges are mostly black, and a column of another unit isn't.
func TestUnlikeValues(t *testing.T) {
	edge, pixel := moments{1000, 0, 9, 0.009, 0}, moments{1000, 0, 255, 99, 0}
	for name, c := range map[string]struct {
		of   spreads
		want bool
	}{
		"pixels":    {spreads{pixel, edge, {100, 0, 250, 90, 0}, {100, 0, 0, 0, 0}}, false},
		"a million": {spreads{{100, 0, 1, 0.5, 0}, {100, 0, 1, 0.5, 0}, {100, 0, 1e6, 500000, 0}}, true},
		"a tiny":    {spreads{{100, 0, 1, 0.5, 0}, {100, 0, 1, 0.5, 0}, {100, 0, 1e-3, 0.0005, 0}}, true},
		"a year":    {spreads{pixel, pixel, {100, 100, 101, 100.5, 0}}, true},
		"rare":      {spreads{pixel, edge, edge, edge}, true},
		"constant":  {spreads{{1, 5, 5, 5, 0}, {1, 7, 7, 7, 0}}, false},
		"none":      {nil, false},
	} {
		if got := c.of.unlike(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A column of bytes, such as shapes or pictures, is left out; it still tells files apart.
func TestColumnOfBytes(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
		B []byte  `parquet:"b"`
		Y int32   `parquet:"y"`
	}
	file := parquetFile(t, 1, row{1, []byte("\xff\x00"), 0}, row{2, []byte("\xfe"), 1})
	path := put(t, "x.parquet", file)
	s := infer(t, path, Options{Label: "y", Ignore: []string{"b"}})
	if got := reading(t, s, path, Training); !slices.Equal(got.Values, []float32{1, 2}) {
		t.Errorf("read %v", got.Values)
	}
	if d, err := open(t, path).Describe(Options{}); err != nil || d.Columns[1].Useless != noText || d.Columns[1].Categories != nil || d.Columns[0].Useless != "" {
		t.Errorf("%+v, %v", d, err)
	}
	for _, o := range []Options{{Label: "y"}, {Label: "b", Task: Classification}, {Label: "y", Text: "b", Ignore: []string{"x"}}} {
		s, err := Infer(open(t, path), o)
		if err == nil {
			_, err = s.ReadPublic(open(t, path))
		}
		if err == nil || !strings.Contains(err.Error(), noText) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if sketchOf(t, "x.parquet", file).Equal(sketchOf(t, "y.parquet", parquetFile(t, 1, row{1, []byte("\xff\x01"), 0}, row{2, []byte("\xfe"), 1}))) {
		t.Error("other bytes make the same sketch")
	}
}
