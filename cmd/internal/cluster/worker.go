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
)

// Executor does jobs on one machine.
type Executor interface {
	// Data returns a hash of the data that jobs of one group use, which may take a while. All workers must have the
	// same. An error that wraps [ErrCannot] says that this machine can't do them.
	Data(ctx context.Context, j Job) ([]byte, error)
	// Do does jobs of one group side by side, and calls progress with the share of them that is done: a lease lasts
	// while it is called. The bodies of the results are in the order of jobs. With an error none of them is done: one
	// that wraps [ErrCannot] leaves them to other machines, and any other one is the machine's, and ends the worker.
	Do(ctx context.Context, jobs []Job, progress func(share float64)) (bodies [][]byte, err error)
}

// ErrCannot reports jobs that this machine can't do: it lacks memory, or its data are others.
var ErrCannot = errors.New("this machine can't do it")

// Worker describes a machine that does jobs.
type Worker struct {
	Build   Build
	Host    string
	Machine string // what trains
	Lanes   []string
	Batch   int // jobs at once
	// Idle is how long the worker waits for a job before it ends; negative means forever, and 0 that it ends as soon as
	// there is none.
	Idle time.Duration
	// Stall is how long a job may say nothing before the worker gives it up; 0 means half an hour.
	Stall time.Duration
	Tell  func(text string) // what a person should know
	// Working is called with the names of the jobs under way and the share that is done; none when the worker waits.
	Working func(jobs []Job, share float64)
}

// Serve does jobs until ctx is cancelled or none comes for Worker.Idle. It returns the number of jobs that it did. If
// ctx is cancelled, the jobs under way go to other workers at once, and the error is the context's. The error wraps
// [ErrRefused] if the worker did nothing, and jobs were there for another build.
func (c *Conn) Serve(ctx context.Context, w Worker, e Executor) (done int, err error) {
	if len(w.Lanes) == 0 || w.Batch < 1 {
		return 0, errors.New("cluster: a worker without lanes, or for no job at once")
	}
	if err := checkTokens(w.Lanes...); err != nil {
		return 0, err
	}
	if w.Tell == nil {
		w.Tell = func(string) {}
	}
	if w.Working == nil {
		w.Working = func([]Job, float64) {}
	}
	if w.Stall == 0 {
		w.Stall = 30 * time.Minute
	}
	s := &serving{
		Worker: w, conn: c, executor: e,
		consumers: map[string]jetstream.Consumer{}, passed: map[string]time.Time{}, told: map[string]bool{},
		state: Heartbeat{Worker: rand.Text(), Host: w.Host, Machine: w.Machine, Build: w.Build, Lanes: w.Lanes, Batch: w.Batch},
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

// serving is a call of Serve.
type serving struct {
	Worker
	conn     *Conn
	executor Executor

	handing   atomic.Bool // results are being handed in, which waits for the server
	consumers map[string]jetstream.Consumer
	passed    map[string]time.Time // groups of campaigns that were left to other workers, and when
	refusal   error                // of a job of another build
	told      map[string]bool

	mu    sync.Mutex
	state Heartbeat
}

// leased is a job that the worker has, and its message.
type leased struct {
	Job
	build    Build
	campaign string
	message  jetstream.Msg
}

// passFor is how long a worker leaves a group alone that it couldn't do.
const passFor = 10 * time.Minute

// tellOnce tells a person something once.
func (s *serving) tellOnce(text string) {
	if !s.told[text] {
		s.told[text] = true
		s.Tell(printable(text))
	}
}

func (s *serving) serve(ctx context.Context) error {
	idle := time.Now() // since when there is no job
	seen := idle       // when the server was there
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

// take takes jobs of one group from the first lane that has any.
func (s *serving) take(ctx context.Context) (jobs []leased, err error) {
	for _, lane := range s.Lanes {
		if jobs, err = s.fetch(ctx, lane); err != nil || len(jobs) > 0 {
			return jobs, err
		}
	}
	return nil, nil
}

const (
	gather     = 50 * time.Millisecond // jobs that are posted together are done together
	unanswered = time.Second           // a fetch that takes longer got no answer: the library reports no job then
)

// fetch takes as many jobs of one group as the worker does at once, or all that a lane has.
func (s *serving) fetch(ctx context.Context, lane string) ([]leased, error) {
	consumer, ok := s.consumers[lane]
	if !ok {
		var err error
		if consumer, err = s.conn.laneConsumer(ctx, lane); err != nil {
			return nil, err
		}
		s.consumers[lane] = consumer
	}
	for first := time.Now(); ; {
		began := time.Now()
		batch, err := consumer.Fetch(s.Batch, jetstream.FetchMaxWait(gather))
		if err != nil {
			return nil, err
		}
		var messages []jetstream.Msg
		for m := range batch.Messages() {
			messages = append(messages, m)
		}
		if len(messages) == 0 {
			err = batch.Error()
			if err == nil && time.Since(began) >= unanswered {
				err = errors.New("no answer")
			}
			if err != nil {
				delete(s.consumers, lane)
			}
			return nil, err
		}
		// Whatever else happened, they are under a lease. What is given back comes again before the jobs behind it, so
		// these are looked at before it does.
		if jobs := s.choose(messages, lane); len(jobs) > 0 || ctx.Err() != nil || time.Since(first) > s.conn.timing.renew {
			return jobs, nil
		}
	}
}

// choose returns the jobs that the worker is to do, and gives back the others.
func (s *serving) choose(messages []jetstream.Msg, lane string) (jobs []leased) {
	for _, m := range messages {
		campaign, id := splitJob(m.Subject())
		var p posted
		err := json.Unmarshal(m.Data(), &p)
		j := leased{Job{ID: id, Lane: lane, Group: p.Group, Data: p.Data, Body: p.Body}, p.Build, campaign, m}
		switch {
		case err != nil:
			s.tellOnce(fmt.Sprintf("a job can't be read: %v", err))
			_ = m.NakWithDelay(time.Minute)
		case !s.Build.same(j.build):
			s.refusal = fmt.Errorf("%w: this worker is %s, and jobs are of %s: run the same on all machines", ErrRefused, s.Build, j.build)
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

// pass leaves jobs to other workers, and those of their group from now on.
func (s *serving) pass(jobs []leased, why string) {
	s.passed[jobs[0].campaign+" "+jobs[0].Group] = time.Now()
	s.tellOnce(why)
	s.update(func(h *Heartbeat) { h.Refusal = why })
	for _, j := range jobs {
		_ = j.message.NakWithDelay(s.conn.timing.renew / 7)
	}
}

// update changes what the worker says of itself.
func (s *serving) update(change func(*Heartbeat)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
}

// beat says every few seconds what the worker does.
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
	_, _ = s.conn.workers.Put(limited, h.Worker, text) // the next one says the same
}
