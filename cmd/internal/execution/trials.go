package execution

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

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
		return nil, err
	}
	board, err := conn.Board(ctx, folder.Record.ID, me, f.Note)
	if err != nil {
		return nil, errors.Join(err, close())
	}
	trials := &remote.Trials{Workers: remote.Workers{Board: board, Engine: p.Experiment.Performance.Engine, Files: files}, Job: job, Data: data[:], Tell: f.Warn}
	j.Trials = trials
	f.Note("trials wait for workers that have the same data and, if --engine names one, the engine: start them by dptrain worker")
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
