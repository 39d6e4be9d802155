package table

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// The bounds of a verdict by hand: of 10,000 rows 100 are expected at a chance of 1 %, with a standard deviation of
// 9.95, and 5,000 at 50 %, with a standard deviation of 50. One row is never many.
func TestOverlapBounds(t *testing.T) {
	for _, c := range []struct {
		o    Overlap
		want bool
	}{
		{Overlap{Private: 10000, Public: 10000, Shared: 139, Chance: 0.01}, false},
		{Overlap{Private: 10000, Public: 10000, Shared: 140, Chance: 0.01}, true},
		{Overlap{Private: 10000, Public: 10000, Shared: 5200, Chance: 0.5}, false},
		{Overlap{Private: 10000, Public: 10000, Shared: 5201, Chance: 0.5}, true},
		{Overlap{Private: 10000, Public: 5, Shared: 1, Chance: 1e-5}, false},
		{Overlap{Private: 10000, Public: 5, Shared: 2, Chance: 1e-5}, true},
		{Overlap{Private: 10000, Public: 5, Shared: 5, Chance: 1}, false},
	} {
		if got := c.o.Many(); got != c.want {
			t.Errorf("%+v: many %t", c.o, got)
		}
	}
}

// Of 100 rows ten equal another one: a share of 0.1, with an uncertainty of two standard deviations and one row.
func TestOverlapChance(t *testing.T) {
	var rows, alike []string
	for i := range 100 {
		row := fmt.Sprintf("%d,1,0", i)
		if i < 10 {
			row = fmt.Sprintf("%d,2,1", i/2)
		}
		rows, alike = append(rows, row), append(alike, "1,1,0")
	}
	o := Options{Label: "y", Task: Classification, Classes: []string{"0", "1"}}
	if got := overlapOf(t, o, "a,b,y", rows, []string{"7,7,0", "8,8,1"}); math.Abs(got.Chance-0.173246) > 1e-6 {
		t.Errorf("%+v", got)
	}
	if got := overlapOf(t, o, "a,b,y", alike, []string{"7,7,0", "8,8,1"}); got.Chance != 1 {
		t.Errorf("rows that are all alike: %+v", got)
	}
}

// Rows are compared with their labels, and minus zero is zero.
func TestOverlapOfLabelsAndZeros(t *testing.T) {
	classes := Options{Label: "y", Task: Classification, Classes: []string{"0", "1"}}
	if got := overlapOf(t, classes, "a,y", []string{"1,0", "2,1", "0,1", "3,0"}, []string{"1,1", "2,0", "-0,1", "-0.0,0"}); got.Shared != 1 {
		t.Errorf("classes: %+v", got)
	}
	numbers := Options{Label: "y", Task: Regression}
	if got := overlapOf(t, numbers, "a,y", []string{"1,0", "2,1", "0,5"}, []string{"1,-0", "-0,5", "2,-1"}); got.Shared != 2 {
		t.Errorf("numbers: %+v", got)
	}
	// Scaled labels below the shift are negative. Only labels outside 0 to 10 are clipped.
	numbers.Clip, numbers.Scale = map[string][2]float64{"y": {0, 10}}, map[string][2]float64{"y": {3, 7}}
	if got := overlapOf(t, numbers, "a,y", []string{"1,1", "2,9", "3,-5"}, []string{"1,2", "2,8", "3,0"}); got.Shared != 1 {
		t.Errorf("scaled numbers: %+v", got)
	}
}

// A library's text may quote the file.
func TestLibrariesErrorsArePrivate(t *testing.T) {
	panics := func() (err error) {
		defer recoverParquet(&err)
		panic("found " + secret)
	}
	for _, err := range []error{errors.New("found " + secret), panics()} {
		if e := failed(err); strings.Contains(e.Error(), secret) || !strings.Contains(e.Private, secret) {
			t.Errorf("%v; private: %q", e, e.Private)
		}
	}
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
		if e := failed(end); e.Problem != "the file is cut short" || e.Private != "" {
			t.Errorf("%v: %+v", end, e)
		}
	}
}

// Shapes and names are in a file's headers, and private.
func TestHeadersArePrivate(t *testing.T) {
	write := func(name, width string, values ...float64) string {
		return put(t, name, npz(t, zip.Store, map[string]string{"x": npy(1, head("<f8", "False", width), values), "y": npy(1, head("<f8", "False", "(2,)"), []float64{0, 1})}))
	}
	s, err := Infer(open(t, write("public.npz", "(2, 3)", 1, 2, 3, 4, 5, 6)), Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Count(open(t, write("private.npz", "(2, 4)", 1, 2, 3, 4, 5, 6, 7, 8)))
	var e *Error
	if !errors.As(err, &e) || strings.Contains(e.Problem, "4") || e.Private != "their shape is [4]" {
		t.Errorf("%v; private: %q", err, e.Private)
	}
	var names []string
	for i := range 25 {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	if got := quotedNames(names); !strings.HasSuffix(got, `"n19" and 5 more`) {
		t.Errorf("names: %s", got)
	}
}
