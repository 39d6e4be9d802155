package remote

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/train"
)

// setsKept is the number of loaded data sets that a worker keeps.
const setsKept = 2

// Worker trains jobs on this computer. It is safe for concurrent use, and serves one call after the other. Close it at
// the end. Its fields mustn't change after the first call.
type Worker struct {
	Engine      train.Engine // trains
	Features    train.Engine // computes features of images, on the CPU
	Performance settings.Performance
	Program     string // SHA-256 of the program's file
	Name        string // engine, processor and cores, for the records
	Train, Test string // paths of own files, for jobs on data set [settings.Files]

	mu    sync.Mutex
	cache experiment.Cache
}

// Follower receives the progress of a worker, and of the loading of its data. Its methods are called one at a time.
type Follower interface {
	experiment.Follower
	// Working reports the share of the current group's work that is done, from 0 to 1.
	Working(share float64)
}

// Close frees the memory of the data sets.
func (w *Worker) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cache.Close()
}

// plan returns a job's settled plan, its data loaded.
func (w *Worker) plan(ctx context.Context, j Job, f Follower) (*experiment.Plan, error) {
	w.cache.Features, w.cache.Sets = w.Features, setsKept
	s := j.Settings
	s.Experiment.Performance = w.Performance
	if s.Dataset == settings.Files {
		s.Data.Train, s.Data.Test = w.Train, w.Test
	}
	p, err := w.cache.Settled(s)
	if err != nil {
		return nil, err
	}
	if !w.cache.Has(p) && len(j.Trials) == 0 { // a few trials take less than the whole run
		if err := p.Fits(); err != nil {
			return nil, err
		}
	}
	if err := w.cache.Load(ctx, p, f); err != nil {
		return nil, fmt.Errorf("load %s: %w", s.Dataset, err)
	}
	return p, nil
}

// DataDigest returns a hash of the data that a job trains on: see [experiment.Plan.DataDigest]. It loads them if need
// be. A worker whose data differ from the others' mustn't do the job.
func (w *Worker) DataDigest(ctx context.Context, j Job, f Follower) ([sha256.Size]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.plan(ctx, j, f)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("%s: %w", j.Name, err)
	}
	return p.DataDigest()
}
