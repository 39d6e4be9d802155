package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// drawTwoLaws draws laws with 2 to 4 outcomes, some of them with little mass, and some that only one law has.
func drawTwoLaws(r *rand.Rand) law {
	for {
		var d law
		spread, depth := []float64{0.1, 0.5, 2, 6}[r.IntN(4)], []float64{1, 3, 10}[r.IntN(3)]
		sumP, sumQ, common := 0.0, 0.0, 0.0
		for range 2 + r.IntN(3) {
			q := math.Exp(-depth * r.Float64())
			p := q * math.Exp(spread*(2*r.Float64()-1))
			switch r.IntN(12) {
			case 0:
				p = 0
			case 1:
				q = 0
			}
			d.p, d.q, sumP, sumQ, common = append(d.p, p), append(d.q, q), sumP+p, sumQ+q, common+math.Min(p, q)
		}
		if common == 0 {
			continue
		}
		for i := range d.p {
			d.p[i], d.q[i] = d.p[i]/sumP, d.q[i]/sumQ
		}
		return d
	}
}

// worstOfTwo returns the largest divergences of the better of two trials, each of which takes place with the given
// probability, at several factors x = e^epsilon: over all orders of the outcomes, each cut into equal pieces. Of both
// trials the better is the last in the order.
func worstOfTwo(p, q []float64, probability float64, pieces int, x []float64) (remove, add []float64) {
	remove, add = make([]float64, len(x)), make([]float64, len(x))
	left := make([]int, len(p))
	for i := range left {
		left[i] = pieces
	}
	// released is the probability that a piece of mass m is the answer, when what is before it has the mass f: it is
	// the only trial, or the other one is before it, or both are that piece.
	released := func(f, m float64) float64 {
		return 2*probability*(1-probability)*m + probability*probability*m*(2*f+m)
	}
	sums := make([][2]float64, len(x))
	none := (1 - probability) * (1 - probability)
	for i, x := range x {
		none := none * math.Max(0, 1-x)
		sums[i] = [2]float64{none, none}
	}
	var place func(f, g float64, sums [][2]float64, placed int)
	memory := make([][][2]float64, len(p)*pieces)
	for i := range memory {
		memory[i] = make([][2]float64, len(x))
	}
	place = func(f, g float64, sums [][2]float64, placed int) {
		if placed == len(p)*pieces {
			for i, s := range sums {
				remove[i], add[i] = math.Max(remove[i], s[0]), math.Max(add[i], s[1])
			}
			return
		}
		next := memory[placed]
		for o := range left {
			if left[o] == 0 {
				continue
			}
			left[o]--
			m, n := p[o]/float64(pieces), q[o]/float64(pieces)
			with, without := released(f, m), released(g, n)
			for i, s := range sums {
				next[i] = [2]float64{s[0] + math.Max(0, with-x[i]*without), s[1] + math.Max(0, without-x[i]*with)}
			}
			place(f+m, g+n, next, placed+1)
			left[o]++
		}
	}
	place(0, 0, sums, 0)
	return remove, add
}

// With two trials of a binomial no order of scores costs more than the bound, at any probability, and the bound isn't
// far above the worst of them.
func TestNoOrderOfTwoTrialsIsAbove(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	probabilities := []float64{0.1, 0.499, 0.5, 0.6, 0.9, 0.99, 1}
	epsilons := []float64{-0.5, 0, 0.1, 0.4, 1, 2, 4}
	x := make([]float64, len(epsilons))
	for i, epsilon := range epsilons {
		x[i] = math.Exp(epsilon)
	}
	for range 50 {
		d := drawTwoLaws(r)
		pair := d.pair(0.002)
		pieces := map[int]int{2: 5, 3: 2, 4: 1}[len(d.p)]
		for _, probability := range probabilities {
			remove, add := worstOfTwo(d.p, d.q, probability, pieces, x)
			s := NewSelection(pair, repetitions.Binomial{Trials: 2, Probability: probability}, 40)
			for i, epsilon := range epsilons {
				for _, c := range []struct {
					name         string
					bound, least float64
				}{{"remove", s.Remove(epsilon), remove[i]}, {"add", s.Add(epsilon), add[i]}} {
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
