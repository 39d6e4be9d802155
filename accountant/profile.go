package accountant

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/float"
)

// padded raises a delta by more than its last sums and exponentials can lose by rounding and a side's masses by
// underflow. NaN becomes 1.
func padded(delta float64) float64 {
	if !(delta < 1) { // NaN too, which is no bound
		return 1
	}
	return math.Min(1, delta*(1+1e-9)+0x1p-1000)
}

// A profileBound inverts a profile.
type profileBound struct {
	profile profile
	name    string
}

func (b profileBound) delta(epsilon float64) Guarantee {
	return Guarantee{Epsilon: epsilon, Delta: padded(b.profile.DeltaAt(epsilon)), Bound: b.name}
}

// epsilon returns the upper end of the bracket, at which the profile was evaluated and is at most delta.
func (b profileBound) epsilon(delta float64) Guarantee {
	upper, slow := quick(b.profile)
	_, high := bracket(func(epsilon float64) float64 { return padded(upper.DeltaAt(epsilon)) }, delta)
	if slow && high > 0 && !math.IsInf(high, 1) {
		high = narrowDown(func(epsilon float64) float64 { return padded(b.profile.DeltaAt(epsilon)) }, delta, high)
	}
	return Guarantee{Epsilon: high, Delta: delta, Bound: b.name}
}

// quick returns a profile that is at least p and takes less time, and whether it isn't p itself.
func quick(p profile) (quicker profile, slow bool) {
	switch p := p.(type) {
	case *pld.Plan:
		return p.Pairs, true
	case rowsProfile:
		p.alone, _ = quick(p.alone)
		return p, true
	}
	return p, false
}

// narrowDown returns an epsilon of at most high at which deltaAt is at most delta. It expects the smallest such epsilon
// within a few per cent of high.
func narrowDown(deltaAt func(epsilon float64) float64, delta, high float64) float64 {
	excess := func(epsilon float64) (float64, error) { return float.Log(deltaAt(epsilon) / delta), nil }
	highExcess, _ := excess(high)
	if highExcess > 0 { // by rounding
		return high
	}
	for share := 1 - 1./32; share > 1e-9; share *= share {
		low := high * share
		lowExcess, _ := excess(low)
		if lowExcess > 0 {
			_, high, _ = narrow(planWidth, low, lowExcess, high, highExcess, excess)
			break
		}
		high, highExcess = low, lowExcess
	}
	return high
}

// planWidth is the relative width at which the search for a plan's epsilon stops.
const planWidth = 1e-8

// bracket narrows down the epsilon at which deltaAt falls to delta. Both ends have been evaluated, except a low end of
// 0 and an infinite high end.
func bracket(deltaAt func(epsilon float64) float64, delta float64) (low, high float64) {
	excess := func(epsilon float64) (float64, error) { return float.Log(deltaAt(epsilon) / delta), nil }
	at := func(epsilon float64) float64 { x, _ := excess(epsilon); return x }
	if at(0) <= 0 {
		return 0, 0
	}
	low, high = 0.0, 1.0
	highExcess := at(high)
	lowExcess := math.Inf(1)
	for highExcess > 0 {
		if low, lowExcess, high = high, highExcess, 2*high; high > pld.LargestLoss {
			return low, math.Inf(1)
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
		low, high, _ = narrow(fine, low, lowExcess, high, highExcess, excess)
	}
	return low, high
}
