package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/runs"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// Worker is a machine that carries out batches.
type Worker struct {
	Engine      train.Engine // trains
	Features    train.Engine // computes features of images, on the CPU
	Performance configs.Performance
	Machine     string        // engine, processor and cores, for the records
	Program     string        // SHA-256 of the program's file: a run that was cut off goes on with the same alone
	MadeBy      fmt.Stringer  // the program's version
	SaveEvery   time.Duration // between two saves of the states of runs
	Follower    Follower
}

// Follower receives the progress of a campaign. Its methods are called one at a time.
type Follower interface {
	Note(text string)
	Warn(text string)
	// Loading reports the progress of a data set that is loaded.
	Loading(done, total float64, what string)
	// Working reports how much of the current batch is done, from 0 to 1.
	Working(batch Batch, share float64)
}

// Work carries out what a queue hands out until it is drained. If ctx is cancelled, the runs under way keep their
// states and the error is the context's. A run that fails is an outcome; the errors of Work are those of the machine: a
// lost device, a full disk, data that can't be read.
func (s *Store) Work(ctx context.Context, q Queue, w Worker) error {
	x := &worker{Worker: w, store: s, data: map[string]*experiment.Plan{}, plans: map[Cell]*experiment.Plan{}, impossible: map[Cell]bool{}}
	defer x.close()
	if err := s.destroyKeys(); err != nil {
		return err
	}
	for {
		batch, err := q.Next(ctx)
		if errors.Is(err, ErrDrained) {
			return nil
		}
		if err != nil {
			return err
		}
		outcomes, err := x.carryOut(ctx, batch)
		if err != nil {
			return err
		}
		if err := q.Report(ctx, batch, outcomes); err != nil {
			return err
		}
	}
}

// destroyKeys destroys the keys and states of runs whose process was killed after their end and before it did.
func (s *Store) destroyKeys() error {
	left, err := runs.Leftovers(s.Runs())
	for _, path := range left {
		if err == nil && filepath.Base(filepath.Dir(path)) == "private" { // what else there is may be another process's
			err = runs.RemoveLeftover(path)
		}
	}
	return err
}

// worker is a call of Work.
type worker struct {
	Worker
	store *Store
	data  map[string]*experiment.Plan // a loaded plan of each data set
	plans map[Cell]*experiment.Plan   // settled, of tunings: each is repeated

	impossible map[Cell]bool // cells whose budget no noise meets
}

func (x *worker) close() {
	for _, p := range x.data {
		_ = p.Close() // its files are read
	}
}

// begun is a task whose run has a folder.
type begun struct {
	task    Task
	number  int // in its batch
	plan    *experiment.Plan
	folder  *runs.Run
	resumed bool
}

// carryOut carries out a batch.
func (x *worker) carryOut(ctx context.Context, batch Batch) (outcomes []Outcome, err error) {
	outcomes = make([]Outcome, len(batch))
	var started []begun
	defer func() {
		for _, b := range started {
			err = errors.Join(err, b.folder.Release())
		}
	}()
	for k, t := range batch {
		outcomes[k].Task = t
		if err := x.clear(t); err != nil {
			return nil, err
		}
		plan, err := x.plan(ctx, t)
		if infeasible(err) {
			outcomes[k].Err = err
			x.noteInfeasible(t.Cell, err)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name(), err)
		}
		folder, resumed, err := x.folder(t, plan)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name(), err)
		}
		started = append(started, begun{t, k, plan, folder, resumed})
	}
	if len(started) == 0 {
		return outcomes, nil
	}
	items, err := x.items(ctx, batch, started)
	if err != nil {
		return nil, errors.Join(err, stop(started, err))
	}
	results, err := experiment.RunAll(ctx, x.Engine, items)
	var failed tuner.PlanErrors
	if err != nil && !errors.As(err, &failed) {
		return nil, errors.Join(err, stop(started, err))
	}
	var anew Batch
	for k, b := range started {
		if failed != nil && failed[k] != nil {
			if ofMachine(failed[k]) {
				return nil, errors.Join(fmt.Errorf("%s: %w", b.task.Name(), failed[k]), stop(started[k:], failed[k]))
			}
			if b.resumed && (errors.Is(failed[k], train.ErrOtherRun) || errors.Is(failed[k], train.ErrState)) {
				if err := x.giveUp(b, failed[k]); err != nil {
					return nil, errors.Join(err, stop(started[k+1:], err))
				}
				anew = append(anew, b.task)
				continue
			}
			outcomes[b.number].Err = failed[k]
			if err := b.folder.Fail(failed[k].Error()); err != nil {
				return nil, err
			}
			x.Follower.Warn(fmt.Sprintf("%s gave no model: %v", b.task.Name(), failed[k]))
			continue
		}
		if outcomes[b.number].Result, err = x.finish(b, results[k]); err != nil {
			return nil, errors.Join(err, stop(started[k:], err))
		}
	}
	if len(anew) == 0 {
		return outcomes, nil
	}
	more, err := x.carryOut(ctx, anew)
	for _, o := range more {
		outcomes[slices.Index(batch, o.Task)] = o
	}
	return outcomes, err
}

// infeasible reports whether no noise meets the budget of a task: others can be carried out all the same.
func infeasible(err error) bool {
	var e *experiment.Error
	return errors.As(err, &e) && e.Kind == experiment.Budget
}

// noteInfeasible reports once that a cell has no runs.
func (x *worker) noteInfeasible(c Cell, err error) {
	if !x.impossible[c] {
		x.impossible[c] = true
		x.Follower.Warn(fmt.Sprintf("%s can't be run: %v", c, err))
	}
}

// ofMachine reports whether the machine is at fault that a run gave no model, such as by a full disk.
func ofMachine(err error) bool {
	var file *fs.PathError
	var errno syscall.Errno
	return errors.As(err, &file) || errors.As(err, &errno)
}

// giveUp moves a run away that was cut off and can't go on here: on another engine, or with a damaged state.
func (x *worker) giveUp(b begun, why error) error {
	x.Follower.Note(fmt.Sprintf("%s was cut off, and can't go on here: %v; it begins anew, as another release", b.task.Name(), why))
	return errors.Join(b.folder.Stop(why.Error()), moveAside(b.folder.Dir(), cutOffSuffix))
}

// stop records of all runs that are under way that they stopped.
func stop(started []begun, why error) error {
	var failed error
	for _, b := range started {
		if stage := b.folder.Manifest.Stage; stage != runs.Finished && stage != runs.Failed {
			failed = errors.Join(failed, b.folder.Stop(why.Error()))
		}
	}
	return failed
}

// plan returns the settled plan of a task with its data loaded.
func (x *worker) plan(ctx context.Context, t Task) (*experiment.Plan, error) {
	seed := x.store.seed(t)
	if p, ok := x.plans[t.Cell]; ok {
		return p.Again(seed), nil
	}
	var baseline *Result
	if t.Method == Single {
		scan, err := x.store.Scan([]Task{t.Of(Baseline)})
		if err != nil {
			return nil, err
		}
		if r, ok := scan.Finished[t.Of(Baseline)]; ok {
			baseline = &r
		}
	}
	e, err := x.store.experiment(t.Cell)
	if err != nil {
		return nil, err
	}
	s, err := t.settingsOf(e, baseline)
	if err != nil {
		return nil, err
	}
	s.Experiment.Performance = x.Performance
	s.InsecureSeed = seed
	p, err := experiment.New(s)
	if err != nil {
		return nil, err
	}
	if err := p.Settle(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := x.load(ctx, t.Dataset, p); err != nil {
		return nil, errors.Join(fmt.Errorf("load %s: %w", t.Dataset, err), p.Close())
	}
	if t.Method != Single { // each of which has other hyperparameters
		x.plans[t.Cell] = p
	}
	return p, nil
}

// load gives a plan its data, which are read once.
func (x *worker) load(ctx context.Context, dataset string, p *experiment.Plan) error {
	if other, ok := x.data[dataset]; ok {
		return p.LoadFrom(other)
	}
	if err := p.Load(ctx, x.Features, loading{x.Follower}); err != nil {
		return err
	}
	x.data[dataset] = p
	return nil
}

// loading shows the progress of a data set that is loaded.
type loading struct{ Follower }

func (l loading) Progress(done, total float64, what string) { l.Loading(done, total, what) }
func (loading) Tuning(tuner.PrivateProgress)                {}

// seed returns the seed of a task's run, or nil without one. A run that is repeated has another.
func (s *Store) seed(t Task) *uint64 {
	if s.Description.Seed == nil {
		return nil
	}
	attempt := 1
	if _, err := os.Lstat(s.runDir(t) + failedSuffix); err == nil {
		attempt = 2
	}
	return new(s.seedOf(t, attempt))
}

// seedOf returns the seed of an attempt at a task, in a campaign with a seed.
func (s *Store) seedOf(t Task, attempt int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "dptrain campaign %d, %s, attempt %d", *s.Description.Seed, t.Name(), attempt))
	return binary.LittleEndian.Uint64(sum[:])
}

// failedSuffix ends the name of a run that failed and is carried out once more.
const failedSuffix = "-failed"

// cutOffSuffix ends the name of a run that was cut off and can't go on.
const cutOffSuffix = "-cut-off"

// clear moves a failed run out of a task's place, so that it is carried out once more.
func (x *worker) clear(t Task) error {
	info, err := runs.Open(x.store.runDir(t))
	if errors.Is(err, runs.ErrNoRun) {
		return nil
	}
	if err == nil && info.Stage == runs.Failed {
		err = moveAside(info.Dir, failedSuffix)
	}
	return err
}

// folder returns the folder of a task's run: that of the run that was cut off, or else a new one.
func (x *worker) folder(t Task, p *experiment.Plan) (folder *runs.Run, resumed bool, err error) {
	dir := x.store.runDir(t)
	_, err = runs.Open(dir)
	switch {
	case errors.Is(err, runs.ErrNoRun):
		folder, err = x.create(dir, p)
		return folder, false, err
	case err != nil:
		return nil, false, err
	}
	folder, err = runs.Resume(dir)
	if err == nil && folder.Record.Program == x.Program && x.keyed(folder) {
		x.Follower.Note(t.Name() + " was cut off, and goes on")
		return folder, true, nil
	}
	if err == nil {
		err = folder.Release()
	}
	if err != nil && !errors.Is(err, runs.ErrNoRun) {
		return nil, false, err
	}
	x.Follower.Note(t.Name() + " was cut off under another dptrain, or has lost its key: it begins anew, as another release")
	if err := moveAside(dir, cutOffSuffix); err != nil {
		return nil, false, err
	}
	folder, err = x.create(dir, p)
	return folder, false, err
}

// keyed reports whether a run that was cut off has the key that it draws by, or has drawn nothing.
func (x *worker) keyed(folder *runs.Run) bool {
	_, err := folder.Key()
	return err == nil
}

// moveAside renames a run's folder to the first free name that begins with suffix.
func moveAside(dir, suffix string) error {
	to := dir + suffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
			return os.Rename(dir, to)
		}
		to = fmt.Sprintf("%s%s-%d", dir, suffix, n)
	}
}

func (x *worker) create(dir string, p *experiment.Plan) (*runs.Run, error) {
	m, err := p.Manifest()
	if err != nil {
		return nil, err
	}
	settings, err := p.Experiment.YAML()
	if err != nil {
		return nil, err
	}
	store, err := filepath.Abs(x.store.Runs())
	if err != nil {
		return nil, err
	}
	m.MadeBy = x.MadeBy
	return runs.Create(dir, false, m, runs.Record{
		Data: p.DataName(), Folder: store, Store: store, Seed: p.Seed(), Program: x.Program, MadeBy: x.MadeBy.String(), Machine: x.Machine,
	}, settings)
}

// items records the releases of all runs and returns what to train.
func (x *worker) items(ctx context.Context, batch Batch, started []begun) ([]experiment.Item, error) {
	items := make([]experiment.Item, len(started))
	releases := make([]ledger.Release, len(started))
	shares := newShares(x.Follower, batch)
	for k, b := range started {
		key, err := b.plan.KeyIn(b.folder)
		if err != nil {
			return nil, err
		}
		if releases[k], err = b.plan.Release(b.folder); err != nil {
			return nil, err
		}
		if b.folder.Record.Key, err = b.plan.Identity(x.Program); err != nil {
			return nil, err
		}
		items[k] = experiment.Item{
			Plan: b.plan, Job: experiment.Job{Key: key, Store: b.folder, Every: x.SaveEvery}, Follower: shares.of(k),
		}
	}
	l, err := ledger.Open(x.store.Runs())
	if err != nil {
		return nil, err
	}
	if err := l.RecordAll(ctx, releases); err != nil {
		return nil, err
	}
	for _, b := range started {
		if err := b.folder.Train(); err != nil {
			return nil, err
		}
	}
	return items, ctx.Err()
}

// finish writes what a run releases.
func (x *worker) finish(b begun, o experiment.Outcome) (Result, error) {
	private, err := o.PrivateJSON()
	if err != nil {
		return Result{}, err
	}
	h, m := o.Release.Hyperparameters, &b.folder.Manifest
	m.Score = &runs.Score{Metric: string(o.Release.Score.Metric), Value: o.Release.Score.Value}
	m.LearningRate, m.TunedLearningRate = &h.LearningRate, h.TunedLearningRate
	if err := b.folder.Finish(private, o.Release.Write); err != nil {
		return Result{}, err
	}
	info, err := runs.Open(b.folder.Dir())
	if err != nil {
		return Result{}, err
	}
	return read(b.task, b.plan.Experiment, info)
}
