package pld

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestNoOrderOfAPlanBeatsOneOrderWithLaterEvents evaluates whole plans of variant 1 and later events in every order of
// scores. Final run and later events depend on earlier outcomes: each takes one of two laws.
func TestNoOrderOfAPlanBeatsOneOrderWithLaterEvents(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 1))
	const step = 0.05
	compared := 0
	for range 60 {
		trial, k, q := drawLaws(r, 2+r.IntN(3), 2*r.Float64()), drawK(t, r), math.Exp(-4*r.Float64())
		finals := []law{gaussianLike(1.5*r.Float64(), 20), drawLaws(r, 2+r.IntN(4), 2*r.Float64())}
		laters := []law{drawLaws(r, 2+r.IntN(4), r.Float64()), gaussianLike(r.Float64(), 15)}
		highest := func(all []law) *Pair {
			d, err := Maximum([]*Pair{all[0].pair(step), all[1].pair(step)})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		epsilon := 3 * r.Float64() * r.Float64()
		remove, add := trial.worst(k, epsilon, func(best law) law {
			return best.subsetThen(q, func(i int) law { return finals[i%2] }).then(func(i int) law { return laters[i/2%2] })
		})
		removal, addition := Variant1Before(highest(laters))(highest(finals), q)
		what := fmt.Sprintf("%v, then %v and %v, q %v", trial, finals, laters, q)
		compared += checkPlan(t, what, trial.pair(step), k, epsilon, removal, addition, remove, add)
	}
	if compared < 60 {
		t.Errorf("%d comparisons", compared)
	}
}

// TestLaterEventsThatCostNothing leave a plan's bound as it is, except for the bins of its levels.
func TestLaterEventsThatCostNothing(t *testing.T) {
	const step, q = 0.01, 0.1
	final := gaussianLike(0.8, 200).pair(step)
	var plain, sides [2]terms
	plain[0], plain[1] = Variant1(final, q)
	sides[0], sides[1] = Variant1Before(Neutral(by(step)))(final, q)
	for d := range 2 {
		for _, epsilon := range []float64{0, 0.3, 1, 2.5} {
			for _, z := range []float64{0, 0.01, 0.3, 1, 3, 30} {
				value := func(f terms) float64 {
					sum := 0.0
					fixed := f(epsilon, func(m, alpha, beta float64) {
						if beta <= 0 {
							sum += m * (alpha - beta) // of whole laws: the same for all z
						} else {
							sum += m * math.Max(0, alpha-beta*z)
						}
					})
					return sum + fixed
				}
				a, b := value(plain[d]), value(sides[d])
				if b < a*(1-1e-9) || b > a*(1+2e-3)+1e-9 {
					t.Errorf("direction %d, epsilon %v, z %v: %v, without later events %v", d, epsilon, z, b, a)
				}
			}
		}
	}
}

// TestBinsRaiseTerms puts terms below, within and above bins: for any z = s0/s1 the bins' sum is at least the terms'
// sum, and within a bin's width of it if their c is in range.
func TestBinsRaiseTerms(t *testing.T) {
	type term struct{ m, alpha, beta float64 }
	for name, terms := range map[string][]term{
		"within":       {{1, 0.5, 0.1}, {2, 1, 0.7}, {0.1, 1, 3}, {1, 2, 7}},
		"below":        {{1, 1, 1e-20}, {1, 3, 2e-14}},
		"above":        {{1, 1, 1e6}, {1, 1e-5, 1e5}},
		"two lists":    {{1, 1, 5}, {1, 1, 1e-3}, {3, 1, 0.2}},
		"without beta": {{2, 0.5, -3}, {1, 1, 0}, {1, 1, 0.3}},
		"infinite":     {{1, 1, math.Inf(1)}, {1, 0.5, 0.25}},
	} {
		b := newBins(0.01, 3)
		for _, x := range terms {
			b.restart()
			b.put(x.m, x.alpha, x.beta)
		}
		for _, z := range []float64{1e-22, 1e-7, 0.01, 0.1, 0.3, 1, 3, 10, 1e3, 1e13, 2e13, 1e16} {
			// One outcome of ratio z, with s1 = s and s0 = z s. Terms without beta count at most their total at any
			// outcome.
			s := 1 / (1 + z)
			value := func(m, alpha, beta float64) float64 {
				return m * math.Max(0, alpha*s-beta*z*s)
			}
			want, got := 0.0, 0.0
			for _, x := range terms {
				want += value(x.m, x.alpha, x.beta)
			}
			b.each(func(m, alpha, beta float64) {
				if beta <= 0 {
					got += m * (alpha - beta)
				} else {
					got += value(m, alpha, beta)
				}
			})
			if !(got >= want*(1-1e-13)) || name == "within" && got > want*1.01+1e-3 {
				t.Errorf("%s, z %v: %v, want %v", name, z, got, want)
			}
		}
	}
}
