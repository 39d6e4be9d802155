package cluster

import (
	"context"
	"crypto/hpke"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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

// hello asks the coordinators that are there whether they take the worker.
func (s *serving) hello(ctx context.Context) error {
	inbox := s.conn.nats.NewInbox()
	replies := make(chan *nats.Msg, 64)
	sub, err := s.conn.nats.ChanSubscribe(inbox, replies)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	nonce := newNonce()
	text, err := s.conn.sealer.encode(hello, claim{Worker: s.id, Build: s.Build, Nonce: nonce})
	if err != nil {
		return err
	}
	if err := s.conn.nats.PublishRequest(hello, inbox, text); err != nil {
		return err
	}
	refused, taken := "", false
	for timeout := time.After(time.Second); !taken; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-replies:
			var g grant
			switch err := s.conn.sealer.decode(replyTo(hello, nonce), m.Data, &g); {
			case len(m.Data) == 0: // the server says that no coordinator is there
				return nil
			case err != nil && refused == "":
				refused = "a coordinator is there, and has another secret than this cluster's file; copy the file from its machine"
			case err != nil:
			case g.Refusal != "":
				refused = g.Why
			default:
				taken = true
			}
			continue
		case <-timeout:
		}
		if refused != "" {
			return fmt.Errorf("%w: %s", ErrRefused, refused)
		}
		return nil
	}
	return nil
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

// listen subscribes to what wakes one of the workers that have nothing to do. One of many is enough: it wakes another
// if there is more than it takes.
func (s *serving) listen() error {
	for _, lane := range s.Lanes {
		sub, err := s.conn.nats.ChanQueueSubscribe(s.conn.wakeSubject(lane), "idle", s.wake)
		if err != nil {
			return s.conn.ofServer(err)
		}
		s.ears = append(s.ears, sub)
	}
	return nil
}

// deaf ends the subscriptions. It reports whether one more worker was to be woken.
func (s *serving) deaf() (woken bool) {
	for _, sub := range s.ears {
		_ = sub.Unsubscribe() // the connection may be gone
	}
	s.ears = nil
	for {
		select {
		case <-s.wake:
			woken = true
		default:
			return woken
		}
	}
}

func (s *serving) wakeAnother(lane string) {
	_ = s.conn.nats.Publish(s.conn.wakeSubject(lane), nil) // or it looks by itself
}

// rest waits until there may be a job, and reports whether the worker was woken. A call may be lost, and the jobs of
// workers that are gone wake nobody: it looks by itself, often at first.
func (s *serving) rest(ctx context.Context, idle, hope time.Time) (woken bool) {
	pause := min(max(time.Since(hope), notice), s.conn.timing.pulse)
	pause = pause/5 + rand.N(pause*4/5)
	if left := s.Idle - time.Since(idle); s.Idle >= 0 {
		pause = min(pause, max(left, 0))
	}
	select {
	case <-ctx.Done():
	case <-s.wake:
		return true
	case <-time.After(pause):
	}
	return false
}

// errGone reports a server that doesn't come back, as one inside of a coordinator that has ended.
var errGone = errors.New("the server is gone")

// take takes jobs of one group from the first lane that has any. Errors that may pass are waited for: by a worker that
// ends when it is idle no longer than that, or than a restart takes. The error is errGone then.
func (s *serving) take(ctx context.Context) (jobs []leased, err error) {
	limited := ctx
	if s.Idle >= 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, max(s.Idle, s.conn.timing.gone()), errGone)
		defer cancel()
	}
	for _, lane := range s.Lanes {
		err := patiently(limited, s.conn, s.tellOnce, func(ctx context.Context) error {
			jobs, err = s.fetch(ctx, lane)
			if err != nil {
				delete(s.lanes, lane)
				s.unsure = true
			}
			return err
		})
		if err != nil && ctx.Err() == nil && context.Cause(limited) == errGone {
			return nil, errGone
		}
		if err != nil || len(jobs) > 0 {
			return jobs, err
		}
	}
	return nil, nil
}

// fetch takes jobs from a lane. Those of another group than the first one's go back at once.
func (s *serving) fetch(ctx context.Context, lane string) ([]leased, error) {
	consumer, ok := s.lanes[lane]
	if !ok {
		var err error
		if consumer, err = s.conn.consumer(ctx, lane); err != nil {
			return nil, err
		}
		s.lanes[lane] = consumer
	}
	for {
		messages, err := s.pull(consumer)
		if err != nil {
			return nil, err
		}
		if jobs, unasked := s.sort(messages, lane); len(jobs) > 0 || unasked == 0 {
			return jobs, nil
		} // others may lie behind them
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

const (
	// A server hands out a job some time after it has acknowledged it: one that is asked at once may say it has none.
	notice = 20 * time.Millisecond
	// Jobs that are posted together are done together.
	gather = 50 * time.Millisecond
	// A server says that it has no job. After this long without a word the library ends as if it had.
	unanswered = time.Second
)

var errUnanswered = errors.New("no answer")

// pull takes as many jobs as the worker does at once, or what there is.
func (s *serving) pull(consumer jetstream.Consumer) (messages []jetstream.Msg, err error) {
	asked := time.Now()
	first, err := consumer.Next(jetstream.FetchMaxWait(notice))
	if errors.Is(err, nats.ErrTimeout) {
		err = nil
		if time.Since(asked) >= unanswered {
			err = errUnanswered
		}
	}
	if err != nil || first == nil {
		return nil, err
	}
	messages = append(messages, first)
	if s.Batch > 1 {
		more, err := consumer.Fetch(s.Batch-1, jetstream.FetchMaxWait(gather))
		if err != nil {
			return messages, nil // what it has is under a lease
		}
		for m := range more.Messages() {
			messages = append(messages, m)
		}
	}
	return messages, nil
}

func (s *serving) open(m jetstream.Msg, lane string) (leased, error) {
	campaign, id, ok := splitTask(m.Subject())
	if !ok {
		return leased{}, fmt.Errorf("subject %q", m.Subject())
	}
	var p posted
	err := s.conn.sealer.decode(m.Subject(), m.Data(), &p)
	return leased{Job{ID: id, Lane: lane, Group: p.Group, Body: p.Body}, campaign, m}, err
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
func (s *serving) silence() time.Duration { return 2 * s.conn.timing.renew }

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

// carryOut asks for the secrets of jobs, does them and hands in what came of them. It leaves in jobs what isn't done.
func (s *serving) carryOut(ctx context.Context, jobs *[]leased, progress func(float64)) error {
	data, err := s.crew.Data(ctx, (*jobs)[0].Job)
	if errors.Is(err, ErrCannot) {
		s.refuse(*jobs, err)
		*jobs = nil
		return nil
	}
	if err != nil {
		return err
	}
	progress(0)
	var granted []leased
	for _, j := range *jobs {
		ok, err := s.ask(ctx, &j, data)
		if err != nil {
			return err
		}
		if ok {
			granted = append(granted, j)
		}
	}
	if *jobs = granted; len(granted) == 0 {
		return nil
	}
	bodies, err := s.crew.Do(ctx, only(granted), progress)
	if errors.Is(err, ErrCannot) {
		s.refuse(granted, err)
		*jobs = nil
		return nil
	}
	if err != nil {
		return err
	}
	if len(bodies) != len(granted) {
		return fmt.Errorf("cluster: %d results of %d jobs", len(bodies), len(granted))
	}
	s.handing.Store(true)
	defer s.handing.Store(false)
	for k, j := range granted {
		if err := s.handIn(ctx, j, bodies[k]); err != nil {
			return err
		}
		*jobs = granted[k+1:]
		s.mu.Lock()
		s.state.Done++
		s.mu.Unlock()
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

// refuse leaves jobs to other workers, and those of their group from now on.
func (s *serving) refuse(jobs []leased, why error) {
	s.ban(jobs[0].campaign+jobs[0].Group, banFor)
	s.tellOnce(why.Error())
	subject := keyRoot + jobs[0].campaign
	text, err := s.conn.sealer.encode(subject, claim{Worker: s.id, Build: s.Build, ID: jobs[0].ID, Cannot: why.Error()})
	if err == nil {
		_ = s.conn.nats.Publish(subject, text) // it is for people
	}
	for _, j := range jobs {
		_ = j.message.NakWithDelay(time.Second)
	}
}

// ask asks the coordinator for the secret of a job. It reports whether the job is to be done; if not, it has left it to
// others, or the job has ended.
func (s *serving) ask(ctx context.Context, j *leased, data []byte) (bool, error) {
	if s.isBanned(noAnswer + j.campaign) { // since the job before it
		_ = j.message.NakWithDelay(s.silence())
		return false, nil
	}
	subject, nonce := keyRoot+j.campaign, newNonce()
	text, err := s.conn.sealer.encode(subject, claim{
		Worker: s.id, Build: s.Build, ID: j.ID, Body: j.digest(), Data: data, Public: s.key.PublicKey().Bytes(), Nonce: nonce,
	})
	if err != nil {
		return false, err
	}
	var g grant
	for tries := 1; ; tries++ {
		linked, cut := s.conn.within(ctx)
		asking, cancel := context.WithTimeout(linked, 5*time.Second)
		m, err := s.conn.nats.RequestWithContext(asking, subject, text)
		cancel()
		cut()
		if err == nil {
			if err = s.conn.sealer.decode(replyTo(subject, nonce), m.Data, &g); err == nil {
				break
			}
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if tries == 4 {
			s.tellOnce("a coordinator doesn't answer; its jobs wait until it does")
			s.ban(noAnswer+j.campaign, s.silence())
			_ = j.message.NakWithDelay(s.silence())
			return false, nil
		}
		time.Sleep(time.Duration(tries) * 100 * time.Millisecond)
	}
	switch g.Refusal {
	case "":
		j.Secret, err = openWith(s.key, boxFor(j.campaign, j.ID), g.Box)
		return err == nil, err
	case notOut:
		return false, j.message.Ack()
	case notNow:
		s.tellOnce(g.Why)
		return false, j.message.NakWithDelay(s.conn.timing.renew)
	case otherBuild:
		s.ban(j.campaign, banFor)
	default:
		s.ban(j.campaign+j.Group, banFor)
	}
	s.tellOnce(g.Why)
	return false, j.message.Nak()
}

func (s *serving) begin(jobs []leased) {
	s.mu.Lock()
	s.state.Jobs, s.state.Share = nil, 0
	for _, j := range jobs {
		s.state.Jobs = append(s.state.Jobs, j.ID)
	}
	s.mu.Unlock()
	s.feel(false)
}

func (s *serving) share(share float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Share = share
}

func (s *serving) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Jobs, s.state.Share = nil, 0
}

// pulses says every few seconds what the worker does.
func (s *serving) pulses(ctx context.Context) {
	tick := time.NewTicker(s.conn.timing.pulse)
	defer tick.Stop()
	for s.feel(false); ; s.feel(false) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *serving) feel(ending bool) {
	s.mu.Lock()
	p := s.state
	p.Worker, p.Host, p.Machine, p.Build, p.Batch, p.Ending = s.id, s.Host, s.Machine, s.Build, s.Batch, ending
	p.Jobs = slices.Clone(p.Jobs)
	s.mu.Unlock()
	for _, lane := range s.Lanes {
		p.Lanes = append(p.Lanes, s.conn.laneToken(lane))
	}
	text, err := s.conn.sealer.encode(pulse, p)
	if err == nil {
		_ = s.conn.nats.Publish(pulse, text) // the next one says the same
	}
}
