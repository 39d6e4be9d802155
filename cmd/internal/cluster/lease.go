package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// do does jobs of one group under their leases. An error ends the worker.
func (s *serving) do(ctx context.Context, jobs []leased) error {
	under, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var leases sync.WaitGroup
	moved := make(chan struct{}, 1)
	leases.Go(func() { s.renew(under, jobs, moved, cancel) })
	s.update(func(h *Heartbeat) {
		h.Jobs, h.Share = nil, 0
		for _, j := range jobs {
			h.Jobs = append(h.Jobs, j.ID)
		}
	})
	err := s.carryOut(under, jobs, func(share float64) {
		select {
		case moved <- struct{}{}:
		default:
		}
		s.update(func(h *Heartbeat) { h.Share = share })
		s.Working(only(jobs), share)
	})
	cause := context.Cause(under)
	cancel(nil)
	leases.Wait()
	s.update(func(h *Heartbeat) { h.Jobs, h.Share = nil, 0 })
	if err == nil {
		return nil
	}
	delay := s.conn.timing.renew
	if errors.Is(err, context.Canceled) {
		delay = 0
	}
	for _, j := range jobs { // this does nothing to messages that were answered before
		_ = j.message.NakWithDelay(delay)
	}
	_ = s.conn.nats.FlushTimeout(time.Second) // if it fails, the leases run out
	if errors.Is(cause, errStalled) && ctx.Err() == nil {
		return cause
	}
	return err
}

// errStalled reports jobs without progress for Worker.Stall.
var errStalled = errors.New("the jobs under way made no progress for too long, and were given up: is the device hung?")

// renew extends leases while jobs make progress, and calls giveUp when they stall.
func (s *serving) renew(ctx context.Context, jobs []leased, moved <-chan struct{}, giveUp context.CancelCauseFunc) {
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
				last = time.Now() // the server may be down for long, and finished jobs aren't given up
			}
			if time.Since(last) > s.Stall {
				giveUp(errStalled)
				return
			}
			for _, j := range jobs {
				_ = j.message.InProgress() // if it fails for long, the lease runs out
			}
		}
	}
}

// carryOut checks the data of jobs, requests their secrets, does them and hands in their results.
func (s *serving) carryOut(ctx context.Context, jobs []leased, progress func(float64)) error {
	data, err := s.executor.Data(ctx, jobs[0].Job)
	if err == nil {
		err = s.compare(ctx, jobs[0], data)
	}
	given := jobs // with their secrets
	if err == nil {
		progress(0)
		given = nil
		for _, j := range jobs {
			ok, err := s.ask(ctx, &j)
			if err != nil {
				return err
			}
			if ok {
				given = append(given, j)
			}
		}
		if len(given) == 0 {
			return nil
		}
	}
	var bodies [][]byte
	if err == nil {
		bodies, err = s.executor.Do(ctx, only(given), progress)
	}
	if errors.Is(err, ErrCannot) {
		s.pass(given, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if len(bodies) != len(given) {
		return fmt.Errorf("cluster: %d results of %d jobs", len(bodies), len(given))
	}
	s.handing.Store(true)
	defer s.handing.Store(false)
	for k, j := range given {
		if err := s.handIn(ctx, j, bodies[k]); err != nil {
			return err
		}
		s.update(func(h *Heartbeat) { h.Done++ })
	}
	return nil
}

func only(jobs []leased) []Job {
	out := make([]Job, len(jobs))
	for k, j := range jobs {
		out[k] = j.Job
	}
	return out
}

// compare returns an error that wraps ErrCannot if the worker has other data than the job names. If the job names none,
// data must be the same as the group's first worker had.
func (s *serving) compare(ctx context.Context, j leased, data []byte) error {
	want, whose := j.Data, "coordinator"
	if want == nil {
		whose = "first worker"
		key := j.campaign + "." + j.Group
		err := s.conn.patiently(ctx, s.tellOnce, func(ctx context.Context) error {
			ctx, cancel := s.conn.within(ctx)
			defer cancel()
			want = data
			_, err := s.conn.data.Create(ctx, key, data)
			if errors.Is(err, jetstream.ErrKeyExists) {
				var first jetstream.KeyValueEntry
				if first, err = s.conn.data.Get(ctx, key); err == nil {
					want = first.Value()
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if !bytes.Equal(want, data) {
		return fmt.Errorf("%w: it has other data for %s than the %s; one of the two has damaged files", ErrCannot, j.Group, whose)
	}
	return nil
}

// ask requests a job's secret from the coordinator. It reports whether the job is to be done. If not, the job has
// ended, or was given back because the coordinator didn't answer.
func (s *serving) ask(ctx context.Context, j *leased) (bool, error) {
	text, err := json.Marshal(keyRequest{j.ID, sha256.Sum256(j.message.Data())})
	if err != nil {
		return false, err
	}
	limited, cancel := s.conn.within(ctx)
	defer cancel()
	m, err := s.conn.nats.RequestWithContext(limited, keyRoot+j.campaign, text)
	var reply keyReply
	if err == nil {
		err = json.Unmarshal(m.Data, &reply)
	}
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		s.tellOnce("a coordinator doesn't answer; its jobs wait until it does")
		return false, j.message.NakWithDelay(3 * s.conn.timing.pulse)
	case reply.Ended:
		return false, j.message.Ack()
	}
	j.Secret = reply.Secret
	return true, nil
}

// maxInline bounds a result that a message has, in bytes. By default servers take messages of a megabyte.
const maxInline = 512 << 10

// handIn stores a result and acknowledges its job. It waits while the server is down.
func (s *serving) handIn(ctx context.Context, j leased, body []byte) error {
	attempt := rand.Text()
	m := &nats.Msg{Subject: resultSubject(j.campaign, j.ID), Data: body, Header: nats.Header{}}
	if len(body) > int(min(maxInline, s.conn.nats.MaxPayload()/2)) {
		object := j.campaign + "." + j.ID + "." + attempt
		m.Data = nil
		m.Header.Set(objectHeader, object)
		err := s.conn.patiently(ctx, s.tellOnce, func(ctx context.Context) error {
			ctx, cancel := s.conn.forObject(ctx, uint64(len(body)))
			defer cancel()
			_, err := s.conn.large.PutBytes(ctx, object, body)
			return err
		})
		if err != nil {
			return err
		}
	}
	err := s.conn.patiently(ctx, s.tellOnce, func(ctx context.Context) error {
		ctx, cancel := s.conn.within(ctx)
		defer cancel()
		_, err := s.conn.js.PublishMsg(ctx, m, jetstream.WithMsgID(attempt)) // stored once, even if the answer is lost
		return err
	})
	if err == nil {
		_ = j.message.Ack() // if it is lost, the job is done again, with the same result
	}
	return err
}
