package execution

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/train"
)

// Options say how a plan is carried out.
type Options struct {
	GPUs    engines.GPUs
	Store   string          // the folder with the ledger
	Data    ledger.Decision // on recorded data that seem alike
	Every   time.Duration   // between two saves of the run's states
	Cluster Cluster         // whose workers carry out trials; none if it is zero

	// Folder makes or opens the run's folder, once the plan is settled.
	Folder func(*experiment.Plan) (*runs.Run, error)
	// Planned is handed the plan before anything is trained. An error ends the run.
	Planned func(*experiment.Plan) error
}

// Result is what a run came to.
type Result struct {
	Plan    *experiment.Plan
	Outcome experiment.Outcome
	Dir     string // of the run's folder
}

// Accounting is the activity of a command that waits for the accountant.
const Accounting = "accounting for the plan"

// newPlan makes a plan, which the caller must close.
func newPlan(ctx context.Context, s experiment.Settings) (*experiment.Plan, error) {
	return term.Await(ctx, Accounting, func() (*experiment.Plan, error) { return experiment.New(s) })
}

// settle settles a plan and shows its warnings.
func settle(ctx context.Context, console *ui.Console, p *experiment.Plan) error {
	if _, err := term.Await(ctx, Accounting, func() (any, error) { return nil, p.Settle() }); err != nil {
		return err
	}
	for _, warning := range p.Warnings() {
		console.Log().Warn(warning)
	}
	return nil
}

// Dry hands a plan to o.Planned, and shows what its release would make of all releases of its data.
func Dry(ctx context.Context, console *ui.Console, s experiment.Settings, o Options) (err error) {
	p, err := newPlan(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := settle(ctx, console, p); err != nil {
		return err
	}
	if err := o.Planned(p); err != nil {
		return err
	}
	line, warning, err := wouldMake(ctx, p, o)
	if warning != "" && err == nil {
		console.Log().Warn(warning)
	}
	if line != "" {
		console.Log().Info(line)
	}
	return err
}

// Carry plans settings and carries the plan out in a folder. All that can fail in less than hours fails before the
// training.
func Carry(ctx context.Context, console *ui.Console, s experiment.Settings, o Options) (result Result, err error) {
	p, err := newPlan(ctx, s)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	r := begin(ctx, console, p, o)
	defer r.end(ctx)
	if err := settle(r.ctx, console, p); err != nil {
		return result, err
	}
	if r.folder, err = o.Folder(p); err != nil {
		return result, err
	}
	if err := r.sayOfStore(); err != nil {
		return result, r.stop(err)
	}
	if err := o.Planned(p); err != nil {
		return result, r.stop(err)
	}
	start := time.Now()
	outcome, err := r.fill()
	if err == nil {
		err = finish(r.folder, outcome)
	}
	if err != nil {
		return result, r.stop(err)
	}
	console.Log().Infof("done in %s", time.Since(start).Round(100*time.Millisecond))
	return Result{p, outcome, r.folder.Dir()}, nil
}

// A run carries out a plan. Its parts run side by side where none needs another's result. They are awaited in a fixed
// order, so that errors and reports come in that order.
type run struct {
	plan    *experiment.Plan
	console *ui.Console
	folder  *runs.Run
	Options

	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup

	device   *term.Pending[engines.Choice]
	data     *term.Pending[any] // nil until begun
	training *term.Follower

	collectLater func() // ends collectSooner
}

// begin starts to read a plan's data and to open its GPUs, which don't depend on its noise. The user's own files are
// read later, once the plan is printed, which thus can't depend on them.
func begin(ctx context.Context, console *ui.Console, p *experiment.Plan, o Options) *run {
	r := &run{plan: p, console: console, Options: o, collectLater: func() {}}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.training = term.NewFollower(r.ctx, console)
	performance := p.Experiment.Performance
	r.device = term.Begin(r.ctx, &r.running, term.NewFollower(r.ctx, nil), func(*term.Follower) (engines.Choice, error) {
		c, err := o.GPUs.Choose(performance)
		if err != nil {
			return c, err
		}
		return c.Opening(r.ctx, &r.running, performance, r.training.Warn), nil
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
	r.data = term.Begin(r.ctx, &r.running, term.NewFollower(r.ctx, r.console), func(f *term.Follower) (any, error) {
		return nil, r.plan.Load(r.ctx, engines.CPU(), f)
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

// sayOfStore says what else is in the store that the person may have forgotten.
func (r *run) sayOfStore() error {
	found, _ := runs.List(r.Store) // what can't be read is for "runs list" to say
	for _, note := range leftovers(r.Store, found, r.folder) {
		r.console.Log().Info(note)
	}
	l, err := ledger.Open(r.Store)
	if err != nil {
		return err
	}
	warning, err := Unrecorded(l, found)
	if warning != "" {
		r.console.Log().Warn(warning)
	}
	return err
}

// stop ends a run that failed.
func (r *run) stop(err error) error {
	if cause := context.Cause(r.ctx); cause != nil && !errors.Is(cause, context.Canceled) { // such as a full disk
		err = term.Input(cause)
	}
	return stop(r.folder, engines.Blame(err))
}

// fail stops the run for a reason that is no error of the training, such as a full disk.
func (r *run) fail(err error) {
	_ = r.folder.Unreserve() // so that states can be saved
	r.cancel(err)
}

// fill does the work between making the run's folder and finishing it.
func (r *run) fill() (out experiment.Outcome, err error) {
	log, err := r.folder.Log()
	if err != nil {
		return out, term.Input(err)
	}
	console := r.console
	console.LogTo(&guardedLog{to: log, fail: r.fail})
	console.Log().Debug(engines.Current())
	defer func() {
		console.LogTo(nil)
		err = errors.Join(err, log.Close())
	}()

	device, err := r.device.Await(r.ctx, "looking for GPUs")
	if err != nil {
		return out, err
	}
	dataset := r.plan.Experiment.Dataset
	console.Log().Debugf("open data set %s", dataset)
	if r.data == nil {
		r.load()
	}
	if _, err := r.data.Await(r.ctx, "loading "+dataset); err != nil {
		return out, err
	}
	r.collectLater()
	if err := r.folder.Reserve(r.plan.Space()); err != nil {
		return out, term.Input(err)
	}
	key, err := r.plan.KeyIn(r.folder) // before anything is drawn from it
	if err != nil {
		return out, term.Input(err)
	}
	record := r.folder.Record
	job := experiment.Options{
		Key: key, Store: keptStates{r.folder, r.fail}, Every: r.Every,
		Curve: train.Spacing{Points: record.CurvePoints},
	}
	training := term.Begin(r.ctx, &r.running, r.training, func(f *term.Follower) (experiment.Outcome, error) {
		return r.train(device, job, f)
	})
	if out, err = training.AwaitEnd(r.ctx, r.sayStopping); err != nil {
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

// train takes over the engine, records the release, runs the plan and closes the engine, all in one goroutine: after an
// interruption the engine is still at work, and only the computation itself can close it. What fails before the record
// costs nothing.
func (r *run) train(c engines.Choice, j experiment.Options, f *term.Follower) (out experiment.Outcome, err error) {
	performance := r.plan.Experiment.Performance
	gpu, err := c.Open(r.ctx, performance, f)
	if err != nil {
		return out, err
	}
	if gpu != nil {
		defer func() { err = errors.Join(err, gpu.Close()) }()
	}
	if r.Cluster.File != "" {
		end, failure := lead(r.ctx, r.Cluster, r.plan, r.folder, &j, f)
		if failure != nil {
			return out, failure
		}
		defer func() { err = errors.Join(err, end(err == nil)) }()
	}
	e := engines.New(performance, gpu)
	line, warning, err := record(r.ctx, r.plan, r.folder, r.Options)
	if err != nil {
		return out, err
	}
	f.Note(line)
	if warning != "" {
		f.Warn(warning)
	}
	// At once, even after an interruption: the ledger has charged the run, so the folder must stay, to be resumed.
	if err := r.folder.Train(); err != nil {
		return out, term.Input(err)
	}
	if err := r.ctx.Err(); err != nil {
		return out, err
	}
	f.Epsilon = r.plan.Statement().Epsilon
	return r.plan.Run(r.ctx, e, j, f)
}
