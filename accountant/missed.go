package accountant

import "math"

// Missed returns the probability that K trials, which draw from a grid independently and with replacement, never draw a
// given one of its candidates: E (1-1/candidates)^K, for Poisson e^(-Mean/candidates). It includes the probability of K
// = 0, when nothing is drawn. It is NaN for an invalid distribution, and for less than one candidate.
func Missed(r Repetitions, candidates int) float64 {
	if checkRepetitions(r) != nil || candidates < 1 {
		return math.NaN()
	}
	if f, ok := r.(Fixed); ok {
		return math.Pow(1-1/float64(candidates), float64(f.Trials))
	}
	// For phi(z) = E z^K it is phi(1-w) = phi(0) + (phi(1-w) - phi(0)), two terms that don't cancel.
	w, k := 1/float64(candidates), r.law()
	return math.Min(1, k.None()+math.Exp(k.LogSlope(w))*k.Span(w, 1-w))
}
