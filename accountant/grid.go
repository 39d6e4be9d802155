package accountant

import "math"

// coarsePoints is how many points of the shared grid there are in the smallest standard deviation of a composition.
// Rounding losses to n points raises their variance by a relative 1/(6 n^2), which raises epsilon by about half as
// much.
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
