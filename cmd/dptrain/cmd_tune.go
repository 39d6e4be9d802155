package main

import (
	"context"
	"fmt"
	"math"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/tuner"
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
	type planned struct {
		plan
		settings tuner.Settings
	}
	p, err := await(ctx, accounting, func() (planned, error) {
		size, err := sizeOf(e)
		if err != nil {
			return planned{}, err
		}
		settings, privacy, err := planTuning(e, size.train)
		return planned{plan{experiment: e, size: size, privacy: privacy}, settings}, err
	})
	if err != nil {
		return err
	}
	return opts.carryOut(ctx, g, p.plan, func(ctx context.Context, r *run, tell teller) (trained, error) {
		return tune(ctx, r, tell, p.settings)
	})
}

func tune(ctx context.Context, r *run, tell teller, s tuner.Settings) (trained, error) {
	drawn, err := tuner.NewPlan(s, r.key)
	if err != nil {
		return trained{}, err
	}
	executor := tuner.Executor{
		Engine:   r.engine,
		Model:    r.model,
		Data:     r.data,
		Test:     r.test,
		Fallback: func(reason error) { tell(func() { warnOfFallback(r.console, reason) }) },
		Progress: func(p tuner.PrivateProgress) {
			tell(func() { r.showTuning(p) })
		},
	}
	result, err := executor.Run(ctx, drawn)
	if err != nil {
		return trained{}, err
	}
	released := result.Released
	h := hyperparameters(released.Hyperparameters.Privacy, released.Hyperparameters.Optimizer)
	h.TunedLearningRate = &released.Hyperparameters.Tuned.LearningRate
	return trained{released.Parameters, released.TestScore, h, newPrivateTuning(result.Private)}, nil
}

// showTuning shows progress and logs each trial. Scores are for the private log. So is how much of the work is done,
// unless a person watches: the share at which the final run begins is the number of trials, a scheduler keeps what
// goes to standard error, and others can read it.
func (r *run) showTuning(p tuner.PrivateProgress) {
	console, epsilon := r.console, "epsilon "+report.Up(r.privacy.Epsilon)
	switch {
	case !r.watched:
		console.Working("training, " + epsilon)
	case p.Final:
		console.Progress(p.Done, p.Total, fmt.Sprintf("final run, trials done: %d, %s", p.TrialsDone, epsilon))
	default:
		console.Progress(p.Done, p.Total, fmt.Sprintf("tuning, trials done: %d, %s", p.TrialsDone, epsilon))
	}
	switch {
	case p.Err != nil:
		level := logrus.WarnLevel
		if r.failed && !r.watched { // once is enough to look into the private log
			level = logrus.DebugLevel
		}
		r.failed = true
		console.Log().Logf(level, "a trial failed; it counts, and scores lowest: %v", p.Err)
	case p.Kind == tuner.Finished && p.Final:
		console.Log().Debugf("final run: test score %v", p.Score)
	case p.Kind == tuner.Finished:
		console.Log().Debugf("trial %d of %d: score %v", p.Trial, p.Trials, p.Score)
	}
}

// privateTuning is private/run.json: what the guarantee doesn't cover.
type privateTuning struct {
	Warning      string         `json:"warning"`
	Repetitions  int            `json:"repetitions"` // K
	SubsetSize   int            `json:"subset_size"`
	Best         int            `json:"best"` // index into trials; -1 for none
	Trials       []privateTrial `json:"trials"`
	FinalSeconds float64        `json:"final_seconds"`
}

type privateTrial struct {
	tuner.Candidate
	Score    *float64 `json:"score,omitempty"` // missing if it failed or diverged
	Diverged bool     `json:"diverged,omitempty"`
	Failure  string   `json:"failure,omitempty"`
	Seconds  float64  `json:"seconds"`
}

func newPrivateTuning(p tuner.Private) privateTuning {
	out := privateTuning{
		Warning:      "not covered by the privacy guarantee: don't publish",
		Repetitions:  len(p.Trials),
		SubsetSize:   p.SubsetSize,
		Best:         p.Best,
		Trials:       make([]privateTrial, len(p.Trials)),
		FinalSeconds: p.FinalSeconds,
	}
	for i, t := range p.Trials {
		out.Trials[i] = privateTrial{t.Candidate, scoreOf(t), t.Diverged, t.Failure, t.Seconds}
	}
	return out
}

// scoreOf returns nil for a trial that left no model, whose score is no number that JSON has.
func scoreOf(t tuner.PrivateTrial) *float64 {
	if math.IsInf(t.Score, -1) {
		return nil
	}
	return &t.Score
}
