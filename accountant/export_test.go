package accountant

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/long"
)

// Epsilons is [Epsilon] at several deltas in (0, 1], with bounds computed once. Otherwise a test of many points of an
// event would spend nearly all of its time on the same bounds. TestManyPoints compares both.
func Epsilons(e Event, o Options, deltas ...float64) ([]float64, error) {
	return points(e, o, slices.Min(deltas), math.Inf(1), deltas, func(b bound, delta float64) float64 { return b.epsilon(delta).Epsilon })
}

// Deltas is [Delta] at several epsilons, for an event that isn't free.
func Deltas(e Event, o Options, epsilons ...float64) ([]float64, error) {
	all, err := points(e, o, 1e-12, 1, epsilons, func(b bound, epsilon float64) float64 { return b.delta(epsilon).Delta })
	for i, delta := range all {
		all[i] = math.Max(delta, math.SmallestNonzeroFloat64)
	}
	return all, err
}

func points(e Event, o Options, delta, most float64, at []float64, value func(b bound, x float64) float64) ([]float64, error) {
	all := make([]float64, len(at))
	for i := range all {
		all[i] = most
	}
	_, err := smallest(e, o, delta, func(b bound) Guarantee {
		for i, x := range at {
			all[i] = min(all[i], value(b, x))
		}
		return Guarantee{}
	}, func(Guarantee) float64 { return 0 })
	return all, err
}

// Every returns the first of each n cases, and in make test-all all of them.
func Every[T any](n int, cases []T) (kept []T) {
	for i, c := range cases {
		if !long.Leaves(i, n) {
			kept = append(kept, c)
		}
	}
	return kept
}
