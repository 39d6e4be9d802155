package campaign

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/internal/remote"
	"github.com/dptrain/dptrain/internal/runs"
)

// take files a delivery of a run that is out, and forgets one of a run that has ended.
func (x *direction) take(ctx context.Context, d remote.Delivery) error {
	b, ok := x.out[d.Run]
	if !ok {
		return x.late(ctx, d)
	}
	if err := check(b, d); remote.OfMachine(err) {
		return fmt.Errorf("check a delivery: %w", err)
	} else if err != nil {
		return x.refuse(ctx, b, d, err)
	}
	folder, err := runs.Resume(b.folder.Dir())
	if errors.Is(err, runs.ErrEnded) {
		return x.endedElsewhere(ctx, b, d)
	}
	if err != nil {
		return fmt.Errorf("file a delivery: %w", err)
	}
	if b.folder = folder; folder.Record.ID != d.Run {
		return errors.Join(fmt.Errorf("file a delivery: %w: the run in %s isn't the one that was handed out; bring that one back", ErrOther, folder.Dir()), folder.Release())
	}
	outcome, err := x.file(b, d)
	if err != nil {
		return errors.Join(fmt.Errorf("file a delivery: %w", err), stop([]begun{b}, err), folder.Release())
	}
	return x.reported(ctx, d.Run, outcome)
}

// file ends a run with its delivery.
func (x *direction) file(b begun, d remote.Delivery) (Outcome, error) {
	outcome := Outcome{Task: b.task}
	r := &b.folder.Record
	r.Machine, r.Key = d.Machine, d.Identity
	var err error
	if d.Failure != "" {
		outcome.Err = errors.New(d.Failure)
		err = x.failed(b, outcome.Err)
	} else {
		outcome.Result, err = finished(b, scoreOf(d), d.LearningRate, d.TunedLearningRate, d.Private, func(dir string) error { return writeFiles(dir, d.Released) })
	}
	return outcome, err
}

// reported forgets an order and reports what became of its task.
func (x *direction) reported(ctx context.Context, run string, o Outcome) error {
	if err := x.fleet.Done(ctx, run); err != nil {
		return err
	}
	delete(x.out, run)
	delete(x.cutOff, run)
	return x.queue.Report(ctx, Batch{o.Task}, []Outcome{o})
}

// endedElsewhere reports a run that was out, and that another process has ended.
func (x *direction) endedElsewhere(ctx context.Context, b begun, d remote.Delivery) error {
	info, err := runs.Open(b.folder.Dir())
	if err != nil {
		return err
	}
	outcome := Outcome{Task: b.task}
	if info.Stage == runs.Failed {
		outcome.Err = errors.New("it failed in another process")
	} else if outcome.Result, err = read(b.task, b.plan.Experiment, info); err != nil {
		return err
	}
	return x.reported(ctx, d.Run, outcome)
}

// maxRefused is how many deliveries of a run are refused before all machines seem to be at fault.
const maxRefused = 3

// refuse posts an order once more whose delivery can't be what the order came to.
func (x *direction) refuse(ctx context.Context, b begun, d remote.Delivery, why error) error {
	x.Follower.Warn(fmt.Sprintf("%s: what machine %.200q delivered is refused, and the order is handed out once more: %v", b.task.Name(), d.Machine, why))
	if err := x.fleet.Done(ctx, d.Run); err != nil {
		return err
	}
	if x.refused[d.Run]++; x.refused[d.Run] == maxRefused {
		return fmt.Errorf("%s: %w, %d times; the last time: %w; run the same version of dptrain on all machines, and leave out the one that the warnings name", b.task.Name(), ErrRefused, maxRefused, why)
	}
	folder, err := runs.Resume(b.folder.Dir())
	if err != nil {
		return err
	}
	key, err := b.plan.KeyIn(folder)
	if err := errors.Join(err, folder.Stop(handedOut+" once more")); err != nil {
		return err
	}
	return x.posted(ctx, b, key)
}
