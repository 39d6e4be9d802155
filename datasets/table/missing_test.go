package table

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Missing numbers become the fill, clipped and scaled, and the indicator follows the number.
func TestMissingNumbers(t *testing.T) {
	o := Options{
		Label: "y", Classes: []string{"a", "b"}, Categories: map[string][]string{"c": {"u", "", "*"}, "d": {"NA", "v", ""}},
		Clip: map[string][2]float64{"x": {0, 100}}, Scale: map[string][2]float64{"x": {50, 10}, "z": {1, 2}},
		Missing: map[string]Missing{"x": {Fill: 120, Indicator: true, Words: []string{"unknown", "-999"}}, "z": {Fill: 3}},
	}
	rows := "70,7,u,v,a\nNA,,NA,NA,b\n unknown ,?,other,,a\n-999.0,NaN,,nan,b\n-5,-1,None,v,a\n"
	s, got, err := read(t, put(t, "x.csv", "x,z,c,d,y\n"+rows), o)
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{ // x, whether it is missing, z, c: u, missing, other, d: NA, v, missing
		2, 0, 3, 1, 0, 0, 0, 1, 0,
		5, 1, 1, 0, 1, 0, 1, 0, 0,
		5, 1, 1, 0, 0, 1, 0, 0, 1,
		5, 1, 1, 0, 1, 0, 0, 0, 1,
		-5, 0, -1, 0, 1, 0, 0, 1, 0,
	}
	if !slices.Equal(got.Values, want) || !slices.Equal(s.Shape, []int{9}) {
		t.Errorf("shape %v\ngot  %v\nwant %v", s.Shape, got.Values, want)
	}
	if spans := s.Spans(got); len(spans[0]) != 2 || spans[0][0] != (Range{-5, 5}) || spans[0][1] != (Range{0, 1}) {
		t.Errorf("spans %v", spans)
	}
	text, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(text), `"missing":{"fill":120,"indicator":true,"words":["unknown","-999"]}`) || !strings.Contains(string(text), `"missing":{"fill":3}`) {
		t.Errorf("%s, %v", text, err)
	}
	var again Schema
	if err := json.Unmarshal(text, &again); err != nil || again.Check() != nil {
		t.Fatalf("%v, %v", err, again.Check())
	}
	if twice, err := again.Read(open(t, put(t, "x.csv", "x,z,c,d,y\n"+rows)), Training); err != nil || !slices.Equal(twice.Values, want) {
		t.Errorf("by the schema from JSON: %v, %v", twice, err)
	}
}

// NaN in NPZ and null in Parquet are missing as well, in arrays too.
func TestMissingInOtherFormats(t *testing.T) {
	path := put(t, "x.npz", npz(t, zip.Store, map[string]string{
		"a": npy(1, head("<f8", "False", "(2, 2)"), []float64{math.NaN(), 1, 2, math.NaN()}),
		"b": npy(1, head("<f4", "False", "(2,)"), []float32{float32(math.NaN()), 4}),
		"y": npy(1, head("<f8", "False", "(2,)"), []float64{0, 1}),
	}))
	s, got, err := read(t, path, Options{Label: "y", Missing: map[string]Missing{"a": {Fill: 9}, "b": {Fill: 8, Indicator: true}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{9, 1, 8, 1, 2, 9, 4, 0}
	if s.Columns[0].Name == "b" {
		want = []float32{8, 1, 9, 1, 4, 0, 2, 9}
	}
	if !slices.Equal(got.Values, want) {
		t.Errorf("%v, want %v", got.Values, want)
	}
	type row struct {
		X *float64 `parquet:"x,optional"`
		C *string  `parquet:"c,optional"`
		Y string   `parquet:"y"`
	}
	nan := math.NaN()
	path = put(t, "x.parquet", parquetFile(t, 5, row{nil, nil, "a"}, row{&nan, new("u"), "b"}, row{new(2.), new("NA"), "b"}))
	_, got, err = read(t, path, Options{Label: "y", Categories: map[string][]string{"c": {"u", ""}}, Missing: map[string]Missing{"x": {Fill: 7, Indicator: true}}})
	if err != nil || !slices.Equal(got.Values, []float32{7, 1, 0, 1, 7, 1, 1, 0, 2, 0, 0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWrongMissing(t *testing.T) {
	for want, m := range map[string]map[string]Missing{
		"missing of x: fill NaN":                      {"x": {Fill: math.NaN()}},
		"missing of x: fill +Inf":                     {"x": {Fill: math.Inf(1)}},
		"missing of x: an empty word":                 {"x": {Words: []string{""}}},
		`missing of x: words: "a" stands twice`:       {"x": {Words: []string{"a", "a"}}},
		`missing of x: words: " a" begins or ends`:    {"x": {Words: []string{" a"}}},
		"missing: y is the label":                     {"y": {}},
		`missing: c has categories; list ""`:          {"c": {}},
		`has no column "z"`:                           {"z": {}},
		"missing: i has shape [2], and an indicator ": {"i": {Indicator: true}},
	} {
		path := put(t, "x.npz", npz(t, zip.Store, map[string]string{
			"i": npy(1, head("<f4", "False", "(2, 2)"), make([]float32, 4)), "x": npy(1, head("<f4", "False", "(2,)"), make([]float32, 2)),
			"c": npy(1, head("<f4", "False", "(2,)"), make([]float32, 2)), "y": npy(1, head("<f4", "False", "(2,)"), []float32{0, 1}),
		}))
		_, err := Infer(open(t, path), Options{Label: "y", Missing: m, Categories: map[string][]string{"c": {"0", "1"}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for name, c := range map[string]Column{
		"categories":  {Name: "x", Categories: []string{"a", "b"}, Missing: &Missing{}},
		"a fill":      {Name: "x", Missing: &Missing{Fill: math.Inf(-1)}},
		"a shape":     {Name: "x", Shape: []int{1}, Missing: &Missing{Indicator: true}},
		"empty words": {Name: "x", Missing: &Missing{Words: []string{""}}},
	} {
		s := Schema{Label: Label{Name: "y", Task: Regression}, Columns: []Column{c}, Shape: []int{1}}
		s.Shape = []int{c.width()}
		if s.Check() == nil {
			t.Errorf("a schema with %s passes", name)
		}
	}
}

// In any column of numbers and gaps, each row is as computed by hand.
func TestMissingRowByRow(t *testing.T) {
	gaps := []string{"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "  ", " NA ", "word"}
	rapid.Check(t, func(r *rapid.T) {
		m := Missing{Fill: float64(rapid.IntRange(-9, 9).Draw(r, "fill")), Indicator: rapid.Bool().Draw(r, "indicator"), Words: []string{"word"}}
		text, want := "x,y\n", []float32{}
		for i := range rapid.IntRange(2, 20).Draw(r, "rows") {
			v, missing := m.Fill, float32(1)
			if cell := rapid.SampledFrom(append([]string{"number"}, gaps...)).Draw(r, "cell"); cell == "number" {
				v, missing = float64(rapid.IntRange(-99, 99).Draw(r, "x")), 0
				text += fmt.Sprintf("%v,%d\n", v, i%2)
			} else {
				text += fmt.Sprintf("%s,%d\n", cell, i%2)
			}
			want = append(want, float32((v-1)/4)) // exact
			if m.Indicator {
				want = append(want, missing)
			}
		}
		_, got, err := read(t, put(t, "x.csv", text), Options{Label: "y", Classes: []string{"0", "1"}, Missing: map[string]Missing{"x": m}, Scale: map[string][2]float64{"x": {1, 4}}})
		if err != nil || !slices.Equal(got.Values, want) {
			r.Fatalf("%v\ngot  %v\nwant %v", err, got, want)
		}
	})
}

// Without the setting, a missing number is an error that doesn't quote the cell's text.
func TestMissingWithoutFill(t *testing.T) {
	s := &Schema{Label: Label{Name: "y", Task: Regression}, Columns: []Column{{Name: "x"}}, Shape: []int{1}}
	for _, gap := range []string{"", "None", "NULL", "?"} {
		_, err := s.Read(open(t, put(t, "x.csv", "x,y\n"+gap+",1\n")), Training)
		if err == nil || !strings.Contains(err.Error(), "--missing x=NUMBER") || gap != "" && strings.Contains(err.Error(), gap) {
			t.Errorf("%q: %v", gap, err)
		}
	}
}

// The suggested fill of an array is the mean, without an indicator.
func TestSuggestedMissingOfArrays(t *testing.T) {
	nan := math.NaN()
	d, err := open(t, put(t, "x.npz", npz(t, zip.Store, map[string]string{
		"x": npy(1, head("<f8", "False", "(4, 2)"), []float64{nan, 1, 2, nan, nan, 3, 6, nan}),
	}))).Describe(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := d.Columns[0].SuggestedMissing(); !ok || m.Fill != 3 || m.Indicator || d.Columns[0].Missing != 4 {
		t.Errorf("%+v of %+v", m, d.Columns[0])
	}
}

// A model of the first version treats NA as a category like any other, as when it was trained.
func TestCategoriesOfTheFirstVersion(t *testing.T) {
	s := &Schema{Label: Label{Name: "y", Task: Regression}, Columns: []Column{{Name: "a", Categories: []string{"x", "", "*"}}}, Shape: []int{3}}
	read := func() []float32 {
		f := open(t, put(t, "rows.csv", "a\nNA\n\"\"\nz\n"))
		got, err := s.Read(f, Predicting)
		if err != nil {
			t.Fatal(err)
		}
		return got.Values
	}
	if got, want := read(), []float32{0, 1, 0, 0, 1, 0, 0, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	s.EmptyOnly()
	if got, want := read(), []float32{0, 0, 1, 0, 1, 0, 0, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("read %v by the first version, want %v", got, want)
	}
}
