package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

type trainOptions struct{ runOptions }

func newTrainCommand(g *global) *cobra.Command {
	var opts trainOptions
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train a model privately with given hyperparameters",
		Long: `Train a model privately with given hyperparameters: one run, no tuning.

The guarantee covers this run alone. If its hyperparameters were found by
training on the same data, it doesn't hold: "dptrain tune" accounts for that.

` + exitCodes,
		Example: `  dptrain train --learning-rate 0.5
  dptrain train --dataset mnist --epsilon 2 --learning-rate 0.9
  dptrain train --dataset mnist --noise-multiplier 1.3 --epochs 20 --dry-run`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.seeded = cmd.Flags().Changed("insecure-seed")
			return runTrain(cmd.Context(), g, opts)
		},
	}
	opts.addFlags(cmd, "variant", "q", "mu", "repetitions", "tune", "search", "largest-final-rate", "warm-start")
	return cmd
}

func runTrain(ctx context.Context, g *global, opts trainOptions) error {
	e, err := opts.resolve(ctx)
	if err == nil {
		err = opts.checkUntuned()
	}
	if err != nil {
		return err
	}
	type planned struct {
		plan
		settings train.Settings
	}
	p, err := await(ctx, accounting, func() (planned, error) {
		size, err := sizeOf(e)
		if err != nil {
			return planned{}, err
		}
		settings, privacy, err := planTraining(e, size.train)
		return planned{plan{experiment: e, size: size, privacy: privacy}, settings}, err
	})
	if err != nil {
		return err
	}
	return opts.carryOut(ctx, g, p.plan, func(ctx context.Context, r *run, tell teller) (trained, error) {
		return trainOnce(ctx, r, tell, p.settings)
	})
}

// trainOnce is one run without tuning. Its random streams are those of trial 0.
func trainOnce(ctx context.Context, r *run, tell teller, s train.Settings) (out trained, err error) {
	s.Key = r.key
	trainer, err := train.New(r.engine, r.model, r.data, s)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, trainer.Close()) }()
	if err := trainer.CheckTest(r.test); err != nil {
		return out, err
	}
	tell(func() { warnOfFallback(r.console, trainer.Fallback()) })

	start := time.Now()
	result, err := trainer.Train(ctx, func(p train.Progress) {
		tell(func() {
			r.console.Progress(float64(p.Step), float64(p.Steps), "training, epsilon "+report.Up(r.privacy.Epsilon))
		})
	})
	if err != nil {
		return out, err
	}
	if result.Diverged() {
		return out, train.ErrDiverged
	}
	score, err := trainer.Score(ctx, r.test)
	if err != nil {
		return out, err
	}
	private := privateTraining{time.Since(start).Seconds()}
	return trained{result.Parameters, score, hyperparameters(s.Privacy, s.Optimizer), private}, nil
}

// privateTraining is private/run.json of a run without tuning.
type privateTraining struct {
	Seconds float64 `json:"seconds"`
}
