package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

const compareLong = `All methods side by side: epsilon at a noise, or noise for an epsilon.

Columns are the accounting modes, from the paper's bounds to the best known here,
and the gradients of single samples that a method computes in expectation. Where
epsilons are compared, tight+pld is the bound of tight with the deltas inside the
tuning theorem taken from privacy-loss distributions; best includes it.

--attained adds what the worst known order of scores makes the plan cost: no
accounting can go below it, so what lies between it and best is all that a better
proof could gain.`

// comparison is one method's line of "account compare".
type comparison struct {
	Method    string              `json:"method"`
	Answers   map[string]*float64 `json:"answers"`   // epsilon or noise multiplier by column; null where there is none
	Gradients float64             `json:"gradients"` // of single samples, in expectation, tuning and final run together
}

// The columns beside the accounting modes: for epsilons the Rényi bound of mode best, and the attained lower bound.
const (
	withLosses = "tight+pld"
	attained   = "attained"
)

var (
	noiseColumns   = []string{string(accountant.Paper), string(accountant.Tight), string(accountant.Best)}
	epsilonColumns = []string{string(accountant.Paper), string(accountant.Tight), withLosses, string(accountant.Best)}
)

// runAccountCompare puts side by side what each method costs with the given noise, or which noise it
// needs for the given epsilon.
func runAccountCompare(o accountOptions, e settings.Experiment) (*accounted, error) {
	if o.attained && e.Privacy.NoiseMultiplier == nil {
		return nil, term.Usagef("--attained compares epsilons; give --noise-multiplier")
	}
	steps, err := o.stepsOf(e)
	if err != nil {
		return nil, err
	}
	samples, err := experiment.Describe(e)
	if err != nil {
		return nil, err
	}
	epochs := float64(steps) * e.Privacy.SamplingRate
	var lines []comparison
	for _, method := range []string{"single", "baseline", "1", "2"} {
		o.single = method == "single"
		name, work := "one run, no tuning", 1.0
		if !o.single {
			e.Privacy.Variant, name = method, experiment.MethodName(method)
			m, _ := experiment.MethodOf(method)
			work = m.ExpectedWork(e.Privacy.SubsetRate, e.Privacy.MeanRepetitions)
		}
		answers, err := o.compare(e, steps)
		if err != nil {
			return nil, err
		}
		lines = append(lines, comparison{name, answers, epochs * float64(samples.Train) * work})
	}
	what, columns := "noise multiplier", noiseColumns
	if e.Privacy.NoiseMultiplier != nil {
		what, columns = "epsilon", epsilonColumns
	}
	if o.attained {
		columns = append(slices.Clone(columns), attained)
	}
	return &accounted{lines, func(w io.Writer) { printComparison(w, lines, what, columns) }}, nil
}

func (o accountOptions) compare(e settings.Experiment, steps int) (map[string]*float64, error) {
	if e.Privacy.NoiseMultiplier == nil {
		return o.compareNoise(e, steps)
	}
	event, err := o.uniform(e).Events()
	if err != nil {
		return nil, err
	}
	answers, err := compareEpsilons(event(steps), e.Privacy.Delta)
	if err != nil {
		return nil, err
	}
	if !o.attained {
		return answers, nil
	}
	epsilon, err := accountant.Attained(event(steps), e.Privacy.Delta)
	switch {
	case errors.Is(err, accountant.ErrInvalid):
		return nil, fmt.Errorf("find what the plan costs at least: %w", err)
	case err != nil: // losses beyond what it handles
		answers[attained] = nil
	default:
		answers[attained] = release.Defined(epsilon)
	}
	return answers, nil
}

func compareEpsilons(event accountant.Event, delta float64) (map[string]*float64, error) {
	all, err := accountant.Bounds(event, delta, accountant.Orders{})
	if err != nil {
		return nil, fmt.Errorf("account for the plan: %w", err)
	}
	answers := map[string]*float64{}
	best := math.Inf(1)
	for i, g := range all { // the first three are of the first three columns, the rest of mode best alone
		best = math.Min(best, g.Epsilon)
		if i < 3 {
			answers[epsilonColumns[i]] = release.Defined(g.Epsilon)
		}
	}
	answers[string(accountant.Best)] = release.Defined(best)
	return answers, nil
}

func (o accountOptions) compareNoise(e settings.Experiment, steps int) (map[string]*float64, error) {
	answers := map[string]*float64{}
	for _, column := range noiseColumns {
		e.Privacy.Accounting = column
		noise, _, err := o.uniform(e).Settle(steps)
		var failed *experiment.Error
		switch {
		case errors.As(err, &failed) && failed.Kind == experiment.Budget:
			answers[column] = nil
		case err != nil:
			return nil, err
		default:
			answers[column] = &noise
		}
	}
	return answers, nil
}

func printComparison(w io.Writer, methods []comparison, what string, modes []string) {
	lines := [][]string{append(append([]string{what}, modes...), "gradients")}
	for _, m := range methods {
		line := []string{m.Method}
		for _, mode := range modes {
			text := "none"
			if v := m.Answers[mode]; v != nil {
				text = release.Up(*v)
			}
			line = append(line, text)
		}
		lines = append(lines, append(line, release.Whole(m.Gradients)))
	}
	term.Columns(w, lines...)
}
