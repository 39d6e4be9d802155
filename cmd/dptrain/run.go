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
	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/report"
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
	fs.BoolVar(&o.dryRun, "dry-run", false, "print the plan, its noise and its epsilon; read no data, except that of your own files the training rows are counted and the public test file is read")
	fs.Uint64Var(&o.seed, "insecure-seed", 0, "make all random draws from a `number`, so that the run can be repeated; voids the guarantee")
}

func (o runOptions) path(e configs.Experiment) string {
	if o.out != "" {
		return o.out
	}
	return filepath.Join("runs", e.Dataset+"-"+time.Now().Format("20060102-150405"))
}

// carryOut resolves and prints the plan, runs it and prints the outcome. All that can fail in less than hours fails
// before the training. A dry run ends after the plan.
func (o runOptions) carryOut(ctx context.Context, g *global, e configs.Experiment, tune bool) (err error) {
	s := experiment.Settings{Experiment: e, Tune: tune}
	if o.seeded {
		s.InsecureSeed = &o.seed
	}
	p, err := await(ctx, accounting, func() (*experiment.Plan, error) { return experiment.Resolve(s) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, warning := range p.Warnings() {
		g.console().Log().Warn(warning)
	}
	if o.dryRun {
		return g.print(newPlanResult(p), func(w io.Writer) { printPlan(w, p) })
	}
	dir, err := createDir(o.path(e))
	if err != nil {
		return err
	}
	if !g.json {
		if err := g.text(func(w io.Writer) { printPlan(w, p) }); err != nil {
			return errors.Join(err, dir.Discard())
		}
	}
	start := time.Now()
	outcome, err := fill(ctx, g, p, dir)
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
	if warning := outcome.Verdict.Warning; g.json && warning != "" { // text has it in the table
		g.console().Log().Warn(warning)
	}
	if err := g.print(newRunResult(outcome, dir.Path()), func(w io.Writer) { printResult(w, p, outcome, dir.Path()) }); err != nil {
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
func fill(ctx context.Context, g *global, p *experiment.Plan, dir *report.Dir) (out experiment.Outcome, err error) {
	log, err := dir.Log()
	if err != nil {
		return out, coded(codeInput, err)
	}
	console := g.console()
	console.LogTo(log)
	console.Log().Debug(version())
	defer func() {
		console.LogTo(nil)
		err = errors.Join(err, log.Close())
	}()

	choice, err := g.gpus.choose(ctx, p.Experiment.Performance)
	if err != nil {
		return out, err
	}
	console.Log().Debugf("open data set %s", p.Experiment.Dataset)
	_, err = follow(ctx, console, "loading "+p.Experiment.Dataset, func(f *follower) (any, error) { return nil, p.Load(ctx, onCPU(), f) })
	if err != nil {
		return out, err
	}
	out, err = follow(ctx, console, "training", func(f *follower) (experiment.Outcome, error) { return trainOn(ctx, p, choice, f) })
	if err != nil {
		return out, err
	}
	if out.Verdict.Warning != "" {
		console.Log().Debug(out.Verdict.Warning)
	}
	return out, p.Write(dir, out)
}

// trainOn opens the engine, runs the plan and closes the engine, all in one goroutine: after an interruption the engine
// is still at work, and only the computation itself can close it.
func trainOn(ctx context.Context, p *experiment.Plan, c choice, f *follower) (out experiment.Outcome, err error) {
	performance := p.Experiment.Performance
	gpu, err := c.open(performance, f)
	if err != nil {
		return out, err
	}
	if gpu != nil {
		defer func() { err = errors.Join(err, gpu.Close()) }()
	}
	f.epsilon = p.Statement().Epsilon
	return p.Run(ctx, newEngine(performance, gpu), f)
}
