package cluster

import (
	"context"
	"crypto/hpke"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Crew does jobs on one machine.
type Crew interface {
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
// [ErrRefused] if all coordinators that are there refuse the worker.
func (c *Conn) Serve(ctx context.Context, w Worker, crew Crew) (done int, err error) {
	if len(w.Lanes) == 0 || w.Batch < 1 {
		return 0, errors.New("cluster: a worker without lanes, or for no job at once")
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
	key, err := newKeyPair()
	if err != nil {
		return 0, err
	}
	s := &serving{
		Worker: w, conn: c, crew: crew, id: cryptorand.Text(), key: key, wake: make(chan *nats.Msg, 64),
		banned: map[string]time.Time{}, lanes: map[string]jetstream.Consumer{}, told: map[string]bool{},
	}
	if err := s.hello(ctx); err != nil {
		return 0, err
	}
	defer s.deaf()
	pulsing, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { s.pulses(pulsing) })
	defer func() {
		stop()
		running.Wait()
		s.feel(true)
	}()
	err = s.serve(ctx)
	return s.state.Done, err
}

// serving is a call of Serve.
type serving struct {
	Worker
	conn *Conn
	crew Crew
	id   string
	key  hpke.PrivateKey // of this process
	wake chan *nats.Msg

	ears    []*nats.Subscription // for wake, while there is nothing to do
	unsure  bool                 // the server didn't answer
	handing atomic.Bool          // results are being handed in, which waits for the server
	lanes   map[string]jetstream.Consumer
	banned  map[string]time.Time // campaigns and groups that aren't for this worker, and until when
	told    map[string]bool

	mu    sync.Mutex
	state Pulse
}

// leased is a job that the worker has, and its message.
type leased struct {
	Job
	campaign string
	message  jetstream.Msg
}

// banFor is how long a worker leaves alone what was refused to it.
const banFor = 10 * time.Minute

// tellOnce tells a person something once.
func (s *serving) tellOnce(text string) {
	if !s.told[text] {
		s.told[text] = true
		s.Tell(printable(text))
	}
}

func (s *serving) serve(ctx context.Context) error {
	idle := time.Now()
	hope := idle // when there last was a reason to look
	for {
		jobs, err := s.take(ctx)
		if errors.Is(err, errGone) {
			s.tellOnce("the cluster's server is gone; its coordinator may have ended")
			return nil
		}
		if err != nil {
			return err
		}
		if len(jobs) > 0 {
			if s.deaf() || len(jobs) == s.Batch { // there may be more
				s.wakeAnother(jobs[0].Lane)
			}
			if err := s.do(ctx, jobs); err != nil {
				return err
			}
			idle = time.Now()
			hope = idle
			continue
		}
		s.Working(nil, 0)
		if s.unsure { // while the server doesn't answer there may be jobs
			s.unsure, idle = false, time.Now()
		}
		if s.Idle >= 0 && time.Since(idle) >= s.Idle {
			return ctx.Err()
		}
		if len(s.ears) == 0 {
			if err := s.listen(); err != nil {
				return err
			}
			continue // a job may have come in between
		}
		if s.rest(ctx, idle, hope) {
			hope = time.Now()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// sort returns the jobs that the worker is to do, and lets go of the others. It also counts those whose coordinator
// doesn't answer.
func (s *serving) sort(messages []jetstream.Msg, lane string) (jobs []leased, unasked int) {
	for _, m := range messages {
		job, err := s.open(m, lane)
		switch {
		case errors.Is(err, ErrSecret): // nobody who knows this lane has written it
			s.tellOnce("a job is damaged; its coordinator posts it again")
			_ = m.Ack()
		case err != nil:
			s.tellOnce(fmt.Sprintf("a job can't be read: %v", err))
			_ = m.NakWithDelay(time.Minute) // by a coordinator of another version
		case s.isBanned(noAnswer + job.campaign):
			_ = m.NakWithDelay(s.silence())
			unasked++
		case s.isBanned(job.campaign) || s.isBanned(job.campaign+job.Group):
			_ = m.NakWithDelay(s.conn.timing.renew) // for others
		case len(jobs) > 0 && (job.Group != jobs[0].Group || job.campaign != jobs[0].campaign):
			_ = m.Nak()
		default:
			jobs = append(jobs, job)
		}
	}
	return jobs, unasked
}

func (s *serving) isBanned(what string) bool { return time.Now().Before(s.banned[what]) }

func (s *serving) ban(what string, duration time.Duration) {
	now := time.Now()
	maps.DeleteFunc(s.banned, func(_ string, until time.Time) bool { return now.After(until) }) // a worker lives long
	s.banned[what] = now.Add(duration)
}

// noAnswer begins the names of campaigns whose coordinator doesn't answer, in serving.banned. Theirs may be thousands
// of jobs, and each costs a while to ask for: jobs of other coordinators mustn't wait for that.
const noAnswer = "no answer "

// silence is how long such a campaign is left alone.
func (s *serving) silence() time.Duration { return 3 * s.conn.timing.pulse }
