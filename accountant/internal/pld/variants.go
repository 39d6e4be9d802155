package pld

import "math"

// Variant2 returns the terms of a tuning run on a sample of rate q before a final run on all data. With the sample the
// outcomes have the law (q s1 + (1-q) s0) f1, and without it s0 f0, where f1 and f0 are the laws of the final run with
// and without the sample in its data.
func Variant2(final *Pair, q float64) (removal, addition terms) {
	removal = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.removal
		down := 1 - s.cancelled(epsilon)
		for i := len(s.mass) - 1; i >= 0; i-- {
			add(s.mass[i], q, math.Exp(epsilon-s.loss(i))*down-(1-q))
		}
		return s.inf
	}
	addition = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.addition
		error := s.cancelled(epsilon)
		for i := len(s.mass) - 1; i >= 0; i-- {
			x := math.Exp(epsilon - s.loss(i))
			add(s.mass[i], 1+error-(1-q)*x, q*x*(1-error))
		}
		return s.inf
	}
	return removal, addition
}

// Variant1 is like [Variant2] for a final run on the rest of the data: with the sample the law is q s1 f0 + (1-q) s0
// f1.
func Variant1(final *Pair, q float64) (removal, addition terms) {
	masses := final.removal.opposite()
	rest := cutToOne(masses)
	removal = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.removal
		x := math.Exp(epsilon)
		x -= x * s.cancelled(epsilon)
		for i := len(masses) - 1; i >= 0; i-- {
			add(masses[i], q, x-(1-q)*math.Exp(s.loss(i)))
		}
		add(rest, q, x)
		return (1 - q) * s.inf
	}
	addition = func(epsilon float64, add func(m, alpha, beta float64)) float64 {
		s := final.addition
		x, error := math.Exp(epsilon), s.cancelled(epsilon)
		add(s.inf, 1, q*x*(1-error))
		for i := len(s.mass) - 1; i >= 0; i-- {
			add(s.mass[i], 1+error-(1-q)*math.Exp(epsilon-s.loss(i)), q*x*(1-error))
		}
		return 0
	}
	return removal, addition
}
