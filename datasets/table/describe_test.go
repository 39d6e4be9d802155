package table

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Summary.Task is the task that Infer infers.
func TestDescribedTask(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		want Task
	}{
		"whole numbers": {"1,a\n2,b\n3,a\n", Classification},
		"few fractions": {"0.5,a\n1,b\n1.5,a\n", Regression},
		"texts":         {"low,a\nhigh,b\n", Classification},
	} {
		path := put(t, "x.csv", "y,x\n"+c.rows)
		d, err := open(t, path).Describe(Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Infer(open(t, path), Options{Label: "y", Categories: map[string][]string{"x": {"a", "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Columns[0].Task(); got != c.want || got != s.Label.Task {
			t.Errorf("%s: described as %s, inferred as %s, want %s", name, got, s.Label.Task, c.want)
		}
	}
}

func TestSpans(t *testing.T) {
	s, got, err := read(t, put(t, "x.csv", "a,c,b,y\n1,u,-300,no\n-2,v,20,yes\n"), Options{
		Label: "y", Categories: map[string][]string{"c": {"u", "v"}}, Scale: map[string][2]float64{"b": {0, 10}},
	})
	if err != nil {
		t.Fatal(err)
	}
	spans, want := s.Spans(got), [][]Range{{{-2, 1}}, {{0, 1}, {0, 1}}, {{-30, 2}}}
	if !reflect.DeepEqual(spans, want) {
		t.Errorf("spans %v, want %v", spans, want)
	}
}

// Labels at a bound aren't changed by it.
func TestClippedLabels(t *testing.T) {
	path := put(t, "x.csv", "x,y\n1,0.1\n1,0.3\n1,0.7\n1,-2\n1,0.7000001\n1,9\n")
	for _, c := range []struct {
		clip map[string][2]float64
		want int
	}{{map[string][2]float64{"y": {0.1, 0.7}}, 3}, {map[string][2]float64{"y": {0.3, 20}}, 2}, {map[string][2]float64{"x": {0, 0.5}}, 0}} {
		for _, scale := range []map[string][2]float64{nil, {"y": {0.2, 0.37}}} {
			s, err := Infer(open(t, path), Options{Label: "y", Task: Regression, Clip: c.clip, Scale: scale})
			if err != nil {
				t.Fatal(err)
			}
			public, err := s.Read(open(t, path), Testing)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.ClippedLabels(public); got != c.want {
				t.Errorf("clip %v, scale %v: %d, want %d", c.clip, scale, got, c.want)
			}
		}
	}
}

// A description counts missing values in all notations, and names words among amounts.
func TestDescribedAmountsWithGaps(t *testing.T) {
	rows := "31,1,red,0,7\nNA,2,7,1,7\n4.5,3,red,3+,7\n?,4,blue,3+,\n,unknown,NA,0,7\n-999,5,,1,7\n2,6,None,0,7\n3,7,red,1,7\n1.5,unknown,red,1,7\n"
	d, err := open(t, put(t, "x.csv", "age,size,colour,rooms,constant\n"+rows)).Describe(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		missing, texts int
		text           string
		words          []string
		numbers        bool
	}{{3, 0, "", nil, true}, {0, 2, "unknown", []string{"unknown"}, true}, {3, 5, "red", nil, false}, {0, 2, "3+", nil, false}, {1, 0, "", nil, true}} {
		if c := d.Columns[i]; c.Missing != want.missing || c.Texts != want.texts || c.Text != want.text || !slices.Equal(c.Words, want.words) || c.Numbers != want.numbers || c.Useless != "" {
			t.Errorf("column %s: %+v, want %+v", c.Name, c, want)
		}
	}
	if m, ok := d.Columns[0].SuggestedMissing(); !ok || m.Fill != 2 || m.Indicator { // of -999, 1.5, 2, 3, 4.5 and 31
		t.Errorf("suggested %+v, %v", m, ok)
	}
}

// Missing labels are an error in both tasks, and their other notations are no classes.
func TestMissingLabels(t *testing.T) {
	const amounts = 101 // one more than the most whole numbers that can be classes
	rows := &strings.Builder{}
	for i := range amounts {
		fmt.Fprintf(rows, "1,%d.5\n", i)
	}
	for _, gap := range []string{"NA", "?", "NaN", "nan", "null", "NULL", "None", "N/A", "", " "} {
		path := put(t, "x.csv", "x,y\n"+rows.String()+"1,"+gap+"\n")
		for _, task := range []Task{"", Classification, Regression} {
			s, err := Infer(open(t, path), Options{Label: "y", Task: task})
			if err == nil { // a regression, whose labels are read later
				_, err = s.Read(open(t, path), Testing)
			}
			var e *Error
			if !errors.As(err, &e) || e.Row != "line 103" || e.Column != "y" || !strings.Contains(e.Problem, "no label (empty, NaN, NA") {
				t.Errorf("%q, task %q: %v", gap, task, err)
			}
		}
	}
	// A class with the name of a missing value can be listed.
	o := Options{Label: "y", Classes: []string{"None", "some"}}
	s, got, err := read(t, put(t, "x.csv", "x,y\n1,None\n2,some\n"), o)
	if err != nil || !slices.Equal(got.Classes, []int32{0, 1}) || len(s.Label.Classes) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	path := put(t, "x.csv", "x,y\n"+rows.String()+"1,dunno\n")
	var e *Error
	if _, err = Infer(open(t, path), Options{Label: "y"}); !errors.As(err, &e) || !strings.Contains(e.Problem, `1 of 102 labels aren't numbers, such as "dunno"`) {
		t.Errorf("inferred with %v", err)
	}
	if s, err := Infer(open(t, path), Options{Label: "y", Task: Classification}); err != nil || len(s.Label.Classes) != amounts+1 {
		t.Errorf("a classification on demand: %v", err)
	}
	if s, err := Infer(open(t, put(t, "few.csv", "x,y\n1,1\n1,2\n1,3+\n")), Options{Label: "y"}); err != nil || len(s.Label.Classes) != 3 {
		t.Errorf("a few classes, of which one is a text: %v", err)
	}
}
