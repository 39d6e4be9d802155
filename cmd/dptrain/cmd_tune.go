package main

import (
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/term"
)

func newTuneCommand(g *global) *cobra.Command {
	var opts runOptions
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Tune hyperparameters privately, then train the released model",
		Long: `Tune hyperparameters privately, then train the released model.

The command runs a random number of trials, of mean mu. Each trial trains with
hyperparameters drawn from the search space. In variants 1 and 2 the trials run
on a random subset of rate q. The best trial's hyperparameters, with the learning
rate scaled to the size of the data, then train the released model on the rest of
the data (variant 1) or on all of it (variant 2). The baseline runs the trials on
all data and releases the best trial's model.

The number of trials is Poisson by default and can be 0. Then the first candidate
is used, and the baseline releases an untrained model. With the other
--repetitions, except binomial, there is at least one trial, and the mean is mu
too; --set privacy.repetitions_shape sets the shape of negative-binomial. The
more a number of trials of one mean varies, the less it costs: binomial, of which
--max-trials sets the largest number, varies less than Poisson and costs more.
The plan shows the probability that a given candidate isn't tried at all.

Give either the total budget by --epsilon, to which the noise is calibrated, or
the noise by --noise-multiplier, which determines epsilon, but never both, except
with --fixed noise: then the two determine the epochs. Epsilons are the smallest
that this program can prove; --accounting paper gives the paper's. The preset has
defaults for everything else.

The learning rate is tuned by default; --tune names what to tune. But for a linear
model on files of your own, with no setting of a search or of its runs, a rule gives
all hyperparameters from public numbers: the number of rows and of parameters, the
budget, and how far public rows vary. Then nothing is searched, one run is trained
on all rows, and the plan says so; --tune rate forces the search. In the mean of
twelve public tables that it wasn't fitted on the rule was ahead. The lists of
values are settings: --set tuning.batch_sizes=64,128, or sampling_rates in place
of batch sizes, and epochs, learning_rates, clipping_norms. Each sampling rate
and number of epochs is a kind of run, and --division says how the kinds share the
budget. By cost, each gets noise of its own, with which a single run costs the
same. By noise, all get the same noise: a trial is charged the average over what
it may draw, so cheap kinds pay for dear ones, and the dearest, whose many or
large batches average noise out best, get less than by cost.
--search random draws the hyperparameters in tuning.ranges from the
ranges between the ends of their lists, and the others from their lists. Ranges
of batch and epochs need more noise than lists, because each candidate is then
fitted below a line of Rényi divergence and charged the line.

All trials and the final run have the same optimizer: --optimizer with --momentum
or --weight-decay, --schedule with --warmup, --accumulate, --average. None of
these costs privacy. A tuned learning rate is the one that the schedule
multiplies. Those of momentum and nesterov act 10 times as much in the end as
those of sgd, so give a tenth: --set tuning.learning_rates=0.003,0.01,0.03.

For DP-SGD, with momentum or without, the final run scales the learning rate up,
so a rate that wins in trials can be too large there. --largest-final-rate removes such rates before
anything is trained, and all trials go to the others. Don't choose its value by
looking at the same data. By default there is a bound for numbers in files of your
own, since a squared error diverges above it: 2 over the largest eigenvalue of the
public rows' second moments. A value that you give wins.

The best trial of classes is the one with the highest accuracy on the public test
set, or by --metric with the lowest log loss or the highest AUC: where a class is
rare, many trials predict the other for every row and have the same accuracy.

With --cluster the trials are carried out by "dptrain worker" on other machines, which
have the same data, and the final run here. The server of the cluster sees the trials and
their scores, which are private: trust it as this machine.

The output directory gets two folders. You may publish "released": the model,
its hyperparameters and the privacy statement. Don't publish "private": the
guarantee doesn't cover the trials and their scores. Timings, the log and
standard error are private too, because the time of a run depends on the number
of trials.

` + term.ExitCodes,
		Example: `  dptrain tune
  dptrain tune --dataset mnist --variant 1 --epsilon 3
  dptrain tune --dataset mnist --variant 2 --noise-multiplier 2.5 --dry-run
  dptrain tune --repetitions geometric --mu 20 --dry-run
  dptrain tune --preset mnist-adam --set tuning.learning_rates=0.001,0.003,0.01
  dptrain tune --preset mnist-adam --optimizer adamw --schedule cosine --average 0.99
  dptrain tune --preset mnist-all --dry-run
  dptrain tune --preset mnist-all --division noise --dry-run
  dptrain tune --dataset mnist --tune rate,clip --set tuning.clipping_norms=0.5,1,2
  dptrain tune --dataset mnist --search random --largest-final-rate 1
  dptrain tune --config mine.yaml --metric auc
  dptrain tune --preset mnist-all --cluster embedded --listen :4222
  dptrain tune --config mine.yaml --out runs/mine --json`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.seeded = cmd.Flags().Changed("insecure-seed")
			e, err := opts.Resolve()
			if err == nil {
				err = opts.CheckTuned(e)
			}
			if err != nil {
				return err
			}
			return opts.carryOut(cmd.Context(), g, e, true)
		},
	}
	opts.addFlags(cmd, "learning-rate")
	opts.cluster.AddLeading(cmd, "the trials")
	return cmd
}
