package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// If K is binomial of probability 1 and an outcome of little mass is placed first, its contribution has few digits,
// since it is computed from the mass of the later outcomes. The lower bound doesn't exceed the contribution.
func TestLowerBoundOfLittleMass(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 1))
	for range 2000 {
		p0, q0 := math.Exp(-10-30*r.Float64()), math.Exp(-10-30*r.Float64())
		p, q := []float64{p0, 1 - p0}, []float64{q0, 1 - q0}
		n := 2 + r.IntN(8)
		k := repetitions.Binomial{Trials: n, Probability: 1}
		s1, s0 := math.Pow(p0, float64(n)), math.Pow(q0, float64(n))
		for _, addition := range []bool{false, true} {
			got := orderOf(p, q, []float64{1}, []float64{1}, k, 0, 1, false, addition).up[0][0]
			// s0 x - s1 for addition, or s1 - x s0 for removal, is no larger for any x.
			if addition && !(got.s1*s0 >= s1*got.s0*(1-1e-9)) || !addition && !(got.s1*s0 <= s1*got.s0*(1+1e-9)) || !(got.s0 <= s0*(1+1e-9)) {
				t.Errorf("addition %v, %d trials of mass %v and %v: %v and %v in place of %v and %v", addition, n, p0, q0, got.s1, got.s0, s1, s0)
			}
		}
	}
}
