package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/execution"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

// accountOptions say which plan to account for. No command here touches data.
type accountOptions struct {
	flags.Settings
	single   bool
	steps    int
	group    int     // rows of one unit
	epsilon  float64 // of account delta
	attained bool    // of account compare

	neighbours string
}

// accounted is what one of the commands computes: its result, and how people read it.
type accounted struct {
	result any
	text   func(io.Writer)
}

// notAccounted are the setting flags that no cost depends on.
var notAccounted = []string{"model", "clipping-norm", "clipping", "optimizer", "momentum", "weight-decay", "schedule", "warmup", "accumulate", "average", "tune", "search", "largest-final-rate", "division", "metric", "fixed", "learning-rate", "holdout", "workers", "engine", "devices"}

func newAccountCommand(g *global) *cobra.Command {
	cmd := term.Group(&cobra.Command{
		Use:   "account",
		Short: "Compute what a plan costs, or what a budget allows",
		Long: `Compute what a plan costs, or what a budget allows, without touching data.

A plan is tuning and final training together, as "dptrain tune" would do them;
with --single it is one training run without tuning. Settings come from the
preset of --dataset, and flags change them. Nothing here depends on the model.

A guarantee compares neighbours: data sets that differ by one sample, which is
added or removed. With --neighbours replace-one another sample takes its place,
which changes more and costs more, up to some twice the epsilon. An epsilon for
one relation says nothing about the other. zero-out-one, where a sample is there
but counts for nothing, costs the same as add-or-remove-one.

Batches are Poisson samples: each sample is in each batch with probability gamma,
whatever else is in it. For shuffled data, or batches of a fixed size, all answers
here are wrong, and usually too small.`,
		Example: `  dptrain account epsilon --dataset mnist --variant 2 --noise-multiplier 2.14
  dptrain account noise   --dataset mnist --epsilon 4
  dptrain account delta   --dataset mnist --noise-multiplier 2 --epsilon 3
  dptrain account compare --dataset mnist --epsilon 4`,
	})
	compare := newAccountSubcommand(g, "compare", "All methods side by side: epsilon at a noise, or noise for an epsilon", runAccountCompare, "variant", "accounting")
	compare.Long = compareLong
	cmd.AddCommand(
		newAccountSubcommand(g, "epsilon", "Epsilon of a plan with a given noise multiplier", runAccountEpsilon, "epsilon"),
		newAccountSubcommand(g, "noise", "The smallest noise multiplier that meets an epsilon", runAccountNoise, "noise-multiplier"),
		newAccountSubcommand(g, "delta", "Delta of a plan at a given epsilon", runAccountDelta, "epsilon", "delta"),
		compare,
		newAccountEvalCommand(g),
	)
	return cmd
}

func newAccountSubcommand(g *global, name, short string, run func(accountOptions, settings.Experiment) (*accounted, error), except ...string) *cobra.Command {
	var opts accountOptions
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.group < 1 || opts.group > accountant.MaxRows {
				return term.Usagef("--group: must be a whole number from 1 to %d, got %d", accountant.MaxRows, opts.group)
			}
			if opts.steps < 0 {
				return term.Usagef("--steps: must be a number above 0, got %d", opts.steps)
			}
			if n := accountant.Neighbours(opts.neighbours); n != "" && neighbours[n] == "" {
				return term.Usagef("--neighbours: unknown relation %q; use %s, %s or %s", n, accountant.AddRemove, accountant.ReplaceOne, accountant.ZeroOut)
			}
			e, err := opts.Resolve()
			if err != nil {
				return err
			}
			if err := oneKindOfRun(e); err != nil {
				return err
			}
			a, err := term.Await(cmd.Context(), execution.Accounting, func() (*accounted, error) { return run(opts, e) })
			if err != nil {
				return err
			}
			return g.Print(a.result, a.text)
		},
	}
	opts.Add(cmd, append(except, notAccounted...)...)
	fs := cmd.Flags()
	if name != "compare" {
		fs.BoolVar(&opts.single, "single", false, "one training run, no tuning")
	} else {
		fs.BoolVar(&opts.attained, "attained", false, "also what the worst known order of scores makes the plan cost")
	}
	fs.IntVar(&opts.group, "group", 1, "rows of one person (or other unit) that are added or removed together")
	fs.IntVar(&opts.steps, "steps", 0, "steps of each run; overrides --epochs")
	if name != "compare" {
		fs.StringVar(&opts.neighbours, "neighbours", string(accountant.AddRemove), "`relation` of data sets that the guarantee compares: add-or-remove-one, replace-one or zero-out-one")
	}
	if name == "delta" {
		fs.Float64Var(&opts.epsilon, "epsilon", 0, "epsilon of the guarantee")
	}
	return cmd
}

// oneKindOfRun refuses settings that account doesn't speak of.
func oneKindOfRun(e settings.Experiment) error {
	switch {
	case e.Privacy.Fixed != settings.FixedEpochs:
		return term.Usagef("privacy.fixed: account wants epochs; dptrain tune --dry-run finds the steps that noise allows")
	case e.Tunes(settings.TuneBatch) || e.Tunes(settings.TuneEpochs) || e.Tuning.Search != settings.SearchGrid:
		return term.Usagef("tuning.tune: account speaks of one sampling rate and one number of steps; dptrain tune --dry-run accounts for more")
	}
	return nil
}

func (o accountOptions) uniform(e settings.Experiment) experiment.Uniform {
	return experiment.Uniform{Experiment: e, Single: o.single, Rows: o.group, Neighbours: accountant.Neighbours(o.neighbours)}
}

func (o accountOptions) stepsOf(e settings.Experiment) (int, error) {
	if o.steps > 0 {
		return o.steps, nil
	}
	return experiment.Steps(e.Privacy)
}

// accountResult is one line of accounting: the plan and its guarantee.
type accountResult struct {
	Plan            string  `json:"plan"`
	Group           int     `json:"group,omitempty"` // rows of one unit, if more than 1
	SamplingRate    float64 `json:"sampling_rate"`
	Steps           int     `json:"steps"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	Epsilon         float64 `json:"epsilon"`
	Delta           float64 `json:"delta"`
	Accounting      string  `json:"accounting"`
	Bound           string  `json:"bound"`
	Order           int     `json:"rdp_order,omitempty"`
	Neighbours      string  `json:"neighbouring_relation"`
}

// neighbours describes the relations that --neighbours names, and the same for units.
var neighbours = map[accountant.Neighbours]string{
	accountant.AddRemove:     "one sample, added or removed",
	accountant.ReplaceOne:    "one sample, replaced by another",
	accountant.ZeroOut:       "one sample, which in one of them counts for nothing",
	accountant.AddRemoveUnit: "all rows of a unit, added or removed",
	accountant.ReplaceUnit:   "all rows of a unit, replaced by another's",
	accountant.ZeroOutUnit:   "all rows of a unit, which in one of them count for nothing",
}

func (o accountOptions) result(e settings.Experiment, noise float64, steps int, g accountant.Guarantee) accountResult {
	plan := "one training run"
	if !o.single {
		plan = experiment.MethodName(e.Privacy.Variant)
		if e.Privacy.Variant != "baseline" {
			plan += fmt.Sprintf(", q %v", e.Privacy.SubsetRate)
		}
		plan += fmt.Sprintf(", mu %v (%s)", e.Privacy.MeanRepetitions, o.uniform(e).Distribution())
	}
	group := 0
	if o.group > 1 {
		group = o.group
		plan += fmt.Sprintf(", for a unit of up to %d rows", group)
	}
	return accountResult{plan, group, e.Privacy.SamplingRate, steps, noise, g.Epsilon, g.Delta, string(g.Mode), g.Bound, g.Order, string(g.Neighbours)}
}

func (r accountResult) print(w io.Writer, answer, value string) {
	term.Rows(w, release.Facts{
		{answer, value},
		{"plan", fmt.Sprintf("%s; %d steps at sampling rate %v, noise multiplier %s", r.Plan, r.Steps, r.SamplingRate, release.Exact(r.NoiseMultiplier))},
		{"guarantee", release.EpsilonAt(r.Epsilon, r.Delta)},
		{"neighbours", "data sets that differ by " + neighbours[accountant.Neighbours(r.Neighbours)] + "; batches are Poisson samples"},
		{"bound", fmt.Sprintf("%s (%s accounting)", r.Bound, r.Accounting)},
	})
}

func givenNoise(e settings.Experiment) (float64, error) {
	if e.Privacy.NoiseMultiplier == nil {
		return 0, term.Usagef("no noise multiplier; give --noise-multiplier, or find one by dptrain account noise")
	}
	return *e.Privacy.NoiseMultiplier, nil
}

func runAccountEpsilon(o accountOptions, e settings.Experiment) (*accounted, error) {
	if _, err := givenNoise(e); err != nil {
		return nil, err
	}
	return runAccountPlan(o, e, "epsilon", func(r accountResult) string { return release.Up(r.Epsilon) })
}

func runAccountNoise(o accountOptions, e settings.Experiment) (*accounted, error) {
	return runAccountPlan(o, e, "noise multiplier", func(r accountResult) string { return release.Exact(r.NoiseMultiplier) })
}

// runAccountPlan settles noise and epsilon of a plan by whichever of the two is given.
func runAccountPlan(o accountOptions, e settings.Experiment, answer string, value func(accountResult) string) (*accounted, error) {
	steps, err := o.stepsOf(e)
	if err != nil {
		return nil, err
	}
	noise, guarantee, err := o.uniform(e).Settle(steps)
	if err != nil {
		return nil, err
	}
	r := o.result(e, noise, steps, guarantee)
	return &accounted{r, func(w io.Writer) { r.print(w, answer, value(r)) }}, nil
}

func runAccountDelta(o accountOptions, e settings.Experiment) (*accounted, error) {
	noise, err := givenNoise(e)
	if err != nil {
		return nil, err
	}
	if !(o.epsilon > 0) {
		return nil, term.Usagef("--epsilon: must be a number above 0, got %v", o.epsilon)
	}
	steps, err := o.stepsOf(e)
	if err != nil {
		return nil, err
	}
	event, err := o.uniform(e).Events()
	if err != nil {
		return nil, err
	}
	guarantee, err := accountant.Delta(event(steps), o.epsilon, o.uniform(e).Options())
	if err != nil {
		return nil, fmt.Errorf("account for the plan: %w", err)
	}
	r := o.result(e, noise, steps, guarantee)
	return &accounted{r, func(w io.Writer) { r.print(w, "delta", release.Exact(r.Delta)) }}, nil
}
