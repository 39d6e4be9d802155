package planner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/tuner"
)

// Settings say which plans are compared, and what all of them keep to.
type Settings struct {
	// Plan is what all plans share and makes them valid. Its method, subset rate, repetitions and space count for nothing.
	Plan tuner.Settings
	// Grid is what trials draw from, candidates of one sampling rate and number of steps. Their noise counts for nothing.
	Grid       tuner.Grid
	Candidates int     // m, of the grid that is tried, which may be another than Grid
	Tried      float64 // the least probability, in (0, 1), with which a given candidate is drawn

	Methods     []tuner.Method
	SubsetRates []float64 // q, ascending
	Families    []Family

	Epsilon, Delta float64 // of the guarantee
	Accounting     accountant.Options

	LeastRate float64 // q below this one is shown, and never chosen
	MostWork  float64 // neither is a plan that computes more than this; 0 is no limit
}

// An Option is a plan.
type Option struct {
	Trials
	Method     tuner.Method
	SubsetRate float64 // q; 0 for the baseline, which has none
	// NoiseMultiplier meets the budget: the smallest in the Rényi modes, and in mode Best one for which epsilon is less than
	// its target by at most a share Within. It is +Inf where none does.
	NoiseMultiplier float64
	Work            float64 // gradients expected, in runs on all of the data
}

// Feasible reports whether some noise meets the budget.
func (o Option) Feasible() bool { return !math.IsInf(o.NoiseMultiplier, 1) }

// Compare returns the trials of each family, and an option for each method, subset rate and family whose trials are not
// out of reach. Where a method has its least noise at a subset rate between others, one more is tried around there, with
// that family alone. Compare calls progress from one goroutine at a time.
func Compare(ctx context.Context, s Settings, progress func(done, total int)) ([]Trials, []Option, error) {
	// What is wrong with a plan whatever its trials are would put them all out of reach.
	if err := s.plan(tuner.Baseline, 0, Trials{Repetitions: accountant.Poisson{Mean: 1}}).WithNoise(1).Validate(); err != nil {
		return nil, nil, fmt.Errorf("plan: %w", err)
	}
	var all []Trials
	var lines []*line
	for _, f := range s.Families {
		t := s.trials(f)
		all = append(all, t)
		if t.Repetitions == nil {
			continue
		}
		for _, m := range s.Methods {
			rates := s.SubsetRates
			if m == tuner.Baseline {
				rates = []float64{0}
			}
			lines = append(lines, &line{method: m, trials: t, rates: rates, ratio: usualRatio})
		}
	}
	if err := s.settleAll(ctx, lines, progress); err != nil {
		return nil, nil, err
	}
	var finer []*line
	for _, m := range s.Methods {
		if l := s.finer(m, lines); l != nil {
			finer = append(finer, l)
		}
	}
	if err := s.settleAll(ctx, finer, nil); err != nil {
		return nil, nil, err
	}
	var options []Option
	for _, l := range append(lines, finer...) {
		options = append(options, l.options...)
	}
	slices.SortStableFunc(options, func(a, b Option) int {
		return cmp.Or(cmp.Compare(slices.Index(s.Methods, a.Method), slices.Index(s.Methods, b.Method)), cmp.Compare(a.SubsetRate, b.SubsetRate))
	})
	return all, options, nil
}

// Least returns the option of the least noise among those that LeastRate and MostWork allow; see [Best].
func (s Settings) Least(options []Option) (least Option, ok bool) {
	return Best(slices.DeleteFunc(slices.Clone(options), func(o Option) bool { return !s.allows(o) }))
}

// Alike is the share of noise that makes no difference to a model. With wider distributions it can save most of the work.
const Alike = 0.01

// Best returns the option that computes least, the first of equal ones, among those whose noise is the least of all, give or
// take a share Alike of it, and false if none meets the budget.
func Best(options []Option) (best Option, ok bool) {
	least := math.Inf(1)
	for _, o := range options {
		least = math.Min(least, o.NoiseMultiplier)
	}
	for _, o := range options {
		if !o.Feasible() || o.NoiseMultiplier > least*(1+Alike) {
			continue
		}
		if !ok || o.Work < best.Work*(1-1e-6) {
			best, ok = o, true
		}
	}
	return best, ok
}

func (s Settings) allows(o Option) bool {
	return o.Feasible() && (o.Method == tuner.Baseline || o.SubsetRate >= s.LeastRate) && (s.MostWork == 0 || o.Work <= s.MostWork)
}

// finer returns a line of one more subset rate for a method, or nil where its least noise is at an end. Through that point
// and its neighbours goes a parabola over log q, whose lowest point is between the neighbours.
func (s Settings) finer(m tuner.Method, lines []*line) *line {
	var best *line
	at := 0
	for _, l := range lines {
		for i, o := range l.options {
			if o.Method == m && s.allows(o) && (best == nil || o.NoiseMultiplier < best.options[at].NoiseMultiplier) {
				best, at = l, i
			}
		}
	}
	if best == nil || at == 0 || at+1 == len(best.options) {
		return nil
	}
	var x, y [3]float64
	for i := range x {
		o := best.options[at-1+i]
		x[i], y[i] = math.Log(o.SubsetRate), o.NoiseMultiplier
	}
	left, right := (y[1]-y[0])/(x[1]-x[0]), (y[2]-y[1])/(x[2]-x[1])
	if !(left < right) { // also where a neighbour has no noise at all
		return nil
	}
	lowest := (x[0]+x[1])/2 - left*(x[2]-x[0])/(2*(right-left))
	q := math.Round(1000*math.Exp(lowest)) / 1000
	if !(q > best.rates[at-1] && q < best.rates[at+1] && q >= s.LeastRate) || q == best.rates[at] {
		return nil
	}
	return &line{method: m, trials: best.trials, rates: []float64{q}, ratio: best.ratio}
}
