package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/internal/safetensors"
	"github.com/dptrain/dptrain/internal/ui"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// runOptions are common to the commands that train.
type runOptions struct {
	settings
	out    string
	dryRun bool
	seed   uint64
	seeded bool
}

func (o *runOptions) addFlags(cmd *cobra.Command, except ...string) {
	o.settings.addFlags(cmd, except...)
	o.addFileFlags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&o.out, "out", "", "output `directory`, which must not exist (default runs/DATASET-TIME)")
	fs.BoolVar(&o.dryRun, "dry-run", false, "print the plan, its noise and its epsilon; touch no data (of files of your own the training rows are counted, and the public test file is read)")
	fs.Uint64Var(&o.seed, "insecure-seed", 0, "make all random draws from a `number`, so that the run can be repeated; voids the guarantee")
}

func (o runOptions) path(e configs.Experiment) string {
	if o.out != "" {
		return o.out
	}
	return filepath.Join("runs", e.Dataset+"-"+time.Now().Format("20060102-150405"))
}

// plan is all that is public about a run before it begins.
type plan struct {
	experiment configs.Experiment
	size       size
	privacy    report.Privacy
	memory     float64 // bytes that the run takes at most, about
}

// run is a training under way: its data and its key, and where its output goes.
type run struct {
	plan
	console *ui.Console
	data    *train.Data
	test    train.Labelled
	use     report.Model // how the released model is used
	key     train.Key
	model   train.Model
	engine  engine.Engine
	failed  bool // a trial has failed
	watched bool // a person sees standard error, or asked for all of it: a log that others read gets less
}

// trained is what a training gives: what it releases, and a record for the private folder.
type trained struct {
	parameters      []train.Parameter
	score           float64 // on the public test set
	hyperparameters report.Hyperparameters
	private         any
}

// training does the work of a run. It shows nothing but by the teller: see await.
type training func(context.Context, *run, teller) (trained, error)

// carryOut shows the plan and, unless that was all that was asked for, makes everything ready that can
// fail before hours of training, has them done, puts the run directory in its place and prints the result.
func (o runOptions) carryOut(ctx context.Context, g *global, p plan, do training) error {
	p.privacy.Insecure = o.seeded
	p.privacy = p.privacy.Warned()
	var err error
	if p.memory, err = memoryOf(p); err != nil {
		return err
	}
	warnOfPlan(g.console(), p)
	if o.dryRun {
		return g.print(planResult{p.experiment.Dataset, p.experiment.Model, p.privacy, p.memory}, func(w io.Writer) { printPlan(w, p) })
	}
	dir, err := createDir(o.path(p.experiment))
	if err != nil {
		return err
	}
	if !g.json {
		if err := g.text(func(w io.Writer) { printPlan(w, p) }); err != nil {
			return errors.Join(err, dir.Discard())
		}
	}
	start := time.Now()
	release, verdict, err := o.fill(ctx, g, p, dir, do)
	if err != nil {
		err = blameDevice(err)
		discarded := dir.Discard()
		if errors.Is(err, errInterrupted) && discarded == nil {
			err = fmt.Errorf("%w; nothing was written", err)
		}
		return errors.Join(err, discarded)
	}
	if err := dir.Publish(); err != nil {
		return coded(codeInput, err)
	}
	g.console().Log().Infof("done in %s", time.Since(start).Round(100*time.Millisecond))
	r := newRunResult(release, verdict, dir.Path())
	if g.json && verdict.warning != "" { // text has it where people look
		g.console().Log().Warn(verdict.warning)
	}
	if err := g.print(r, func(w io.Writer) { printResult(w, r, p.size) }); err != nil {
		return fmt.Errorf("%w; the run is finished, and in %s", err, dir.Path())
	}
	return nil
}

func createDir(path string) (*report.Dir, error) {
	dir, err := report.Create(path)
	switch {
	case errors.Is(err, report.ErrExists):
		return nil, coded(codeInput, fmt.Errorf("%w; give another by --out, or remove it", err))
	case err != nil:
		return nil, coded(codeInput, fmt.Errorf("%w; give a directory that can be made by --out", err))
	}
	return dir, nil
}

// fill does the work between making the run directory and publishing it.
func (o runOptions) fill(ctx context.Context, g *global, p plan, dir *report.Dir, do training) (release report.Release, v verdict, err error) {
	log, err := dir.Log()
	if err != nil {
		return release, v, coded(codeInput, err)
	}
	console := g.console()
	console.LogTo(log)
	console.Log().Debug(version())
	defer func() {
		console.EndProgress()
		console.LogTo(nil)
		err = errors.Join(err, log.Close())
	}()

	choice, err := g.gpus.choose(ctx, p.experiment.Performance)
	if err != nil {
		return release, v, err
	}
	r, err := o.ready(ctx, console, p)
	if err != nil {
		return release, v, err
	}
	r.watched = g.terminal || g.verbose
	result, err := awaitTelling(ctx, "training", func(tell teller) (trained, error) { return r.onEngine(ctx, choice, tell, do) })
	if err != nil {
		return release, v, err
	}
	resolved, err := p.experiment.YAML()
	if err != nil {
		return release, v, err
	}
	release = report.Release{
		Parameters:      tensors(result.parameters),
		Model:           r.use,
		Score:           report.Score{Metric: string(r.test.Metric()), Value: result.score},
		Hyperparameters: result.hyperparameters,
		Privacy:         p.privacy.Of(result.hyperparameters),
	}
	if v = judge(r.test, release.Score, p); v.warning != "" {
		console.Log().Debug(v.warning)
	}
	return release, v, errors.Join(
		dir.WriteRelease(release),
		dir.WritePrivateJSON("run.json", result.private),
		dir.WritePrivate("settings.yaml", resolved),
	)
}

// ready loads the data and draws the key.
func (o runOptions) ready(ctx context.Context, console *ui.Console, p plan) (*run, error) {
	set, err := loadData(ctx, console, p.experiment)
	if err != nil {
		return nil, err
	}
	use := describeModel(p.experiment, set.model)
	model, err := modelOf(use)
	if err != nil {
		return nil, err
	}
	r := &run{
		model:   model,
		plan:    p,
		console: console,
		data:    set.train,
		test:    set.test,
		use:     use,
	}
	if p.experiment.Dataset == configs.Files {
		console.Log().Info("a row is the unit of privacy: a person behind several rows of the training file is protected less")
	}
	if set.privateWarning != "" {
		console.Log().Warn(set.privateWarning)
	}
	if o.seeded {
		r.key = train.InsecureKey(o.seed)
	} else if r.key, err = train.NewKey(); err != nil {
		return nil, fmt.Errorf("draw the random key: %w", err)
	}
	return r, nil
}

// describeModel says in the release what using the model takes: what the data say, and which network it is.
func describeModel(e configs.Experiment, m report.Model) report.Model {
	m.Dataset, m.Network, m.Activation = e.Dataset, e.Model, report.Activation(e.Activation)
	return m
}

// modelOf builds the network that a release describes, or will.
func modelOf(m report.Model) (train.Model, error) {
	model, err := models.New(m.Network, m.Shape, m.Outputs, models.Options{Activation: models.TemperedSigmoid(m.Activation), Vocabulary: m.Vocabulary})
	if err != nil {
		err = usagef("model: %w", err)
	}
	return model, err
}

func tensors(parameters []train.Parameter) []safetensors.Tensor {
	out := make([]safetensors.Tensor, len(parameters))
	for i, p := range parameters {
		out[i] = safetensors.Tensor{Name: p.Name, Shape: p.Shape, Data: p.Values}
	}
	return out
}

func hyperparameters(p train.Privacy, o train.Optimizer) report.Hyperparameters {
	return report.Hyperparameters{
		Optimizer:         string(o.Method),
		LearningRate:      o.LearningRate,
		SamplingRate:      p.SamplingRate,
		ExpectedBatchSize: p.ExpectedBatchSize(),
		Steps:             p.Steps,
		Epochs:            float64(p.Steps) * p.SamplingRate,
		ClippingNorm:      p.ClippingNorm,
		NoiseMultiplier:   p.NoiseMultiplier,
	}
}
