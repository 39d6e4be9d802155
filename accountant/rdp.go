package accountant

import (
	"math"
	"slices"
	"strings"
)

// RDP returns the Rényi curve of e at orders 2 to o.Orders.High.
func RDP(e Event, o Options) (Curve, error) {
	if err := Validate(e); err != nil {
		return nil, err
	}
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	return newRenyi(o).curve(e), nil
}

// renyi is the Rényi accountant: it turns an event into a curve by one theorem for each kind of event.
type renyi struct {
	orders Orders
	high   int // the largest order of its curves, at least orders.High
	tight  bool
	steps  map[[2]float64]Curve // sampled Gaussian steps seen so far, by rate and noise multiplier
	losses *profiler            // for a sharper deltaHat, if not nil
}

func newRenyi(o Options) *renyi {
	return &renyi{orders: o.Orders, high: o.Orders.High, tight: o.Mode != Paper, steps: map[[2]float64]Curve{}}
}

func (r *renyi) curve(e Event) Curve {
	high := r.high
	switch e := e.(type) {
	case Gaussian:
		return gaussianCurve(e.NoiseMultiplier, high)
	case RDPLine:
		return lineCurve(e, high)
	case PoissonSampled:
		return r.sampled(e)
	case SelfComposed:
		return r.curve(e.Event).times(e.Count)
	case Composed:
		total := newCurve(high)
		for _, part := range e.Events {
			total = sum(total, r.curve(part))
		}
		return total
	case SelectBest:
		return r.tuned(e)
	case MaxOver:
		return r.maximum(e.Events)
	case Parallel:
		return r.maximum(e.Events)
	case SubsetThenRest:
		return subsetCurve(r.curve(e.Tune), r.curve(e.Base), e.SamplingProbability, r.tight)
	}
	panic("accountant: event of unknown type") // the set of events is closed
}

func (r *renyi) sampled(e PoissonSampled) Curve {
	e = flattened(e)
	if g, ok := e.Event.(Gaussian); ok {
		key := [2]float64{e.SamplingProbability, g.NoiseMultiplier}
		if _, seen := r.steps[key]; !seen {
			r.steps[key] = sampledGaussianCurve(e.SamplingProbability, g.NoiseMultiplier, r.high)
		}
		return r.steps[key]
	}
	c := r.curve(e.Event)
	if r.tight {
		return minimum(amplified(c, e.SamplingProbability), c)
	}
	return amplified(c, e.SamplingProbability)
}

// flattened replaces a sample of a sample by one sample of the product of the rates, which has the same distribution.
func flattened(e PoissonSampled) PoissonSampled {
	for {
		inner, ok := e.Event.(PoissonSampled)
		if !ok {
			return e
		}
		e = PoissonSampled{SamplingProbability: productUp(e.SamplingProbability, inner.SamplingProbability), Event: inner.Event}
	}
}

// productUp returns x·y for non-negative numbers, rounded up.
func productUp(x, y float64) float64 {
	p := x * y
	inexact := p < 0x1p-960 && x > 0 && y > 0 // where the fused product's own rounding says nothing
	if inexact || math.FMA(x, y, -p) > 0 {
		return math.Nextafter(p, math.Inf(1))
	}
	return p
}

func (r *renyi) tuned(e SelectBest) Curve {
	t := e.Repetitions.tuned(r.curve(e.Event), func() []float64 { return r.deltaHat(e.Event) }, r.orders)
	if r.tight {
		return t.convexified(r.orders)
	}
	return t
}

// deltaHat bounds the delta of e at epsilonHat(a), at index a. For candidates with different costs it is the largest of
// their own, which can be smaller than that of the maximum of their curves.
func (r *renyi) deltaHat(e Event) []float64 {
	var candidates []Event
	switch e := e.(type) {
	case MaxOver:
		candidates = e.Events
	case Parallel:
		candidates = e.Events
	default:
		hat := r.curve(e).deltaHat(r.orders, r.tight)
		if r.losses != nil {
			r.losses.lower(hat, e)
		}
		return hat
	}
	hat := make([]float64, r.high+1)
	for _, c := range candidates {
		for a, d := range r.deltaHat(c) {
			hat[a] = math.Max(hat[a], d)
		}
	}
	return hat
}

func (r *renyi) maximum(events []Event) Curve {
	c := newCurve(r.high)
	for _, e := range events {
		c = maximum(c, r.curve(e))
	}
	return c
}

// theorems names what the accountant uses for e, outermost first, without repeats.
func theorems(e Event) []string {
	var names []string
	add := func(more ...string) {
		for _, n := range more {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	switch e := e.(type) {
	case Gaussian:
		add("Gaussian mechanism")
	case RDPLine:
		add("line above RDP")
	case PoissonSampled:
		e = flattened(e)
		if _, ok := e.Event.(Gaussian); ok {
			return []string{"Poisson-sampled Gaussian mechanism"}
		}
		add("amplification by Poisson sampling")
		add(theorems(e.Event)...)
	case SelfComposed:
		add(theorems(e.Event)...)
	case Composed:
		for _, part := range e.Events {
			add(theorems(part)...)
		}
	case SelectBest:
		add(e.Repetitions.theorem())
		add(theorems(e.Event)...)
	case MaxOver:
		add("maximum over candidates")
		for _, part := range e.Events {
			add(theorems(part)...)
		}
	case Parallel:
		add("parallel composition")
		for _, part := range e.Events {
			add(theorems(part)...)
		}
	case SubsetThenRest:
		add("variant 1")
		add(theorems(e.Tune)...)
		add(theorems(e.Base)...)
	}
	return names
}

func describe(method string, e Event) string {
	return method + ": " + strings.Join(theorems(e), ", ")
}
