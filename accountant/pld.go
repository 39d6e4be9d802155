package accountant

import (
	"errors"
	"fmt"
	"math"
)

// A profile bounds delta as a function of epsilon.
type profile interface {
	deltaAt(epsilon float64) float64
}

// profiler is the privacy-loss accountant: it turns an event into a pair on a grid that all pairs share.
type profiler struct {
	step  float64
	pairs map[string]pairOrError // by event, since variants use the base run twice
	work  float64                // products of two masses so far
}

type pairOrError struct {
	pair *pair
	err  error
}

const (
	// finestStep is far above a rounding of 1.
	finestStep = 0x1p-40
	// mostWork bounds the products of two masses that one operation on a pair takes, and mostWorkInAll those of a whole
	// event, some seconds' at most: a coarser grid takes fewer.
	mostWork      = 1 << 25
	mostWorkInAll = 1 << 28
	// transforms is what those of a composition take, in products for each mass.
	transforms = 64
)

func newProfiler(step float64) *profiler {
	return &profiler{step: step, pairs: map[string]pairOrError{}}
}

// newProfile chooses a grid and returns the profile of e, together with the accountant that made it.
func newProfile(e Event) (profile, *profiler, error) {
	for step := math.Max(finestStep, gridStep(e)); step < largestLoss; step *= 2 {
		p := newProfiler(step)
		prof, err := p.profile(e)
		if !errors.Is(err, errTooFine) {
			return prof, p, err
		}
	}
	return nil, newProfiler(1), errTooWide
}

// profile spares the outermost event, where it can, the rounding to a grid.
func (r *profiler) profile(e Event) (profile, error) {
	switch e := e.(type) {
	case SubsetThenRest:
		switch e.SamplingProbability {
		case 0:
			return r.profile(e.Base)
		case 1:
			return r.profile(e.Tune)
		}
		s, err := r.subset(e)
		if err != nil {
			return nil, err
		}
		return r.shared(s, e.Tune, s.base, s.q, variant1)
	case Composed:
		d, err := r.pair(e)
		if err != nil {
			return nil, err
		}
		if len(e.Events) == 2 {
			if tune, ok := e.Events[0].(PoissonSampled); ok {
				return r.variant2(d, flattened(tune), e.Events[1])
			}
		}
		return d, nil
	case SelectBest:
		if !alwaysOnce(e.Repetitions) {
			return r.selection(e, cellCountAlone)
		}
	case MaxOver:
		return r.largest(e.Events)
	case Parallel:
		return r.largest(e.Events)
	}
	return r.pair(e)
}

// largestProfile is the maximum over candidates or shards.
type largestProfile []profile

func (l largestProfile) deltaAt(epsilon float64) float64 {
	delta := 0.0
	for _, p := range l {
		delta = math.Max(delta, p.deltaAt(epsilon))
	}
	return delta
}

func (r *profiler) largest(events []Event) (profile, error) {
	all := make(largestProfile, len(events))
	for i, e := range events {
		var err error
		if all[i], err = r.profile(e); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r *profiler) subset(e SubsetThenRest) (subsetPair, error) {
	tune, err := r.pair(e.Tune)
	if err != nil {
		return subsetPair{}, err
	}
	base, err := r.pair(e.Base)
	return subsetPair{tune: tune, base: base, q: e.SamplingProbability}, err
}

func (r *profiler) pair(e Event) (*pair, error) {
	key := fmt.Sprintf("%#v", e)
	known, ok := r.pairs[key]
	if !ok {
		known.pair, known.err = r.newPair(e)
		r.pairs[key] = known
	}
	return known.pair, known.err
}

// charge adds up the work of an operation with the result d, which took the products of x's masses with y's.
func (r *profiler) charge(d *pair, err error, x, y *pair) (*pair, error) {
	if err != nil {
		return nil, err
	}
	r.work += float64(len(x.removal.mass))*float64(len(y.removal.mass)) + float64(len(x.addition.mass))*float64(len(y.addition.mass))
	return r.withinWork(d)
}

// chargeEach is charge for an operation that takes a given number of products for each mass of its result.
func (r *profiler) chargeEach(d *pair, err error, each int) (*pair, error) {
	if err != nil {
		return nil, err
	}
	r.work += float64(len(d.removal.mass)+len(d.addition.mass)) * float64(each)
	return r.withinWork(d)
}

func (r *profiler) withinWork(d *pair) (*pair, error) {
	if r.work > mostWorkInAll {
		return nil, errTooFine
	}
	return d, nil
}

// lower replaces the deltas in hat, at epsilonHat(a) for index a, by those of e's pair where they are smaller.
func (r *profiler) lower(hat []float64, e Event) {
	d, err := r.pair(e)
	if err != nil {
		return // the Rényi bound stands
	}
	for a := 2; a < len(hat); a++ {
		hat[a] = math.Min(hat[a], padded(d.deltaAt(epsilonHat(a))))
	}
}

func (r *profiler) newPair(e Event) (*pair, error) {
	if free(e) {
		return neutral(r.step), nil
	}
	switch e := e.(type) {
	case Gaussian:
		return r.gaussians(1, e.NoiseMultiplier, 1)
	case RDPLine:
		return nil, errNoPair
	case PoissonSampled:
		e = flattened(e)
		if g, ok := e.Event.(Gaussian); ok {
			return r.gaussians(e.SamplingProbability, g.NoiseMultiplier, 1)
		}
		d, err := r.pair(e.Event)
		if err != nil {
			return nil, err
		}
		return sampledPair(d, e.SamplingProbability)
	case SelfComposed:
		return r.selfComposed(e)
	case Composed:
		return r.composed(e.Events)
	case SelectBest:
		if alwaysOnce(e.Repetitions) {
			return r.pair(e.Event)
		}
		s, err := r.selection(e, cellCount)
		if err != nil {
			return nil, err
		}
		best, evaluations, err := s.pair(r.step)
		if err != nil {
			return nil, err
		}
		r.work += float64(evaluations) * s.states()
		return r.withinWork(best)
	case MaxOver:
		return r.maximum(e.Events)
	case Parallel:
		return r.maximum(e.Events)
	case SubsetThenRest:
		switch e.SamplingProbability {
		case 0:
			return r.pair(e.Base)
		case 1:
			return r.pair(e.Tune)
		}
		s, err := r.subset(e)
		if err != nil {
			return nil, err
		}
		d, err := s.pair()
		return r.charge(d, err, d, s.tune)
	}
	panic("accountant: event of unknown type") // the set of events is closed
}

func (r *profiler) selection(e SelectBest, cells int) (*selection, error) {
	if tooMany(e.Repetitions) {
		return nil, errTooWide
	}
	d, err := r.pair(e.Event)
	if err != nil {
		return nil, err
	}
	return newSelection(d, e.Repetitions, cells), nil
}

func (r *profiler) composed(events []Event) (*pair, error) {
	total := neutral(r.step)
	for i, part := range events {
		d, err := r.pair(part)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			total = d
			continue
		}
		both, err := composed(total, d)
		if total, err = r.charge(both, err, total, d); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func (r *profiler) selfComposed(e SelfComposed) (*pair, error) {
	if e.Count == 0 {
		return neutral(r.step), nil
	}
	switch inner := e.Event.(type) {
	case Gaussian:
		return r.gaussians(1, inner.NoiseMultiplier, e.Count)
	case PoissonSampled:
		inner = flattened(inner)
		if g, ok := inner.Event.(Gaussian); ok {
			return r.gaussians(inner.SamplingProbability, g.NoiseMultiplier, e.Count)
		}
	case SelfComposed:
		if inner.Count == 0 || e.Count <= math.MaxInt/inner.Count {
			return r.pair(SelfComposed{Event: inner.Event, Count: e.Count * inner.Count})
		}
	}
	d, err := r.pair(e.Event)
	if err != nil {
		return nil, err
	}
	d, err = d.power(e.Count)
	return r.chargeEach(d, err, transforms)
}

// gaussians composes count steps of a sampled Gaussian mechanism, on a grid of their own that is finer than the shared
// one by an integer factor.
func (r *profiler) gaussians(rate, noise float64, count int) (*pair, error) {
	if rate == 0 || count == 0 {
		return neutral(r.step), nil
	}
	if noise == 0 {
		return nil, errTooWide
	}
	// Sampling more costs more: (1-g) Q + g P moves from Q to P, and divergences are convex. At rates so near their ends
	// that roundings matter, the end stands for them.
	const least, most = 1e-100, 1 - 0x1p-20
	if rate = math.Max(rate, least); rate > most {
		rate = 1
	}
	if rate == 1 { // count Gaussians are one with less noise
		noise *= (1 - 0x1p-50) / math.Sqrt(float64(count)) // rounded down
		count = 1
	}
	reach := math.Sqrt(2 * (ln(float64(count)) - logTail))
	fineness := 1
	if count > 1 {
		deviation := math.Sqrt(sampledGaussianVariance(rate, noise))
		// With twice the square root of count, the steps' rounding together adds a quarter of the variance that the shared
		// grid's does; more would be lost on it.
		most := math.Min(2*math.Sqrt(float64(count)), mostBins/8)
		fineness = int(math.Ceil(math.Max(1, math.Min(r.step*finePoints/deviation, most))))
	}
	for ; ; fineness = (fineness + 1) / 2 {
		d, err := composedGaussians(rate, noise, reach, count, r.step, fineness)
		if !errors.Is(err, errTooFine) || fineness == 1 {
			return r.chargeEach(d, err, transforms*fineness)
		}
	}
}

func composedGaussians(rate, noise, reach float64, count int, step float64, fineness int) (*pair, error) {
	g, err := sampledGaussian(rate, noise, step/float64(fineness), reach)
	if err != nil {
		return nil, err
	}
	c := g.once()
	if count > 1 {
		if c, err = g.power(count, fineness); err != nil {
			return nil, err
		}
	}
	shift := g.shift * float64(count)
	removal, err := c.removal(composedInf(g.pInf, g.p, count), shift)
	if err != nil {
		return nil, err
	}
	addition, err := c.addition(composedInf(g.qInf, g.opposite(), count), shift)
	return &pair{removal, addition}, err
}

func (r *profiler) maximum(events []Event) (*pair, error) {
	pairs := make([]*pair, len(events))
	for i, e := range events {
		var err error
		if pairs[i], err = r.pair(e); err != nil {
			return nil, err
		}
	}
	d, err := maximumPair(pairs)
	return r.chargeEach(d, err, len(events))
}

// Rounding losses to a grid of n points per standard deviation raises their variance by a relative 1/(6 n^2), which
// raises epsilon by about half as much. finePoints counts for each of many steps, coarsePoints once for their outcome.
const (
	finePoints   = 32
	coarsePoints = 100
)

// gridStep chooses the step of the shared grid from the smallest standard deviation of any composition inside e.
func gridStep(e Event) float64 {
	smallest := math.Inf(1)
	var variance func(e Event) float64
	whole := func(e Event) float64 {
		v := variance(e)
		if v > 0 {
			smallest = math.Min(smallest, math.Sqrt(v))
		}
		return v
	}
	variance = func(e Event) float64 {
		total := 0.0
		switch e := e.(type) {
		case Gaussian:
			return 1 / e.NoiseMultiplier / e.NoiseMultiplier
		case PoissonSampled:
			e = flattened(e)
			if g, ok := e.Event.(Gaussian); !ok {
				return whole(e.Event)
			} else if e.SamplingProbability > 0 && g.NoiseMultiplier > 0 {
				return sampledGaussianVariance(e.SamplingProbability, g.NoiseMultiplier)
			}
		case SelfComposed:
			return float64(e.Count) * variance(e.Event)
		case Composed:
			for _, part := range e.Events {
				total += variance(part)
			}
		case SelectBest:
			return whole(e.Event)
		case MaxOver:
			for _, part := range e.Events {
				total = math.Max(total, whole(part))
			}
		case Parallel:
			for _, part := range e.Events {
				total = math.Max(total, whole(part))
			}
		case SubsetThenRest:
			return math.Max(whole(e.Tune), whole(e.Base))
		}
		return total
	}
	whole(e)
	if math.IsInf(smallest, 1) {
		return 1 // nothing in e costs anything
	}
	return smallest / coarsePoints
}
