package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/internal/strict"
	"github.com/dptrain/dptrain/train"
)

// Workers hands out jobs to other machines. Its methods are called one at a time. Once [Store.Work] has returned
// without an error, Workers may forget what it still has of the campaign.
type Workers interface {
	// Post hands out a job. Posting it again while it is out, or while its result waits, changes nothing. Once it is
	// done, it may be posted like any other.
	Post(ctx context.Context, j remote.Job) error
	// Next waits a second or so for a result, and returns nil if none came. A result that isn't Done comes again after
	// the coordinator has been restarted. A run may have two results, of two workers.
	Next(ctx context.Context) (*remote.Result, error)
	// Done forgets the job of a run, whose result is on the disk.
	Done(ctx context.Context, run string) error
	// Want returns how many jobs should be out at the moment. It changes as workers come and go.
	Want() int
}

// ErrRefused reports a run whose results were refused again and again.
var ErrRefused = errors.New("its results can't be filed")

// distributed has workers train.
type distributed struct {
	*coordinator
	out     map[string]*run          // runs whose jobs are posted, by id
	cutOff  map[string]bool          // ids of runs that were out before this call, and aren't yet again
	early   map[string]remote.Result // results that arrived for runs in cutOff
	arrived []remote.Result          // early results of runs that are out again
	refused map[string]int           // how many results of a run were refused
}

// newDistributed returns the runner of a coordinator with workers, given the runs that were cut off.
func newDistributed(c *coordinator, cutOff map[Job]runs.Info) *distributed {
	d := &distributed{coordinator: c, out: map[string]*run{}, cutOff: map[string]bool{}, early: map[string]remote.Result{}, refused: map[string]int{}}
	for _, i := range cutOff {
		if i.Record != nil {
			d.cutOff[i.Record.ID] = true
		}
	}
	return d
}

func (d *distributed) prepare(context.Context, *experiment.Plan) (string, error) { return "", nil }

func (d *distributed) room(_ Cell, out int) int { return d.Workers.Want() - out }

// handedOut is why a run's folder is a stopped run's while workers train it.
const handedOut = "handed out to other machines"

func (d *distributed) start(ctx context.Context, started []*run) error {
	for _, r := range started {
		if err := r.folder.Stop(handedOut); err != nil {
			return err
		}
	}
	for _, r := range started {
		d.out[r.id()] = r
		delete(d.cutOff, r.id())
		if result, ok := d.early[r.id()]; ok {
			delete(d.early, r.id())
			d.arrived = append(d.arrived, result)
		} else if err := d.post(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (d *distributed) post(ctx context.Context, r *run) error {
	return d.Workers.Post(ctx, remote.Job{
		Run: r.id(), Name: r.job.Name(), Key: r.key,
		Settings: experiment.Settings{Experiment: r.plan.Experiment, Tune: r.job.Method != Single, InsecureSeed: r.plan.Seed()},
	})
}

func (d *distributed) next(ctx context.Context) (*ending, error) {
	var result remote.Result
	if len(d.arrived) > 0 {
		result, d.arrived = d.arrived[0], d.arrived[1:]
	} else if next, err := d.Workers.Next(ctx); next == nil || err != nil {
		return nil, err
	} else {
		result = *next
	}
	r, ok := d.out[result.Run]
	if !ok && d.cutOff[result.Run] {
		delete(d.cutOff, result.Run)
		d.early[result.Run] = result
		return nil, nil
	}
	if !ok { // another result was filed, or will be
		return nil, d.Workers.Done(ctx, result.Run)
	}
	h, err := check(r, result)
	if err != nil {
		return nil, d.refuse(ctx, r, result, err)
	}
	e := ending{run: r, machine: result.Machine, identity: result.Identity, private: result.Private, score: runs.Score{Metric: string(result.Score.Metric), Value: result.Score.Value}}
	if result.Failure != "" {
		e.err = errors.New(result.Failure)
	}
	e.rate, e.tuned = h.LearningRate, h.TunedLearningRate
	e.write = func(dir string) error { return release.WriteFiles(dir, result.Released) }
	e.filed = func(ctx context.Context) error {
		delete(d.out, result.Run)
		return d.Workers.Done(ctx, result.Run)
	}
	return &e, nil
}

// maxRefused is the number of refused results of a run at which all workers seem to be at fault.
const maxRefused = 3

// refuse forgets a result that its job can't have, and posts the job once more.
func (d *distributed) refuse(ctx context.Context, r *run, result remote.Result, why error) error {
	d.Follower.Warn(fmt.Sprintf("%s: the result of machine %.200q is refused, and the job is handed out once more: %v", r.job.Name(), result.Machine, why))
	if err := d.Workers.Done(ctx, result.Run); err != nil {
		return err
	}
	if d.refused[result.Run]++; d.refused[result.Run] == maxRefused {
		return fmt.Errorf("%s: %w, %d times; the last time: %w; run the same version of dptrain on all machines, and leave out the one that the warnings name", r.job.Name(), ErrRefused, maxRefused, why)
	}
	return d.post(ctx, r)
}

// check returns the hyperparameters in a result that has a model. The error says why the run can't have this result:
// its files don't have the guarantee of the run's manifest, its hyperparameters or private values can't be read, or its
// score is no accuracy.
func check(r *run, result remote.Result) (h release.Hyperparameters, err error) {
	if err := result.Check(); err != nil || result.Failure != "" {
		return h, err
	}
	guarantee, err := strict.Object(result.Released["privacy.json"])
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
	if err := json.Unmarshal(result.Released["hyperparameters.json"], &h); err != nil {
		return h, fmt.Errorf("released/hyperparameters.json: %w", err)
	}
	m := r.folder.Manifest
	switch {
	case !near(epsilon, m.Epsilon) || delta != m.Delta || holds != m.Guarantee:
		return h, fmt.Errorf("released/privacy.json: epsilon %v, delta %v, holds: %t; the run's guarantee has epsilon %v, delta %v, holds: %t", epsilon, delta, holds, m.Epsilon, m.Delta, m.Guarantee)
	case result.Score.Metric != train.Accuracy || !(result.Score.Value >= 0 && result.Score.Value <= 1):
		return h, fmt.Errorf("a score of %.40q %v", result.Score.Metric, result.Score.Value)
	}
	_, err = resultOf(r.job, r.plan.Experiment, runs.Info{Manifest: m, Record: &r.folder.Record}, result.Score.Value, h, result.Private)
	return h, err
}

// near reports whether two numbers differ by rounding alone: processor families fuse different operations, so the noise
// that they find for a budget differs in its last digits.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
