package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/experiment/planner"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// planOptions name the plans to compare.
type planOptions struct {
	givenSettings
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
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.ratesGiven = cmd.Flags().Changed("q")
			return runPlan(cmd.Context(), g, opts)
		},
	}
	opts.addFlags(cmd, append([]string{"variant", "noise-multiplier", "q", "mu", "repetitions", "max-trials"}, notAccounted...)...)
	opts.addFileFlags(cmd)
	fs := cmd.Flags()
	fs.Float64Var(&opts.tried, "tried", opts.tried, "minimum probability with which a given candidate is tried")
	fs.IntVar(&opts.candidates, "candidates", 0, "number of candidates in the grid; without it that of the settings")
	fs.StringSliceVar(&opts.variants, "variant", opts.variants, "variants to compare: a `list`")
	fs.Float64SliceVar(&opts.rates, "q", opts.rates, "subset rates to compare: a `list`")
	fs.StringSliceVar(&opts.families, "repetitions", opts.families, "distributions to compare: a `list`; negative-binomial may have its shape behind a colon, and binomial the largest probability of a trial")
	fs.Float64Var(&opts.subsetAtLeast, "subset-at-least", 0, "smallest q to recommend; without it that of --q, or of the preset")
	fs.Float64Var(&opts.workAtMost, "work-at-most", 0, "most work to recommend, tuning and final run together, in runs on all of the data; 0 is no limit")
	showDefault(fs, "variant", opts.variants)
	showDefault(fs, "q", opts.rates)
	showDefault(fs, "repetitions", opts.families)
	complete(cmd, "variant", opts.variants...)
	complete(cmd, "repetitions", opts.families...)
	return cmd
}

func runPlan(ctx context.Context, g *global, opts planOptions) error {
	e, err := opts.resolve()
	if err != nil {
		return err
	}
	if e.Privacy.NoiseMultiplier != nil {
		return usagef("the noise is what is looked for; give --epsilon instead of privacy.noise_multiplier")
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
		g.console().Log().Warn(weakness)
	}
	r, err := comparePlans(ctx, g, e, s)
	if err != nil {
		return err
	}
	r.Command = opts.command(r.Recommended)
	return g.print(r, r.print)
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
		return s, usagef("a random search has no number of candidates; give --candidates, such as 10 for a tenth of the space")
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
			return s, unknown("variant", v, []string{"1", "2", "baseline"})
		}
		if !slices.Contains(s.Methods, m) {
			s.Methods = append(s.Methods, m)
		}
	}
	for _, name := range o.families {
		if kind, _, _ := strings.Cut(name, ":"); !slices.Contains(settings.Repetitions(), kind) {
			return s, unknown("distribution of repetitions", kind, settings.Repetitions())
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
		return usagef("--tried: must lie strictly between 0 and 1, got %v", o.tried)
	case s.Candidates < 1 || s.Candidates > 1e6:
		return usagef("--candidates: must be 1 to 1e6, got %d", s.Candidates)
	case len(o.variants) == 0 || len(o.families) == 0 || len(o.rates) == 0:
		return usagef("--variant, --repetitions and --q: give each at least one")
	case !(o.workAtMost >= 0):
		return usagef("--work-at-most: must be a number of at least 0, got %v", o.workAtMost)
	}
	for _, q := range o.rates { // before the limit, which may be one of them
		if !(q > 0 && q < 1) {
			return usagef("--q: must lie strictly between 0 and 1, got %v", q)
		}
	}
	if !(s.MinRate > 0 && s.MinRate < 1) {
		return usagef("--subset-at-least: must lie strictly between 0 and 1, got %v", s.MinRate)
	}
	return nil
}

// comparePlans settles all plans, and calibrates the recommended one as "dptrain tune" does.
func comparePlans(ctx context.Context, g *global, e settings.Experiment, s planner.Settings) (*comparedPlans, error) {
	const doing = "comparing plans"
	return follow(ctx, g.console(), doing, func(f *follower) (*comparedPlans, error) {
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
	words := []string{"dptrain", "tune"}
	if o.config != "" {
		words = append(words, "--config", o.config)
	}
	for _, set := range o.sets {
		words = append(words, "--set", set)
	}
	for _, f := range o.flags {
		if len(f.values) > 0 {
			words = append(words, "--"+f.flag, f.String())
		}
	}
	for _, f := range o.columns {
		for _, value := range f.values {
			words = append(words, "--"+strings.TrimPrefix(f.key, "data."), value)
		}
	}
	words = append(words, "--variant", r.Variant)
	if r.Variant != "baseline" {
		words = append(words, "--q", exact(r.SubsetRate))
	}
	words = append(words, "--mu", exact(r.Mean), "--repetitions", r.Distribution)
	if r.Shape != nil {
		words = append(words, "--set", "privacy.repetitions_shape="+exact(*r.Shape))
	}
	if r.Most > 0 {
		words = append(words, "--max-trials", strconv.Itoa(r.Most))
	}
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// quoted writes a word so that a shell reads it as one.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=,:+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
