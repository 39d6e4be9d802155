package campaign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
)

// settled returns the settled plan of a task's next run, without data. The error is the outcome of a task whose budget
// no noise meets: see [infeasible].
func (x *worker) settled(t Task) (*experiment.Plan, error) {
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

// register keeps the key of each run in its folder, records all releases, which are of one data set, and then that
// training begins.
func (x *worker) register(ctx context.Context, started []*begun) (err error) {
	releases := make([]ledger.Release, len(started))
	for k, b := range started {
		if b.key, err = b.plan.KeyIn(b.folder); err != nil {
			return err
		}
		if releases[k], err = b.plan.Release(b.folder); err != nil {
			return err
		}
	}
	l, err := ledger.Open(x.store.Runs())
	if err != nil {
		return err
	}
	if err := l.RecordAll(ctx, releases); err != nil {
		return err
	}
	for _, b := range started {
		if err := b.folder.Train(); err != nil {
			return err
		}
	}
	return nil
}
