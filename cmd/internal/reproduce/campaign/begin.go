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

// settled returns the settled plan of a job's next run, without data. An error that is [infeasible] is the job's own.
func (c *coordinator) settled(j Job) (*experiment.Plan, error) {
	if err := c.store.clear(j); err != nil {
		return nil, err
	}
	var baseline *Result
	if j.Method == Single {
		scan, err := c.store.Scan([]Job{j.Of(Baseline)})
		if err != nil {
			return nil, err
		}
		if r, ok := scan.Finished[j.Of(Baseline)]; ok {
			baseline = &r
		}
	}
	e, err := c.store.experiment(j.Cell)
	if err != nil {
		return nil, err
	}
	s, err := j.settingsOf(e, baseline)
	if err != nil {
		return nil, err
	}
	s.Experiment.Performance = c.Performance
	s.InsecureSeed = c.store.seed(j)
	p, err := c.cache.Settled(s)
	if infeasible(err) && !c.impossible[j.Cell] {
		c.impossible[j.Cell] = true
		c.Follower.Warn(fmt.Sprintf("%s can't be run: %v", j.Cell, err))
	}
	return p, err
}

// infeasible reports whether an error says that no noise meets a job's budget. Other jobs can be carried out.
func infeasible(err error) bool {
	var e *experiment.Error
	return errors.As(err, &e) && e.Kind == experiment.Budget
}

// folder returns the folder of a job's run, which it resumes if it was cut off, and makes otherwise.
func (c *coordinator) folder(j Job, p *experiment.Plan) (folder *runs.Run, resumed bool, err error) {
	dir := c.store.runDir(j)
	_, err = runs.Open(dir)
	switch {
	case errors.Is(err, runs.ErrNoRun):
		folder, err = c.create(dir, p)
		return folder, false, err
	case err != nil:
		return nil, false, err
	}
	folder, err = runs.Resume(dir)
	if err == nil {
		// A run that has begun and has lost its key can't go on.
		if _, lost := folder.Key(); lost == nil && folder.Record.Program == c.Program {
			return folder, true, nil
		}
		err = folder.Release()
	}
	if err != nil && !errors.Is(err, runs.ErrNoRun) {
		return nil, false, err
	}
	c.Follower.Note(j.Name() + " was cut off under another dptrain, or has lost its key: it begins anew, as another release")
	if err := moveAside(dir, cutOffSuffix); err != nil {
		return nil, false, err
	}
	folder, err = c.create(dir, p)
	return folder, false, err
}

func (c *coordinator) create(dir string, p *experiment.Plan) (*runs.Run, error) {
	store, err := filepath.Abs(c.store.Runs())
	if err != nil {
		return nil, err
	}
	return p.Create(dir, false, runs.Record{Folder: store, Store: store, Program: c.Program, Machine: c.Machine}, c.MadeBy)
}

// register keeps each run's key in its folder, records the releases, all of one data set, in the ledger, and only then
// marks the runs as training.
func (c *coordinator) register(ctx context.Context, started []*run) (err error) {
	releases := make([]ledger.Release, len(started))
	for k, r := range started {
		if r.key, err = r.plan.KeyIn(r.folder); err != nil {
			return err
		}
		if releases[k], err = r.plan.Release(r.folder); err != nil {
			return err
		}
	}
	l, err := ledger.Open(c.store.Runs())
	if err != nil {
		return err
	}
	if err := l.RecordAll(ctx, releases); err != nil {
		return err
	}
	for _, r := range started {
		if err := r.folder.Train(); err != nil {
			return err
		}
	}
	return nil
}
