package execution

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/tuner"
)

// lonely is how long trials wait for a worker before a person is told. A worker says every few seconds that it's there.
const lonely = 20 * time.Second

// watchedTrials watch for workers as long as trials wait for them. A run without trials waits for none.
type watchedTrials struct {
	tuner.PrivateTrials
	await func(ctx context.Context)
}

func (w watchedTrials) Run(ctx context.Context, plan tuner.Plan, trials []int, done func(tuner.PrivateOutcome) error) error {
	watching, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { w.await(watching) })
	defer func() {
		stop()
		running.Wait()
	}()
	return w.PrivateTrials.Run(ctx, plan, trials, done)
}

// awaitWorkers tells a person that no worker has been there for a while that can do the trials, once until one is.
func awaitWorkers(ctx context.Context, patience time.Duration, count func() (able, all int), tell func(string)) {
	tick := time.NewTicker(patience / 10)
	defer tick.Stop()
	last, told := time.Now(), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch able, all := count(); {
		case able > 0:
			last, told = time.Now(), false
		case told || time.Since(last) < patience:
		case all == 0:
			tell("no worker is there, and trials wait for one: start it by dptrain worker")
			told = true
		default:
			tell("none of the workers that are there can do the trials: they lack the data set, have own files that aren't the same to the byte, or have another engine than --engine names")
			told = true
		}
	}
}

// clusterDir returns the folder of an embedded server, while the run lasts.
func clusterDir(folder *runs.Run) string { return filepath.Join(folder.Dir(), "private", "cluster") }

// lead has the workers of a cluster carry out the trials of a run. The returned function ends that; it forgets what the
// cluster has of the run if the run has ended.
func lead(ctx context.Context, c Cluster, p *experiment.Plan, folder *runs.Run, j *experiment.Options, f *term.Follower) (end func(ended bool) error, err error) {
	job := remote.Job{
		Run: folder.Record.ID, Name: p.DataName() + ", trials", Settings: experiment.Settings{Experiment: p.Experiment, Tune: true, InsecureSeed: p.Seed()},
	}
	files := ""
	if e := p.Experiment; e.Dataset == settings.Files {
		if files, err = remote.HashFiles(e.Data.Train, e.Data.Test); err != nil {
			return nil, term.Input(err)
		}
		job.Name = "own files, trials" // workers show it
	}
	data, err := p.DataDigest()
	if err != nil {
		return nil, err
	}
	me, err := ClusterBuild()
	if err != nil {
		return nil, err
	}
	dir := clusterDir(folder)
	conn, close, err := c.Lead(ctx, dir, f.Note)
	if err != nil {
		return nil, OfCluster(err)
	}
	board, err := conn.Board(ctx, folder.Record.ID, me, f.Note)
	if err != nil {
		return nil, errors.Join(OfCluster(err), close())
	}
	trials := &remote.Trials{Workers: remote.Workers{Board: board, Engine: p.Experiment.Performance.Engine, Files: files}, Job: job, Data: data[:], Tell: f.Warn}
	j.Trials = watchedTrials{trials, func(ctx context.Context) {
		awaitWorkers(ctx, lonely, func() (able, all int) { return trials.Able(job) }, f.Warn)
	}}
	f.Note("trials wait for workers")
	return func(ended bool) error {
		var failed error
		if ended {
			failed = board.Remove(ctx)
		}
		board.Close()
		failed = errors.Join(failed, close())
		if failed != nil && ended { // the model is there
			f.Warn(fmt.Sprintf("the cluster's traces of this run couldn't be removed: %v", failed))
			return nil
		}
		return failed
	}, nil
}
