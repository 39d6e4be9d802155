package cluster

import (
	"context"
	"errors"
	"sync"
	"time"
)

// do does jobs of one group. Its errors are those of the machine.
func (s *serving) do(ctx context.Context, jobs []leased) error {
	under, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var leases sync.WaitGroup
	moved := make(chan struct{}, 1)
	all := jobs // carryOut shortens jobs
	leases.Go(func() { s.keep(under, all, moved, cancel) })
	s.begin(jobs)
	err := s.carryOut(under, &jobs, func(share float64) {
		select {
		case moved <- struct{}{}:
		default:
		}
		s.share(share)
		s.Working(only(jobs), share)
	})
	cause := context.Cause(under)
	cancel(nil)
	leases.Wait()
	if err != nil {
		for _, j := range jobs { // those that aren't done
			_ = j.message.NakWithDelay(s.again(err))
		}
		if ctx.Err() != nil && len(jobs) > 0 {
			s.wakeAnother(jobs[0].Lane)
		}
		_ = s.conn.nats.FlushTimeout(time.Second) // or the lease runs out
	}
	s.end()
	if errors.Is(cause, errStalled) && ctx.Err() == nil {
		return cause
	}
	return err
}

// again is when other workers get a job that this one couldn't do.
func (s *serving) again(err error) time.Duration {
	if errors.Is(err, context.Canceled) {
		return 0
	}
	return s.conn.timing.renew
}

// errStalled reports jobs that said nothing for too long.
var errStalled = errors.New("the jobs under way made no progress for too long, and were given up: is the device hung?")

// keep renews leases while jobs make progress.
func (s *serving) keep(ctx context.Context, jobs []leased, moved <-chan struct{}, giveUp context.CancelCauseFunc) {
	tick := time.NewTicker(s.conn.timing.renew)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-moved:
			last = time.Now()
		case <-tick.C:
			if s.handing.Load() {
				last = time.Now() // the server may be down for long, and what was done isn't given up
			}
			if time.Since(last) > s.Stall {
				giveUp(errStalled)
				return
			}
			for _, j := range jobs {
				_ = j.message.InProgress() // without a connection the lease runs out
			}
		}
	}
}
