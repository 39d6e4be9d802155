package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// If K is binomial of probability close to 1 and little mass has been placed, phi3 is a power of the placed mass, which
// rounding moves by a large factor. bend still allows for all of it. The test computes phi3 from the masses inside
// intervals, which are exact.
func TestBendsOfLittleMass(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 1))
	for range 300 {
		k := repetitions.Binomial{Trials: 3 + r.IntN(9), Probability: 1}
		if r.IntN(2) == 0 {
			k.Probability = 1 - math.Exp(-35*r.Float64())
		}
		const n = 5
		var p, q [n]float64
		restP, restQ := 1.0, 1.0
		for i := range n - 1 {
			p[i] = math.Exp(-40*r.Float64()) / 8
			q[i] = p[i] * math.Exp(2*r.Float64())
			restP, restQ = restP-p[i], restQ-q[i]
		}
		p[n-1], q[n-1] = restP, math.Max(restQ, restP/9)
		sum := 0.0
		for _, m := range q {
			sum += m
		}
		for i := range q {
			q[i] /= sum
		}
		none := 1 - k.Probability
		third := func(masses []float64) float64 {
			b := none
			for _, m := range masses {
				b += k.Probability * m
			}
			m := float64(k.Trials)
			return m * (m - 1) * (m - 2) * math.Pow(k.Probability, 3) * math.Pow(b, m-3)
		}
		out := outsideOf(p[:], q[:], 0)
		at := func(j int) (s [2][]slopes) {
			for i := range min(j+1, n) + 1 {
				s[0], s[1] = append(s[0], slopesAt(k, out.leastP(i, j))), append(s[1], slopesAt(k, out.mostQ(i, j)))
			}
			return s
		}
		for j := range n {
			row := row{crossings: make([]crossing, j+2)}
			row.fill(p[:], q[:], j, k, at(j), at(j+1))
			for i := range j { // squares above the diagonal
				x := row.crossings[i]
				least := 0.0
				if x.unbend > 0 {
					for _, c := range [][2]int{{i, j}, {i + 1, j}, {i, j + 1}, {i + 1, j + 1}} {
						if of := third(p[c[0]:c[1]]); of > 0 {
							least = math.Max(least, third(q[c[0]:c[1]])/of)
						}
					}
					least *= x.unbend / (p[j] * p[i] * p[i]) * q[j] * q[i] * q[i]
				} else {
					least = third(q[i:j+1]) * q[j] * q[i] * q[i] / 8
				}
				if x.bend < least*(1-1e-9) {
					t.Errorf("%v, P %v, Q %v, cells %d and %d: bend %v is below %v", k, p, q, i, j, x.bend, least)
				}
			}
		}
	}
}
