package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// direct has the workers of a cluster carry out what a campaign lacks.
func (g *global) direct(ctx context.Context, store *campaign.Store, o reproduceOptions, p settings.Performance, tasks []campaign.Job, scan campaign.Scan) (err error) {
	status, err := store.Status(tasks, scan)
	if err != nil {
		return err
	}
	f := newFollower(ctx, g.console())
	working := begin(ctx, new(sync.WaitGroup), f, func(f *follower) (any, error) {
		return nil, directOn(ctx, store, o, p, tasks, scan, &campaignFollower{follower: f, store: store, status: status})
	})
	if _, err = working.awaitEnd(ctx, func() { g.console().Log().Warn("stopping; again to kill") }); err != nil {
		err = fmt.Errorf("%w; what is done is kept: the same command goes on", ofCluster(err))
	}
	return err
}

func directOn(
	ctx context.Context, store *campaign.Store, o reproduceOptions, p settings.Performance, tasks []campaign.Job, scan campaign.Scan, f *campaignFollower,
) (err error) {
	me, err := clusterBuild()
	if err != nil {
		return err
	}
	id, err := campaignID(o.out)
	if err != nil {
		return err
	}
	conn, end, err := o.lead(ctx, filepath.Join(o.out, "cluster"), f.Note)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	board, err := conn.Board(ctx, id, me, f.Note)
	if err != nil {
		return err
	}
	defer board.Close()
	f.Note(fmt.Sprintf("%d of %d runs are to do", f.status.Total-f.status.Finished-len(f.status.Failed)-f.status.Orphans, f.status.Total))
	showing, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { f.show(showing, board) })
	defer func() {
		stop()
		running.Wait()
	}()
	err = store.Work(ctx, tasks, scan, campaign.Options{
		Workers: &remote.Workers{Board: board, Engine: p.Engine}, Performance: p, Program: me.Hash, MadeBy: version(), Follower: f,
	})
	if err == nil {
		err = board.Remove(ctx)
	}
	return err
}

// show shows every second how much of a campaign is done, and by whom.
func (c *campaignFollower) show(ctx context.Context, board *cluster.Board) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		workers, jobs, share := board.Workers(), 0, 0.0
		for _, w := range workers {
			jobs += len(w.Jobs)
			share += w.Share * float64(len(w.Jobs))
		}
		text := fmt.Sprintf("%s; %d %s, %d under way", c.text(), len(workers), plural(len(workers), "worker", "workers"), jobs)
		if len(workers) == 0 {
			text += ": start some by dptrain worker"
		}
		c.mu.Lock()
		done, failed := float64(c.status.Finished+c.runs), float64(c.failed)
		c.mu.Unlock()
		total := float64(c.status.Total)
		share = min(share, max(total-done-failed, 0)) // workers that have died count for a while
		c.follower.Progress(done+share, total, text)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
