package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/execution"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/train"
)

// work carries out what a campaign lacks.
func (g *global) work(ctx context.Context, store *campaign.Store, p settings.Performance, opts reproduceOptions) (err error) {
	tasks, err := store.Jobs()
	if err != nil {
		return err
	}
	scan, err := term.Await(ctx, "reading the runs", func() (campaign.Scan, error) { return store.Scan(tasks) })
	if err != nil {
		return err
	}
	if len(scan.Finished) == len(tasks) {
		return nil
	}
	if opts.cluster.File != "" {
		return g.direct(ctx, store, opts, p, tasks, scan)
	}
	running := new(sync.WaitGroup)
	device, err := g.gpus.Choose(p)
	if err != nil {
		return err
	}
	device = device.Opening(ctx, running, p, func(text string) { g.Console().Log().Warn(text) })
	f := term.NewFollower(ctx, g.Console())
	working := term.Begin(ctx, running, f, func(f *term.Follower) (any, error) {
		return nil, device.Using(ctx, p, f, func(gpu train.Engine) error { return workOn(ctx, store, p, gpu, opts.keep.Every, tasks, scan, f) })
	})
	_, err = working.AwaitEnd(ctx, func() { g.Console().Log().Warn("stopping; again to kill") })
	if err != nil {
		err = fmt.Errorf("%w; what is done is kept: the same command goes on", err)
	}
	return err
}

// workOn is work on an engine, nil for the CPU's.
func workOn(
	ctx context.Context, store *campaign.Store, p settings.Performance, gpu train.Engine, every time.Duration, tasks []campaign.Job, scan campaign.Scan, f *term.Follower,
) error {
	engine, on := engines.New(p, gpu), engines.Machine(p, gpu)
	pace, err := measured(ctx, store, engine, on, tasks, f)
	if err == nil {
		err = store.SetPace(on, pace)
	}
	if err != nil {
		return err
	}
	status, err := store.Status(tasks, scan)
	if err != nil {
		return err
	}
	f.Note(fmt.Sprintf("%d of %d runs are to do, about %s of training", status.Total-status.Finished-len(status.Failed)-status.Orphans, status.Total, lasting(status.Left.Seconds)))
	program, err := build.Hash()
	if err != nil {
		return term.Input(err)
	}
	return store.Work(ctx, tasks, scan, campaign.Options{
		Engine: engine, Features: engines.CPU(), Performance: p, Machine: on, Program: program, MadeBy: engines.Current(), Size: batchSize(p, gpu != nil), SaveEvery: every,
		Follower: &campaignFollower{Follower: f, store: store, status: status, done: status.Done.Seconds},
	})
}

// measured returns a machine's pace: what the store knows of it, and what it lacks measured now.
func measured(ctx context.Context, store *campaign.Store, e train.Engine, machine string, tasks []campaign.Job, f *term.Follower) (campaign.Pace, error) {
	pace := store.PaceOf(machine)
	err := pace.Measure(ctx, e, cellsOf(tasks), func(done, total int) { f.Progress(float64(done), float64(total), measuring) })
	return pace, err
}

// measuring is the activity of a command that measures a pace.
const measuring = "measuring the pace of this machine"

func cellsOf(tasks []campaign.Job) []campaign.Cell {
	cells := make([]campaign.Cell, len(tasks))
	for k, t := range tasks {
		cells[k] = t.Cell
	}
	return distinct(cells)
}

// batchSize returns a function of the number of a cell's runs that train side by side: enough that their final runs,
// one of each, fill the machine, and few enough that the states of all trials fit into memory. A final run's minibatch
// fills some twenty cores; on two cores more than two runs side by side took no less time
// (bench/results/many-runs.md). IMDB's models have 464,242 parameters, about 20 MB for each trial.
func batchSize(p settings.Performance, gpu bool) func(campaign.Cell) int {
	most := min(max(2, engines.Cores(p)/8), 8)
	if gpu {
		most = 8
	}
	return func(c campaign.Cell) int {
		size := most
		if c.Dataset == "imdb" || c.Space == campaign.All {
			size = max(1, most/2)
		}
		if c.Method == campaign.Single {
			size *= 4
		}
		return size
	}
}

// campaignFollower shows the progress of a campaign. The time that it took the finished runs is public, as that of the
// paper's data sets.
type campaignFollower struct {
	*term.Follower
	store  *campaign.Store
	status campaign.Status // before this call

	mu     sync.Mutex
	runs   int // that have ended in this call
	failed int
	done   float64 // expected seconds
}

func (c *campaignFollower) Loading(done, total float64, what string) {
	c.Follower.Progress(done, total, what)
}

func (c *campaignFollower) Working(batch []campaign.Job, share float64) {
	c.mu.Lock()
	done := c.done
	c.mu.Unlock()
	for _, t := range batch {
		done += share * c.expected(t)
	}
	total := c.status.Done.Seconds + c.status.Left.Seconds
	of := batch[0].Cell
	c.Follower.Progress(done, math.Max(total, done), fmt.Sprintf("%s; %s, %s, %s", c.text(), of.Preset(), of.Method, counted(len(batch))))
}

// Ended implements [campaign.Follower].
func (c *campaignFollower) Ended(t campaign.Job, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += c.expected(t)
	if err == nil {
		c.runs++
	} else {
		c.failed++
	}
}

// expected returns the time that a task is expected to take, in seconds.
func (c *campaignFollower) expected(t campaign.Job) float64 {
	work, _ := c.store.Estimate(t.Cell, c.store.Description.Pace) // of a task that was estimated before
	return work.Seconds * c.status.Correction()
}

// text says how many runs have ended.
func (c *campaignFollower) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := fmt.Sprintf("%d of %d runs", c.status.Finished+c.runs, c.status.Total)
	if c.failed > 0 {
		text += fmt.Sprintf(", %d failed", c.failed)
	}
	return text
}

// lasting prints a duration in seconds with two digits or so.
func lasting(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	case d >= time.Hour:
		return fmt.Sprintf("%.1f hours", d.Hours())
	case d >= time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// counted prints a number of runs.
func counted(n int) string { return fmt.Sprintf("%d %s", n, term.Plural(n, "run", "runs")) }

// direct has the workers of a cluster carry out what a campaign lacks.
func (g *global) direct(ctx context.Context, store *campaign.Store, o reproduceOptions, p settings.Performance, tasks []campaign.Job, scan campaign.Scan) (err error) {
	status, err := store.Status(tasks, scan)
	if err != nil {
		return err
	}
	f := term.NewFollower(ctx, g.Console())
	working := term.Begin(ctx, new(sync.WaitGroup), f, func(f *term.Follower) (any, error) {
		return nil, directOn(ctx, store, o, p, tasks, scan, &campaignFollower{Follower: f, store: store, status: status})
	})
	if _, err = working.AwaitEnd(ctx, func() { g.Console().Log().Warn("stopping; again to kill") }); err != nil {
		err = fmt.Errorf("%w; what is done is kept: the same command goes on", execution.OfCluster(err))
	}
	return err
}

func directOn(
	ctx context.Context, store *campaign.Store, o reproduceOptions, p settings.Performance, tasks []campaign.Job, scan campaign.Scan, f *campaignFollower,
) (err error) {
	me, err := execution.ClusterBuild()
	if err != nil {
		return err
	}
	id, err := execution.CampaignID(o.out)
	if err != nil {
		return err
	}
	conn, end, err := o.cluster.Lead(ctx, filepath.Join(o.out, "cluster"), f.Note)
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
		Workers: &remote.Workers{Board: board, Engine: p.Engine}, Performance: p, Program: me.Hash, MadeBy: engines.Current(), Follower: f,
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
		text := fmt.Sprintf("%s; %d %s, %d under way", c.text(), len(workers), term.Plural(len(workers), "worker", "workers"), jobs)
		if len(workers) == 0 {
			text += ": start some by dptrain worker"
		}
		c.mu.Lock()
		done, failed := float64(c.status.Finished+c.runs), float64(c.failed)
		c.mu.Unlock()
		total := float64(c.status.Total)
		share = min(share, max(total-done-failed, 0)) // workers that have died count for a while
		c.Follower.Progress(done+share, total, text)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
