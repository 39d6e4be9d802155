package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/train"
)

// Executor carries out orders as jobs of a cluster.
type Executor struct {
	Machine  *remote.Machine
	Follower remote.Follower
}

// Data implements [cluster.Executor].
func (e Executor) Data(ctx context.Context, j cluster.Job) ([]byte, error) {
	o, err := remote.UnmarshalOrder(j.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", cluster.ErrCannot, err)
	}
	digest, err := e.Machine.DataDigest(ctx, o, e.Follower)
	var known *experiment.Error
	if errors.As(err, &known) { // its data are missing or wrong, or it needs more memory: others may do it
		err = fmt.Errorf("%w: %w", cluster.ErrCannot, err)
	}
	return digest[:], err
}

// Do implements [cluster.Executor].
func (e Executor) Do(ctx context.Context, jobs []cluster.Job, progress func(share float64)) ([][]byte, error) {
	orders := make([]remote.Order, len(jobs))
	for k, j := range jobs {
		o, err := remote.UnmarshalOrder(j.Body)
		if err != nil {
			return nil, err
		}
		if len(j.Secret) != len(train.Key{}) {
			return nil, fmt.Errorf("the key of run %s has %d bytes", o.Run, len(j.Secret))
		}
		o.Key = train.Key(j.Secret)
		orders[k] = o
	}
	deliveries, err := e.Machine.CarryOut(ctx, orders, watched{e.Follower, progress})
	if err != nil && !remote.OfMachine(err) && ctx.Err() == nil { // it would end one worker after another
		err = fmt.Errorf("%w: %w", cluster.ErrCannot, err)
	}
	if err != nil {
		return nil, err
	}
	bodies := make([][]byte, len(deliveries))
	for k, d := range deliveries {
		if bodies[k], err = d.Marshal(); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

// watched tells the cluster too how far the orders are.
type watched struct {
	remote.Follower
	progress func(share float64)
}

func (w watched) Loading(done, total float64, what string) {
	w.progress(0)
	w.Follower.Loading(done, total, what)
}

func (w watched) Working(share float64) {
	w.progress(share)
	w.Follower.Working(share)
}
