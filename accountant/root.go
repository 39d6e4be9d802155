package accountant

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

const (
	// fine is the relative width at which searches stop. coarse is the width in a search for noise in mode Best, whose
	// bounds jump by some 1e-4 of epsilon where cells change.
	fine, coarse = 1e-10, 1e-7
)

// narrow shrinks the bracket low < high, excess(low) > 0 >= excess(high), to a relative tolerance, by the ITP method
// (Oliveira and Takahashi, 2020) on the logarithm. On a smooth function it takes as few evaluations as the secant
// method, and on any other at most one or two more than bisection.
func narrow(tolerance, low, lowExcess, high, highExcess float64, excess func(float64) (float64, error)) (float64, float64, error) {
	a, b := float.Log(low), float.Log(high)
	fa, fb := lowExcess, highExcess
	eps := tolerance / 2
	most := int(math.Ceil(math.Log2((b-a)/(2*eps)))) + 2
	k1 := 0.2 / (b - a)
	for i := 0; b-a > 2*eps && i < most; i++ {
		mid := (a + b) / 2
		x := mid
		if !math.IsInf(fa, 1) {
			secant := (fb*a - fa*b) / (fb - fa)
			sigma := math.Copysign(1, mid-secant)
			if delta := k1 * (b - a) * (b - a); delta <= math.Abs(mid-secant) {
				x = secant + sigma*delta
			}
			if r := eps*math.Exp2(float64(most-i)) - (b-a)/2; math.Abs(x-mid) > r {
				x = mid - sigma*r
			}
		}
		// A step to an end would gain nothing; a step just short of the end closes the bracket.
		noise := math.Exp(math.Max(a+eps, math.Min(x, b-eps)))
		fx, err := excess(noise)
		if err != nil {
			return 0, 0, err
		}
		if fx > 0 {
			a, fa, low = float.Log(noise), fx, noise
		} else {
			b, fb, high = float.Log(noise), fx, noise
		}
	}
	return low, high, nil
}

// largestCount returns the largest n for which enough(n) holds. enough must hold up to some n and not beyond. The
// search starts at guess.
func largestCount(guess int, enough func(n int) (bool, error)) (int, error) {
	low, high := -1, guess
	for {
		ok, err := enough(high)
		if err != nil {
			return 0, fmt.Errorf("calibrate steps: %w", err)
		}
		if !ok {
			break
		}
		if high >= MaxSteps {
			return 0, fmt.Errorf("calibrate steps: %w: even %d steps meet the target", ErrUnbounded, high)
		}
		low, high = high, max(1, 2*high)
	}
	if low < 0 && high > 0 { // a bad guess
		return largestCount(0, enough)
	}
	if low < 0 {
		return 0, fmt.Errorf("calibrate steps: %w even with no steps", ErrInfeasible)
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		ok, err := enough(mid)
		if err != nil {
			return 0, fmt.Errorf("calibrate steps: %w", err)
		}
		if ok {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}
