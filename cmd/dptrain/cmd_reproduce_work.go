package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/train"
)

// work carries out what a campaign lacks.
func (g *global) work(ctx context.Context, store *campaign.Store, p settings.Performance, opts reproduceOptions) (err error) {
	tasks, err := store.Jobs()
	if err != nil {
		return err
	}
	scan, err := await(ctx, "reading the runs", func() (campaign.Scan, error) { return store.Scan(tasks) })
	if err != nil {
		return err
	}
	if len(scan.Finished) == len(tasks) {
		return nil
	}
	if opts.cluster != "" {
		return g.direct(ctx, store, opts, p, tasks, scan)
	}
	running := new(sync.WaitGroup)
	device, err := g.gpus.choose(p)
	if err != nil {
		return err
	}
	device = device.opening(ctx, running, p, func(text string) { g.console().Log().Warn(text) })
	f := newFollower(ctx, g.console())
	working := begin(ctx, running, f, func(f *follower) (any, error) {
		return nil, device.using(ctx, p, f, func(gpu train.Engine) error { return workOn(ctx, store, p, gpu, opts.keep.every, tasks, scan, f) })
	})
	_, err = working.awaitEnd(ctx, func() { g.console().Log().Warn("stopping; again to kill") })
	if err != nil {
		err = fmt.Errorf("%w; what is done is kept: the same command goes on", err)
	}
	return err
}

// workOn is work on an engine, nil for the CPU's.
func workOn(
	ctx context.Context, store *campaign.Store, p settings.Performance, gpu train.Engine, every time.Duration, tasks []campaign.Job, scan campaign.Scan, f *follower,
) error {
	engine, on := newEngine(p, gpu), machine(p, gpu)
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
	program, err := programHash()
	if err != nil {
		return coded(codeInput, err)
	}
	return store.Work(ctx, tasks, scan, campaign.Options{
		Engine: engine, Features: onCPU(), Performance: p, Machine: on, Program: program, MadeBy: version(), Size: batchSize(p, gpu != nil), SaveEvery: every,
		Follower: &campaignFollower{follower: f, store: store, status: status, done: status.Done.Seconds},
	})
}

// using opens the chosen GPUs, if there are any, and closes them after work, which gets nil for the CPU.
func (c choice) using(ctx context.Context, p settings.Performance, f *follower, work func(gpu train.Engine) error) (err error) {
	gpu, err := c.open(ctx, p, f)
	switch {
	case err != nil:
		return err
	case gpu == nil:
		return work(nil)
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	return work(gpu)
}

// measured returns a machine's pace: what the store knows of it, and what it lacks measured now.
func measured(ctx context.Context, store *campaign.Store, e train.Engine, machine string, tasks []campaign.Job, f *follower) (campaign.Pace, error) {
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
// (bench/results/many-runs.md). Those of IMDB have 464,242 parameters, about 20 MB for each trial.
func batchSize(p settings.Performance, gpu bool) func(campaign.Cell) int {
	most := min(max(2, cores(p)/8), 8)
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

// cores returns the number of cores that settings allow.
func cores(p settings.Performance) int {
	if p.Workers > 0 {
		return p.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// machine describes what trains.
func machine(p settings.Performance, gpu train.Engine) string {
	on := fmt.Sprintf("%s, %d %s", processor(), cores(p), plural(cores(p), "core", "cores"))
	if gpu != nil {
		return gpu.Name() + "; " + on
	}
	return "CPU; " + on
}

// processor returns the name of the processor, or its architecture.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}

// campaignFollower shows the progress of a campaign. The time that it took the finished runs is public, as that of the
// paper's data sets.
type campaignFollower struct {
	*follower
	store  *campaign.Store
	status campaign.Status // before this call

	mu     sync.Mutex
	runs   int // that have ended in this call
	failed int
	done   float64 // expected seconds
}

func (c *campaignFollower) Loading(done, total float64, what string) {
	c.follower.Progress(done, total, what)
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
	c.follower.Progress(done, math.Max(total, done), fmt.Sprintf("%s; %s, %s, %s", c.text(), of.Preset(), of.Method, counted(len(batch))))
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
func counted(n int) string { return fmt.Sprintf("%d %s", n, plural(n, "run", "runs")) }
