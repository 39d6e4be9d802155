package accountant

import (
	"math"

	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/float"
)

// coarsePoints is the number of points of the shared grid in the smallest standard deviation of a composition. Rounding
// losses to n points raises their variance by a relative 1/(6 n^2), which raises epsilon by about half as much.
const coarsePoints = 100

// gridStep chooses the step of the shared grid from the smallest standard deviation of any composition inside e.
func gridStep(e Event) float64 {
	d := deviations{smallest: math.Inf(1)}
	d.whole(e)
	if math.IsInf(d.smallest, 1) {
		return 1 // nothing in e costs anything
	}
	return d.smallest / coarsePoints
}

// deviations finds the smallest standard deviation of the compositions inside an event.
type deviations struct{ smallest float64 }

// whole returns the variance of e, which is a composition of its own.
func (d *deviations) whole(e Event) float64 {
	v := e.variance(d)
	if v > 0 {
		d.smallest = math.Min(d.smallest, math.Sqrt(v))
	}
	return v
}

// largest returns the largest variance of several whole events.
func (d *deviations) largest(events ...Event) float64 {
	v := 0.0
	for _, e := range events {
		v = math.Max(v, d.whole(e))
	}
	return v
}

// leastDelta is about the smallest delta for which grids reach out far enough.
const leastDelta = 1e-110

// gridTail returns the mass that windows may leave out: so little that it adds up to some 1e-7 of delta.
func gridTail(e Event, delta float64) float64 {
	const small = 16 // -log of a share of delta
	return math.Exp(math.Max(pld.DeepestTail, float.Log(delta)-small-logCopies(e)))
}

// logCopies bounds log n, if a mass that a window inside e leaves out counts at most n times in e's delta. Windows of a
// composition of steps leave out little of the whole composition.
func logCopies(e Event) float64 {
	most := 0.0
	inside := func(events ...Event) float64 {
		for _, part := range events {
			most = math.Max(most, logCopies(part))
		}
		return most
	}
	switch e := e.(type) {
	case SelectBest:
		return inside(e.Event) + math.Max(0, float.Log(e.Repetitions.Expected()))
	case SelfComposed:
		if _, ok := gaussianStep(e.Event); !ok {
			return inside(e.Event) + math.Max(0, float.Log(float64(e.Count)))
		}
	case Composed:
		return inside(e.Events...) + float.Log(float64(len(e.Events)+1))
	case severalShards:
		return logCopies(e.Composed)
	case severalRows: // a chain of rows counts a divergence e^epsilon times, of usual epsilons
		return inside(append([]Event{e.Alone}, e.Apart.Events...)...) + float.Log(float64(e.Rows)) + 20
	}
	return inside(parts(e)...)
}
