package pld

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

// oneStepBelow is the divergence of (1-g) N(0,s^2) + g N(1,s^2) from N(0,s^2), and the reverse.
func oneStepBelow(g, s, epsilon float64) (remove, add float64) {
	at := func(x float64) float64 { return s*math.Log((math.Expm1(x)+g)/g) + 0.5/s } // where the loss is x
	y := at(epsilon)
	remove = g*normalBelow(1/s-y) - (math.Expm1(epsilon)+g)*normalBelow(-y)
	if math.Expm1(-epsilon)+g > 0 {
		y = at(-epsilon)
		add = (1-math.Exp(epsilon)*(1-g))*normalBelow(y) - math.Exp(epsilon)*g*normalBelow(y-1/s)
	}
	return remove, add
}

// TestLowerIsBelow compares lower bounds with closed forms, with the bounds from above, and with each other.
func TestLowerIsBelow(t *testing.T) {
	must := func(d *Lower, err error) *Lower {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	near := func(what string, got, most, share float64) {
		t.Helper()
		if got > most*(1+1e-11) || got < most*(1-share)-1e-15 {
			t.Errorf("%s: %v, want at most %v", what, got, most)
		}
	}
	for _, c := range []struct{ rate, noise float64 }{{1, 0.5}, {1, 7}, {0.5, 1}, {0.01, 0.5}, {1e-4, 0.6}, {1e-3, 4}} {
		d := must(LowerRows(testTail, c.rate, c.noise, 1, 1))
		again := must(LowerUnion([]float64{0.25, 0.75}, []*Lower{d, d}))
		half := must(LowerSampled(d, 0.5))
		size := math.Log1p(c.rate * math.Expm1(1/c.noise))
		for _, x := range []float64{0, 0.1, 0.7, 2, 4} {
			remove, add := oneStepBelow(c.rate, c.noise, x*size)
			near("with", d.removal.below(x*size), remove, 0.2)
			near("without", d.addition.below(x*size), add, 0.2)
			near("union", again.removal.below(x*size), remove, 0.4)
			near("union without", again.addition.below(x*size), add, 0.4)
			// A sample of a sample is a sample of half the rate.
			remove, add = oneStepBelow(c.rate/2, c.noise, x*size/2)
			near("sample", half.removal.below(x*size/2), remove, 0.4)
			near("sample without", half.addition.below(x*size/2), add, 0.4)
		}
	}
	// Gaussians compose to one.
	whole, part := must(LowerRows(testTail, 1, 1, 1, 2)), must(LowerRows(testTail, 1, 1, 1, 1))
	both := must(LowerComposed(part, part))
	four := must(part.Times(4))
	for _, epsilon := range []float64{0, 0.5, 1, 3, 6} {
		exact, _ := oneStepBelow(1, math.Sqrt(0.5), epsilon)
		near("two", whole.DeltaAt(epsilon), exact, 0.002)
		near("two composed", both.DeltaAt(epsilon), exact, 0.01)
		exact, _ = oneStepBelow(1, 0.5, epsilon)
		near("four composed", four.DeltaAt(epsilon), exact, 0.01)
	}
	// Transforms, for one row and several, against the bounds from above.
	for _, c := range []struct {
		rate, noise float64
		rows, count int
	}{{0.02, 1, 1, 300}, {0.05, 2, 3, 100}, {1e-3, 0.6, 1, 5000}}[:min(3, 1+long.Times())] {
		low := must(LowerRows(testTail, c.rate, c.noise, c.rows, c.count))
		high, _, err := Rows(by(math.Sqrt(float64(c.count)*RowsVariance(c.rate, c.noise, c.rows))/100), c.rate, c.noise, c.rows, c.count, false)
		if err != nil {
			t.Fatal(err)
		}
		for epsilon := 0.0; high.DeltaAt(epsilon) > 1e-12; epsilon += 0.4 {
			near("with", low.removal.below(epsilon), high.Remove(epsilon), 0.05)
			near("without", low.addition.below(epsilon), high.Add(epsilon), 0.2)
		}
	}
	if d := LowerNeutral(); d.DeltaAt(0) > 1e-14 {
		t.Errorf("%v for nothing", d.DeltaAt(0))
	}
}

// TestLowLawIsBelow evaluates the merged laws.
func TestLowLawIsBelow(t *testing.T) {
	for _, c := range []struct {
		rate, noise float64
		count       int
	}{{0.01, 2, 5000}, {0.02, 0.53, 1000}, {1, 1, 1}} {
		d, err := LowerRows(testTail, c.rate, c.noise, 1, c.count)
		if err != nil {
			t.Fatal(err)
		}
		high, _, err := Rows(by(0.01), c.rate, c.noise, 1, c.count, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, least := range []float64{0, leastRest} {
			p, q, _ := d.removal.lowLaw(d.addition, 500, least)
			for epsilon := -30.; epsilon < 30; epsilon += 0.3 {
				got, sumP, sumQ := 0.0, 0.0, 0.0
				for i := range p {
					got += math.Max(0, p[i]-math.Exp(epsilon)*q[i])
					sumP, sumQ = sumP+p[i], sumQ+q[i]
				}
				if got > high.Remove(epsilon)*(1+1e-12) || math.Abs(sumP-1) > 1e-13 || math.Abs(sumQ-1) > 1e-13 {
					t.Fatalf("%+v, epsilon %v: %v, bound %v, sums %v and %v", c, epsilon, got, high.Remove(epsilon), sumP, sumQ)
				}
			}
		}
	}
}
