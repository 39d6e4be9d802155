package table

import (
	"archive/zip"
	"math"
	"slices"
	"testing"
)

// The rows that are kept have their own values and labels.
func TestOnlyKeepsLabels(t *testing.T) {
	s := &Samples{N: 3, Values: []float32{1, 2, 3, 4, 5, 6}, Classes: []int32{0, 1, 2}, Numbers: []float32{7, 8, 9}}
	if got := s.Only([]int32{0, 2}); got.N != 2 || !slices.Equal(got.Values, []float32{1, 2, 5, 6}) || !slices.Equal(got.Classes, []int32{0, 2}) || !slices.Equal(got.Numbers, []float32{7, 9}) {
		t.Errorf("%+v", got)
	}
}

// Units are found after columns of several values, and NaN is no unit.
func TestUnitsOfNumbers(t *testing.T) {
	units := func(last float64) (*Units, error) {
		return open(t, put(t, "x.npz", npz(t, zip.Store, map[string]string{
			"a":   npy(1, head("<f8", "False", "(3, 2)"), []float64{1, 2, 3, 4, 5, 6}),
			"who": npy(1, head("<f8", "False", "(3,)"), []float64{30, 1.5, last}),
		}))).Units("who")
	}
	if u, err := units(30); err != nil || !slices.Equal(u.Of, []int32{0, 1, 0}) || !slices.Equal(u.Values, []string{"30", "1.5"}) {
		t.Errorf("%+v, %v", u, err)
	}
	if u, err := units(math.NaN()); err == nil {
		t.Errorf("NaN is a unit: %+v", u)
	}
}
