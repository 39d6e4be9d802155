package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/internal/strict"
	"github.com/dptrain/dptrain/train"
)

// Fleet is the other machines that carry out orders. Its methods are called one at a time. Once [Store.Work] has
// returned without an error, whatever the fleet still has of the campaign may be forgotten.
type Fleet interface {
	// Post hands out an order. Posting it again while it is out, or when its delivery is waiting, changes nothing. Once
	// it is done, it may be posted like any other.
	Post(ctx context.Context, o remote.Order) error
	// Next waits a second or so for a delivery, and returns nil if none came. One that isn't Done comes again after the
	// coordinator has been restarted. The same run may be delivered twice, by two machines.
	Next(ctx context.Context) (*remote.Delivery, error)
	// Done forgets an order: what came of it is on the disk.
	Done(ctx context.Context, run string) error
	// Want is how many orders should be out at the moment. It changes as machines come and go.
	Want() int
}

// ErrRefused reports a run that machines keep delivering what can't be filed for.
var ErrRefused = errors.New("its deliveries can't be filed")

// fleet has other machines train.
type fleet struct {
	*worker
	out     map[string]*begun          // whose orders are posted, by the ids of their runs
	cutOff  map[string]bool            // runs that were out before this call, and aren't out again
	early   map[string]remote.Delivery // of such runs
	arrived []remote.Delivery          // that were early
	refused map[string]int             // how many deliveries of a run were
}

// newFleet returns the runner of a worker with a fleet, given the runs that were cut off.
func newFleet(x *worker, cutOff map[Task]runs.Info) *fleet {
	f := &fleet{worker: x, out: map[string]*begun{}, cutOff: map[string]bool{}, early: map[string]remote.Delivery{}, refused: map[string]int{}}
	for _, i := range cutOff {
		if i.Record != nil {
			f.cutOff[i.Record.ID] = true
		}
	}
	return f
}

func (f *fleet) prepare(context.Context, *experiment.Plan) (string, error) { return "", nil }

func (f *fleet) room(_ Cell, out int) int { return f.Fleet.Want() - out }

// handedOut is why a run's folder is that of a stopped run while other machines train it.
const handedOut = "handed out to other machines"

func (f *fleet) start(ctx context.Context, started []*begun) error {
	for _, b := range started {
		if err := b.folder.Stop(handedOut); err != nil {
			return err
		}
	}
	for _, b := range started {
		f.out[b.id()] = b
		delete(f.cutOff, b.id())
		if d, ok := f.early[b.id()]; ok {
			delete(f.early, b.id())
			f.arrived = append(f.arrived, d)
		} else if err := f.post(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (f *fleet) post(ctx context.Context, b *begun) error {
	return f.Fleet.Post(ctx, remote.Order{
		Run: b.id(), Name: b.task.Name(), Key: b.key,
		Settings: experiment.Settings{Experiment: b.plan.Experiment, Tune: b.task.Method != Single, InsecureSeed: b.plan.Seed()},
	})
}

func (f *fleet) next(ctx context.Context) (*ended, error) {
	var d remote.Delivery
	if len(f.arrived) > 0 {
		d, f.arrived = f.arrived[0], f.arrived[1:]
	} else if next, err := f.Fleet.Next(ctx); next == nil || err != nil {
		return nil, err
	} else {
		d = *next
	}
	b, ok := f.out[d.Run]
	if !ok && f.cutOff[d.Run] {
		delete(f.cutOff, d.Run)
		f.early[d.Run] = d
		return nil, nil
	}
	if !ok { // another was filed, or comes first
		return nil, f.Fleet.Done(ctx, d.Run)
	}
	h, err := check(b, d)
	if err != nil {
		return nil, f.refuse(ctx, b, d, err)
	}
	e := ended{run: b, machine: d.Machine, identity: d.Identity, private: d.Private, score: runs.Score{Metric: string(d.Score.Metric), Value: d.Score.Value}}
	if d.Failure != "" {
		e.err = errors.New(d.Failure)
	}
	e.rate, e.tuned = h.LearningRate, h.TunedLearningRate
	e.write = func(dir string) error { return writeFiles(dir, d.Released) }
	e.filed = func(ctx context.Context) error {
		delete(f.out, d.Run)
		return f.Fleet.Done(ctx, d.Run)
	}
	return &e, nil
}

// maxRefused is how many deliveries of a run are refused before all machines seem to be at fault.
const maxRefused = 3

// refuse posts an order once more whose delivery can't be what the order came to.
func (f *fleet) refuse(ctx context.Context, b *begun, d remote.Delivery, why error) error {
	f.Follower.Warn(fmt.Sprintf("%s: what machine %.200q delivered is refused, and the order is handed out once more: %v", b.task.Name(), d.Machine, why))
	if err := f.Fleet.Done(ctx, d.Run); err != nil {
		return err
	}
	if f.refused[d.Run]++; f.refused[d.Run] == maxRefused {
		return fmt.Errorf("%s: %w, %d times; the last time: %w; run the same version of dptrain on all machines, and leave out the one that the warnings name", b.task.Name(), ErrRefused, maxRefused, why)
	}
	return f.post(ctx, b)
}

// check returns the hyperparameters in a delivery of a model. The error says why it can't be what its run came to: its
// files don't have the guarantee that the run's manifest has, its hyperparameters and private values can't be read, or
// its score is none.
func check(b *begun, d remote.Delivery) (h release.Hyperparameters, err error) {
	if err := d.Check(); err != nil || d.Failure != "" {
		return h, err
	}
	guarantee, err := strict.Object(d.Released["privacy.json"])
	if err != nil {
		return h, fmt.Errorf("released/privacy.json: %w", err)
	}
	var epsilon, delta float64
	var holds bool
	for name, into := range map[string]any{"epsilon": &epsilon, "delta": &delta, "guarantee_holds": &holds} {
		if err := json.Unmarshal(guarantee[name], into); err != nil {
			return h, fmt.Errorf("released/privacy.json: %s: %w", name, err)
		}
	}
	if err := json.Unmarshal(d.Released["hyperparameters.json"], &h); err != nil {
		return h, fmt.Errorf("released/hyperparameters.json: %w", err)
	}
	m := b.folder.Manifest
	switch {
	case !near(epsilon, m.Epsilon) || delta != m.Delta || holds != m.Guarantee:
		return h, fmt.Errorf("released/privacy.json: epsilon %v, delta %v, holds: %t; the run's guarantee has epsilon %v, delta %v, holds: %t", epsilon, delta, holds, m.Epsilon, m.Delta, m.Guarantee)
	case d.Score.Metric != train.Accuracy || !(d.Score.Value >= 0 && d.Score.Value <= 1):
		return h, fmt.Errorf("a score of %.40q %v", d.Score.Metric, d.Score.Value)
	}
	_, err = resultOf(b.task, b.plan.Experiment, runs.Info{Manifest: m, Record: &b.folder.Record}, d.Score.Value, h, d.Private)
	return h, err
}

// near reports whether two numbers differ by rounding alone: processors of other families fuse other operations, and so
// find noise for a budget that differs in its last digits.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// writeFiles writes delivered files, whose names are checked, into a folder.
func writeFiles(dir string, files map[string][]byte) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for name, content := range files {
		if err := root.WriteFile(filepath.FromSlash(name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
