package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/experiment/planner"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/show"
)

// planOptions name the plans to compare.
type planOptions struct {
	flags.Settings
	tried         float64
	candidates    int
	variants      []string
	rates         []float64
	families      []string
	subsetAtLeast float64
	workAtMost    float64
	ratesGiven    bool
}

func newPlanCommand(g *global) *cobra.Command {
	opts := planOptions{
		tried:    0.95,
		variants: []string{"1", "2", "baseline"},
		rates:    []float64{0.02, 0.05, 0.1, 0.2, 0.5},
		families: []string{"poisson", "truncated-poisson", "geometric", experiment.NegativeBinomial, experiment.NegativeBinomial + ":2", experiment.NegativeBinomial + ":4", "logarithmic"},
	}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Find plans that try every candidate often enough, with the least noise",
		Long: `Find plans that try every candidate often enough, with the least noise.

Trials draw their candidates at random, so the best one may never be drawn: with
a Poisson number of trials of mean 15 and nine learning rates, 19 % of runs never
draw a given one. For each distribution of the number of trials this command
finds the smallest mean mu at which any given candidate is tried with probability
--tried. (All candidates together are tried with a smaller probability.) For each
variant and subset rate q it then finds the noise multiplier that meets
--epsilon. Its answer is as public as the settings. It reads no data sets; of files
of your own it reads the public one, and counts the rows of the private one.

The table shows, for each variant and q, the distribution that needs the least
noise; of distributions within 1 % of it, the one with the fewest gradients.
Below, it shows all distributions at the recommended variant and q. The noise in
the table meets the budget. With best accounting it may leave up to 0.4 % of
epsilon unused, except in the recommended plan. Gradients are the expected number
of gradients of single samples, including the final run, and so a measure of time.
It takes tens of seconds; --accounting tight takes one, and finds plans with more
noise.

Noise isn't everything. A smaller q mostly needs less noise, but a trial then
predicts less, because it trains on the share q of the data, with batches of
gamma q n. Privacy doesn't determine how small q may be. So the recommended plan
has the least noise among plans whose q is at least --subset-at-least, by default
the q of the preset.`,
		Example: `  dptrain plan --dataset mnist --epsilon 4 --tried 0.95
  dptrain plan --dataset mnist --epsilon 2 --subset-at-least 0.05
  dptrain plan --candidates 72 --tried 0.9 --variant 1 --repetitions poisson,geometric --q 0.1,0.15,0.2
  dptrain plan --dataset mnist --work-at-most 5 --json
  dptrain plan --config mine.yaml --train private.csv --epsilon 4`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.ratesGiven = cmd.Flags().Changed("q")
			return runPlan(cmd.Context(), g, opts)
		},
	}
	opts.Add(cmd, append([]string{"variant", "noise-multiplier", "q", "mu", "repetitions", "max-trials"}, notAccounted...)...)
	opts.AddFiles(cmd)
	fs := cmd.Flags()
	fs.Float64Var(&opts.tried, "tried", opts.tried, "minimum probability with which a given candidate is tried")
	fs.IntVar(&opts.candidates, "candidates", 0, "number of candidates in the grid; without it that of the settings")
	fs.StringSliceVar(&opts.variants, "variant", opts.variants, "variants to compare: a `list`")
	fs.Float64SliceVar(&opts.rates, "q", opts.rates, "subset rates to compare: a `list`")
	fs.StringSliceVar(&opts.families, "repetitions", opts.families, "distributions to compare: a `list`; negative-binomial may have its shape behind a colon, and binomial the largest probability of a trial")
	fs.Float64Var(&opts.subsetAtLeast, "subset-at-least", 0, "smallest q to recommend; without it that of --q, or of the preset")
	fs.Float64Var(&opts.workAtMost, "work-at-most", 0, "most work to recommend, tuning and final run together, in runs on all of the data; 0 is no limit")
	flags.ShowDefault(fs, "variant", opts.variants)
	flags.ShowDefault(fs, "q", opts.rates)
	flags.ShowDefault(fs, "repetitions", opts.families)
	flags.Complete(cmd, "variant", opts.variants...)
	flags.Complete(cmd, "repetitions", opts.families...)
	return cmd
}

func runPlan(ctx context.Context, g *global, opts planOptions) error {
	e, err := opts.Resolve()
	if err != nil {
		return err
	}
	if e.Privacy.NoiseMultiplier != nil {
		return term.Usagef("the noise is what is looked for; give --epsilon instead of privacy.noise_multiplier")
	}
	samples, err := experiment.Describe(e)
	if err != nil {
		return err
	}
	s, err := opts.compared(e, samples.Train)
	if err != nil {
		return err
	}
	for _, weakness := range (release.Privacy{Epsilon: s.Epsilon, Delta: s.Delta, Samples: samples.Train}).Weaknesses() {
		g.Console().Log().Warn(weakness)
	}
	r, err := comparePlans(ctx, g, e, s)
	if err != nil {
		return err
	}
	r.Command = opts.command(r.Recommended)
	return g.Print(r, r.print)
}

// compared returns the settings of the comparison.
func (o planOptions) compared(e settings.Experiment, n int) (planner.Settings, error) {
	s, err := experiment.Compared(e, n)
	if err != nil {
		return s, err
	}
	if o.candidates != 0 {
		s.Candidates = o.candidates
	} else if s.Candidates == 0 {
		return s, term.Usagef("a random search has no number of candidates; give --candidates, such as 10 for a tenth of the space")
	}
	s.Tried, s.MinRate, s.MaxWork = o.tried, o.subsetAtLeast, o.workAtMost
	s.SubsetRates = slices.Compact(slices.Sorted(slices.Values(o.rates)))
	if s.MinRate == 0 {
		s.MinRate = e.Privacy.SubsetRate
		if o.ratesGiven {
			s.MinRate = s.SubsetRates[0]
		}
	}
	if at, known := slices.BinarySearch(s.SubsetRates, s.MinRate); !known && !o.ratesGiven {
		s.SubsetRates = slices.Insert(s.SubsetRates, at, s.MinRate)
	}
	if err := o.check(s); err != nil {
		return s, err
	}
	for _, v := range o.variants {
		m, ok := experiment.MethodOf(v)
		if !ok {
			return s, term.Unknown("variant", v, []string{"1", "2", "baseline"})
		}
		if !slices.Contains(s.Methods, m) {
			s.Methods = append(s.Methods, m)
		}
	}
	for _, name := range o.families {
		if kind, _, _ := strings.Cut(name, ":"); !slices.Contains(settings.Repetitions(), kind) {
			return s, term.Unknown("distribution of repetitions", kind, settings.Repetitions())
		}
		f, err := experiment.FamilyOf(e.Privacy, name)
		if err != nil {
			return s, err
		}
		if !slices.ContainsFunc(s.Families, func(other planner.Family) bool { return other.Name == f.Name }) {
			s.Families = append(s.Families, f)
		}
	}
	return s, nil
}

func (o planOptions) check(s planner.Settings) error {
	switch {
	case !(o.tried > 0 && o.tried < 1):
		return term.Usagef("--tried: must lie strictly between 0 and 1, got %v", o.tried)
	case s.Candidates < 1 || s.Candidates > 1e6:
		return term.Usagef("--candidates: must be 1 to 1e6, got %d", s.Candidates)
	case len(o.variants) == 0 || len(o.families) == 0 || len(o.rates) == 0:
		return term.Usagef("--variant, --repetitions and --q: give each at least one")
	case !(o.workAtMost >= 0):
		return term.Usagef("--work-at-most: must be a number of at least 0, got %v", o.workAtMost)
	}
	for _, q := range o.rates { // before the limit, which may be one of them
		if !(q > 0 && q < 1) {
			return term.Usagef("--q: must lie strictly between 0 and 1, got %v", q)
		}
	}
	if !(s.MinRate > 0 && s.MinRate < 1) {
		return term.Usagef("--subset-at-least: must lie strictly between 0 and 1, got %v", s.MinRate)
	}
	return nil
}

// comparePlans settles all plans, and calibrates the recommended one as "dptrain tune" does.
func comparePlans(ctx context.Context, g *global, e settings.Experiment, s planner.Settings) (*comparedPlans, error) {
	const doing = "comparing plans"
	return term.Follow(ctx, g.Console(), doing, func(f *term.Follower) (*comparedPlans, error) {
		trials, options, err := planner.Compare(ctx, s, func(done, total int) { f.Progress(float64(done), float64(total), doing) })
		if err != nil {
			return nil, err
		}
		best, guarantee, err := experiment.Recommended(e, s, trials, options)
		if err != nil {
			return nil, err
		}
		r := newComparedPlans(e, s, trials, options)
		r.Recommended = recommendedPlan{r.tuning(best), guarantee.Epsilon, guarantee.Bound}
		return r, nil
	})
}

// command returns the command line of the recommended plan, with the flags that were given here.
func (o planOptions) command(r recommendedPlan) string {
	words := append([]string{"dptrain", "tune"}, o.Words()...)
	words = append(words, "--variant", r.Variant)
	if r.Variant != "baseline" {
		words = append(words, "--q", release.Exact(r.SubsetRate))
	}
	words = append(words, "--mu", release.Exact(r.Mean), "--repetitions", r.Distribution)
	if r.Shape != nil {
		words = append(words, "--set", "privacy.repetitions_shape="+release.Exact(*r.Shape))
	}
	if r.Most > 0 {
		words = append(words, "--max-trials", strconv.Itoa(r.Most))
	}
	for i, w := range words {
		words[i] = show.Quoted(w)
	}
	return strings.Join(words, " ")
}

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
	term.Rows(w, release.Facts{
		{"data", fmt.Sprintf("%s, %s training samples", r.Dataset, release.Grouped(r.Samples))},
		{"candidates", fmt.Sprintf("%d, each tried with probability %v at least", r.Candidates, r.TriedAtLeast)},
		{"budget", fmt.Sprintf("epsilon %s at delta %s (%s accounting)", release.Exact(r.Epsilon), release.Exact(r.Delta), r.Accounting)},
	})
	if r.several {
		term.Sentence(w, "Noise is that of runs at the settings' sampling rate and epochs; candidates that differ in them share the budget, which the command below shows.")
	}
	for _, t := range r.Trials {
		if t.Mean == 0 {
			term.Sentence(w, t.name()+": out of reach, it would take more than a million trials or tails that no plan can hold")
		}
	}

	fmt.Fprintln(w)
	term.Sentence(w, fmt.Sprintf("The least noise of each variant and subset rate, give or take %v %%:", 100*planner.Alike))
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
		share, q := least.SubsetRate, release.Exact(least.SubsetRate)
		if least.Variant == "baseline" {
			share, q = 1, "all"
		}
		tuned := share * float64(r.Samples)
		lines = append(lines, append([]string{least.Variant, q, release.Whole(tuned), release.Whole(tuned * r.SamplingRate)}, least.cells()...))
	}
	term.Columns(w, lines...)

	best := r.Recommended
	at := experiment.MethodName(best.Variant)
	if best.Variant != "baseline" {
		at += ", q " + release.Exact(best.SubsetRate)
	}
	fmt.Fprintf(w, "\nAll distributions, at %s:\n", at)
	lines = [][]string{{"mu", "repetitions", "noise multiplier", "tried", "gradients"}}
	for _, p := range r.Plans {
		if p.Variant == best.Variant && p.SubsetRate == best.SubsetRate {
			lines = append(lines, p.cells())
		}
	}
	term.Columns(w, lines...)

	limits := fmt.Sprintf("a q of at least %s", release.Exact(r.SubsetAtLeast))
	if r.WorkAtMost > 0 {
		limits += fmt.Sprintf(", work of at most %s runs", release.Exact(r.WorkAtMost))
	}
	fmt.Fprintln(w)
	term.Sentence(w, fmt.Sprintf("Recommended, the least noise with %s:", limits))
	term.Rows(w, release.Facts{
		{"noise", "multiplier " + release.RoundUp(*best.NoiseMultiplier, 8)},
		{"privacy", release.EpsilonAt(best.Guarantee, r.Delta) + ", for tuning and final training together"},
		{"bound", best.Bound},
	})
	fmt.Fprintf(w, "\n%s\n", r.Command)
}

func (t plannedTrials) name() string {
	if t.Shape != nil {
		return t.Distribution + ":" + release.Exact(*t.Shape)
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
	return []string{release.Exact(p.Mean), p.name(), noise, fmt.Sprintf("%.2f %%", math.Floor(1e4*p.Tried)/100), release.Whole(p.Gradients)}
}
