package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// With two trials of a binomial no order of scores costs more than the bound, at any probability, and the bound isn't
// far above the worst order.
func TestNoOrderOfTwoTrialsIsAbove(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	probabilities := []float64{0.1, 0.499, 0.5, 0.6, 0.9, 0.99, 1}
	for range 50 {
		d := drawLaws(r, 2+r.IntN(3), []float64{0.1, 0.5, 2, 6}[r.IntN(4)])
		pair := d.pair(0.002)
		cut := d.split(map[int]int{2: 5, 3: 2, 4: 1}[len(d.p)])
		for _, probability := range probabilities {
			k := repetitions.Binomial{Trials: 2, Probability: probability}
			s := NewSelection(pair, k, 40)
			for _, epsilon := range []float64{-0.5, 0, 0.1, 0.4, 1, 2, 4} {
				x := math.Exp(epsilon)
				both := none(k) * math.Max(0, 1-x)
				remove := both + cut.bestOrder(k, func(a, b float64) float64 { return math.Max(0, a-x*b) })
				add := both + cut.bestOrder(k, func(a, b float64) float64 { return math.Max(0, b-x*a) })
				for _, c := range []struct {
					name         string
					bound, least float64
				}{{"remove", s.Remove(epsilon), remove}, {"add", s.Add(epsilon), add}} {
					if c.bound < c.least*(1-1e-9)-1e-15 {
						t.Errorf("%v, probability %v, %s at %v: the bound of %v is below %v", d, probability, c.name, epsilon, c.bound, c.least)
					}
					if len(d.p) == 2 && c.least > 0.01 && c.bound > 1.1*c.least {
						t.Errorf("%v, probability %v, %s at %v: the bound of %v is far above %v", d, probability, c.name, epsilon, c.bound, c.least)
					}
				}
			}
		}
	}
}
