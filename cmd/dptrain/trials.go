package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/fleet"
	"github.com/dptrain/dptrain/internal/remote"
)

// clusterDir returns the folder of an embedded server, while the run lasts.
func (r *run) clusterDir() string { return filepath.Join(r.folder.Dir(), "private", "cluster") }

// lead has the workers of a cluster carry out the trials of a run. The returned function ends that; it forgets what the
// cluster has of the run if the run has ended.
func (r *run) lead(j *experiment.Job, f *follower) (end func(ended bool) error, err error) {
	p := r.plan
	order := remote.Order{
		Run: r.folder.Record.ID, Name: p.DataName() + ", trials", Settings: experiment.Settings{Experiment: p.Experiment, Tune: true, InsecureSeed: p.Seed()},
	}
	files := ""
	if e := p.Experiment; e.Dataset == configs.Files {
		if files, err = fleet.HashFiles(e.Data.Train, e.Data.Test); err != nil {
			return nil, coded(codeInput, err)
		}
		order.Name = "own files, trials" // workers show it
	}
	data, err := p.DataDigest()
	if err != nil {
		return nil, err
	}
	me, err := clusterBuild()
	if err != nil {
		return nil, err
	}
	dir := r.clusterDir()
	conn, close, err := r.cluster.lead(r.ctx, dir, f.Note)
	if err != nil {
		return nil, ofCluster(err)
	}
	board, err := conn.Board(r.ctx, conn.Token([]byte("run "+r.folder.Record.ID)), me, f.Note)
	if err != nil {
		return nil, errors.Join(ofCluster(err), close())
	}
	one := order
	one.Trials = []int{0}
	board.Expect(one.Group(), data[:])
	j.Trials = &fleet.Trials{Fleet: fleet.Fleet{Board: board, Engine: p.Experiment.Performance.Engine, Files: files}, Token: conn.Token, Order: order, Tell: f.Warn}
	f.Note("trials wait for workers")
	return func(ended bool) error {
		var failed error
		if ended {
			failed = board.Remove(r.ctx)
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
