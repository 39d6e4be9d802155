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

// Worker is what carries out a campaign's runs: this machine, or the others of a fleet.
type Worker struct {
	Performance settings.Performance
	Program     string       // SHA-256 of the program's file: a run that was cut off goes on with the same alone
	MadeBy      fmt.Stringer // the program's version
	Follower    Follower
	Fleet       Fleet // trains, if it isn't nil; the fields below are for training here

	Engine    train.Engine   // trains
	Features  train.Engine   // computes features of images, on the CPU
	Machine   string         // engine, processor and cores, for the records
	Size      func(Cell) int // how many of a cell's runs train side by side
	SaveEvery time.Duration  // between two saves of the states of runs
}

// Follower receives the progress of a campaign. Its methods are called one at a time.
type Follower interface {
	Note(text string)
	Warn(text string)
	// Loading reports the progress of a data set that is loaded.
	Loading(done, total float64, what string)
	// Working reports how much is done of the tasks that train side by side here, from 0 to 1.
	Working(batch []Task, share float64)
	// Ended reports that a task has a result, or why it has none.
	Ended(t Task, err error)
}

// runner trains runs. Its methods are called one at a time.
type runner interface {
	// prepare loads what a run takes, and returns its identity, or "" if only the machine that trains knows it.
	prepare(ctx context.Context, p *experiment.Plan) (identity string, err error)
	// room returns how many more runs of a cell may start while others are out.
	room(c Cell, out int) int
	// start takes runs whose releases are recorded.
	start(ctx context.Context, started []*begun) error
	// next waits until a started run ends. It may return none, so that its caller asks for room again.
	next(ctx context.Context) (*ended, error)
}

// begun is a task whose run has a folder.
type begun struct {
	task    Task
	plan    *experiment.Plan
	folder  *runs.Run
	resumed bool
	key     train.Key
}

func (b *begun) id() string { return b.folder.Record.ID }

// ended is what a run came to.
type ended struct {
	run               *begun
	err               error  // why it gave no model; nil if it gave one
	machine, identity string // of the machine that trained; "" for what the record has
	score             runs.Score
	rate              float64
	tuned             *float64
	private           []byte
	write             func(dir string) error
	filed             func(context.Context) error // is called once the outcome is on the disk; may be nil
}

// Work carries out the tasks that a scan doesn't have. If ctx is cancelled, runs that train here keep their states, and
// the error is the context's. A run that fails is carried out once more; the errors of Work are those of the machine: a
// lost device, a full disk, data that can't be read.
//
// With a fleet this machine keeps folders, keys and ledger, and trains nothing. The folder of a run that is out is that
// of a stopped run: it has a key, and no process holds its lock, so thousands may be out. After an error, the next call
// goes on with these runs, by the same keys, with a fleet or without. Of several deliveries of a run the first counts.
func (s *Store) Work(ctx context.Context, tasks []Task, scan Scan, w Worker) (err error) {
	if err := s.destroyKeys(); err != nil {
		return err
	}
	x := &worker{
		Worker: w, store: s, queue: newQueue(tasks, scan), cache: experiment.Cache{Features: w.Features},
		out: map[*begun]bool{}, impossible: map[Cell]bool{},
	}
	x.runner = &local{worker: x}
	if w.Fleet != nil {
		x.runner = newFleet(x, scan.CutOff)
	}
	defer x.cache.Close()
	defer func() { err = errors.Join(err, x.letGo(err)) }()
	for {
		ready := x.queue.ready()
		if len(ready) == 0 && len(x.out) == 0 {
			return nil
		}
		if n := x.room(ready); n > 0 {
			err = x.begin(ctx, ready[:n])
		} else {
			err = x.await(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// worker is a call of Work.
type worker struct {
	Worker
	runner runner
	store  *Store
	queue  *queue
	cache  experiment.Cache

	out        map[*begun]bool // runs that have begun and haven't ended
	impossible map[Cell]bool   // cells whose budget no noise meets
}

// atOnce is how many runs are begun with one change of the ledger.
const atOnce = 64

// room returns how many of the tasks that can start may.
func (x *worker) room(ready []Task) int {
	if len(ready) == 0 {
		return 0
	}
	return min(x.runner.room(ready[0].Cell, len(x.out)), len(ready), atOnce)
}

// begin starts tasks, once their runs have folders, keys and records in the ledger.
func (x *worker) begin(ctx context.Context, batch []Task) error {
	var started []*begun
	for _, t := range batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		x.queue.remove(t)
		plan, err := x.settled(t)
		if infeasible(err) {
			x.Follower.Ended(t, err)
			continue
		}
		b := &begun{task: t, plan: plan}
		var identity string
		if err == nil {
			identity, err = x.runner.prepare(ctx, plan)
		}
		if err == nil {
			b.folder, b.resumed, err = x.folder(t, plan)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name(), err)
		}
		x.out[b] = true
		if started = append(started, b); identity != "" {
			b.folder.Record.Key = identity
		}
	}
	if len(started) == 0 {
		return nil
	}
	if err := x.register(ctx, started); err != nil {
		return err
	}
	return x.runner.start(ctx, started)
}

// await waits for the end of a run, and files it.
func (x *worker) await(ctx context.Context) error {
	e, err := x.runner.next(ctx)
	if e == nil || err != nil {
		return err
	}
	b := e.run
	if b.folder.Manifest.Stage == runs.Stopped { // other machines had it
		folder, err := runs.Resume(b.folder.Dir())
		if err != nil {
			return fmt.Errorf("file what %s came to: %w", b.task.Name(), err)
		}
		id := b.id()
		if b.folder = folder; b.id() != id {
			return fmt.Errorf("file what %s came to: %w: the run in %s isn't the one that was handed out; bring that one back", b.task.Name(), ErrOther, folder.Dir())
		}
	}
	if b.resumed && (errors.Is(e.err, train.ErrOtherRun) || errors.Is(e.err, train.ErrState)) {
		delete(x.out, b)
		x.queue.again(b.task)
		return x.giveUp(b, e.err)
	}
	err = x.file(e)
	if err == nil && e.filed != nil {
		err = e.filed(ctx)
	}
	if err != nil {
		return fmt.Errorf("file what %s came to: %w", b.task.Name(), err)
	}
	delete(x.out, b)
	x.queue.ended(b.task, e.err)
	x.Follower.Ended(b.task, e.err)
	return nil
}

// file ends a run's folder.
func (x *worker) file(e *ended) error {
	folder := e.run.folder
	if e.machine != "" {
		folder.Record.Machine, folder.Record.Key = e.machine, e.identity
	}
	if e.err == nil {
		m := &folder.Manifest
		m.Score, m.LearningRate, m.TunedLearningRate = &e.score, &e.rate, e.tuned
		return folder.Finish(e.private, e.write)
	}
	x.Follower.Warn(fmt.Sprintf("%s gave no model: %v", e.run.task.Name(), e.err))
	return folder.Fail(e.err.Error())
}

// giveUp moves a run away that was cut off and can't go on here: on another engine, or with a damaged state.
func (x *worker) giveUp(b *begun, why error) error {
	x.Follower.Note(fmt.Sprintf("%s was cut off, and can't go on here: %v; it begins anew, as another release", b.task.Name(), why))
	return errors.Join(b.folder.Stop(why.Error()), moveAside(b.folder.Dir(), cutOffSuffix))
}

// letGo stops the runs that are under way, so that another process can take them up.
func (x *worker) letGo(why error) (err error) {
	for b := range x.out {
		switch b.folder.Manifest.Stage {
		case runs.Finished, runs.Failed, runs.Stopped:
		default:
			err = errors.Join(err, b.folder.Stop(why.Error()))
		}
		err = errors.Join(err, b.folder.Release())
	}
	return err
}
