package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/experiment/planner"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// comparedPlans is what "dptrain plan" prints.
type comparedPlans struct {
	Dataset       string          `json:"dataset"`
	Samples       int             `json:"samples"`
	SamplingRate  float64         `json:"sampling_rate"`
	Candidates    int             `json:"candidates"`
	TriedAtLeast  float64         `json:"tried_at_least"`
	Epsilon       float64         `json:"epsilon"`
	Delta         float64         `json:"delta"`
	Accounting    string          `json:"accounting"`
	SubsetAtLeast float64         `json:"subset_at_least"`
	WorkAtMost    float64         `json:"work_at_most,omitempty"`
	Trials        []plannedTrials `json:"trials"`
	Plans         []plannedTuning `json:"plans"`
	Recommended   recommendedPlan `json:"recommended"`
	Command       string          `json:"command"`

	settings planner.Settings
	options  []planner.Option // of Plans
	several  bool             // the grid has several kinds of run, and Plans the noise of one alone
}

// plannedTrials is a distribution of the number of trials. One out of reach has neither mean nor probability.
type plannedTrials struct {
	Distribution string   `json:"repetitions"`
	Shape        *float64 `json:"repetitions_shape,omitempty"`
	Most         int      `json:"max_repetitions,omitempty"`
	Mean         float64  `json:"mean_repetitions,omitempty"`
	Tried        float64  `json:"tried,omitempty"` // probability, of a given candidate
}

type plannedTuning struct {
	Variant    string  `json:"variant"`
	SubsetRate float64 `json:"subset_rate,omitempty"`
	plannedTrials
	NoiseMultiplier *float64 `json:"noise_multiplier"` // null if none meets the budget
	Gradients       float64  `json:"gradients"`        // expected, of single samples, final run included
}

type recommendedPlan struct {
	plannedTuning
	Guarantee float64 `json:"epsilon"`
	Bound     string  `json:"bound"`
}

func newComparedPlans(e settings.Experiment, s planner.Settings, trials []planner.Trials, options []planner.Option) *comparedPlans {
	r := &comparedPlans{
		Dataset:       e.Dataset,
		Samples:       s.Plan.Samples,
		SamplingRate:  e.Privacy.SamplingRate,
		Candidates:    s.Candidates,
		TriedAtLeast:  s.Tried,
		Epsilon:       s.Epsilon,
		Delta:         s.Delta,
		Accounting:    string(s.Accounting.Mode),
		SubsetAtLeast: s.MinRate,
		WorkAtMost:    s.MaxWork,
		settings:      s,
		options:       options,
		several:       e.Tunes(settings.TuneBatch) || e.Tunes(settings.TuneEpochs),
	}
	for _, t := range trials {
		r.Trials = append(r.Trials, newPlannedTrials(t))
	}
	for _, o := range options {
		r.Plans = append(r.Plans, r.tuning(o))
	}
	return r
}

func newPlannedTrials(t planner.Trials) plannedTrials {
	p := plannedTrials{Distribution: t.Family, Mean: t.Mean, Tried: t.Tried}
	if b, ok := t.Repetitions.(accountant.Binomial); ok {
		p.Distribution, p.Most = settings.Binomial, b.Trials
	} else if kind, shape, shaped := strings.Cut(t.Family, ":"); shaped && kind != settings.Binomial {
		eta, _ := strconv.ParseFloat(shape, 64) // it was printed from a number
		p.Distribution, p.Shape = kind, &eta
	}
	return p
}

func (r *comparedPlans) tuning(o planner.Option) plannedTuning {
	candidate := r.settings.Grid[0]
	t := plannedTuning{
		Variant:       strings.TrimPrefix(string(o.Method), "variant"),
		SubsetRate:    o.SubsetRate,
		plannedTrials: newPlannedTrials(o.Trials),
		Gradients:     candidate.SamplingRate * float64(candidate.Steps) * float64(r.Samples) * o.Work,
	}
	if o.Feasible() {
		t.NoiseMultiplier = &o.NoiseMultiplier
	}
	return t
}

func (r *comparedPlans) print(w io.Writer) {
	rows(w,
		[2]string{"data", fmt.Sprintf("%s, %s training samples", r.Dataset, release.Grouped(r.Samples))},
		[2]string{"candidates", fmt.Sprintf("%d, each tried with probability %v at least", r.Candidates, r.TriedAtLeast)},
		[2]string{"budget", fmt.Sprintf("epsilon %s at delta %s (%s accounting)", exact(r.Epsilon), exact(r.Delta), r.Accounting)},
	)
	if r.several {
		sentence(w, "Noise is that of runs at the settings' sampling rate and epochs; candidates that differ in them share the budget, which the command below shows.")
	}
	for _, t := range r.Trials {
		if t.Mean == 0 {
			sentence(w, t.name()+": out of reach, it would take more than a million trials or tails that no plan can hold")
		}
	}

	fmt.Fprintln(w)
	sentence(w, fmt.Sprintf("The least noise of each variant and subset rate, give or take %v %%:", 100*planner.Alike))
	lines := [][]string{{"variant", "q", "tuned on", "batch", "mu", "repetitions", "noise multiplier", "tried", "gradients"}}
	for first, end := 0, 0; first < len(r.options); first = end {
		at := r.options[first]
		for end = first; end < len(r.options) && r.options[end].Method == at.Method && r.options[end].SubsetRate == at.SubsetRate; {
			end++
		}
		if best, ok := planner.Best(r.options[first:end]); ok {
			at = best
		}
		least := r.tuning(at)
		share, q := least.SubsetRate, exact(least.SubsetRate)
		if least.Variant == "baseline" {
			share, q = 1, "all"
		}
		tuned := share * float64(r.Samples)
		lines = append(lines, append([]string{least.Variant, q, whole(tuned), whole(tuned * r.SamplingRate)}, least.cells()...))
	}
	columns(w, lines...)

	best := r.Recommended
	at := experiment.MethodName(best.Variant)
	if best.Variant != "baseline" {
		at += ", q " + exact(best.SubsetRate)
	}
	fmt.Fprintf(w, "\nAll distributions, at %s:\n", at)
	lines = [][]string{{"mu", "repetitions", "noise multiplier", "tried", "gradients"}}
	for _, p := range r.Plans {
		if p.Variant == best.Variant && p.SubsetRate == best.SubsetRate {
			lines = append(lines, p.cells())
		}
	}
	columns(w, lines...)

	limits := fmt.Sprintf("a q of at least %s", exact(r.SubsetAtLeast))
	if r.WorkAtMost > 0 {
		limits += fmt.Sprintf(", work of at most %s runs", exact(r.WorkAtMost))
	}
	fmt.Fprintln(w)
	sentence(w, fmt.Sprintf("Recommended, the least noise with %s:", limits))
	rows(w,
		[2]string{"noise", "multiplier " + release.RoundUp(*best.NoiseMultiplier, 8)},
		[2]string{"privacy", fmt.Sprintf("epsilon %s at delta %s, for tuning and final training together", release.Up(best.Guarantee), exact(r.Delta))},
		[2]string{"bound", best.Bound},
	)
	fmt.Fprintf(w, "\n%s\n", r.Command)
}

func (t plannedTrials) name() string {
	if t.Shape != nil {
		return t.Distribution + ":" + exact(*t.Shape)
	}
	if t.Most > 0 {
		return fmt.Sprintf("%s of %d", t.Distribution, t.Most)
	}
	return t.Distribution
}

// cells returns the columns from mu on. Noise is rounded up, so that the printed noise is enough too.
func (p plannedTuning) cells() []string {
	noise := "none"
	if p.NoiseMultiplier != nil {
		noise = release.Up(*p.NoiseMultiplier)
	}
	return []string{exact(p.Mean), p.name(), noise, fmt.Sprintf("%.2f %%", math.Floor(1e4*p.Tried)/100), whole(p.Gradients)}
}

func whole(v float64) string { return release.Grouped(int(math.Round(v))) }
