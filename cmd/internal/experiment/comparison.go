package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/experiment/planner"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/tuner"
)

// Compared returns the settings for [planner.Compare] of an experiment on n samples. The caller adds methods, families,
// subset rates and limits. For a random search, which has no grid, it adds the number of candidates too.
func Compared(e settings.Experiment, n int) (planner.Settings, error) {
	steps, err := Steps(e.Privacy)
	if err != nil {
		return planner.Settings{}, err
	}
	space, err := spaceOf(e, n)
	if err != nil {
		return planner.Settings{}, err
	}
	run := oneRun(e, steps)
	run[0].LearningRate, _ = space.LearningRates() // it costs nothing, and a valid plan has one
	s := planner.Settings{
		Plan:       tuningSettings(e, nil, n, nil),
		Grid:       run,
		Epsilon:    *e.Privacy.Epsilon,
		Delta:      e.Privacy.Delta,
		Accounting: Accounting(e.Privacy),
	}
	if grid, ok := space.(tuner.Grid); ok {
		s.Candidates = len(grid)
	}
	return s, nil
}

// MethodOf returns the method of a variant of the settings, and false for an unknown variant.
func MethodOf(variant string) (tuner.Method, bool) {
	m, ok := methods[variant]
	return m, ok
}

// FamilyOf returns the family of distributions with the given name: one of [settings.Repetitions], or negative-binomial
// with a shape, such as negative-binomial:2, or binomial with the largest probability that a trial takes place, such as
// binomial:0.75; without it the probability is a half. The number of binomial trials is the smallest for that, so that
// where it grows by one the probability of missing a candidate rises by little instead of falling.
func FamilyOf(p settings.Privacy, name string) (planner.Family, error) {
	kind, shape, shaped := strings.Cut(name, ":")
	p.Repetitions = kind
	if kind == settings.Binomial {
		return binomialOf(p, name, shape, shaped)
	}
	if shaped {
		eta, err := strconv.ParseFloat(shape, 64)
		if err != nil || kind != NegativeBinomial || !(eta > -1 && eta <= 1e6) {
			return planner.Family{}, usagef("--repetitions %s: a shape is a number above -1 and at most 1e6, and that of negative-binomial alone", name)
		}
		p.Shape = eta
	}
	if kind == NegativeBinomial {
		name = fmt.Sprintf("%s:%v", kind, p.Shape)
	}
	return planner.Family{Name: name, OfMean: func(mean float64) (accountant.Repetitions, error) {
		p.MeanRepetitions = mean
		return repetitionsOf(p)
	}}, nil
}

func binomialOf(p settings.Privacy, name, most string, given bool) (planner.Family, error) {
	probability := 0.5
	if given {
		var err error
		if probability, err = strconv.ParseFloat(most, 64); err != nil || !(probability >= 1e-3 && probability <= 1) {
			return planner.Family{}, usagef("--repetitions %s: a probability is a number from 0.001 to 1", name)
		}
	}
	name = fmt.Sprintf("%s:%v", settings.Binomial, probability)
	return planner.Family{Name: name, OfMean: func(mean float64) (accountant.Repetitions, error) {
		p.MeanRepetitions, p.MaxRepetitions = mean, int(math.Ceil(mean/probability))
		return repetitionsOf(p)
	}}, nil
}

// Recommended returns the option that s recommends, with its noise multiplier calibrated in the same way as by
// [Plan.Settle], and its guarantee. trials and options are the results of [planner.Compare].
func Recommended(e settings.Experiment, s planner.Settings, trials []planner.Trials, options []planner.Option) (planner.Option, accountant.Guarantee, error) {
	least, ok := s.Recommended(options)
	if !ok {
		return least, accountant.Guarantee{}, noPlan(e.Privacy, s, trials, options)
	}
	p := s.Plan
	p.Space = s.Grid
	p.Method, p.SubsetRate, p.Repetitions = least.Method, least.SubsetRate, least.Repetitions
	settled, guarantee, err := settle(e.Privacy, Accounting(e.Privacy), p, tuner.Calibrate)
	if err != nil {
		return least, guarantee, err
	}
	least.NoiseMultiplier = settled.Space.(tuner.Grid)[0].NoiseMultiplier
	return least, guarantee, settled.Validate()
}

// noPlan returns the reason why no option is allowed.
func noPlan(p settings.Privacy, s planner.Settings, trials []planner.Trials, options []planner.Option) error {
	switch {
	case !slices.ContainsFunc(trials, func(t planner.Trials) bool { return t.Repetitions != nil }):
		return usagef("no distribution of --repetitions tries each of %d candidates with probability %v; give others, or a smaller --tried", s.Candidates, s.Tried)
	case !slices.ContainsFunc(options, planner.Option.Feasible):
		return explained(p, fmt.Errorf("%w", accountant.ErrInfeasible))
	}
	return usagef("no plan that meets the budget has a q of at least %v and work of at most %v; give a smaller --subset-at-least, a larger --q or more --work-at-most", s.MinRate, s.MaxWork)
}
