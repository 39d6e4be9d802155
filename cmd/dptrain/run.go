package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/train"
)

// runOptions are common to the commands that train.
type runOptions struct {
	givenSettings
	out    string
	store  string
	keep   keeping
	dryRun bool
	seed   uint64
	seeded bool
	curve  curveFlags
	clusterFlags
}

func (o *runOptions) addFlags(cmd *cobra.Command, except ...string) {
	o.givenSettings.addFlags(cmd, except...)
	o.addFileFlags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&o.out, "out", "", "output `directory`, which must not exist (default DATASET-TIME in the store)")
	storeFlag(cmd, &o.store)
	o.keep.addFlags(cmd)
	o.curve.addFlags(cmd)
	fs.BoolVar(&o.dryRun, "dry-run", false, "print the plan, its noise and its epsilon; read no data, except that of your own files the training rows are counted and looked up in the ledger, and the public test file is read")
	fs.Uint64Var(&o.seed, "insecure-seed", 0, "make all random draws from a `number`, so that the run can be repeated; voids the guarantee")
}

// carryOut makes a plan of an experiment and carries it out, or prints it for a dry run.
func (o runOptions) carryOut(ctx context.Context, g *global, e settings.Experiment, tune bool) error {
	if err := o.curve.check(); err != nil {
		return err
	}
	s := experiment.Settings{Experiment: e, Tune: tune}
	if o.seeded {
		s.InsecureSeed = &o.seed
	}
	if o.dryRun {
		return g.dryRun(ctx, s, storeDir(o.store))
	}
	if err := errors.Join(o.keep.check(), o.clusterFlags.check()); err != nil {
		return err
	}
	return g.carryOut(ctx, s, o.keep, o.clusterFlags, storeDir(o.store), o.create)
}

// create makes the folder of a run in --out or, without it, in the store.
func (o runOptions) create(p *experiment.Plan) (*runs.Run, error) {
	store := storeDir(o.store)
	m, r, settings, err := begun(p, store)
	if err != nil {
		return nil, err
	}
	if r.CurvePoints, r.CurveEvery, err = o.curve.spacing(p); err != nil {
		return nil, err
	}
	path, unique := o.out, false
	if path == "" {
		path, unique = filepath.Join(store, p.Experiment.Dataset+"-"+time.Now().Format("20060102-150405")), true
	}
	run, err := runs.Create(path, unique, m, r, settings)
	switch {
	case errors.Is(err, runs.ErrExists):
		return nil, coded(codeInput, fmt.Errorf("%w; give another by --out, or remove it", err))
	case err != nil:
		return nil, coded(codeInput, fmt.Errorf("%w; give a directory that can be made by --out", err))
	}
	return run, nil
}

// dryRun prints a plan.
func (g *global) dryRun(ctx context.Context, s experiment.Settings, store string) (err error) {
	p, err := await(ctx, accounting, func() (*experiment.Plan, error) { return experiment.New(s) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := g.settle(ctx, p); err != nil {
		return err
	}
	if err := g.print(newPlanResult(p), func(w io.Writer) { printPlan(w, p) }); err != nil {
		return err
	}
	return g.showBudget(ctx, p, store)
}

// settle settles a plan and shows its warnings.
func (g *global) settle(ctx context.Context, p *experiment.Plan) error {
	if _, err := await(ctx, accounting, func() (any, error) { return nil, p.Settle() }); err != nil {
		return err
	}
	for _, warning := range p.Warnings() {
		g.console().Log().Warn(warning)
	}
	return nil
}

// carryOut prints the plan of settings, runs it in a folder and prints the outcome. All that can fail in less than
// hours fails before the training.
func (g *global) carryOut(ctx context.Context, s experiment.Settings, k keeping, c clusterFlags, store string, folder func(*experiment.Plan) (*runs.Run, error)) (err error) {
	p, err := await(ctx, accounting, func() (*experiment.Plan, error) { return experiment.New(s) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	r := g.begin(ctx, g.console(), p)
	defer r.end(ctx)
	r.store, r.keep, r.cluster = store, k, c
	if err := g.settle(r.ctx, p); err != nil {
		return err
	}
	if r.folder, err = folder(p); err != nil {
		return err
	}
	r.noteLeftovers()
	if err := r.noteUnrecorded(); err != nil {
		return r.stop(err)
	}
	if !g.json {
		if err := g.text(func(w io.Writer) { printPlan(w, p) }); err != nil {
			return r.stop(err)
		}
	}
	start := time.Now()
	outcome, err := r.fill()
	if err == nil {
		err = r.finish(outcome)
	}
	if err != nil {
		return r.stop(err)
	}
	dir := r.folder.Dir()
	r.console.Log().Infof("done in %s", time.Since(start).Round(100*time.Millisecond))
	if warning := outcome.Verdict.Warning; g.json && warning != "" { // text has it in the table
		r.console.Log().Warn(warning)
	}
	if err := g.print(newRunResult(p, outcome, dir), func(w io.Writer) { printResult(w, p, outcome, dir) }); err != nil {
		return fmt.Errorf("%w; the run is finished, and in %s", err, dir)
	}
	return nil
}

// A run carries out a plan. Its parts run side by side where none needs another's result. They are awaited in a fixed
// order, so that errors and reports come in that order.
type run struct {
	plan    *experiment.Plan
	console *ui.Console
	folder  *runs.Run
	store   string // the folder with the ledger
	keep    keeping
	cluster clusterFlags // whose workers carry out trials; none if it is zero

	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup

	device   *pending[choice]
	data     *pending[any] // nil until begun
	training *follower

	collectLater func() // ends collectSooner
}

// begin starts to read a plan's data and to open its GPUs, which don't depend on its noise. The user's own files are
// read later, once the plan is printed, which thus can't depend on them.
func (g *global) begin(ctx context.Context, console *ui.Console, p *experiment.Plan) *run {
	r := &run{plan: p, console: console, collectLater: func() {}}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.training = newFollower(r.ctx, console)
	performance := p.Experiment.Performance
	r.device = begin(r.ctx, &r.running, newFollower(r.ctx, nil), func(*follower) (choice, error) {
		c, err := g.gpus.choose(performance)
		if err != nil {
			return c, err
		}
		return c.opening(r.ctx, &r.running, performance, r.training.Warn), nil
	})
	if p.Experiment.Dataset != settings.Files {
		r.collectLater = collectSooner()
		r.load()
	}
	return r
}

// collectSooner makes garbage collections more frequent until later is called. By default the accountant's garbage may
// grow as large as the samples. Memory that is used for the first time costs more than collections do, since samples
// hold no pointers to follow.
func collectSooner() (later func()) {
	const percent = 25
	before := debug.SetGCPercent(percent)
	if before < percent { // as a user wants it, perhaps never
		debug.SetGCPercent(before)
	}
	return sync.OnceFunc(func() { debug.SetGCPercent(before) })
}

func (r *run) load() {
	r.data = begin(r.ctx, &r.running, newFollower(r.ctx, r.console), func(f *follower) (any, error) {
		return nil, r.plan.Load(r.ctx, onCPU(), f)
	})
}

// end cancels what still runs after an error and waits for it. It doesn't wait if the command is interrupted, because
// then the process ends.
func (r *run) end(command context.Context) {
	r.cancel(nil)
	r.collectLater()
	ended := make(chan struct{})
	go func() {
		r.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-command.Done():
	}
}

// fill does the work between making the run's folder and finishing it.
func (r *run) fill() (out experiment.Outcome, err error) {
	log, err := r.folder.Log()
	if err != nil {
		return out, coded(codeInput, err)
	}
	console := r.console
	console.LogTo(&guardedLog{to: log, fail: r.fail})
	console.Log().Debug(version())
	defer func() {
		console.LogTo(nil)
		err = errors.Join(err, log.Close())
	}()

	device, err := r.device.await(r.ctx, "looking for GPUs")
	if err != nil {
		return out, err
	}
	dataset := r.plan.Experiment.Dataset
	console.Log().Debugf("open data set %s", dataset)
	if r.data == nil {
		r.load()
	}
	if _, err := r.data.await(r.ctx, "loading "+dataset); err != nil {
		return out, err
	}
	r.collectLater()
	if err := r.folder.Reserve(r.plan.Space()); err != nil {
		return out, coded(codeInput, err)
	}
	key, err := r.key()
	if err != nil {
		return out, err
	}
	record := r.folder.Record
	job := experiment.Options{
		Key: key, Store: keptStates{r}, Every: r.keep.every,
		Curve: train.Spacing{Points: record.CurvePoints, Every: record.CurveEvery},
	}
	training := begin(r.ctx, &r.running, r.training, func(f *follower) (experiment.Outcome, error) {
		return r.train(device, job, f)
	})
	if out, err = training.awaitEnd(r.ctx, r.sayStopping); err != nil {
		return out, err
	}
	if out.Verdict.Warning != "" {
		console.Log().Debug(out.Verdict.Warning)
	}
	return out, nil
}

// sayStopping tells a person who interrupts a run that it was heard.
func (r *run) sayStopping() {
	if errors.Is(context.Cause(r.ctx), context.Canceled) { // otherwise the run stops by itself
		r.console.Log().Warn("stopping; again to kill")
	}
}

// key returns the run's key: the kept one, or else a new one, which is kept before anything is drawn from it.
func (r *run) key() (train.Key, error) {
	key, err := r.plan.KeyIn(r.folder)
	if err != nil {
		return key, coded(codeInput, err)
	}
	return key, nil
}

// train takes over the engine, records the release, runs the plan and closes the engine, all in one goroutine: after an
// interruption the engine is still at work, and only the computation itself can close it. What fails before the record
// costs nothing.
func (r *run) train(c choice, j experiment.Options, f *follower) (out experiment.Outcome, err error) {
	performance := r.plan.Experiment.Performance
	gpu, err := c.open(r.ctx, performance, f)
	if err != nil {
		return out, err
	}
	if gpu != nil {
		defer func() { err = errors.Join(err, gpu.Close()) }()
	}
	if r.cluster.cluster != "" {
		end, err := r.lead(&j, f)
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, end(err == nil)) }()
	}
	e := newEngine(performance, gpu)
	if err := r.record(f); err != nil {
		return out, err
	}
	// At once, even after an interruption: what is recorded is spent, so the folder must stay, to be resumed.
	if err := r.folder.Train(); err != nil {
		return out, coded(codeInput, err)
	}
	if err := r.ctx.Err(); err != nil {
		return out, err
	}
	f.epsilon = r.plan.Statement().Epsilon
	return r.plan.Run(r.ctx, e, j, f)
}
