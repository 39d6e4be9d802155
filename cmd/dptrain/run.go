package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/execution"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/train"
)

// runOptions are common to the commands that train.
type runOptions struct {
	flags.Settings
	out     string
	store   flags.Store
	data    ledger.Decision
	keep    flags.Keep
	dryRun  bool
	seed    uint64
	seeded  bool
	curve   flags.Curve
	cluster execution.Cluster
}

func (o *runOptions) addFlags(cmd *cobra.Command, except ...string) {
	o.Add(cmd, except...)
	o.AddFiles(cmd)
	fs := cmd.Flags()
	fs.StringVar(&o.out, "out", "", "output `directory`, which must not exist (default DATASET-TIME in the store)")
	o.store.Add(cmd)
	fs.StringArrayVar(&o.data.SameAs, "same-as", nil, "`name` of data in the ledger that are about the same people, though columns or digits differ: what they cost adds up; may be repeated")
	fs.BoolVar(&o.data.New, "new-data", false, "all other data in the ledger that seem alike are about other people")
	addKeep(cmd, &o.keep)
	o.curve.Add(cmd)
	fs.BoolVar(&o.dryRun, "dry-run", false, "print the plan, its noise and its epsilon; read no data, except that of your own files the training rows are counted and looked up in the ledger, and the public test file is read")
	fs.Uint64Var(&o.seed, "insecure-seed", 0, "make all random draws from a `number`, so that the run can be repeated; voids the guarantee")
}

// addKeep gives a command that trains one model the flag of its states.
func addKeep(cmd *cobra.Command, k *flags.Keep) {
	k.Add(cmd, time.Minute, "`time` between two saves of the run's state, from which \"dptrain resume\" goes on")
}

// carryOut makes a plan of an experiment and carries it out, or prints it for a dry run.
func (o runOptions) carryOut(ctx context.Context, g *global, e settings.Experiment, tune bool) error {
	if err := o.curve.Check(); err != nil {
		return err
	}
	s := experiment.Settings{Experiment: e, Tune: tune}
	if o.seeded {
		s.InsecureSeed = &o.seed
	}
	if o.dryRun {
		return execution.Dry(ctx, g.Console(), s, execution.Options{Store: o.store.Dir(), Data: o.data, Planned: func(p *experiment.Plan) error {
			result := planResult{p.Experiment.Dataset, p.Experiment.Model, p.Statement(), p.Memory, slices.Concat(p.Warnings(), p.Cautions())}
			return g.Print(result, func(w io.Writer) { term.Rows(w, p.Facts()) })
		}})
	}
	if err := errors.Join(o.keep.Check(), o.cluster.Check()); err != nil {
		return err
	}
	return g.carryOut(ctx, s, execution.Options{
		Store: o.store.Dir(), Data: o.data, Every: o.keep.Every, Cluster: o.cluster,
		Folder: func(p *experiment.Plan) (*runs.Run, error) { return execution.Create(p, o.out, o.store.Dir(), o.curve) },
	})
}

// carryOut carries out a plan of settings, and prints the plan and the result.
func (g *global) carryOut(ctx context.Context, s experiment.Settings, o execution.Options) error {
	o.GPUs = g.gpus
	o.Planned = func(p *experiment.Plan) error {
		if g.JSON {
			return nil
		}
		return g.Text(func(w io.Writer) { term.Rows(w, p.Facts()) })
	}
	r, err := execution.Carry(ctx, g.Console(), s, o)
	if err != nil {
		return err
	}
	if warning := r.Outcome.Verdict.Warning; g.JSON && warning != "" { // text has it in the table
		g.Console().Log().Warn(warning)
	}
	if err := g.Print(newRunResult(r), func(w io.Writer) { printResult(w, r) }); err != nil {
		return fmt.Errorf("%w; the run is finished, and in %s", err, r.Dir)
	}
	return nil
}

// planResult is what --dry-run prints as JSON.
type planResult struct {
	Dataset string          `json:"dataset"`
	Model   string          `json:"model"`
	Privacy release.Privacy `json:"privacy"`
	Memory  float64         `json:"memory_bytes"` // an estimate of the maximum
	// Warnings name weaknesses of the plan and of its privacy, and reasons for a poor model.
	Warnings []string `json:"warnings,omitempty"`
}

// runResult is what a training prints as JSON. It holds nothing private.
type runResult struct {
	Dataset         string                  `json:"dataset"`
	Model           string                  `json:"model"`
	TestAccuracy    *float64                `json:"test_accuracy,omitempty"`            // of a classification
	TestR2          *float64                `json:"test_r2,omitempty"`                  // of a regression
	TestScore       *testScore              `json:"test_score,omitempty"`               // by another metric
	Public          *release.Evaluation     `json:"public_test,omitempty"`              // of a classification
	HeldOut         *heldOutResult          `json:"held_out,omitempty"`                 // instead of a test score
	Constant        *float64                `json:"test_score_of_a_constant,omitempty"` // of the best constant answer
	Warning         string                  `json:"warning,omitempty"`                  // about the model
	Cautions        []string                `json:"plan_warnings,omitempty"`            // why the model may be poor
	Hyperparameters release.Hyperparameters `json:"hyperparameters"`
	Privacy         release.Privacy         `json:"privacy"`
	Directory       string                  `json:"directory"`
	AddsUp          string                  `json:"adds_up"` // the cost of another run on the same data
	Curve           []train.Point           `json:"learning_curve,omitempty"`
}

// heldOutResult is a score that was estimated on held-out samples.
type heldOutResult struct {
	Metric   string     `json:"metric"`
	Score    float64    `json:"score"`
	Interval [2]float64 `json:"interval_95"`
}

// testScore is a score by the metric that selected the best trial.
type testScore struct {
	Metric string  `json:"metric"`
	Score  float64 `json:"score"`
}

func newRunResult(of execution.Result) runResult {
	o, r := of.Outcome, of.Outcome.Release
	out := runResult{
		Dataset: r.Model.Dataset, Model: r.Model.Network, Hyperparameters: r.Hyperparameters, Privacy: r.Privacy, Directory: of.Dir,
		Warning: o.Verdict.Warning, Cautions: of.Plan.Cautions(), AddsUp: r.Privacy.AddsUp(), Public: o.Evaluation,
	}
	if r.Curve != nil {
		out.Curve = r.Curve.Points
	}
	if r.Score.Metric == "" {
		return out
	}
	out.Constant = &o.Verdict.Constant.Value
	if i := r.Score.HeldOut; i != nil {
		out.HeldOut = &heldOutResult{string(r.Score.Metric), r.Score.Value, *i}
		return out
	}
	switch r.Score.Metric {
	case train.R2:
		out.TestR2 = &r.Score.Value
	case train.Accuracy:
		out.TestAccuracy = &r.Score.Value
	default:
		out.TestScore = &testScore{string(r.Score.Metric), r.Score.Value}
	}
	return out
}

// printResult prints the outcome of a run, and its directory.
func printResult(w io.Writer, of execution.Result) {
	directory := term.Relative(of.Dir)
	r, v := of.Outcome.Release, of.Outcome.Verdict
	score := fmt.Sprintf("%s on the public test set of %s; %s has %s", r.Score, release.Grouped(of.Plan.Samples.Test), v.Answer, v.Constant)
	switch i := r.Score.HeldOut; {
	case r.Score.Metric == "":
		score = "none"
	case i != nil:
		low, high := r.Score, r.Score
		low.Value, high.Value = i[0], i[1]
		score = fmt.Sprintf("%s, estimated on held-out rows with noise, 95 %% interval %s to %s; %s has about %s", r.Score, low, high, v.Answer, v.Constant)
	}
	pairs := release.Facts{{cmp.Or(string(r.Score.Metric), "score"), score}}
	if e := of.Outcome.Evaluation; e != nil && len(e.Classes) == 2 {
		pairs = append(pairs, e.Facts()[2:]...) // without rows and accuracy
	}
	if v.Warning != "" {
		pairs.Add("warning", v.Warning)
	}
	pairs = append(pairs, r.Found()...)
	published := "model, hyperparameters, privacy statement"
	if r.Curve != nil {
		published += ", learning curve"
	}
	pairs.Add("privacy", r.Privacy.Budget())
	pairs.Add("adds up", r.Privacy.AddsUp())
	pairs.Add("publish", filepath.Join(directory, "released")+"  "+published)
	pairs.Add("keep private", filepath.Join(directory, "private")+"  what the guarantee doesn't cover")
	fmt.Fprintln(w)
	term.Rows(w, pairs)
}
