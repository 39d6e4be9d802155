package pld

import (
	"math"
	"sort"

	"github.com/dptrain/dptrain/internal/float"
)

// A Split bounds a mechanism whose law with the unit is the sum of w_J P_J, and Q without it, where Pairs[J] dominates
// (P_J, Q). For x = e^epsilon and any x_J >= 0 with sum x,
//
//	(sum w_J P_J - x Q)_+ <= sum (w_J P_J - x_J Q)_+,
//
// so that the divergence is at most the sum of w_J D_J(log(x_J/w_J)). In the other direction, for any b_J >= 0 with sum
// 1, (Q - x sum w_J P_J)_+ <= sum (b_J Q - x w_J P_J)_+, at most the sum of b_J D_J(log(x w_J/b_J)). Any choice of the
// x_J and b_J is a bound; Split looks for the smallest. So a J of small probability costs little even if its divergence
// at epsilon is near 1.
type Split struct {
	Pairs   []*Pair
	Weights []float64 // at least the w_J, by less than a relative 2^-30
}

// Remove bounds the divergence of the law with the unit from the law without it.
func (s Split) Remove(epsilon float64) float64 {
	x := math.Exp(math.Min(epsilon, LargestLoss)) * (1 - 0x1p-48)
	// Each D_J(log y) is convex in y = x_J/w_J, with the slope -(Q's mass above log y). All slopes are equal at the
	// best choice.
	at := func(slope float64) (sum float64, choice []float64) {
		for i, d := range s.Pairs {
			y := d.removal.whereSlope(slope)
			choice = append(choice, y)
			sum += s.Weights[i] * y
		}
		return sum, choice
	}
	choice := balanced(x, at)
	total := 0.0
	for i, d := range s.Pairs {
		total += s.Weights[i] * d.removal.atRatio(choice[i])
	}
	return total * (1 + rounding)
}

// Add bounds the divergence of the law without the unit from the law with it.
func (s Split) Add(epsilon float64) float64 {
	x := math.Exp(math.Min(epsilon, LargestLoss))
	// b D(log(x w/b)) is convex in b, and its slope, inf plus the mass above log(x w/b), falls as y = x w/b grows.
	// Since b = x w/y, the b add up to 1 where the sum of w/y is 1/x.
	at := func(mass float64) (sum float64, choice []float64) {
		for i, d := range s.Pairs {
			y := d.addition.whereMass(mass)
			choice = append(choice, y)
			if y > 0 {
				sum += x * s.Weights[i] / y
			} else {
				sum = math.Inf(1)
			}
		}
		return sum, choice
	}
	// The sum grows with the allowed mass: find the smallest mass whose sum reaches 1.
	_, choice := bisected(-60*math.Ln2, at, func(sum float64) bool { return sum >= 1 })
	// Take 1 in total, first from the choices that cost least.
	order := make([]int, len(choice))
	for i := range order {
		order[i] = i
	}
	cost := func(i int) float64 { return s.Pairs[i].addition.atRatio(choice[i]) }
	sort.Slice(order, func(a, b int) bool { return cost(order[a]) < cost(order[b]) })
	left, total := 1.0, 0.0
	for k, i := range order {
		if left <= 0 {
			break
		}
		b := left
		if share := x * s.Weights[i] / choice[i]; choice[i] > 0 && k < len(order)-1 {
			b = math.Min(left, share)
		}
		left -= b
		if b > 0 {
			total += b * (1 + 0x1p-48) * s.Pairs[i].addition.atRatio(x*s.Weights[i]/b*(1-0x1p-30))
		}
	}
	return total * (1 + rounding)
}

// DeltaAt bounds the divergences of both directions.
func (s Split) DeltaAt(epsilon float64) float64 { return math.Max(s.Remove(epsilon), s.Add(epsilon)) }

// balanced returns the choices at the smallest slope at which their sum is at most x, scaled up to a sum of x.
func balanced(x float64, at func(slope float64) (float64, []float64)) []float64 {
	sum, choice := bisected(-2*LargestLoss, at, func(sum float64) bool { return sum <= x })
	if sum > 0 {
		for i := range choice {
			choice[i] *= x / sum * (1 - 0x1p-48)
		}
	}
	return choice
}

// bisected returns at's values where its sum first fits as its argument grows from e^low to e^40.
func bisected(low float64, at func(float64) (float64, []float64), fits func(sum float64) bool) (float64, []float64) {
	high := 40.0
	for range 60 {
		mid := (low + high) / 2
		if sum, _ := at(math.Exp(mid)); fits(sum) {
			high = mid
		} else {
			low = mid
		}
	}
	return at(math.Exp(high))
}

// atRatio returns R at e^epsilon = y.
func (s *side) atRatio(y float64) float64 {
	if !(y > 0) {
		return s.total()
	}
	return s.at(float.Log(y))
}

// whereSlope returns the smallest e^loss, or 0, above which the other distribution has a mass of at most slope.
func (s *side) whereSlope(slope float64) float64 {
	return s.before(func(k int) bool { return s.above[k]*math.Exp(-s.loss(k)) <= slope })
}

// whereMass returns the smallest e^loss, or 0, above which the side's mass is about mass or less.
func (s *side) whereMass(mass float64) float64 {
	return s.before(func(k int) bool { return s.curve[k]+s.above[k] <= mass })
}

// before returns e^loss just before the first mass that is reached, 0 if that is the first of all.
func (s *side) before(reached func(k int) bool) float64 {
	k := sort.Search(len(s.mass), reached)
	if k == 0 {
		return 0
	}
	return math.Exp(s.loss(k - 1))
}

// Chained bounds the divergence of a unit with several rows at epsilon >= 0, given a bound on the divergence for one
// row: from
//
//	(P_n - x^n P_0)_+ <= (P_n - x P_{n-1})_+ + x (P_{n-1} - x^{n-1} P_0)_+ <= ...
//
// it is at most the sum of e^{i epsilon/rows} one(epsilon/rows) over i < rows.
func Chained(one func(epsilon float64) float64, rows int, epsilon float64) float64 {
	each := epsilon / float64(rows) * (1 - 0x1p-50)
	sum := 0.0
	for i := range rows {
		sum += math.Exp(math.Min(float64(i)*each*(1+0x1p-48), LargestLoss))
	}
	return sum * one(each) * (1 + rounding)
}

// Pair returns the smaller of the bounds of s and of [Chained] as a pair, given a pair for one row.
func (s Split) Pair(one *Pair, rows int) (*Pair, error) {
	g := one.removal.Grid
	remove, add := 0, 0
	for _, d := range s.Pairs {
		remove, add = max(remove, d.removal.high()), max(add, d.addition.high())
	}
	if remove > mostPoints || add > mostPoints {
		return nil, ErrTooFine
	}
	removal, addition := make([]float64, remove+1), make([]float64, add+1)
	for k := range removal {
		epsilon := float64(k) * g.step
		removal[k] = math.Min(s.Remove(epsilon), Chained(one.Remove, rows, epsilon))
	}
	for k := range addition {
		epsilon := float64(k) * g.step
		addition[k] = math.Min(s.Add(epsilon), Chained(one.Add, rows, epsilon))
	}
	return hullPair(g, removal, addition)
}
