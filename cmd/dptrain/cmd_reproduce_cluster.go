package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/campaign"
	"github.com/dptrain/dptrain/internal/cluster"
	"github.com/dptrain/dptrain/internal/fleet"
)

// direct has the workers of a cluster carry out what a campaign lacks.
func (g *global) direct(ctx context.Context, store *campaign.Store, o reproduceOptions, p configs.Performance, tasks []campaign.Task, scan campaign.Scan) (err error) {
	status, err := store.Status(tasks, scan)
	if err != nil {
		return err
	}
	f := newFollower(ctx, g.console())
	working := begin(ctx, new(sync.WaitGroup), f, func(f *follower) (any, error) {
		return nil, directOn(ctx, store, o, p, tasks, scan, &clusterFollower{follower: f, status: status})
	})
	if _, err = working.awaitEnd(ctx, func() { g.console().Log().Warn("stopping; again to kill") }); err != nil {
		err = fmt.Errorf("%w; what is done is kept: the same command goes on", ofCluster(err))
	}
	return err
}

func directOn(
	ctx context.Context, store *campaign.Store, o reproduceOptions, p configs.Performance, tasks []campaign.Task, scan campaign.Scan, f *clusterFollower,
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
	everything := func(campaign.Cell) int { return 64 } // workers decide how many they do at once
	err = store.Direct(ctx, f.of(campaign.NewLocal(tasks, scan, everything)), &fleet.Fleet{Board: board, Engine: p.Engine}, campaign.Worker{
		Performance: p, Program: me.Hash, MadeBy: version(), Follower: f,
	})
	if err == nil {
		err = errors.Join(err, board.Remove(ctx))
	}
	return err
}

// clusterFollower shows the progress of a campaign that a cluster carries out.
type clusterFollower struct {
	*follower
	status campaign.Status

	mu     sync.Mutex
	ended  int // in this call
	failed int
}

func (c *clusterFollower) Loading(done, total float64, what string) {}
func (c *clusterFollower) Working(campaign.Batch, float64)          {}

// show shows every second how much is done, and by whom.
func (c *clusterFollower) show(ctx context.Context, board *cluster.Board) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		workers, jobs, share := board.Workers(), 0, 0.0
		for _, w := range workers {
			jobs += len(w.Jobs)
			share += w.Share * float64(len(w.Jobs))
		}
		c.mu.Lock()
		done := c.status.Finished + c.ended
		text := fmt.Sprintf("%d of %d runs; %d %s, %d under way", done, c.status.Total, len(workers), plural(len(workers), "worker", "workers"), jobs)
		if c.failed > 0 {
			text += fmt.Sprintf("; %d failed", c.failed)
		}
		left := float64(c.status.Total - done - c.failed)
		c.mu.Unlock()
		share = min(share, max(left, 0)) // workers that have died count for a while
		if len(workers) == 0 {
			text += ": start some by dptrain worker"
		}
		c.follower.Progress(float64(done)+share, float64(c.status.Total), text)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// of returns a queue that is seen by the follower.
func (c *clusterFollower) of(q campaign.Queue) campaign.Queue { return countedQueue{q, c} }

type countedQueue struct {
	campaign.Queue
	follower *clusterFollower
}

func (q countedQueue) Report(ctx context.Context, batch campaign.Batch, outcomes []campaign.Outcome) error {
	q.follower.mu.Lock()
	for _, o := range outcomes {
		if o.Err == nil {
			q.follower.ended++
		} else {
			q.follower.failed++
		}
	}
	q.follower.mu.Unlock()
	return q.Queue.Report(ctx, batch, outcomes)
}
