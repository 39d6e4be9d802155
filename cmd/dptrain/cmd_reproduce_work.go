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

const measuring = "measuring the pace of this machine"

// missing is what a campaign lacks.
type missing struct {
	reproduceOptions
	store       *campaign.Store
	performance settings.Performance
	tasks       []campaign.Job
	scan        campaign.Scan
}

// work carries out what a campaign lacks: on this machine, or by the workers of a cluster.
func (g *global) work(ctx context.Context, store *campaign.Store, p settings.Performance, opts reproduceOptions) error {
	tasks, err := store.Jobs()
	if err != nil {
		return err
	}
	scan, err := term.Await(ctx, "reading the runs", func() (campaign.Scan, error) { return store.Scan(tasks) })
	if err != nil || len(scan.Finished) == len(tasks) {
		return err
	}
	m := missing{opts, store, p, tasks, scan}
	running := new(sync.WaitGroup)
	carryOut := m.byWorkers
	if opts.cluster.File == "" {
		device, err := g.gpus.Choose(p)
		if err != nil {
			return err
		}
		device = device.Opening(ctx, running, p, func(text string) { g.Console().Log().Warn(text) })
		carryOut = func(ctx context.Context, f *term.Follower) error {
			return device.Using(ctx, p, f, func(gpu train.Engine) error { return m.here(ctx, gpu, f) })
		}
	}
	working := term.Begin(ctx, running, term.NewFollower(ctx, g.Console()), func(f *term.Follower) (any, error) { return nil, carryOut(ctx, f) })
	_, err = working.AwaitEnd(ctx, func() { g.Console().Log().Warn("stopping; again to kill") })
	if err != nil {
		err = fmt.Errorf("%w; what is done is kept: the same command goes on", err)
	}
	return err
}

// here carries out what is missing on an engine, nil for the CPU's.
func (m missing) here(ctx context.Context, gpu train.Engine, f *term.Follower) error {
	engine, on := engines.New(m.performance, gpu), engines.Machine(m.performance, gpu)
	pace, err := m.pace(ctx, gpu, f)
	if err == nil {
		err = m.store.SetPace(on, pace)
	}
	if err != nil {
		return err
	}
	program, err := build.Hash()
	if err != nil {
		return term.Input(err)
	}
	follower, err := m.follower(f)
	if err != nil {
		return err
	}
	f.Note(fmt.Sprintf("%d of %d runs are to do, about %s of training", follower.status.Todo(), follower.status.Total, lasting(follower.status.Left)))
	return m.store.Work(ctx, m.tasks, m.scan, campaign.Options{
		Engine: engine, Features: engines.CPU(), Performance: m.performance, Machine: on, Program: program, MadeBy: engines.Current(),
		Size: batchSize(m.performance, gpu != nil), SaveEvery: m.keep.Every, Follower: follower,
	})
}

// pace returns the pace of an engine, nil for the CPU's. It measures now what the store lacks.
func (m missing) pace(ctx context.Context, gpu train.Engine, f *term.Follower) (campaign.Pace, error) {
	pace := m.store.PaceOf(engines.Machine(m.performance, gpu))
	err := pace.Measure(ctx, engines.New(m.performance, gpu), cellsOf(m.tasks), func(done, total int) {
		f.Progress(float64(done), float64(total), measuring)
	})
	return pace, err
}

// byWorkers has the workers of a cluster carry out what is missing.
func (m missing) byWorkers(ctx context.Context, f *term.Follower) (err error) {
	me, err := execution.ClusterBuild()
	if err != nil {
		return err
	}
	id, err := execution.CampaignID(m.out)
	if err != nil {
		return err
	}
	follower, err := m.follower(f)
	if err != nil {
		return err
	}
	conn, end, err := m.cluster.Lead(ctx, filepath.Join(m.out, "cluster"), f.Note)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	board, err := conn.Board(ctx, id, me, f.Note)
	if err != nil {
		return err
	}
	defer board.Close()
	f.Note(fmt.Sprintf("%d of %d runs are to do", follower.status.Todo(), follower.status.Total))
	showing, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { follower.show(showing, board) })
	defer func() {
		stop()
		running.Wait()
	}()
	err = m.store.Work(ctx, m.tasks, m.scan, campaign.Options{
		Workers: &remote.Workers{Board: board, Engine: m.performance.Engine}, Performance: m.performance, Program: me.Hash, MadeBy: engines.Current(), Follower: follower,
	})
	if err == nil {
		err = board.Remove(ctx)
	}
	return err
}

func (m missing) follower(f *term.Follower) (*campaignFollower, error) {
	status, err := m.store.Status(m.tasks, m.scan)
	return &campaignFollower{Follower: f, store: m.store, status: status, done: status.Done}, err
}

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

func (c *campaignFollower) Working(batch []campaign.Job, share float64) {
	c.mu.Lock()
	done := c.done
	c.mu.Unlock()
	for _, t := range batch {
		done += share * c.expected(t)
	}
	total := c.status.Done + c.status.Left
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
	w, _ := c.store.Estimate(t.Cell, c.store.Description.Pace) // of a task that was estimated before
	return w.Seconds * c.status.Correction()
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
