package accountant

import "math"

// padded covers the rounding of a delta's last sums and exponentials, and the underflow of a side's masses, both of which
// are far smaller.
func padded(delta float64) float64 { return math.Min(1, delta*(1+1e-9)+0x1p-1000) }

// profileBound is the bound that a profile gives.
type profileBound struct {
	profile profile
	name    string
}

func (b profileBound) delta(epsilon float64) Guarantee {
	return Guarantee{Epsilon: epsilon, Delta: padded(b.profile.deltaAt(epsilon)), Bound: b.name}
}

// epsilon narrows a bracket; the value that it returns, the upper end, has been evaluated.
func (b profileBound) epsilon(delta float64) Guarantee {
	g := Guarantee{Delta: delta, Bound: b.name}
	excess := func(epsilon float64) (float64, error) {
		return ln(padded(b.profile.deltaAt(epsilon)) / delta), nil
	}
	at := func(epsilon float64) float64 { x, _ := excess(epsilon); return x }
	if at(0) <= 0 {
		return g
	}
	low, high := 0.0, 1.0
	highExcess := at(high)
	lowExcess := math.Inf(1)
	for highExcess > 0 {
		if low, lowExcess, high = high, highExcess, 2*high; high > largestLoss {
			g.Epsilon = math.Inf(1)
			return g
		}
		highExcess = at(high)
	}
	const nothing = 1e-300
	for low == 0 && high > nothing {
		if x := at(high / 4); x > 0 {
			low, lowExcess = high/4, x
		} else {
			high, highExcess = high/4, x
		}
	}
	if low > 0 {
		_, high, _ = narrow(low, lowExcess, high, highExcess, excess)
	}
	g.Epsilon = high
	return g
}
