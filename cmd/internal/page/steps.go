package page

import (
	"math"

	"github.com/dptrain/dptrain/accountant"
)

// stepsOf returns the number of steps of each training run in the event. It returns false if the event has a part whose
// cost doesn't come from steps.
func stepsOf(e accountant.Event) (steps []int, ok bool) {
	ok = walk(e, func(run accountant.SelfComposed) accountant.Event {
		steps = append(steps, run.Count)
		return run
	}) != nil
	return steps, ok && len(steps) > 0
}

// scaled returns the event with the given share of each training run's steps, at least one.
func scaled(e accountant.Event, share float64) accountant.Event {
	return walk(e, func(run accountant.SelfComposed) accountant.Event {
		run.Count = max(1, int(math.Round(share*float64(run.Count))))
		return run
	})
}

// walk returns the event with each training run replaced, or nil if it contains another release than steps.
func walk(e accountant.Event, replace func(accountant.SelfComposed) accountant.Event) accountant.Event {
	one := func(part accountant.Event) accountant.Event { return walk(part, replace) }
	switch e := e.(type) {
	case accountant.SelfComposed:
		if isStep(e.Event) {
			return replace(e)
		}
		e.Event = one(e.Event)
		return whole(e, e.Event)
	case accountant.PoissonSampled:
		e.Event = one(e.Event)
		return whole(e, e.Event)
	case accountant.SelectBest:
		e.Event = one(e.Event)
		return whole(e, e.Event)
	case accountant.SubsetThenRest:
		e.Tune, e.Base = one(e.Tune), one(e.Base)
		return whole(e, e.Tune, e.Base)
	case accountant.Composed:
		e.Events = all(e.Events, one)
		return whole(e, e.Events...)
	case accountant.MaxOver:
		e.Events = all(e.Events, one)
		return whole(e, e.Events...)
	case accountant.OneOf:
		e.Events = all(e.Events, one)
		return whole(e, e.Events...)
	case accountant.Parallel:
		e.Events = all(e.Events, one)
		return whole(e, e.Events...)
	}
	return nil
}

// isStep reports whether the event is one step of DP-SGD.
func isStep(e accountant.Event) bool {
	if sampled, ok := e.(accountant.PoissonSampled); ok {
		e = sampled.Event
	}
	_, ok := e.(accountant.Gaussian)
	return ok
}

func all(events []accountant.Event, one func(accountant.Event) accountant.Event) []accountant.Event {
	out := make([]accountant.Event, len(events))
	for i, e := range events {
		out[i] = one(e)
	}
	return out
}

// whole returns the event, or nil if a part is nil.
func whole(e accountant.Event, parts ...accountant.Event) accountant.Event {
	for _, part := range parts {
		if part == nil {
			return nil
		}
	}
	return e
}
