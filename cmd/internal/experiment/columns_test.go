package experiment

import (
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/datasets/table"
)

// A column is large from 50 on, on either side of zero, in any of its values; its outliers are to be clipped only if
// all large columns are scaled.
func TestLargeColumns(t *testing.T) {
	scale := &table.Scale{Shift: 1, Divisor: 2}
	s := &table.Schema{Columns: []table.Column{{Name: "raw"}, {Name: "pair", Shape: []int{2}, Scale: scale}, {Name: "scaled", Scale: scale}}}
	for _, c := range []struct {
		values   []float32 // of two rows
		names    []string
		outliers bool
	}{
		{[]float32{50, 1, 50, -50, 0, 0, 0, 50}, nil, false},
		{[]float32{0, 0, 0, 0, 0, 0, 51, 0}, []string{"pair"}, true},
		{[]float32{0, 0, 0, 0, -51, 0, 0, 0}, []string{"raw"}, false},
		{[]float32{0, -51, 0, 60, 0, 0, 0, 0}, []string{"pair", "scaled"}, true},
		{[]float32{99, 0, 0, 0, 0, 0, 0, 99}, []string{"raw", "scaled"}, false},
	} {
		names, outliers := largeColumns(s, s.Spans(&table.Samples{N: 2, Values: c.values}))
		if !slices.Equal(names, c.names) || outliers != c.outliers {
			t.Errorf("%v: %q, outliers %t; want %q, %t", c.values, names, outliers, c.names, c.outliers)
		}
	}
}

// A note names columns that are alike in all public rows and listed categories that none has, and no other ones.
func TestSettingNotes(t *testing.T) {
	s := &table.Schema{Columns: []table.Column{
		{Name: "x"}, {Name: "clipped"}, {Name: "pixels", Shape: []int{2}}, {Name: "job", Categories: []string{"Clerk", "cook", "", table.All}},
	}}
	rows := slices.Repeat([]float32{
		1, 7, 0, 1, 0, 1, 0, 0,
		1.002, 7.0005, 0, 2, 0, 0, 0, 1,
	}, 10)
	const job = "no row of p.csv has Clerk of the categories of job, and some have one that isn't listed: are they written otherwise, such as Yes for yes?"
	const same = "the same in all rows of p.csv, as they are clipped and scaled: clipped; a model learns nothing from a column like that"
	for _, c := range []struct {
		n       int
		unknown float64 // share of jobs
		want    []string
	}{{20, 0.5, []string{job, same}}, {20, 0, []string{same}}, {19, 0, nil}} {
		public := &table.Samples{N: c.n, Values: rows[:8*c.n], Clipped: []float64{0, 0, 0, c.unknown}}
		got := settingNotes(s, s.Spans(public), public, "p.csv")
		if !slices.Equal(got, c.want) {
			t.Errorf("%d rows, %v unknown:\n%q\nwant\n%q", c.n, c.unknown, got, c.want)
		}
	}
}

// The example is of the first large column, in order, and has a width whatever the shift.
func TestCloserClip(t *testing.T) {
	for _, c := range []struct {
		scale table.Scale
		want  string
	}{
		{table.Scale{Shift: 40, Divisor: 12}, "x=-80,160"},
		{table.Scale{Shift: 40, Divisor: -12}, "x=-80,160"},
		{table.Scale{Shift: 0.25, Divisor: 0.5}, "x=-4.75,5.25"},
		{table.Scale{Shift: 1e6, Divisor: 1}, "x=999990,1000010"},
	} {
		var s Samples
		s.large = []string{"x", "other"}
		s.Schema = &table.Schema{Columns: []table.Column{{Name: "none"}, {Name: "x", Scale: &c.scale}, {Name: "other", Scale: &table.Scale{Divisor: 1}}}}
		if got, want := s.closerClip(), "clip closer by public constants, as in --clip "+c.want; got != want {
			t.Errorf("%v: %q, want %q", c.scale, got, want)
		}
	}
}

// Five columns are named, and the remedy for outliers comes before any other.
func TestWarnOfLarge(t *testing.T) {
	var p Plan
	p.Samples.Schema = &table.Schema{Columns: []table.Column{{Name: "a", Scale: &table.Scale{Divisor: 1}}}}
	for _, c := range []struct {
		large    string
		outliers bool
		want     []string
	}{
		{"", false, nil},
		{"a b c d e", false, []string{"values far above 1 in a, b, c, d, e of public.csv: ", "suggests --scale and --clip"}},
		{"a b c d e f", false, []string{"values far above 1 in a, b, c, d, e and 1 more of public.csv: "}},
		{"a", true, []string{"values far above 1 in a of public.csv, scaled as they are: ", "as in --clip a=-10,10"}},
	} {
		p.Samples.large, p.Samples.outliers = strings.Fields(c.large), c.outliers
		got := p.Samples.warning("/elsewhere/public.csv")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", c.large, got, want)
			}
		}
		if (c.want == nil) != (got == "") {
			t.Errorf("%q: %q", c.large, got)
		}
	}
	if got := p.remedy(); got != "to clip closer by public constants, as in --clip a=-10,10" {
		t.Errorf("remedy: %q", got)
	}
}
