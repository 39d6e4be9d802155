package renyi

import (
	"math"
	"testing"
)

// oneOrder is the largest p - e^epsilon q of tests with probabilities p and q whose laws have a Rényi divergence of r
// at order a, in one direction: by bisection for p at a fine grid of q, then a finer one around the best.
func oneOrder(a int, r, epsilon float64) float64 {
	x := float64(a)
	excess := math.Expm1((x - 1) * r)
	value := func(logit float64) float64 {
		q := 1 / (1 + math.Exp(-logit))
		low, high := q, 1.0
		for range 52 {
			p := (low + high) / 2
			// q L^a + (1-q) M^a - 1 with L = p/q and M = (1-p)/(1-q), of which q L + (1-q) M is 1
			l, m := (p-q)/q, (q-p)/(1-q)
			more := q*(math.Expm1(x*math.Log1p(l))-x*l) + (1-q)*(math.Expm1(x*math.Log1p(m))-x*m)
			if more < excess {
				low = p
			} else {
				high = p
			}
		}
		return low - math.Exp(epsilon)*q
	}
	best, at := 0.0, 0.0
	for step, from, to := 0.25, -40.0, 6.0; step > 1e-4; step, from, to = step/10, at-step, at+step {
		for logit := from; logit <= to; logit += step {
			if v := value(logit); v > best {
				best, at = v, logit
			}
		}
	}
	return best
}

// The bound of each order is the largest divergence that its Rényi divergence allows, for any position of its minimum
// over u and v: with little divergence the minimum is a narrow dip beside a plain.
func TestDivergencesOfOneOrder(t *testing.T) {
	for _, slope := range []float64{1e-9, 1e-6, 3e-5, 1e-3, 0.05, 0.7} {
		for _, a := range []int{2, 3, 17, 256, 1024} {
			r := slope * float64(a)
			if float64(a-1)*r > 600 {
				continue // the test's moments overflow
			}
			curve := NewCurve(a)
			for b := 2; b <= a; b++ {
				curve[b] = r // no more than by order a
			}
			d := curve.Divergences()
			for _, deviations := range []float64{0, 1, 7, 200} {
				epsilon := deviations * math.Sqrt(2*slope)
				want := oneOrder(a, r, epsilon)
				got := math.Exp(d.at(a, epsilon))
				if want > 1e-11 && !(got >= want*(1-1e-6) && got <= want*(1+2e-3)) && want < 1-1e-9 {
					t.Errorf("slope %v, order %d, epsilon %v: bound %v, attained %v", slope, a, epsilon, got, want)
				}
			}
		}
	}
}

// At finds the best order, independently of earlier calls.
func TestDivergencesInAnyOrder(t *testing.T) {
	for _, c := range []struct {
		slope float64
		o     Orders
	}{{3e-5, Orders{2, 256}}, {1e-6, Orders{200, 256}}, {1e-9, Orders{2, 1024}}, {0.02, Orders{2, 32}}, {0.5, Orders{2, 256}}, {0.1, Orders{6, 20}}} {
		d := Line(c.slope, c.o, c.o.High).Divergences()
		for k := 12; k >= 0; k -= 3 {
			epsilon := float64(k*k) * math.Sqrt(c.slope) / 4
			least := 0.0
			for a := 2; a <= c.o.High; a++ {
				least = math.Min(least, d.at(a, epsilon))
			}
			if v := d.At(epsilon); v > math.Exp(least)*(1+1e-3) {
				t.Errorf("slope %v, orders %v, epsilon %v: %v, but an order has %v", c.slope, c.o, epsilon, v, math.Exp(least))
			} else if again := Line(c.slope, c.o, c.o.High).Divergences().At(epsilon); v != again {
				t.Errorf("slope %v, orders %v, epsilon %v: %v, and %v if it is asked first", c.slope, c.o, epsilon, v, again)
			}
		}
	}
}

// Epsilons at delta 1e-5 of lines of little slope, by a dense search over all u and v of all orders.
func TestEpsilonsOfSlightLines(t *testing.T) {
	for _, c := range []struct{ slope, epsilon float64 }{{3e-5, 0.02659}, {1e-5, 0.01936}, {1e-6, 0.00972}} {
		d := Line(c.slope, Orders{2, 256}, 256).Divergences()
		low, high := 0.0, 1.0
		for range 30 {
			if mid := (low + high) / 2; d.At(mid) > 1e-5 {
				low = mid
			} else {
				high = mid
			}
		}
		if !(high < c.epsilon+1e-5) {
			t.Errorf("slope %v: epsilon %.5f, want %v", c.slope, high, c.epsilon)
		}
	}
	if v := Line(1e-9, Orders{2, 1024}, 1024).Divergences().At(0.01025); v > 1.1e-11 {
		t.Errorf("delta %v, want 1.05e-11", v)
	}
}
