package main

import (
	"context"
	"errors"
	"math"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/runs"
	"github.com/dptrain/dptrain/train"
)

type extendOptions struct {
	settings
	steps   int
	epochs  float64
	epsilon float64
	out     string
	store   string
	keep    keeping
	curve   curveFlags
	dryRun  bool
}

func newExtendCommand(g *global) *cobra.Command {
	var opts extendOptions
	cmd := &cobra.Command{
		Use:   "extend RUN",
		Short: "Train the model of a finished run for more steps",
		Long: `Train the model of a finished "dptrain train" for more steps: from its last
parameters, with the same data, settings and noise. RUN is the run's folder, which
stays as it is; what is released goes to a folder of its own.

Say how many steps to add by --steps, --epochs or --epsilon. The noise of steps that
are taken can't change after the fact, so an epsilon buys steps: as many as keep
all steps together within it. The statement of the new model is for all steps, from
the first one on, and covers the model of the finished run too, which is one of
the models on the way. The ledger gets the new steps alone, since it has the others
already.

The numbers hold if it isn't by what the finished run revealed of private rows that
you decide to go on. Who goes on until the test score is good enough should state
the epsilon of the largest number of steps that there might have been: decide on
it first, or set it as the budget of the data by "dptrain ledger budget".

New steps draw new minibatches and noise, by a key of their own: the key of the
finished run is destroyed. So this isn't the model that a longer run would have
given at once, but it has the same guarantee. An interrupted "extend" goes on by
"dptrain resume" like any run. Tuned runs can't be extended, nor can runs with a
unit of privacy: which rows they trained on follows from the destroyed key.

` + exitCodes,
		Example: `  dptrain extend runs/mnist-20261122-100352 --epochs 10
  dptrain extend runs/mnist-20261122-100352 --epsilon 4 --dry-run
  dptrain extend runs/files-20261122-100352 --steps 500 --train moved/train.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s wants one run, got %d arguments; see %[1]s --help", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExtend(cmd.Context(), g, runDir(storeDir(opts.store), args[0]), opts, cmd.Flags().Changed)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.IntVar(&opts.steps, "steps", 0, "`steps` to add")
	fs.Float64Var(&opts.epochs, "epochs", 0, "expected passes over the data to add; steps = epochs/gamma")
	fs.Float64Var(&opts.epsilon, "epsilon", 0, "add as many steps as this privacy budget of all steps together allows")
	opts.addOnly(cmd, resumable...)
	fs.StringVar(&opts.out, "out", "", "output `directory`, which must not exist (default DATASET-TIME in the store)")
	fs.StringVar(&opts.store, "store", "", "`folder` with the ledger that has the run, if it was moved elsewhere than the run")
	_ = cmd.MarkFlagDirname("store") // it fails for unknown flags only
	opts.keep.addFlags(cmd)
	opts.curve.addFlags(cmd)
	fs.BoolVar(&opts.dryRun, "dry-run", false, "print the plan and its epsilon, and train nothing")
	return cmd
}

func runExtend(ctx context.Context, g *global, dir string, opts extendOptions, given func(flag string) bool) error {
	if err := errors.Join(opts.keep.check(), opts.curve.check()); err != nil {
		return err
	}
	f, err := openFinished(dir)
	if err != nil {
		return err
	}
	x, err := opts.extension(f, given)
	if err != nil {
		return err
	}
	e, err := opts.restored(f.settings, *f.Record)
	if err != nil {
		return err
	}
	if err := f.check(e); err != nil {
		return err
	}
	store, err := f.storeOf(opts.store)
	if err != nil {
		return err
	}
	s := experiment.Settings{Experiment: x.Of(e, f.hyperparameters), InsecureSeed: f.Record.Seed, Extends: &x}
	if opts.dryRun {
		return g.dryRun(ctx, s, store)
	}
	return g.carryOut(ctx, s, opts.keep, clusterFlags{}, store, func(p *experiment.Plan) (*runs.Run, error) {
		return createRun(p, opts.out, store, opts.curve, f)
	})
}

// extension returns what the flags say about the steps to add.
func (o *extendOptions) extension(f *finished, given func(flag string) bool) (experiment.Extension, error) {
	x := experiment.Extension{Name: f.Name, Steps: f.hyperparameters.Steps}
	count := 0
	for _, flag := range []string{"steps", "epochs", "epsilon"} {
		if given(flag) {
			count++
		}
	}
	switch {
	case count != 1:
		return x, usagef("say how many steps to add by one of --steps, --epochs and --epsilon")
	case given("epsilon"):
		if !(o.epsilon > 0) {
			return x, usagef("--epsilon: want a number above 0, got %v", o.epsilon)
		}
		x.Epsilon = &o.epsilon
	case given("epochs"):
		steps, err := train.Steps(o.epochs, f.hyperparameters.SamplingRate)
		if err != nil {
			return x, coded(codeUsage, err)
		}
		if steps < 1 {
			return x, usagef("--epochs: %v epochs at sampling rate %v are less than one step; give more epochs", o.epochs, f.hyperparameters.SamplingRate)
		}
		x.More = steps
	default:
		if o.steps < 1 {
			return x, usagef("--steps: want 1 step or more, got %d", o.steps)
		}
		x.More = o.steps
	}
	if most := math.MaxInt32 - x.Steps; x.More > most { // see train.Privacy
		return x, usagef("%d more steps: want at most %d after %d", x.More, most, x.Steps)
	}
	return x, nil
}
