package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dptrain/dptrain/internal/show"
)

// Executor does a worker's jobs.
type Executor interface {
	// Data returns a hash of the data that the job's group uses, which may take a while. All workers of the group must
	// have the same. An error that wraps [ErrCannot] leaves the group to other workers.
	Data(ctx context.Context, j Job) ([]byte, error)
	// Do does jobs of one group side by side. It calls progress with the share that is done, which keeps the leases.
	// The bodies of the results are in the order of jobs. With an error none of the jobs is done. An error that wraps
	// [ErrCannot] leaves the group to other workers; any other error ends this worker.
	Do(ctx context.Context, jobs []Job, progress func(share float64)) (bodies [][]byte, err error)
}

// ErrCannot reports jobs that this machine can't do: it lacks memory, or has other data.
var ErrCannot = errors.New("this machine can't do it")

// Worker describes a process that does jobs, and its machine.
type Worker struct {
	Build     Build
	Host      string
	Machine   string // what trains
	Lanes     []string
	GroupSize int // the maximum number of jobs that it does side by side
	// Idle is how long the worker waits for a job before it ends; 0 ends it as soon as there is none, and a negative
	// Idle never.
	Idle time.Duration
	// Stall is how long jobs may make no progress before the worker ends; 0 means half an hour.
	Stall time.Duration
	Tell  func(text string) // is called with warnings for a person
	// Working is called with the jobs under way and the share that is done; with no jobs while the worker waits.
	Working func(jobs []Job, share float64)
}

// Serve does jobs until ctx is cancelled, or until none comes for Worker.Idle. It returns the number of jobs that it
// did. If ctx is cancelled, it gives back the jobs under way at once, and the error is the context's. The error wraps
// [ErrRefused] if the worker did nothing although there were jobs for another build.
func (c *Conn) Serve(ctx context.Context, w Worker, e Executor) (done int, err error) {
	if len(w.Lanes) == 0 || w.GroupSize < 1 {
		return 0, errors.New("cluster: a worker without lanes, or for no job at once")
	}
	if err := checkTokens(w.Lanes...); err != nil {
		return 0, err
	}
	if w.Stall == 0 {
		w.Stall = 30 * time.Minute
	}
	s := &serving{
		Worker: w, conn: c, executor: e,
		consumers: map[string]jetstream.Consumer{}, passed: map[string]time.Time{}, told: map[string]bool{},
		state: Heartbeat{Worker: rand.Text(), Host: w.Host, Machine: w.Machine, Build: w.Build, Lanes: w.Lanes, GroupSize: w.GroupSize},
	}
	beating, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { s.beat(beating) })
	defer func() {
		stop()
		running.Wait()
		s.update(func(h *Heartbeat) { h.Left = true })
		s.say(context.WithoutCancel(ctx))
	}()
	err = s.serve(ctx)
	return s.state.Done, err
}

// serving is the state of one call of Serve.
type serving struct {
	Worker
	conn     *Conn
	executor Executor

	handing   atomic.Bool // whether results are being handed in, which waits for the server
	consumers map[string]jetstream.Consumer
	passed    map[string]time.Time // when groups, by campaign and name, were left to other workers
	refusal   error                // reports a job of another build; nil if there was none
	told      map[string]bool      // by text

	mu    sync.Mutex
	state Heartbeat
}

// leased is a job that the worker holds the lease of.
type leased struct {
	Job
	campaign string
	message  jetstream.Msg
}

// passFor is how long a worker leaves a group to others after it couldn't do it.
const passFor = 10 * time.Minute

// tellOnce calls Tell, unless it was called with the same text before.
func (s *serving) tellOnce(text string) {
	if !s.told[text] {
		s.told[text] = true
		s.Tell(show.Printable(text))
	}
}

func (s *serving) serve(ctx context.Context) error {
	idle := time.Now() // since when there has been no job
	seen := idle       // when the server last answered
	for ctx.Err() == nil {
		jobs, err := s.take(ctx)
		switch now := time.Now(); {
		case len(jobs) > 0:
			before := s.state.Done
			if err := s.do(ctx, jobs); err != nil {
				return err
			}
			if seen = time.Now(); s.state.Done > before {
				idle = seen
			}
			continue
		case err != nil && !s.conn.passing(err):
			return s.conn.ofServer(err)
		case err != nil: // there may be jobs
			if s.Idle >= 0 && now.Sub(seen) >= max(s.Idle, s.conn.timing.gone()) {
				s.tellOnce("the cluster's server is gone; its coordinator may have ended")
				return nil
			}
			idle = now
			_, _ = s.conn.makeStores(ctx) // the server may have lost its disk
		case s.Idle >= 0 && now.Sub(idle) >= s.Idle:
			if s.state.Done == 0 {
				return s.refusal
			}
			return nil
		default:
			seen = now
		}
		s.Working(nil, 0)
		pause := s.conn.timing.pulse / 10
		if pause += mathrand.N(pause); s.Idle >= 0 {
			pause = min(pause, max(s.Idle-time.Since(idle), time.Millisecond))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return ctx.Err()
}

// take leases jobs of one group from the first lane that has any.
func (s *serving) take(ctx context.Context) (jobs []leased, err error) {
	for _, lane := range s.Lanes {
		if jobs, err = s.fetch(ctx, lane); err != nil || len(jobs) > 0 {
			return jobs, err
		}
	}
	return nil, nil
}

const (
	gather     = 50 * time.Millisecond // how long a fetch waits, so that jobs posted together are done together
	unanswered = time.Second           // a longer fetch got no answer, which the library reports as no job
)

// fetch leases jobs of one group from a lane: as many as the worker does side by side, or fewer if the lane has fewer.
func (s *serving) fetch(ctx context.Context, lane string) ([]leased, error) {
	consumer, ok := s.consumers[lane]
	if !ok {
		var err error // lanes don't overlap, so each job has one consumer, as a work queue demands
		if consumer, err = s.conn.consumer(ctx, jobsName, "lane-"+lane, jobSubject(lane, "*", "*")); err != nil {
			return nil, err
		}
		s.consumers[lane] = consumer
	}
	for first := time.Now(); ; {
		began := time.Now()
		fetched, err := consumer.Fetch(s.GroupSize, jetstream.FetchMaxWait(gather))
		if err != nil {
			return nil, err
		}
		var messages []jetstream.Msg
		for m := range fetched.Messages() {
			messages = append(messages, m)
		}
		if len(messages) == 0 {
			err = fetched.Error()
			if err == nil && time.Since(began) >= unanswered {
				err = errors.New("no answer")
			}
			if err != nil {
				delete(s.consumers, lane)
			}
			return nil, err
		}
		// Even after an error these messages are leased. A message that choose gives back comes again before the jobs
		// behind it, so the next fetch looks at those first.
		if jobs := s.choose(messages, lane); len(jobs) > 0 || ctx.Err() != nil || time.Since(first) > s.conn.timing.renew {
			return jobs, nil
		}
	}
}

// choose returns the jobs that the worker is to do, and gives the other messages back.
func (s *serving) choose(messages []jetstream.Msg, lane string) (jobs []leased) {
	for _, m := range messages {
		campaign, id := splitJob(m.Subject())
		var p posted
		err := json.Unmarshal(m.Data(), &p)
		j := leased{Job{ID: id, Lane: lane, Group: p.Group, Data: p.Data, Body: p.Body}, campaign, m}
		switch {
		case err != nil:
			s.tellOnce(fmt.Sprintf("a job can't be read: %v", err))
			_ = m.NakWithDelay(time.Minute)
		case !s.Build.same(p.Build):
			s.refusal = fmt.Errorf("%w: this worker is %s, and jobs are of %s: run the same on all machines", ErrRefused, s.Build, p.Build)
			s.tellOnce(s.refusal.Error())
			_ = m.NakWithDelay(s.conn.timing.renew)
		case time.Since(s.passed[j.campaign+" "+j.Group]) < passFor:
			_ = m.NakWithDelay(s.conn.timing.renew)
		case len(jobs) > 0 && (j.Group != jobs[0].Group || j.campaign != jobs[0].campaign):
			_ = m.Nak()
		default:
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// pass leaves jobs to other workers, and for passFor their whole group.
func (s *serving) pass(jobs []leased, why string) {
	s.passed[jobs[0].campaign+" "+jobs[0].Group] = time.Now()
	s.tellOnce(why)
	s.update(func(h *Heartbeat) { h.Refusal = why })
	for _, j := range jobs {
		_ = j.message.NakWithDelay(s.conn.timing.renew / 7)
	}
}

// update changes the worker's heartbeat.
func (s *serving) update(change func(*Heartbeat)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
}

// beat publishes the heartbeat every few seconds.
func (s *serving) beat(ctx context.Context) {
	tick := time.NewTicker(s.conn.timing.pulse)
	defer tick.Stop()
	for {
		s.say(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *serving) say(ctx context.Context) {
	s.mu.Lock()
	h := s.state
	h.Jobs = slices.Clone(h.Jobs)
	s.mu.Unlock()
	text, err := json.Marshal(h)
	if err != nil || !s.conn.nats.IsConnected() {
		return
	}
	limited, cancel := s.conn.within(ctx)
	defer cancel()
	_, _ = s.conn.workers.Put(limited, h.Worker, text) // if it fails, the next heartbeat says the same
}
