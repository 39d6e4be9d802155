package main

import (
	"context"

	"github.com/spf13/cobra"
)

type tuneOptions struct{ runOptions }

func newTuneCommand(g *global) *cobra.Command {
	var opts tuneOptions
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Tune hyperparameters privately, then train the released model",
		Long: `Tune hyperparameters privately, then train the released model.

A random number of trials, of mean mu, each train with hyperparameters drawn
from the search space. Variants 1 and 2 do so on a random subset of rate q; what
the best trial had, its learning rate adapted to the size of the data, then
trains the released model on the rest (1) or on all of the data (2). The
baseline tunes on all data and releases the best trial's model.

The number of trials is Poisson, which can be 0: then the first candidate is
used, and the baseline releases an untrained model. The other
--repetitions draw at least one trial and have mean mu all the same;
negative-binomial takes its shape from --set privacy.repetitions_shape.
The plan says how likely a given candidate isn't tried at all.

Give the total budget by --epsilon, and the noise is calibrated to it, or the
noise by --noise-multiplier, and epsilon follows; never both, but with --fixed
noise: then the epochs follow. Epsilons are the smallest that this program can
prove; --accounting paper gives the paper's. Everything else has its default in
the preset.

The learning rate is tuned, and with --tune what else is named. Lists of values
are settings (--set tuning.batch_sizes=64,128; sampling_rates instead, epochs,
learning_rates, clipping_norms). Each sampling rate and number of epochs gets
noise of its own, so that all kinds of runs cost the same alone. --search random
draws from the ranges that the lists span, or from the lists of what isn't in
tuning.ranges. Ranges of batch and epochs take more noise than lists: each
candidate is then fitted below a line, which is what is charged.

A rate that wins in trials can be too large once DP-SGD's is scaled to the final
run. --largest-final-rate leaves such rates out before anything is trained, and
their trials go to the others. It must not come from a look at the same data.

The output directory gets two folders. What is in "released" may be published:
model, hyperparameters, privacy statement. What is in "private" must not be:
the trials and their scores aren't covered by the guarantee. Timings, the log and
standard error are private too: how long a run took tells about the number of
trials.

` + exitCodes,
		Example: `  dptrain tune
  dptrain tune --dataset mnist --variant 1 --epsilon 3
  dptrain tune --dataset mnist --variant 2 --noise-multiplier 2.5 --dry-run
  dptrain tune --repetitions geometric --mu 20 --dry-run
  dptrain tune --preset mnist-adam --set tuning.learning_rates=0.001,0.003,0.01
  dptrain tune --preset mnist-all --dry-run
  dptrain tune --dataset mnist --tune rate,clip --set tuning.clipping_norms=0.5,1,2
  dptrain tune --dataset mnist --search random --largest-final-rate 1
  dptrain tune --config mine.yaml --out runs/mine --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.seeded = cmd.Flags().Changed("insecure-seed")
			return runTune(cmd.Context(), g, opts)
		},
	}
	opts.addFlags(cmd, "learning-rate")
	return cmd
}

func runTune(ctx context.Context, g *global, opts tuneOptions) error {
	e, err := opts.resolve(ctx)
	if err == nil {
		err = opts.checkTuned(e)
	}
	if err != nil {
		return err
	}
	return opts.carryOut(ctx, g, e, true)
}
