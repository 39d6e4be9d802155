package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/execution"
	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/paper"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/show"
)

type reproduceOptions struct {
	flags.Settings
	cluster   execution.Cluster
	selection paper.Selection
	out       string
	have      string
	had       []campaign.Result
	list      bool
	drawOnly  bool
	quick     bool
	keep      flags.Keep
	seed      uint64
	seeded    bool
	given     func(flag string) bool
	computed  *figure.Bounds // which take a minute; nil until they are drawn
}

// builtIn is the data set that needs no download.
const builtIn = "glyphs"

// saveCampaign is the default time between two saves of a campaign's runs, many of which train side by side.
const saveCampaign = 5 * time.Minute

func newReproduceCommand(g *global) *cobra.Command {
	opts := reproduceOptions{selection: paper.PaperSelection()}
	cmd := &cobra.Command{
		Use:   "reproduce [NAME]...",
		Short: "Reproduce the paper's figures",
		Long: `Reproduce the figures of Koskela and Kulkarni, "Practical
Differentially Private Hyperparameter Tuning with Subsampling": train what they
need, and draw them on one page. NAME is a figure's label in the paper; --list
shows what each of them needs. Without a name it is all of them:

` + strings.Join(labels(paper.Figures()), "\n") + `

A figure's point is the mean test accuracy of repeated runs at one epsilon, by
variant 1, variant 2, the baseline, and one training alone with the baseline's
best hyperparameters. At full size the paper's figures are more than two thousand
runs, which take days on a few cores. --quick makes runs so small that all figures
take minutes: a rehearsal, and no evidence.

The runs are kept in the folder "runs" below --out. Whatever is there isn't run
again: the same command goes on where an earlier one was interrupted or killed,
and only adds what is missing if it asks for more. A run that gives no model is
tried once more. With --have the runs of another campaign count as done, by its
table of results. The command says at its beginning how long the runs are likely to
take here, as --list does without training them. "reproduce status" counts runs
and estimates the time left, also while another process works. The page is drawn
before the runs and after them, and when the command is interrupted: then it shows
the runs that are there.

With --accounting paper the noise is that of the paper's bounds; with best it is
that of tighter ones, which take less noise for the same epsilon. With both,
figures show both, and there is one by each beside them.

With --cluster other machines train: this one hands out the runs, files what comes
back, and keeps ledger and keys. Start "dptrain worker" on each of them. The results
are those of one machine, to the byte if their arithmetic is the same.

Each run is drawn from the operating system's randomness, and its guarantee holds
for itself. The table of results says how long training took, which is private: the
paper's data sets are public. With --insecure-seed the campaign can be repeated to
the byte, times left out, and its models guarantee nothing.

` + term.ExitCodes,
		Example: `  dptrain reproduce --list
  dptrain reproduce --quick
  dptrain reproduce compare_dp_bounds mnist_novel_x
  dptrain reproduce figure_tune_lr_dp_sgd --datasets cifar-10 --repetitions 3
  dptrain reproduce --accounting paper,best
  dptrain reproduce --cluster embedded --listen :4222
  dptrain reproduce status`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.given = func(flag string) bool { return cmd.Flags().Changed(flag) }
			opts.seeded = opts.given("insecure-seed")
			return runReproduce(cmd.Context(), g, opts, args)
		},
		ValidArgs: labels(paper.Figures()),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&opts.list, "list", false, "show the figures, their runs, and how long they are likely to take here; train nothing but for a few seconds")
	fs.BoolVar(&opts.drawOnly, "draw-only", false, "draw the runs that are there, and train nothing")
	fs.BoolVar(&opts.quick, "quick", false, "small runs: a rehearsal of all figures in minutes")
	s := &opts.selection
	fs.StringSliceVar(&s.Datasets, "datasets", s.Datasets, "data sets: a `list`; "+builtIn+" is built in, and not the paper's")
	fs.Float64SliceVar(&s.Epsilons, "epsilons", s.Epsilons, "total epsilons: a `list`; with --quick 1 and 4")
	fs.StringSliceVar(&s.Accountings, "accounting", s.Accountings, "bounds that the noise is calibrated by: a `list` of paper, tight and best")
	fs.IntVar(&s.Repetitions, "repetitions", s.Repetitions, "independent repetitions of each point; with --quick 2")
	flags.Complete(cmd, "datasets", append(paper.Datasets(), builtIn)...)
	flags.Complete(cmd, "accounting", "paper", "tight", "best")
	flags.ShowDefault(fs, "datasets", s.Datasets)
	flags.ShowDefault(fs, "epsilons", s.Epsilons)
	flags.ShowDefault(fs, "accounting", s.Accountings)
	fs.StringVar(&opts.out, "out", "", "`folder` of the campaign: runs, figures, tables, page (default reproduction, or reproduction-quick)")
	fs.StringVar(&opts.have, "have", "", "tables/results.csv of another campaign, of full size and without a seed: a `file` whose runs count as done")
	fs.Uint64Var(&opts.seed, "insecure-seed", 0, "make all random draws from a `number`, so that the campaign can be repeated; voids all guarantees")
	opts.keep.Add(cmd, saveCampaign, "`time` between two saves of the runs' states, from which the same command goes on")
	opts.AddOnly(cmd, "workers", "engine", "devices")
	opts.cluster.AddLeading(cmd, "the runs")
	cmd.AddCommand(newReproduceStatusCommand(g))
	return cmd
}

func labels(figures []paper.Figure) []string {
	var out []string
	for _, f := range figures {
		out = append(out, f.Label)
	}
	return out
}

// figures returns the named figures, or all of them.
func figures(names []string) ([]paper.Figure, error) {
	all := paper.Figures()
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		if !slices.Contains(labels(all), name) {
			return nil, term.Unknown("figure", name, labels(all))
		}
	}
	return slices.DeleteFunc(all, func(f paper.Figure) bool { return !slices.Contains(names, f.Label) }), nil
}

// check completes and checks the selection.
func (o *reproduceOptions) check() error {
	s := &o.selection
	if o.quick {
		if !o.given("epsilons") {
			s.Epsilons = []float64{1, 4}
		}
		if !o.given("repetitions") {
			s.Repetitions = 2
		}
	}
	if o.out == "" {
		o.out = "reproduction"
		if o.quick {
			o.out = "reproduction-quick"
		}
	}
	for _, list := range []struct {
		flag  string
		given []string
		known []string
	}{{"datasets", s.Datasets, append(paper.Datasets(), builtIn)}, {"accounting", s.Accountings, []string{"paper", "tight", "best"}}} {
		for _, name := range list.given {
			if !slices.Contains(list.known, name) {
				return fmt.Errorf("--%s: %w", list.flag, term.Unknown("name", name, list.known))
			}
		}
		if len(list.given) == 0 {
			return term.Usagef("--%s: no name; want some of %s", list.flag, strings.Join(list.known, ", "))
		}
	}
	if len(s.Epsilons) == 0 {
		return term.Usagef("--epsilons: no value; want some, such as 1,2,4")
	}
	for _, epsilon := range s.Epsilons {
		if !(epsilon > 0 && epsilon < 1e3) {
			return term.Usagef("--epsilons: want values above 0 and below 1000, got %v", epsilon)
		}
	}
	if s.Repetitions < 1 || s.Repetitions > 1000 {
		return term.Usagef("--repetitions: want 1 to 1000, got %d", s.Repetitions)
	}
	if o.have != "" && (o.quick || o.seeded) {
		return term.Usagef("--have: its runs are of full size and have keys of their own; leave out --quick and --insecure-seed")
	}
	s.Datasets, s.Accountings, s.Epsilons = distinct(s.Datasets), distinct(s.Accountings), distinct(s.Epsilons)
	slices.Sort(s.Epsilons)
	if o.have != "" {
		var err error
		if o.had, err = campaign.ReadTable(o.have); err != nil {
			return term.Input(fmt.Errorf("--have: %w", err))
		}
	}
	return o.keep.Check()
}

// distinct returns values without repetitions.
func distinct[T comparable](values []T) []T {
	var out []T
	seen := map[T]bool{}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// tasks returns the tasks of figures, whole repetitions first.
func tasksOf(figures []paper.Figure, s paper.Selection) []campaign.Job {
	var tasks []campaign.Job
	for _, f := range figures {
		tasks = append(tasks, f.Jobs(s)...)
	}
	tasks = distinct(tasks)
	slices.SortStableFunc(tasks, func(a, b campaign.Job) int { return a.Repetition - b.Repetition })
	return tasks
}

// description describes the campaign of tasks.
func (o *reproduceOptions) description(tasks []campaign.Job) campaign.Description {
	d := campaign.Description{Command: "dptrain", Have: o.had}
	for _, word := range os.Args[1:] {
		d.Command += " " + show.Quoted(word)
	}
	if o.quick {
		d.Scale = campaign.Quick()
	}
	if o.seeded {
		d.Seed = &o.seed
	}
	for _, t := range tasks {
		d.Jobs = append(d.Jobs, t.Name())
	}
	return d
}

func runReproduce(ctx context.Context, g *global, opts reproduceOptions, names []string) error {
	chosen, err := figures(names)
	if err != nil {
		return err
	}
	if err := opts.check(); err != nil {
		return err
	}
	if err := opts.cluster.Check(); err != nil {
		return err
	}
	e, err := opts.Resolve()
	if err != nil {
		return err
	}
	if opts.list {
		return g.listFigures(ctx, opts, chosen, e.Performance)
	}
	open := campaign.Open
	if opts.drawOnly {
		open = campaign.Planned
	}
	store, err := open(opts.out, opts.description(tasksOf(chosen, opts.selection)))
	if err != nil {
		return engines.Blame(err)
	}
	defer store.Close()
	drawn, err := g.draw(ctx, store, &opts, chosen) // what needs no runs is there at once
	if err != nil {
		return engines.Blame(err)
	}
	if drawn.Finished+drawn.Failed < drawn.Runs && !opts.drawOnly {
		if err := g.work(ctx, store, e.Performance, opts); err != nil {
			_, failed := g.draw(context.WithoutCancel(ctx), store, &opts, chosen) // the runs that are filed
			return engines.Blame(errors.Join(err, failed))
		}
		if drawn, err = g.draw(ctx, store, &opts, chosen); err != nil {
			return engines.Blame(err)
		}
	}
	return g.Print(drawn, drawn.print)
}

// reproduced is what "reproduce" prints as JSON.
type reproduced struct {
	Page     string `json:"page"`
	Runs     int    `json:"runs"`
	Finished int    `json:"finished"`
	Failed   int    `json:"failed"`
}

func (r reproduced) print(w io.Writer) {
	pairs := release.Facts{{"page", term.Relative(r.Page)}}
	if r.Runs > 0 {
		pairs.Add("runs", fmt.Sprintf("%d of %d finished, %d failed", r.Finished, r.Runs, r.Failed))
	}
	term.Rows(w, pairs)
}

// draw draws figures and tables from what the store has.
func (g *global) draw(ctx context.Context, store *campaign.Store, opts *reproduceOptions, chosen []paper.Figure) (reproduced, error) {
	const doing = "drawing figures and tables"
	return term.Follow(ctx, g.Console(), doing, func(f *term.Follower) (r reproduced, err error) {
		tasks := tasksOf(chosen, opts.selection)
		scan, err := store.Scan(tasks)
		if err != nil {
			return r, err
		}
		status, err := store.Status(tasks, scan)
		if err != nil {
			return r, err
		}
		r = reproduced{Runs: status.Total, Finished: status.Finished, Failed: len(status.Failed)}
		var results []campaign.Result
		for _, t := range tasks {
			if one, ok := scan.Finished[t]; ok {
				results = append(results, one)
			}
		}
		progress := func(done, total int) { f.Progress(float64(done), float64(total), doing) }
		noise, err := store.Noise(ctx, cellsOf(noisy(chosen, opts.selection)), progress)
		if err != nil {
			return r, err
		}
		var bounds *figure.Bounds
		if slices.ContainsFunc(chosen, paper.Figure.Bounds) {
			if bounds, err = opts.bounds(ctx, progress); err != nil {
				return r, err
			}
		}
		d := store.Description
		r.Page, err = paper.Write(ctx, opts.out, paper.Input{
			Figures: chosen, Selection: opts.selection, Results: results, Noise: noise, Program: engines.Current().String(),
			Quick: d.Scale.String(), Seed: d.Seed, Bounds: bounds,
		})
		return r, err
	})
}

// bounds returns the paper's bounds, computed once.
func (o *reproduceOptions) bounds(ctx context.Context, progress func(done, total int)) (*figure.Bounds, error) {
	if o.computed != nil {
		return o.computed, nil
	}
	b, err := figure.ComputeBounds(ctx, figure.PaperBounds(), progress)
	if err == nil {
		o.computed = &b
	}
	return o.computed, err
}

// noisy returns the tasks of the figures that show noise.
func noisy(chosen []paper.Figure, s paper.Selection) []campaign.Job {
	s.Repetitions = 1
	return tasksOf(slices.DeleteFunc(slices.Clone(chosen), func(f paper.Figure) bool { return !f.Detailed }), s)
}
