package campaign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/runs"
	"github.com/dptrain/dptrain/train"
)

// registrar begins runs and files what they come to: it keeps their folders and the ledger, whichever machine trains.
type registrar struct {
	Worker
	store *Store
	cache experiment.Cache

	impossible map[Cell]bool // cells whose budget no noise meets
}

func (s *Store) registrar(w Worker) *registrar {
	return &registrar{Worker: w, store: s, cache: experiment.Cache{Features: w.Features}, impossible: map[Cell]bool{}}
}

// begun is a task whose run has a folder.
type begun struct {
	task    Task
	number  int // in its batch
	plan    *experiment.Plan
	folder  *runs.Run
	resumed bool
}

// settled returns the settled plan of a task's next run, without data. The error is the outcome of a task whose budget
// no noise meets: see [infeasible].
func (x *registrar) settled(t Task) (*experiment.Plan, error) {
	if err := x.store.clear(t); err != nil {
		return nil, err
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
	s.InsecureSeed = x.store.seed(t)
	p, err := x.cache.Settled(s)
	if infeasible(err) && !x.impossible[t.Cell] {
		x.impossible[t.Cell] = true
		x.Follower.Warn(fmt.Sprintf("%s can't be run: %v", t.Cell, err))
	}
	return p, err
}

// infeasible reports whether no noise meets the budget of a task: others can be carried out all the same.
func infeasible(err error) bool {
	var e *experiment.Error
	return errors.As(err, &e) && e.Kind == experiment.Budget
}

// folder returns the folder of a task's run: that of the run that was cut off, or else a new one.
func (x *registrar) folder(t Task, p *experiment.Plan) (folder *runs.Run, resumed bool, err error) {
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
	if err == nil && folder.Record.Program == x.Program && keyed(folder) {
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
func keyed(folder *runs.Run) bool {
	_, err := folder.Key()
	return err == nil
}

func (x *registrar) create(dir string, p *experiment.Plan) (*runs.Run, error) {
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

// register keeps the key of each run in its folder, records all releases, which are of one data set, and then that
// training begins. It returns the keys.
func (x *registrar) register(ctx context.Context, started []begun) ([]train.Key, error) {
	keys, releases := make([]train.Key, len(started)), make([]ledger.Release, len(started))
	for k, b := range started {
		var err error
		if keys[k], err = b.plan.KeyIn(b.folder); err != nil {
			return nil, err
		}
		if releases[k], err = b.plan.Release(b.folder); err != nil {
			return nil, err
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
	return keys, ctx.Err()
}

// finished ends a run with a model: it writes what the run releases, and reads its result.
func finished(b begun, score runs.Score, rate float64, tuned *float64, private []byte, write func(dir string) error) (Result, error) {
	m := &b.folder.Manifest
	m.Score, m.LearningRate, m.TunedLearningRate = &score, &rate, tuned
	if err := b.folder.Finish(private, write); err != nil {
		return Result{}, err
	}
	info, err := runs.Open(b.folder.Dir())
	if err != nil {
		return Result{}, err
	}
	return read(b.task, b.plan.Experiment, info)
}

// failed ends a run without a model.
func (x *registrar) failed(b begun, why error) error {
	if err := b.folder.Fail(why.Error()); err != nil {
		return err
	}
	x.Follower.Warn(fmt.Sprintf("%s gave no model: %v", b.task.Name(), why))
	return nil
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

// release lets other processes take up the runs that are under way.
func release(started []begun) error {
	var failed error
	for _, b := range started {
		failed = errors.Join(failed, b.folder.Release())
	}
	return failed
}
