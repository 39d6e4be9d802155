package main

import (
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/term"
)

func newTrainCommand(g *global) *cobra.Command {
	var opts runOptions
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train a model privately with given hyperparameters",
		Long: `Train a model privately with given hyperparameters: one run, no tuning.

The guarantee covers this run alone. If its hyperparameters were found by
training on the same data, it doesn't hold: "dptrain tune" accounts for that.

Without any hyperparameter, a linear model on files of your own gets those of the
rule that "dptrain tune" has, from public numbers.

The optimizer sees noisy gradients alone, so none of its settings costs privacy:
--optimizer with --momentum or --weight-decay, a --schedule of the learning rate
with --warmup, --accumulate and --average. An average of the parameters, such as
--average 0.999, often has less noise than the last ones. The steps of momentum
0.9 are 10 times as long in the end, so give a tenth of the learning rate.
Memory is no reason to accumulate: batches of any size are split by themselves.

` + term.ExitCodes,
		Example: `  dptrain train --learning-rate 0.5
  dptrain train --dataset mnist --epsilon 2 --learning-rate 0.9
  dptrain train --optimizer nesterov --learning-rate 0.05 --schedule cosine
  dptrain train --optimizer adamw --learning-rate 0.005 --warmup 0.05 --average 0.99
  dptrain train --dataset mnist --noise-multiplier 1.3 --epochs 20 --dry-run`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.seeded = cmd.Flags().Changed("insecure-seed")
			e, err := opts.Resolve()
			if err == nil {
				err = opts.CheckUntuned()
			}
			if err != nil {
				return err
			}
			return opts.carryOut(cmd.Context(), g, e, false)
		},
	}
	opts.addFlags(cmd, "variant", "q", "holdout", "mu", "repetitions", "max-trials", "tune", "search", "largest-final-rate", "division", "metric")
	return cmd
}
