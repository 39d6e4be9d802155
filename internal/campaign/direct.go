package campaign

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dptrain/dptrain/internal/remote"
)

// Direct carries out what a queue hands out until it is drained, like [Store.Work], but has a fleet train: this machine
// keeps folders, keys and ledger. Of the worker it needs no engine.
//
// The folder of a run that is out is that of a stopped run: it has a key, and no process holds its lock, so thousands
// may be out. If the process dies or ctx is cancelled, the same command goes on with these runs, by the same keys, with
// a fleet or without. After an error, the queue has all tasks again that have no outcome.
//
// Of several deliveries of a run the first counts.
func (s *Store) Direct(ctx context.Context, q Queue, f Fleet, w Worker) (err error) {
	if err := s.destroyKeys(); err != nil {
		return err
	}
	x := &direction{
		registrar: s.registrar(w), queue: q, fleet: f,
		out: map[string]begun{}, early: map[string]remote.Delivery{}, cutOff: map[string]bool{}, refused: map[string]int{},
		ask: make(chan struct{}, 1), batches: make(chan asked), deliveries: make(chan delivered),
	}
	defer x.cache.Close()
	if err := x.readCutOff(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() {
		cancel()
		close(x.ask)
		go func() { running.Wait(); close(x.batches) }()
		for late := range x.batches { // the queue handed it out before it saw the end
			x.backlog = append(x.backlog, late.batch...)
		}
		x.giveBack()
	}()
	running.Go(func() { x.askQueue(ctx) })
	running.Go(func() { x.awaitDeliveries(ctx) })
	return x.run(ctx)
}

// direction is a call of Direct.
type direction struct {
	*registrar
	queue Queue
	fleet Fleet

	backlog []Task                     // of the queue, without an order
	out     map[string]begun           // by the ids of their runs; their folders are closed
	early   map[string]remote.Delivery // of runs that were out before this call, and whose tasks aren't out yet
	cutOff  map[string]bool            // such runs, and others that can go on
	refused map[string]int             // how many deliveries of a run were

	ask        chan struct{} // asks askQueue for a batch
	asking     bool          // it hasn't answered
	batches    chan asked
	deliveries chan delivered
	drained    bool
}

type asked struct {
	batch Batch
	err   error
}

type delivered struct {
	remote.Delivery
	err error
}

// askQueue asks the queue for a batch whenever it is asked for one. Each answer is received: see Direct.
func (x *direction) askQueue(ctx context.Context) {
	for range x.ask {
		batch, err := x.queue.Next(ctx)
		x.batches <- asked{batch, err}
	}
}

// awaitDeliveries receives deliveries until the first error. One that it can't pass on comes again another time.
func (x *direction) awaitDeliveries(ctx context.Context) {
	for {
		d, err := x.fleet.Next(ctx)
		select {
		case x.deliveries <- delivered{d, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// giveBack gives all tasks without an outcome back to the queue.
func (x *direction) giveBack() {
	for _, b := range x.out {
		x.backlog = append(x.backlog, b.task)
	}
	if len(x.backlog) > 0 {
		x.queue.Return(x.backlog)
	}
}

// lookAgain is the time after which Direct asks the fleet how much it wants, if nothing else happens.
const lookAgain = time.Second

func (x *direction) run(ctx context.Context) error {
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	now := make(chan struct{})
	close(now)
	for {
		more, err := x.handOut(ctx)
		if err != nil {
			return err
		}
		if x.drained && len(x.backlog) == 0 && len(x.out) == 0 {
			return nil
		}
		soon := now // a batch is posted: there may be another, and deliveries needn't wait for all of them
		if !more {
			soon = nil
		}
		select {
		case <-soon:
		case a := <-x.batches:
			if err := x.answered(a); err != nil {
				return err
			}
		case d := <-x.deliveries:
			if d.err != nil {
				return d.err
			}
			if err := x.take(ctx, d.Delivery); err != nil {
				return err
			}
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answered takes the answer of askQueue.
func (x *direction) answered(a asked) error {
	x.asking = false
	x.backlog = append(x.backlog, a.batch...)
	if errors.Is(a.err, ErrDrained) {
		x.drained = true
		return nil
	}
	return a.err
}
