package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/train"
)

// Executor does the jobs of a cluster that have a [Job] as their body.
type Executor struct {
	Worker   *Worker
	Follower Follower
}

// Data implements [cluster.Executor].
func (e Executor) Data(ctx context.Context, posted cluster.Job) ([]byte, error) {
	j, err := UnmarshalJob(posted.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", cluster.ErrCannot, err)
	}
	digest, err := e.Worker.DataDigest(ctx, j, e.Follower)
	var known *experiment.Error
	if errors.As(err, &known) { // its data are missing or wrong, or it needs more memory: others may do it
		err = fmt.Errorf("%w: %w", cluster.ErrCannot, err)
	}
	return digest[:], err
}

// Do implements [cluster.Executor].
func (e Executor) Do(ctx context.Context, posted []cluster.Job, progress func(share float64)) ([][]byte, error) {
	jobs := make([]Job, len(posted))
	for k, p := range posted {
		j, err := UnmarshalJob(p.Body)
		if err != nil {
			return nil, err
		}
		if len(p.Secret) != len(train.Key{}) {
			return nil, fmt.Errorf("the key of run %s has %d bytes", j.Run, len(p.Secret))
		}
		j.Key = train.Key(p.Secret)
		jobs[k] = j
	}
	results, err := e.Worker.CarryOut(ctx, jobs, watched{e.Follower, progress})
	if err != nil && !OfWorker(err) && ctx.Err() == nil { // it would end one worker after another
		err = fmt.Errorf("%w: %w", cluster.ErrCannot, err)
	}
	if err != nil {
		return nil, err
	}
	bodies := make([][]byte, len(results))
	for k, r := range results {
		if bodies[k], err = r.Marshal(); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

// watched reports progress to the cluster too, which extends the leases of the jobs.
type watched struct {
	Follower
	progress func(share float64)
}

func (w watched) Progress(done, total float64, what string) {
	w.progress(0)
	w.Follower.Progress(done, total, what)
}

func (w watched) Working(share float64) {
	w.progress(share)
	w.Follower.Working(share)
}
