package renyi

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawLaws draws two laws on a few outcomes.
func drawLaws(t *rapid.T) (p, q []float64) {
	n := rapid.IntRange(2, 4).Draw(t, "outcomes")
	spread := math.Exp(rapid.Float64Range(-12, 2).Draw(t, "log spread"))
	sumP, sumQ := 0.0, 0.0
	for range n {
		a := math.Exp(rapid.Float64Range(-20, 0).Draw(t, "log mass"))
		b := a * math.Exp(spread*rapid.Float64Range(-1, 1).Draw(t, "loss"))
		p, q, sumP, sumQ = append(p, a), append(q, b), sumP+a, sumQ+b
	}
	for i := range p {
		p[i], q[i] = p[i]/sumP, q[i]/sumQ
	}
	return p, q
}

// exactDivergence is the Rényi divergence of order a, without the cancellation of a logarithm near 1: with L = p/q it
// is log(1 + E (L^a - 1 - a (L-1)))/(a-1).
func exactDivergence(a int, p, q []float64) float64 {
	x, sum := float64(a), 0.0
	for i := range p {
		l := math.Log(p[i] / q[i])
		// e^{al} - 1 - a (e^l - 1), as the sum of its series where it cancels
		term := math.Expm1(x*l) - x*math.Expm1(l)
		if x*math.Abs(l) < 1e-2 {
			term = 0
			for k, power := 2.0, x*l*x*l/2; k < 9; k++ {
				term += power * (1 - math.Pow(x, 1-k))
				power *= x * l / (k + 1)
			}
		}
		sum += q[i] * term
	}
	return math.Log1p(sum) / (x - 1)
}

// No two laws below a curve have a larger divergence than the curve allows.
func TestDivergencesAreBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := drawLaws(t)
		low := rapid.IntRange(2, 9).Draw(t, "low")
		o := Orders{low, low + rapid.IntRange(0, 60).Draw(t, "more")}
		slope := 0.0
		for a := o.Low; a <= o.High; a++ {
			slope = max(slope, exactDivergence(a, p, q)/float64(a), exactDivergence(a, q, p)/float64(a))
		}
		if slope < 1e-12 || math.IsInf(slope, 1) || math.IsNaN(slope) {
			t.Skip() // the test's own rounding
		}
		d := Line(slope*(1+1e-9), o, o.High).Divergences()
		for k := range 40 {
			epsilon := float64(k) * math.Sqrt(slope) / 5
			bound := d.At(epsilon)
			for _, laws := range [][2][]float64{{p, q}, {q, p}} {
				sum := 0.0
				for i := range p {
					sum += math.Max(0, laws[0][i]-math.Exp(epsilon)*laws[1][i])
				}
				if sum > bound*(1+1e-9)+1e-15 {
					t.Fatalf("slope %v, orders %v, epsilon %v: divergence %v, bound %v", slope, o, epsilon, sum, bound)
				}
			}
		}
	})
}

// Two outcomes come close to the hull of the bounds at each epsilon.
func TestDivergencesAreAttained(t *testing.T) {
	for _, c := range []struct {
		slope    float64
		o        Orders
		epsilons []float64
	}{
		{0.02, Orders{2, 32}, []float64{0, 0.05, 0.2, 0.7, 1}},
		{1e-4, Orders{2, 24}, []float64{0, 0.005, 0.03, 0.1, 0.4}},
		{0.3, Orders{2, 2}, []float64{0, 0.3, 1, 5}},
		{0.1, Orders{6, 20}, []float64{0, 0.5, 1, 2}},
	} {
		curve := Line(c.slope, c.o, c.o.High)
		below := func(p, q float64) bool { // outcomes (p, 1-p) and (q, 1-q)
			x, y := []float64{p, 1 - p}, []float64{q, 1 - q}
			for a := c.o.Low; a <= c.o.High; a++ {
				if !(exactDivergence(a, x, y) <= curve[a] && exactDivergence(a, y, x) <= curve[a]) {
					return false
				}
			}
			return true
		}
		// Points of the bounds over e^epsilon; at negative epsilons they follow from the other direction's bounds.
		var xs, hs []float64
		d := curve.Divergences()
		for k := range 200 {
			epsilon := float64(k) * math.Sqrt(c.slope) / 20
			h, x := d.At(epsilon), math.Exp(epsilon)
			xs, hs = append(xs, x, 1/x), append(hs, h, 1-1/x+h/x)
		}
		for _, epsilon := range c.epsilons {
			x := math.Exp(epsilon)
			bound := curve.Divergences().At(epsilon)
			for i := range xs {
				for j := range xs {
					if xs[i] < x && x < xs[j] {
						bound = math.Min(bound, (hs[i]*(xs[j]-x)+hs[j]*(x-xs[i]))/(xs[j]-xs[i]))
					}
				}
			}
			best := 0.0
			for logit := -35.0; logit < 5; logit += 0.1 {
				q := 1 / (1 + math.Exp(-logit))
				low, high := q, 1.0
				for range 42 {
					if mid := (low + high) / 2; below(mid, q) {
						low = mid
					} else {
						high = mid
					}
				}
				best = math.Max(best, low-x*q)
			}
			t.Logf("slope %v, orders %v, epsilon %v: bound %.4g, attained %.5f of it", c.slope, c.o, epsilon, bound, best/bound)
			if best > bound*(1+1e-9) || best < 0.99*bound {
				t.Errorf("slope %v, orders %v, epsilon %v: two outcomes have %v, the bound is %v", c.slope, c.o, epsilon, best, bound)
			}
		}
	}
}

// The conversions that the bounds generalise are no smaller.
func TestDivergencesAreNoLargerThanConversions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slope := math.Exp(rapid.Float64Range(-25, 3).Draw(t, "log slope"))
		o := Orders{2, rapid.IntRange(2, 256).Draw(t, "high")}
		curve := Line(slope, o, o.High)
		d := curve.Divergences()
		for k := range 50 {
			epsilon := float64(k) * math.Sqrt(slope) / 4
			known, _ := curve.Delta(o, epsilon)
			known = math.Min(known, twoMomentDelta(curve[2], math.Expm1(epsilon)))
			if v := d.At(epsilon); v > known*(1+1e-3) || !(v > 0) {
				t.Fatalf("slope %v, epsilon %v: %v above %v", slope, epsilon, v, known)
			}
		}
	})
}
