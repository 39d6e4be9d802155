package accountant

import "math"

// Missed returns the probability that a given one of the candidates of a grid is never drawn, where K trials draw from the
// grid independently and with replacement: E (1-1/candidates)^K, for Poisson e^(-Mean/candidates). It includes P(K = 0), at
// which nothing is drawn. It is NaN for a distribution that makes no sense, and for less than one candidate.
func Missed(r Repetitions, candidates int) float64 {
	if checkRepetitions(r) != nil || candidates < 1 {
		return math.NaN()
	}
	// For phi(z) = E z^K it is phi(1-w): its rise from phi(0), a term that nothing cancels.
	w := 1 / float64(candidates)
	return math.Min(1, r.none()+math.Exp(r.logSlope(w))*r.span(w, 1-w))
}
