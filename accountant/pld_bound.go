package accountant

import "math"

// padded covers the rounding errors of sums and exponentials, which are far smaller, in a delta.
func padded(delta float64) float64 { return math.Min(1, delta*(1+1e-9)) }

// profileBound is the bound that a profile gives.
type profileBound struct {
	profile profile
	name    string
}

func (b profileBound) delta(epsilon float64) Guarantee {
	return Guarantee{Epsilon: epsilon, Delta: padded(b.profile.deltaAt(epsilon)), Bound: b.name}
}

// epsilon bisects; the value it returns has been evaluated.
func (b profileBound) epsilon(delta float64) Guarantee {
	enough := func(epsilon float64) bool { return padded(b.profile.deltaAt(epsilon)) <= delta }
	g := Guarantee{Delta: delta, Bound: b.name}
	if enough(0) {
		return g
	}
	low, high := 0.0, 1.0
	for !enough(high) {
		if low, high = high, 2*high; high > largestLoss {
			g.Epsilon = math.Inf(1)
			return g
		}
	}
	for high-low > 1e-12*high {
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	g.Epsilon = high
	return g
}
