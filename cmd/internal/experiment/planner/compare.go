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

// Settings describe the plans to compare and the limits for all of them.
type Settings struct {
	// Plan has the settings that all plans share. Its method, subset rate, repetitions and space are ignored.
	Plan tuner.Settings
	// Grid has candidates of one sampling rate and one number of steps. Their noise is ignored.
	Grid       tuner.Grid
	Candidates int     // m, which may differ from the length of Grid
	Tried      float64 // minimum probability that a given candidate is drawn, in (0, 1)

	Methods     []tuner.Method
	SubsetRates []float64 // q, ascending
	Families    []Family

	Epsilon, Delta float64 // of the guarantee
	Accounting     accountant.Options

	MinRate float64 // minimum q to recommend
	MaxWork float64 // maximum work to recommend; 0 is no limit
}

// Option is a plan.
type Option struct {
	Trials
	Method     tuner.Method
	SubsetRate float64 // q; 0 for the baseline, which has none
	// NoiseMultiplier meets the budget. In the Rényi modes it is the minimum, and in mode Best epsilon is below its
	// target by a share of at most Within. It is +Inf if no noise meets the budget.
	NoiseMultiplier float64
	Work            float64 // expected number of gradients; the unit is one run on all of the data
}

// Feasible reports whether any noise meets the budget.
func (o Option) Feasible() bool { return !math.IsInf(o.NoiseMultiplier, 1) }

// Compare returns the trials of each family, and an option for each method, subset rate and family whose Repetitions
// aren't nil. If a method's noise is smallest at a subset rate between two others, Compare adds an option of the same
// family near the minimum. It calls progress from one goroutine at a time.
func Compare(ctx context.Context, s Settings, progress func(done, total int)) ([]Trials, []Option, error) {
	// A fault of the shared settings would put all trials out of reach.
	if err := s.plan(tuner.Baseline, 0, Trials{Repetitions: accountant.Poisson{Mean: 1}}, 1).Validate(); err != nil {
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

// Recommended returns the [Best] of the options that MinRate and MaxWork allow.
func (s Settings) Recommended(options []Option) (least Option, ok bool) {
	return Best(slices.DeleteFunc(slices.Clone(options), func(o Option) bool { return !s.allows(o) }))
}

// Alike is the relative difference of noise multipliers that is too small to affect a model. Allowing it can save most
// of the work with wider distributions.
const Alike = 0.01

// Best returns the option of minimum work among those whose noise exceeds the minimum by a share of at most [Alike]. Of
// several it returns the first. ok is false if no option is feasible.
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
	return o.Feasible() && (o.Method == tuner.Baseline || o.SubsetRate >= s.MinRate) && (s.MaxWork == 0 || o.Work <= s.MaxWork)
}

// finer returns a line of one more subset rate for a method, or nil if its minimum of noise is at an end. The rate is
// at the minimum of the parabola, over log q, through the option of minimum noise and its neighbours.
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
	if !(left < right) { // such as at an infeasible neighbour
		return nil
	}
	lowest := (x[0]+x[1])/2 - left*(x[2]-x[0])/(2*(right-left))
	q := math.Round(1000*math.Exp(lowest)) / 1000
	if !(q > best.rates[at-1] && q < best.rates[at+1] && q >= s.MinRate) || q == best.rates[at] {
		return nil
	}
	return &line{method: m, trials: best.trials, rates: []float64{q}, ratio: best.ratio}
}
