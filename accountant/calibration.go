package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// CalibrateNoise returns the smallest noise multiplier whose event costs at most epsilon at delta, rounded up: the
// event at the returned value has been evaluated and does not exceed epsilon. The value is within a relative 1e-9 of
// the optimum in the Rényi modes, and mostly within 1e-6 in mode Best.
//
// event must not cost more with more noise. The error wraps [ErrInfeasible] if no noise multiplier up to [MaxNoise] is
// enough. This happens, for example, if epsilon is below the minimum that a finite set of orders can prove.
func CalibrateNoise(epsilon, delta float64, o Options, event func(noiseMultiplier float64) Event) (float64, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	if event == nil {
		return 0, errNoEvent
	}
	search := noiseSearch{tolerance: fine, start: 1, stride: 4}
	if o.mode() == Best { // noise that is enough in the faster mode Tight is enough here, and not far off
		search.tolerance = coarse
		if tight, err := CalibrateNoise(epsilon, delta, Options{Mode: Tight, Orders: o.Orders}, event); err == nil && tight > 0 {
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
	// settled is the relative error of the noise at which secantNoise ends.
	settled = 1e-8
	// mostSecants is the largest number of evaluations of secantNoise.
	mostSecants = 12
)

// secantNoise does the work of CalibrateNoise in mode Best with few evaluations, given noise that is enough. ok is
// false if it doesn't find a noise multiplier, or if the epsilon of its event turns out above the target.
//
// It searches by delta at the target epsilon, because epsilon at delta is a search of its own. For a plan z = sqrt(log
// 1/delta) is about a power of the noise, as for a Gaussian mechanism, so that a secant of the logarithms usually hits
// the target in four to eight evaluations.
func secantNoise(epsilon, delta float64, o Options, enough float64, event func(noiseMultiplier float64) Event) (noise float64, ok bool) {
	o, err := o.check()
	if err != nil || !(delta > 0 && delta < 1) {
		return 0, false
	}
	logZ := func(delta float64) float64 { return math.Log(-float.Log(delta)) / 2 }
	searched := epsilon * (1 - 1.25*planWidth)          // by less than epsilon, which profileBound.epsilon rounds up
	low, high := math.Inf(-1), math.Log(enough)+settled // enough itself may be the smallest
	x, power := math.Log(enough/1.25), 1.25             // usual values
	var before, excessBefore float64
	for i := range mostSecants {
		noise = math.Exp(x)
		e := event(noise)
		if Validate(e) != nil {
			return 0, false
		}
		all := bounds(e, o)
		excess := logZ(delta) - logZ(least(all, func(b bound) float64 { return b.delta(searched).Delta }))
		if i > 0 {
			power = (excessBefore - excess) / (x - before)
		}
		if !(power > 0.1 && power < 10) { // then noise isn't what the cost hangs on, or there is no bound
			return 0, false
		}
		switch {
		case excess > 0:
			low = x
		case i > 0 && excess >= -settled*power:
			return noise, least(all, func(b bound) float64 { return b.epsilon(delta).Epsilon }) <= epsilon
		default:
			high = x
		}
		before, excessBefore = x, excess
		if x += excess/power + settled/4; !(low < x && x < high) {
			x = (low + high) / 2
		}
	}
	return 0, false
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
	if event == nil {
		return 0, errNoEvent
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
	if event == nil {
		return 0, errNoEvent
	}
	known := 0
	if o.mode() == Best { // steps that the faster mode Tight allows are allowed here
		tight, err := CalibrateSteps(epsilon, delta, Options{Mode: Tight, Orders: o.Orders}, event)
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
	if event == nil {
		return 0, errNoEvent
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

var errNoEvent = fmt.Errorf("%w function of events: nil; give one that returns the event to calibrate", ErrInvalid)

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
