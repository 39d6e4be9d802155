package pld

import "math"

// The functions of this file bound a mechanism on neighbours in which another sample takes a sample's place. M1 and M2
// are its laws with either of the two samples, and M0 the law with neither. A pair d for a sample that is added or
// removed bounds the divergences of M1 from M0, its removal, and of M0 from M2, its addition. Both directions have the
// same bound, since the neighbours do.

// Replaced returns a pair that dominates a mechanism if a sample is replaced and d dominates it if one is added or
// removed: a replacement is a removal and an addition.
func Replaced(d *Pair) (*Pair, error) {
	return Bounded(d.removal.Grid, func(epsilon float64) float64 { return d.viaNeither(math.Exp(epsilon), 0) })
}

// SampledReplaced is [Sampled] for a sample that is replaced, where replaced is the mechanism's pair for that and d the
// one for a sample that is added or removed.
//
// Proof. The divergence is that of (1-g) M0 + g M1 from (1-g) M0 + g M2. For c = e^epsilon >= 1 it is g times the
// integral of (M1 - c M2 - z M0)_+ with z = (1-g)(c-1)/g. That is at most [Pair.viaNeither], and for every a in [0, 1]
// at most the integrals of a (M1 - c/a M2)_+ and of (1-a) (M1 - z/(1-a) M0)_+.
func SampledReplaced(d, replaced *Pair, rate float64) (*Pair, error) {
	switch rate {
	case 0:
		return Neutral(d.removal.Grid), nil
	case 1:
		return replaced, nil
	}
	return Bounded(d.removal.Grid, func(epsilon float64) float64 {
		c, z := math.Exp(epsilon), (1-rate)/rate*math.Expm1(epsilon)
		const largest = 50
		_, direct := Least(-largest, largest, func(logOdds float64) float64 {
			a, rest := 1/(1+math.Exp(-logOdds)), 1/(1+math.Exp(logOdds))
			return a*replaced.removal.belowRatio(c/a) + rest*d.removal.belowRatio(z/rest)
		})
		return rate * math.Min(direct, d.viaNeither(c, z)) * (1 + rounding)
	})
}

// Replaced bounds variant 1 if a sample is replaced. tune and base are the pairs of its parts for that.
//
// Proof. If it is released whether the sample is in the subset, the divergence is the mean of the parts' divergences.
// It is also at most that of a removal and an addition.
func (s Subset) Replaced(tune, base *Pair) (*Pair, error) {
	d, err := s.Pair()
	if err != nil {
		return nil, err
	}
	return Bounded(d.removal.Grid, func(epsilon float64) float64 {
		released := s.Rate*tune.DeltaAt(epsilon) + (1-s.Rate)*base.DeltaAt(epsilon)
		return math.Min(released*(1+rounding), d.viaNeither(math.Exp(epsilon), 0))
	})
}

// viaNeither bounds the integral of (M1 - c M2 - z M0)_+, for c, z >= 0, by those of (M1 - (c y + z) M0)_+ and of
// c y (M0 - M2/y)_+, for the best y that it finds. Any y > 0 gives a bound.
func (d *Pair) viaNeither(c, z float64) float64 {
	_, least := Least(0, LargestLoss, func(x float64) float64 { // x is -log y
		cy := c * math.Exp(-x)
		return d.removal.belowRatio(cy+z) + cy*d.addition.belowRatio(math.Exp(x))
	})
	return least * (1 + rounding)
}

// belowRatio returns R just below e^epsilon = y, by more than the rounding of y.
func (s *side) belowRatio(y float64) float64 { return s.atRatio(y * (1 - 0x1p-48)) }

// Least returns where f is smallest of all that a golden-section search evaluates between low and high, and the value
// there. f should fall and then rise.
func Least(low, high float64, f func(x float64) float64) (x, least float64) {
	const golden, enough = 0.6180339887498949, 48
	least = math.Inf(1)
	at := func(y float64) float64 {
		v := f(y)
		if v < least {
			x, least = y, v
		}
		return v
	}
	at(low)
	at(high)
	a, b := high-golden*(high-low), low+golden*(high-low)
	fa, fb := at(a), at(b)
	for range enough {
		if fa <= fb {
			high, b, fb = b, a, fa
			a = high - golden*(high-low)
			fa = at(a)
		} else {
			low, a, fa = a, b, fb
			b = low + golden*(high-low)
			fb = at(b)
		}
	}
	return x, least
}
