package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/train"
)

// Options says how [Store.Work] has jobs carried out: by workers, or on this machine.
type Options struct {
	Performance settings.Performance
	Program     string       // SHA-256 of the program's file: a run that was cut off goes on with the same alone
	MadeBy      fmt.Stringer // the program's version
	Follower    Follower
	Workers     Workers // train, if they aren't nil; the fields below are for training here

	Engine    train.Engine   // trains
	Features  train.Engine   // computes features of images, on the CPU
	Machine   string         // engine, processor, cores, for the records
	Size      func(Cell) int // how many of a cell's runs train side by side
	SaveEvery time.Duration  // between two saves of the states of runs
}

// Follower receives the progress of a campaign, and of the loading of its data. Its methods are called one at a time.
type Follower interface {
	experiment.Follower
	// Working reports the share that is done, from 0 to 1, of a group that trains here.
	Working(group []Job, share float64)
	// Ended reports that a job has a result, or why it has none.
	Ended(j Job, err error)
}

// runner trains runs. Its methods are called one at a time.
type runner interface {
	// prepare loads a run's data, and returns its identity, or "" if only its worker knows it.
	prepare(ctx context.Context, p *experiment.Plan) (identity string, err error)
	// room returns how many more runs of a cell may start while others are out.
	room(c Cell, out int) int
	// start takes runs whose releases are recorded.
	start(ctx context.Context, started []*run) error
	// next waits until a started run ends. It may return none, so that its caller asks for room again.
	next(ctx context.Context) (*ending, error)
}

// run is a job whose run has a folder.
type run struct {
	job     Job
	plan    *experiment.Plan
	folder  *runs.Run
	resumed bool
	key     train.Key
}

func (r *run) id() string { return r.folder.Record.ID }

// ending is how a run ended: with a model, or without one.
type ending struct {
	run               *run
	err               error  // why it gave no model; nil if it gave one
	machine, identity string // of the worker that trained it; "" leaves the folder's record as it is
	processors        float64
	score             runs.Score
	rate              float64
	tuned             *float64
	private           []byte
	write             func(dir string) error
	filed             func(context.Context) error // is called once the run is on the disk as it ended; may be nil
}

// Work carries out the jobs that a scan doesn't have. If ctx is cancelled, runs that train here keep their states, and
// the error is the context's. A run that fails is carried out once more. Work returns an error if the machine is at
// fault: a lost device, a full disk, data that can't be read.
//
// With workers this machine keeps folders, keys and ledger, and trains nothing. While a run is out, its folder is a
// stopped run's: it has a key, and no process holds its lock, so thousands may be out. After an error, the next call
// goes on with these runs, by the same keys, with workers or without. If a run has several results, the first counts.
func (s *Store) Work(ctx context.Context, jobs []Job, scan Scan, o Options) (err error) {
	if err := s.destroyKeys(); err != nil {
		return err
	}
	c := &coordinator{
		Options: o, store: s, queue: newQueue(jobs, scan), cache: experiment.Cache{Features: o.Features},
		out: map[*run]bool{}, impossible: map[Cell]bool{},
	}
	c.runner = &local{coordinator: c}
	if o.Workers != nil {
		c.runner = newDistributed(c, scan.CutOff)
	}
	defer c.cache.Close()
	defer func() { err = errors.Join(err, c.letGo(err)) }()
	for {
		ready := c.queue.ready()
		if len(ready) == 0 && len(c.out) == 0 {
			return nil
		}
		if n := c.room(ready); n > 0 {
			err = c.begin(ctx, ready[:n])
		} else {
			err = c.await(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// coordinator is the state of one call of Work.
type coordinator struct {
	Options
	runner runner
	store  *Store
	queue  *queue
	cache  experiment.Cache

	out        map[*run]bool // runs that have begun and haven't ended
	impossible map[Cell]bool // cells whose budget no noise meets
}

// atOnce is the maximum number of runs that one change of the ledger records.
const atOnce = 64

// room returns how many of the jobs that can start may.
func (c *coordinator) room(ready []Job) int {
	if len(ready) == 0 {
		return 0
	}
	return min(c.runner.room(ready[0].Cell, len(c.out)), len(ready), atOnce)
}

// begin starts jobs, once their runs have folders, keys and records in the ledger.
func (c *coordinator) begin(ctx context.Context, group []Job) error {
	var started []*run
	for _, j := range group {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.queue.remove(j)
		plan, err := c.settled(j)
		if infeasible(err) {
			c.Follower.Ended(j, err)
			continue
		}
		r := &run{job: j, plan: plan}
		var identity string
		if err == nil {
			identity, err = c.runner.prepare(ctx, plan)
		}
		if err == nil {
			r.folder, r.resumed, err = c.folder(j, plan)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", j.Name(), err)
		}
		c.out[r] = true
		if started = append(started, r); identity != "" {
			r.folder.Record.Key = identity
		}
	}
	if len(started) == 0 {
		return nil
	}
	if err := c.register(ctx, started); err != nil {
		return err
	}
	return c.runner.start(ctx, started)
}

// await waits for the end of a run, and files its result.
func (c *coordinator) await(ctx context.Context) error {
	e, err := c.runner.next(ctx)
	if e == nil || err != nil {
		return err
	}
	r := e.run
	if r.folder.Manifest.Stage == runs.Stopped { // a worker had it
		folder, err := runs.Resume(r.folder.Dir())
		if err != nil {
			return fmt.Errorf("file the result of %s: %w", r.job.Name(), err)
		}
		id := r.id()
		if r.folder = folder; r.id() != id {
			return fmt.Errorf("file the result of %s: %w: the run in %s isn't the one that was handed out; bring that one back", r.job.Name(), ErrOther, folder.Dir())
		}
	}
	if r.resumed && (errors.Is(e.err, train.ErrOtherRun) || errors.Is(e.err, train.ErrState)) {
		delete(c.out, r)
		c.queue.again(r.job)
		return c.giveUp(r, e.err)
	}
	err = c.file(e)
	if err == nil && e.filed != nil {
		err = e.filed(ctx)
	}
	if err != nil {
		return fmt.Errorf("file the result of %s: %w", r.job.Name(), err)
	}
	delete(c.out, r)
	c.queue.ended(r.job, e.err)
	c.Follower.Ended(r.job, e.err)
	return nil
}

// file ends a run's folder.
func (c *coordinator) file(e *ending) error {
	folder := e.run.folder
	if e.machine != "" {
		folder.Record.Machine, folder.Record.Key = e.machine, e.identity
	}
	folder.Record.Processors = e.processors
	if e.err == nil {
		m := &folder.Manifest
		m.Score, m.LearningRate, m.TunedLearningRate = &e.score, &e.rate, e.tuned
		return folder.Finish(e.private, e.write)
	}
	c.Follower.Warn(fmt.Sprintf("%s gave no model: %v", e.run.job.Name(), e.err))
	return folder.Fail(e.err.Error())
}

// giveUp moves a run away that was cut off and can't go on here: on another engine, or with a damaged state.
func (c *coordinator) giveUp(r *run, why error) error {
	c.Follower.Note(fmt.Sprintf("%s was cut off, and can't go on here: %v; it begins anew, as another release", r.job.Name(), why))
	return errors.Join(r.folder.Stop(why.Error()), moveAside(r.folder.Dir(), cutOffSuffix))
}

// letGo stops the runs that are under way, so that another process can resume them.
func (c *coordinator) letGo(why error) (err error) {
	for r := range c.out {
		switch r.folder.Manifest.Stage {
		case runs.Finished, runs.Failed, runs.Stopped:
		default:
			err = errors.Join(err, r.folder.Stop(why.Error()))
		}
		err = errors.Join(err, r.folder.Release())
	}
	return err
}
