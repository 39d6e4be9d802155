package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

func newFiguresCommand(g *global) *cobra.Command {
	cmd := term.Group(&cobra.Command{
		Use:   "figures",
		Short: "Draw the paper's accounting figures",
		Long: `Draw the paper's accounting figures, without touching data.

Each figure is written as PNG, SVG and PDF, for screens, pages and papers, with
its numbers beside it as CSV. The same settings give the same files, byte for
byte. All curves can be told apart without colour.`,
		Example: `  dptrain figures bounds
  dptrain figures lines --out paper/figures`,
	})
	cmd.AddCommand(newFigureBoundsCommand(g), newFigureLinesCommand(g))
	return cmd
}

// figureOptions are common to all figures.
type figureOptions struct{ out string }

func (o *figureOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&o.out, "out", "figures", "`directory` for the files; older ones of the same name must be gone")
}

type figureBoundsOptions struct {
	figureOptions
	settings figure.BoundsSettings
	modes    []string
}

func newFigureBoundsCommand(g *global) *cobra.Command {
	opts := figureBoundsOptions{settings: figure.PaperBounds()}
	cmd := &cobra.Command{
		Use:   "bounds",
		Short: "What tuning costs by subset rate: both variants and the baseline",
		Long: `What tuning and training cost together, as epsilon over the subset rate q: the
paper's Figure compare_dp_bounds, with a panel for each expected number of
trials. Its settings are the default.

Compared are variant 1 (tune on a random share q of the data, train on the rest),
variant 2 (tune on the share, train on all data), the baseline (tune on all data,
release the best trial) and one training run alone, without tuning. The closer a
variant is to the run alone, the less tuning costs; beyond the q at which it
crosses the baseline, tuning on all of the data would cost less.

Each mode of accounting adds a set of curves: "paper" is what the paper draws,
"tight" and "best" are smaller epsilons that hold for the same training.`,
		Example: `  dptrain figures bounds
  dptrain figures bounds --mu 10,45 --accounting paper
  dptrain figures bounds --sampling-rate 0.0213 --steps 1878 --noise-multiplier 4 --out mnist`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runFigureBounds(cmd.Context(), g, opts) },
	}
	opts.addFlags(cmd)
	fs, s := cmd.Flags(), &opts.settings
	fs.Float64SliceVar(&s.MeanRepetitions, "mu", s.MeanRepetitions, "mean numbers of trials, which are Poisson: a `list`, a panel each")
	fs.Float64Var(&s.SamplingRate, "sampling-rate", s.SamplingRate, "gamma: each sample's probability of being in a batch")
	fs.Float64Var(&s.NoiseMultiplier, "noise-multiplier", s.NoiseMultiplier, "sigma, in units of the clipping norm")
	fs.IntVar(&s.Steps, "steps", s.Steps, "steps of each training run")
	fs.Float64Var(&s.Delta, "delta", s.Delta, "delta of the guarantee")
	for _, mode := range s.Modes {
		opts.modes = append(opts.modes, string(mode))
	}
	fs.StringSliceVar(&opts.modes, "accounting", opts.modes, "bounds to draw: a `list` of paper, tight and best")
	flags.Complete(cmd, "accounting", opts.modes...)
	flags.ShowDefault(fs, "mu", s.MeanRepetitions)
	flags.ShowDefault(fs, "accounting", opts.modes)
	return cmd
}

func runFigureBounds(ctx context.Context, g *global, opts figureBoundsOptions) error {
	s := opts.settings
	s.Modes = nil
	for _, mode := range opts.modes {
		s.Modes = append(s.Modes, accountant.Mode(mode))
	}
	return opts.write(ctx, g, "bounds", func() (figure.Figure, error) {
		const doing = "computing the bounds"
		return term.Follow(ctx, g.Console(), doing, func(f *term.Follower) (figure.Figure, error) {
			return figure.ComputeBounds(ctx, s, func(done, total int) { f.Progress(float64(done), float64(total), doing) })
		})
	})
}

type figureLinesOptions struct {
	figureOptions
	settings figure.LinesSettings
	noise    []float64
	steps    []int
}

func newFigureLinesCommand(g *global) *cobra.Command {
	opts := figureLinesOptions{settings: figure.PaperLines()}
	cmd := &cobra.Command{
		Use:   "lines",
		Short: "RDP curves of training runs, and the smallest lines above them",
		Long: `RDP curves of DP-SGD and, for each, the smallest line c*alpha that is above it up
to a given order: the paper's Figure mnist_novel_x, with a panel for each
sampling rate.

Random search draws hyperparameters first and fits noise or steps to such a line
afterwards, so that every candidate costs at most the line. Where curve and line
are close, little is lost by that: with more noise and smaller sampling rates.

The n-th candidate has the n-th noise multiplier and the n-th number of steps.
The paper doesn't name those that it drew.`,
		Example: `  dptrain figures lines
  dptrain figures lines --noise-multiplier 1.5,2 --steps 1000,2000 --order 12`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runFigureLines(cmd.Context(), g, opts) },
	}
	for _, c := range opts.settings.Candidates {
		opts.noise, opts.steps = append(opts.noise, c.NoiseMultiplier), append(opts.steps, c.Steps)
	}
	opts.addFlags(cmd)
	fs, s := cmd.Flags(), &opts.settings
	fs.Float64SliceVar(&s.SamplingRates, "sampling-rate", s.SamplingRates, "gamma: a `list`, a panel each")
	fs.Float64SliceVar(&opts.noise, "noise-multiplier", opts.noise, "sigma of the candidates: a `list`")
	fs.IntSliceVar(&opts.steps, "steps", opts.steps, "steps of the candidates: a `list`")
	fs.IntVar(&s.Order, "order", s.Order, "largest RDP order that the lines serve")
	flags.ShowDefault(fs, "sampling-rate", s.SamplingRates)
	flags.ShowDefault(fs, "noise-multiplier", opts.noise)
	flags.ShowDefault(fs, "steps", opts.steps)
	return cmd
}

func runFigureLines(ctx context.Context, g *global, opts figureLinesOptions) error {
	s := opts.settings
	if len(opts.noise) != len(opts.steps) {
		return term.Usagef("--noise-multiplier has %d values and --steps %d; give each candidate both", len(opts.noise), len(opts.steps))
	}
	s.Candidates = nil
	for i, noise := range opts.noise {
		s.Candidates = append(s.Candidates, figure.Candidate{NoiseMultiplier: noise, Steps: opts.steps[i]})
	}
	return opts.write(ctx, g, "lines", func() (figure.Figure, error) {
		return term.Await(ctx, "computing the lines", func() (figure.Figure, error) { return figure.ComputeLines(s) })
	})
}

// figureResult is what a figure prints as JSON.
type figureResult struct {
	Files []string `json:"files"`
}

// write computes the figure and writes its files, which must not exist.
func (o figureOptions) write(ctx context.Context, g *global, name string, compute func() (figure.Figure, error)) error {
	switch err := figure.Check(o.out, name); {
	case errors.Is(err, figure.ErrExists):
		return term.Inputf("%w; give another directory by --out, or remove it", err)
	case err != nil:
		return term.Inputf("%w; give a directory that can be written to by --out", err)
	}
	f, err := compute()
	if err != nil {
		return err
	}
	files, err := term.Await(ctx, "drawing the figure", func() ([]figure.File, error) { return figure.Encode(f) })
	if err != nil {
		return err
	}
	paths, err := figure.Write(o.out, name, files)
	if err != nil {
		return term.Inputf("%w; give a directory that can be written to by --out", err)
	}
	return g.Print(figureResult{paths}, func(w io.Writer) {
		for _, path := range paths {
			fmt.Fprintln(w, path)
		}
	})
}
