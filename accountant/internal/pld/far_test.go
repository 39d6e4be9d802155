package pld

import (
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// TestManyTermsInFewMasses adds up more terms than the result has masses: each is below half a rounding of the sum.
func TestManyTermsInFewMasses(t *testing.T) {
	const sides, weight = 20000, 0.98 * 0x1p-55
	all := []*side{newSide(by(1), -1, []float64{0.5, 0, 0.5}, 0)}
	weights := []float64{1}
	for range sides {
		all, weights = append(all, newSide(by(1), 1, []float64{1}, 0)), append(weights, weight)
	}
	s, err := mixtureSide(all, weights)
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.5 + sides*weight; s.mass[2] < want {
		t.Errorf("a mass of %v, below %v", s.mass[2], want)
	}

	// Losses beyond the largest go to infinity, one by one.
	few, many := make([]float64, 2*LargestLoss-2), make([]float64, 2*LargestLoss-2)
	for i := range few {
		few[i], many[i] = 0.98*0x1p-27, 0.98*0x1p-27
	}
	few[0], many[0] = 1, 1
	d, e := newSide(by(1), 1-LargestLoss, few, 0), newSide(by(1), 1-LargestLoss, many, 0.5)
	want := 0.5
	pairs := 0.0
	for i := range few {
		for j := range many {
			if d.loss(i)+e.loss(j) >= LargestLoss {
				pairs++
			}
		}
	}
	want += pairs * 0.98 * 0.98 * 0x1p-54
	if s, err = composedSides([]*side{d, e}); err != nil {
		t.Fatal(err)
	}
	if s.inf < want {
		t.Errorf("a mass of %v at infinity, below %v", s.inf, want)
	}
}

// TestCellsThatBeginFarOut: one of a cell's integrals doesn't depend on the cell's beginning, to the last digit.
func TestCellsThatBeginFarOut(t *testing.T) {
	for _, noise := range []float64{22.472394955728614, 717.211273039242, 6633322.33} {
		_, want := cellIntegrals(-10, -10, -0.5, -0.25, noise, 0)
		for _, a := range []float64{-735, -23720.3, -1.64e7} {
			if _, down := cellIntegrals(a, -10, -0.5, -0.25, noise, 0); down != want {
				t.Errorf("noise %v, from %v: %v, want %v", noise, a, down, want)
			}
		}
	}
}

// TestTwoLevelsAtOnce: a level has the same bound beside any other level.
func TestTwoLevelsAtOnce(t *testing.T) {
	for _, k := range []repetitions.Distribution{repetitions.Poisson{Mean: 15}, repetitions.NegativeBinomial{Shape: -0.5, Success: 1e-3}, repetitions.Binomial{Trials: 7, Probability: 0.9}} {
		for _, noise := range []float64{0.4, 2} {
			d, _, err := Rows(by(0.02), 1, noise, 1, 1, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, cells := range []int{5, 40} {
				o := newOrdering(d.removal, k, cells)
				for c := 0.01; c < 1e4; c *= 1.7 {
					one, two := []float64{c, 3 * c}, []float64{3 * c, c}
					o.worst(one)
					o.worst(two)
					if one[0] != two[1] || one[1] != two[0] || one[0] != o.at(c) {
						t.Errorf("%#v, noise %v, %d cells, c %v: %v, the other way %v, alone %v", k, noise, cells, c, one, two, o.at(c))
					}
				}
			}
		}
	}
}
