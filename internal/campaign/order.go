package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/remote"
	"github.com/dptrain/dptrain/train"
)

const (
	gatherFor = 5 * time.Millisecond // wait for a batch of the queue, which may have none before a delivery
	atOnce    = 64                   // runs that are begun with one change of the ledger, and whose folders are open
)

// handOut posts some orders, unless as many are out as the fleet wants, or the queue has no more. It reports whether it
// did.
func (x *direction) handOut(ctx context.Context) (bool, error) {
	room := x.fleet.Want() - len(x.out)
	if err := x.gather(room); err != nil {
		return false, err
	}
	var batch []Task // of one data set
	for _, t := range x.backlog[:max(0, min(room, len(x.backlog), atOnce))] {
		if t.Dataset != x.backlog[0].Dataset {
			break
		}
		batch = append(batch, t)
	}
	if len(batch) == 0 {
		return false, nil
	}
	return true, x.order(ctx, batch)
}

// gather fills the backlog to a size, as far as the queue has tasks at once.
func (x *direction) gather(size int) error {
	for len(x.backlog) < size && !x.drained {
		if !x.asking {
			x.asking = true
			x.ask <- struct{}{}
		}
		select {
		case a := <-x.batches:
			if err := x.answered(a); err != nil {
				return err
			}
		case <-time.After(gatherFor):
			return nil
		}
	}
	return nil
}

// handedOut begins why a run's folder is that of a stopped run while other machines train it.
const handedOut = "handed out to other machines"

// order posts the orders of the first tasks of the backlog, once their runs have folders, keys and records in the
// ledger.
func (x *direction) order(ctx context.Context, batch []Task) (err error) {
	started, impossible, err := x.begin(ctx, batch)
	defer func() { err = errors.Join(err, release(started)) }()
	if err != nil {
		return err
	}
	keys, err := x.register(ctx, started)
	if err != nil {
		return errors.Join(err, stop(started, err))
	}
	for _, b := range started {
		if err := b.folder.Stop(handedOut); err != nil {
			return err
		}
	}
	x.backlog = x.backlog[len(batch):]
	for _, o := range impossible {
		if err := x.queue.Report(ctx, Batch{o.Task}, []Outcome{o}); err != nil {
			return err
		}
	}
	for _, b := range started {
		x.out[b.folder.Record.ID] = b
	}
	for k, b := range started {
		if err := x.posted(ctx, b, keys[k]); err != nil {
			return err
		}
	}
	return nil
}

// begin returns the runs of tasks, with folders, and the outcomes of tasks that can't have one.
func (x *direction) begin(ctx context.Context, batch []Task) (started []begun, impossible []Outcome, err error) {
	for k, t := range batch {
		if err := ctx.Err(); err != nil {
			return started, nil, err
		}
		plan, err := x.settled(t)
		if infeasible(err) {
			impossible = append(impossible, Outcome{Task: t, Err: err})
			continue
		}
		if err != nil {
			return started, nil, fmt.Errorf("%s: %w", t.Name(), err)
		}
		folder, resumed, err := x.folder(t, plan)
		if err != nil {
			return started, nil, fmt.Errorf("%s: %w", t.Name(), err)
		}
		started = append(started, begun{t, k, plan, folder, resumed})
	}
	return started, impossible, nil
}

// posted posts the order of a run, or takes its delivery if that came before.
func (x *direction) posted(ctx context.Context, b begun, key train.Key) error {
	id := b.folder.Record.ID
	if early, ok := x.early[id]; ok {
		delete(x.early, id)
		return x.take(ctx, early)
	}
	return x.fleet.Post(ctx, remote.Order{
		Run: id, Name: b.task.Name(), Key: key,
		Settings: experiment.Settings{Experiment: b.plan.Experiment, Tune: b.task.Method != Single, InsecureSeed: b.plan.Seed()},
	})
}
