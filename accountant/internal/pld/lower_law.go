package pld

import (
	"math"
	"slices"
)

const (
	// restError bounds the error of lowLaw's rest. leastRest is the minimum mass of a rest whose relative error
	// matters.
	leastRest, restError = 0x1p-26, 0x1p-50
)

// lowLaw returns two laws by ascending loss, with at most about count outcomes, whose divergence is at most the
// mechanism's in the direction of s. mirror bounds the other direction. Outcome rest holds what remains of both laws:
// rounding takes at most restError from its P and adds at most restError to its Q. Its masses are above least, up to
// restError, unless it is alone.
//
// Proof. Above a loss a all masses are from s, and below a loss b from mirror. The rest's loss r is from b to a. At x =
// e^epsilon above e^r only s's masses count, which are a bound. Below it the divergence of these laws is 1 - x and the
// sum of (x q - p)_+ over the masses of mirror, where x times mirror's R at 1/x is a bound. If the rest is rounded, the
// divergence of the laws falls.
func (s *side) lowLaw(mirror *side, count int, least float64) (p, q []float64, rest int) {
	var sumP, sumQ accurate
	// outcome returns the own and the other law's mass of outcome k.
	outcome := func(s *side, k int) (own, other float64) {
		return s.mass[k], s.mass[k] * math.Exp(s.lossError()-s.loss(k)) * (1 + 0x1p-48)
	}
	top, highest := len(s.mass), math.Inf(1)
	for ; top > 0; top-- {
		p, q := outcome(s, top-1)
		l := s.loss(top - 1)
		restP, restQ := 1-sumP.plus(p), 1-sumQ.plus(q)
		if !(l > 0 && restP > least && restQ > least && restP <= math.Exp(l)*restQ) {
			break
		}
		sumP.add(p)
		sumQ.add(q)
		highest = l
	}
	bottom := len(mirror.mass)
	for ; bottom > 0; bottom-- {
		q, p := outcome(mirror, bottom-1)
		ratio := math.Exp(-mirror.loss(bottom - 1))
		restP, restQ := 1-sumP.plus(p), 1-sumQ.plus(q)
		lessP, moreQ := restP-restError, restQ+restError
		if !(restP > least && restQ > least && lessP >= ratio*moreQ && restP <= math.Exp(highest)*restQ) {
			break
		}
		sumP.add(p)
		sumQ.add(q)
	}
	restP, restQ := math.Max(0, 1-sumP.value()-restError), 1-sumQ.value()+restError
	q, p = mirror.merged(bottom, count, outcome)
	slices.Reverse(p)
	slices.Reverse(q)
	rest = len(p)
	highP, highQ := s.merged(top, count, outcome)
	return append(append(p, restP), highP...), append(append(q, restQ), highQ...), rest
}

// merged returns the outcomes from the given one on, merged to at most about count.
func (s *side) merged(from, count int, of func(s *side, k int) (own, other float64)) (own, other []float64) {
	at := s.cellLosses(count)
	n := 0
	var sumOwn, sumOther accurate
	put := func() {
		if sumOwn.value() > 0 {
			own, other = append(own, sumOwn.value()), append(other, sumOther.value())
		}
		sumOwn, sumOther = accurate{}, accurate{}
	}
	for i := from; i < len(s.mass); i++ {
		for n < len(at) && i >= at[n] {
			put()
			n++
		}
		x, y := of(s, i)
		sumOwn.add(x)
		sumOther.add(y)
	}
	put()
	return own, other
}
