package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// CalibrateNoise returns the smallest noise multiplier whose event costs at most epsilon at delta, rounded up: the
// event at the returned value has been evaluated and does not exceed epsilon. The value is within a relative 1e-9 of
// the optimum in the Rényi modes. In mode Best it is within 1e-6 of a point where the bounds cross epsilon: they jump
// by up to 1e-5 of the noise, so there may be several.
//
// event must not cost more with more noise. The error wraps [ErrInfeasible] if no noise multiplier up to [MaxNoise] is
// enough. This happens, for example, if epsilon is below the minimum that a finite set of orders can prove.
func CalibrateNoise(epsilon, delta float64, o Options, event func(noiseMultiplier float64) Event) (float64, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	search := noiseSearch{tolerance: fine, start: 1, stride: 4}
	if o.mode() == Best { // noise that is enough in the faster mode Tight is enough here, and not far off
		search.tolerance = coarse
		if tight, err := CalibrateNoise(epsilon, delta, o.in(Tight), event); err == nil && tight > 0 {
			if noise, ok := secantNoise(epsilon, delta, o, tight, event); ok {
				return noise, nil
			}
			search.start, search.stride = tight, 1.25
		}
	}
	return search.smallest(func(noise float64) (float64, error) {
		g, err := Epsilon(event(noise), delta, o)
		return g.Epsilon - epsilon, err
	}, fmt.Sprintf("epsilon %v at delta %v", epsilon, delta))
}

const (
	// settled is the relative error of the noise at which secantNoise ends. drafted is the error at which a search by
	// drafts ends before its last secant: drafts are off by some 1e-3.
	settled, drafted = 8e-7, 2e-2
	// mostSecants is the maximum number of evaluations in a search by secants, mostNudges the maximum number of its
	// results that are checked.
	mostSecants, mostNudges = 16, 4
	// jumpy is the difference of logarithms from which on the secant of a short step shows a jump, not a slope: where
	// groups of cells change, bounds jump by up to 1e-5 of the noise.
	jumpy = 0.25
)

// secantNoise does the work of CalibrateNoise in mode Best with few evaluations, given noise that is enough. ok is
// false if it doesn't find a noise multiplier, or if the epsilon of its event turns out above the target.
//
// It searches by delta at the target epsilon, because epsilon at delta takes a search of its own. For a plan z =
// sqrt(log 1/delta) is about a power of the noise, as for a Gaussian mechanism. So secants of the logarithms usually
// hit the target in three evaluations, once drafts of the bounds have come close to it.
func secantNoise(epsilon, delta float64, o Options, enough float64, event func(noiseMultiplier float64) Event) (noise float64, ok bool) {
	o, err := o.check()
	if err != nil || !(delta > 0 && delta < 1) {
		return 0, false
	}
	searched := epsilon * (1 - 1.25*planWidth) // below epsilon, since profileBound.epsilon rounds up
	var e Event
	var all []bound
	excess := func(bounds func() []bound) func(x float64) (float64, bool) {
		return func(x float64) (float64, bool) {
			noise = math.Exp(x)
			if e = event(noise); Validate(e) != nil {
				return 0, false
			}
			all = bounds()
			reached := least(all, func(b bound) float64 { return b.delta(searched).Delta })
			return logZ(delta) - logZ(reached), true
		}
	}
	// The noise and its power are usually less than in mode Tight, by about these factors.
	s := secants{x: math.Log(enough / 1.25), power: 0.73 * tightPower(epsilon, delta, o, enough, event), enough: math.Log(enough)}
	if first := event(enough); o.Neighbours != ReplaceOne && Validate(first) == nil && selects(first) {
		draft := s
		draft.near = drafted
		if draft.search(excess(func() []bound { return draftBounds(e, delta) })) {
			s.x, s.power = draft.x, draft.power
		}
	}
	s.near = settled
	full := excess(func() []bound { return bounds(e, o, delta) })
	ok = s.search(full)
	for range mostNudges {
		if !ok {
			break
		}
		above := least(all, func(b bound) float64 { return b.epsilon(delta).Epsilon })/epsilon - 1
		if above <= 0 {
			return noise, true
		}
		// Delta jumps by some 1e-5 of its value where groups change, along epsilon too.
		if s.x += above + settled/8; !(above < 1e-6) {
			break
		}
		_, ok = full(s.x)
	}
	return noise, false
}

// tightPower returns the exponent p for which z is about noise^p in mode Tight.
func tightPower(epsilon, delta float64, o Options, noise float64, event func(noiseMultiplier float64) Event) float64 {
	const more = 1.1
	o.Mode = Tight
	z := func(noise float64) float64 {
		e := event(noise)
		if Validate(e) != nil {
			return math.NaN()
		}
		return logZ(least(bounds(e, o, delta), func(b bound) float64 { return b.delta(epsilon).Delta }))
	}
	return (z(noise*more) - z(noise)) / math.Log(more)
}

// logZ returns the logarithm of sqrt(log 1/delta).
func logZ(delta float64) float64 { return math.Log(-float.Log(delta)) / 2 }

// selects reports whether e holds a selection, whose bounds have drafts that take much less time.
func selects(e Event) bool {
	return holds(e, func(part Event) bool { _, ok := part.(SelectBest); return ok })
}

// draftBounds returns the draft of the bound by privacy-loss distributions, or nil if there is none.
func draftBounds(e Event, delta float64) []bound {
	e, _ = prepared(e)
	p, _, err := profileOf(e, delta, true, false)
	if e.free() || err != nil {
		return nil
	}
	return []bound{profileBound{profile: p}}
}

// secants look for the logarithm x of the smallest noise that is enough. The excess is about power times the distance
// of x to it.
type secants struct {
	x, power float64
	enough   float64 // the logarithm of noise that is enough
	near     float64 // the relative error at which the search ends
}

// search reports whether it has found x: within a relative error of near, and above the smallest x if near is settled.
// A search with a larger near ends at the last secant's x, which it hasn't evaluated.
func (s *secants) search(excess func(x float64) (float64, bool)) bool {
	low, high := math.Inf(-1), s.enough+settled // enough itself may be the smallest
	var before, excessBefore float64
	for i := range mostSecants {
		y, ok := excess(s.x)
		if !ok {
			return false
		}
		if i > 0 {
			step, power := s.x-before, (excessBefore-y)/(s.x-before)
			if math.Abs(step) > 1e-3 || math.Abs(math.Log(power/s.power)) < jumpy {
				s.power = power
			}
		}
		if !(s.power > 0.1 && s.power < 10) { // then the cost doesn't depend on the noise, or there is no bound
			return false
		}
		if y > 0 {
			low = s.x
		} else {
			high = s.x
		}
		if s.near == settled && y <= 0 && (y >= -settled*s.power || high-low <= settled) {
			return true
		}
		before, excessBefore = s.x, y
		if s.x += y/s.power + settled/4; !(low < s.x && s.x < high) {
			if s.x = (low + high) / 2; high-low <= settled {
				s.x = high // which is enough, and is evaluated last
			}
		}
		if s.near > settled && i > 0 && math.Abs(y) <= s.near*s.power {
			return true
		}
	}
	return false
}

// least returns the smallest value of several bounds.
func least(all []bound, value func(bound) float64) float64 {
	v := math.Inf(1)
	for _, b := range all {
		v = math.Min(v, value(b))
	}
	return v
}

// CalibrateNoiseToLine returns the smallest noise multiplier whose event has an RDP curve of at most c·a at every order
// a of o ([random_search]), rounded up. Charge a mechanism with this noise multiplier as RDPLine{c, o.Orders}. Orders
// outside o can't be used for it.
func CalibrateNoiseToLine(c float64, o Options, event func(noiseMultiplier float64) Event) (float64, error) {
	if err := checkLine(c); err != nil {
		return 0, err
	}
	return noiseSearch{tolerance: fine, start: 1, stride: 4}.smallest(func(noise float64) (float64, error) {
		slope, err := slopeOf(event(noise), o)
		return slope - c, err
	}, fmt.Sprintf("line of slope %v", c))
}

// CalibrateSteps returns the largest count whose event costs at most epsilon at delta. event must not cost less with
// more steps. The error wraps [ErrInfeasible] if even 0 steps cost more than epsilon, and [ErrUnbounded] if [MaxSteps]
// steps cost no more.
func CalibrateSteps(epsilon, delta float64, o Options, event func(steps int) Event) (int, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	known := 0
	if o.mode() == Best { // steps that the faster mode Tight allows are allowed here
		tight, err := CalibrateSteps(epsilon, delta, o.in(Tight), event)
		switch {
		case errors.Is(err, ErrInfeasible): // start from nothing
		case err != nil:
			return 0, err
		default:
			known = tight
		}
	}
	return largestCount(known, func(steps int) (bool, error) {
		g, err := Epsilon(event(steps), delta, o)
		return g.Epsilon <= epsilon, err
	})
}

// CalibrateStepsToLine returns the largest count whose event has an RDP curve of at most c·a at every order a of o.
func CalibrateStepsToLine(c float64, o Options, event func(steps int) Event) (int, error) {
	if err := checkLine(c); err != nil {
		return 0, err
	}
	return largestCount(0, func(steps int) (bool, error) {
		slope, err := slopeOf(event(steps), o)
		return slope <= c, err
	})
}

const (
	// MaxNoise is the largest noise multiplier that calibration tries.
	MaxNoise = 1 << 40
	// MaxSteps is the largest number of steps that calibration tries.
	MaxSteps = 1 << 53
)

func checkLine(c float64) error {
	if !(c >= 0) || math.IsInf(c, 1) {
		return fmt.Errorf("%w slope %v: not a finite number >= 0", ErrInvalid, c)
	}
	return nil
}

func slopeOf(e Event, o Options) (float64, error) {
	c, err := RDP(e, o)
	if err != nil {
		return 0, err
	}
	o, err = o.check()
	return c.Slope(o.Orders), err
}

// A noiseSearch finds a bracket by strides from start on, and narrows it to a relative tolerance.
type noiseSearch struct{ tolerance, start, stride float64 }

// smallest returns the smallest noise with excess(noise) <= 0, as the upper end of a bracket, at which excess has been
// evaluated.
func (s noiseSearch) smallest(excess func(noise float64) (float64, error), target string) (float64, error) {
	low, high := 0.0, s.start
	lowExcess := math.Inf(1)
	highExcess, err := excess(high)
	for err == nil && highExcess > 0 {
		if high >= MaxNoise {
			return 0, fmt.Errorf("calibrate noise to %s: %w with any noise; raise the target or the orders", target, ErrInfeasible)
		}
		low, lowExcess = high, highExcess
		high *= s.stride
		highExcess, err = excess(high)
	}
	if err != nil {
		return 0, fmt.Errorf("calibrate noise: %w", err)
	}
	for stride := s.stride; low == 0; stride *= s.stride {
		x, err := excess(high / stride)
		if err != nil {
			return 0, fmt.Errorf("calibrate noise: %w", err)
		}
		if x > 0 {
			low, lowExcess = high/stride, x
			break
		}
		high, highExcess = high/stride, x
		if high < 1.0/MaxNoise { // then the target needs no noise
			x, err := excess(0)
			if err == nil && x <= 0 {
				high = 0
			}
			return high, err
		}
	}
	_, high, err = narrow(s.tolerance, low, lowExcess, high, highExcess, excess)
	if err != nil {
		return 0, fmt.Errorf("calibrate noise: %w", err)
	}
	return high, nil
}
