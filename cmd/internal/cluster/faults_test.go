package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// hasty is for tests that wait for leases to run out.
var hasty = timing{lease: time.Second, renew: 250 * time.Millisecond, pulse: 400 * time.Millisecond, check: 300 * time.Millisecond, reply: 2 * time.Second}

// patient is for tests in which neither an expired lease nor a check of the coordinator may repair anything.
var patient = timing{lease: time.Hour, renew: 100 * time.Millisecond, pulse: 400 * time.Millisecond, check: time.Hour, reply: 5 * time.Second}

// fixture is a server with a board, and the texts that the coordinator got.
type fixture struct {
	t      testing.TB
	timing timing
	server *Server
	dir    string
	board  *Board

	mu   sync.Mutex
	told []string
}

func newFixture(t testing.TB) *fixture { return newFixtureWith(t, hasty) }

func newFixtureWith(t testing.TB, with timing) *fixture {
	s := &fixture{t: t, timing: with, dir: t.TempDir()}
	s.start()
	t.Cleanup(func() { _ = s.server.Close() })
	s.board = s.newBoard("campaign")
	return s
}

func (s *fixture) start() {
	s.t.Helper()
	var err error
	if s.server, err = Embed(s.dir, "127.0.0.1:0", ""); err != nil {
		s.t.Fatal(err)
	}
}

func (s *fixture) connect() *Conn { return connectedWith(s.t, s.server.File, s.timing) }

func (s *fixture) newBoard(campaign string) *Board {
	s.t.Helper()
	b, err := s.connect().Board(s.t.Context(), campaign, here, s.tell)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(b.Close)
	return b
}

func (s *fixture) tell(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, text)
}

func (s *fixture) hears(text string) {
	s.t.Helper()
	until(s.t, "it is told that "+text, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Contains(strings.Join(s.told, "\n"), text)
	})
}

func (s *fixture) post(n int) {
	s.t.Helper()
	for i := range n {
		s.postJob(job(i))
	}
}

func (s *fixture) postJob(j Job) {
	s.t.Helper()
	if err := s.board.Post(s.t.Context(), j); err != nil {
		s.t.Fatal(err)
	}
}

// next waits for a result.
func (s *fixture) next() Result {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), hang)
	defer cancel()
	r, err := s.board.Next(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *fixture) done(id string) {
	s.t.Helper()
	if err := s.board.Done(s.t.Context(), id); err != nil {
		s.t.Fatal(err)
	}
}

// collect waits for the results of n jobs, each of which is to come at least once.
func (s *fixture) collect(n int) (results int) {
	s.t.Helper()
	for seen := map[string]bool{}; len(seen) < n; results++ {
		r := s.next()
		seen[r.ID] = true
		if !bytes.Equal(r.Body, outcome(jobOf(r.ID))) {
			s.t.Errorf("%s: another result", r.ID)
		}
		s.done(r.ID)
	}
	return results
}

// onServer returns the number of messages of a stream.
func (s *fixture) onServer(stream jetstream.Stream) uint64 {
	s.t.Helper()
	info, err := stream.Info(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return info.State.Msgs
}

// worker starts a worker, and returns a function that ends it as if its machine had lost its power.
func (s *fixture) worker(e Executor, w Worker) (kill func()) {
	cancel, conn, ended := s.serve(e, w)
	kill = func() {
		conn.Close() // it says nothing any more
		cancel()
		<-ended
	}
	s.t.Cleanup(kill)
	return kill
}

// serve starts a worker that a test stops by cancel. ended has its error, and is closed.
func (s *fixture) serve(e Executor, w Worker) (cancel context.CancelFunc, conn *Conn, ended chan error) {
	conn = s.connect()
	ctx, cancel := context.WithCancel(s.t.Context())
	w.Lanes = []string{"mnist"}
	if w.Build == (Build{}) {
		w.Build = here
	}
	if w.GroupSize = max(w.GroupSize, 1); w.Idle == 0 {
		w.Idle = -1
	}
	ended = make(chan error, 1)
	go func() {
		defer close(ended)
		_, err := conn.Serve(ctx, quietly(w), e)
		ended <- err
	}()
	return cancel, conn, ended
}

// hold returns an executor that says when it begins a job, and waits until it is let go or its worker ends.
func hold() (e *hasher, started, let chan struct{}) {
	started, let = make(chan struct{}, 100), make(chan struct{})
	return &hasher{does: func(ctx context.Context, _ Job) error {
		started <- struct{}{}
		select {
		case <-let:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}, started, let
}

// A worker that dies costs its lease.
func TestWorkersDie(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	dead, started, _ := hold()
	kill := s.worker(dead, Worker{GroupSize: 2, Host: "victim"})
	s.post(3)
	<-started
	until(t, "its jobs are known", func() bool {
		all := s.board.Workers()
		return len(all) == 1 && len(all[0].Jobs) > 0
	})
	kill()
	s.worker(&hasher{}, Worker{GroupSize: 3})
	if n := s.collect(3); n != 3 {
		t.Errorf("%d results of 3 jobs", n)
	}
	s.hears("is gone without a word; another takes over its jobs")
	until(t, "the dead aren't counted", func() bool {
		return !slices.ContainsFunc(s.board.Workers(), func(h Heartbeat) bool { return h.Host == "victim" })
	})
}

// A worker that is stopped, or whose machine fails, gives its jobs back, although their leases would last.
func TestJobsGoBack(t *testing.T) {
	t.Parallel()
	fault := errors.New("a fault")
	for _, stopped := range []bool{true, false} {
		with := patient
		if stopped {
			with.renew = time.Hour // others get its jobs at once
		}
		s := newFixtureWith(t, with)
		started, fail := make(chan struct{}, 1), make(chan struct{})
		first := &hasher{does: func(ctx context.Context, _ Job) error {
			started <- struct{}{}
			select {
			case <-fail:
				return fault
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		s.post(2)
		cancel, _, ended := s.serve(first, Worker{GroupSize: 2, Host: "first"})
		defer cancel()
		<-started
		s.hears("worker first")
		if stopped {
			cancel()
		} else {
			close(fail)
		}
		if err := <-ended; !errors.Is(err, fault) && !errors.Is(err, context.Canceled) || stopped == errors.Is(err, fault) {
			t.Errorf("stopped %t: %v", stopped, err)
		}
		s.worker(&hasher{}, Worker{})
		s.collect(2)
		s.hears("has left")
	}
}

// A worker gets at once to its job behind many that aren't for it, and then waits for Idle.
func TestIdleAfterJobs(t *testing.T) {
	t.Parallel()
	with := patient
	with.renew = time.Hour
	s := newFixtureWith(t, with)
	other, err := s.connect().Board(t.Context(), "other", Build{Hash: "bb"}, quiet)
	if err == nil {
		defer other.Close()
		for n := range 30 {
			err = errors.Join(err, other.Post(t.Context(), job(n)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s.post(1)
	const idle = 500 * time.Millisecond
	var done time.Time
	_, _, ended := s.serve(&hasher{does: func(context.Context, Job) error {
		time.Sleep(idle)
		done = time.Now()
		return nil
	}}, Worker{Idle: idle})
	if err := <-ended; err != nil || time.Since(done) < idle {
		t.Errorf("it ended %v after its job: %v", time.Since(done), err)
	}
}

// A lease isn't renewed for a job that makes no progress, and the worker ends.
func TestWorkersHang(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	hung, _, _ := hold()
	s.post(1)
	_, _, ended := s.serve(hung, Worker{Stall: time.Millisecond})
	if err := <-ended; !errors.Is(err, errStalled) {
		t.Error(err)
	}
	s.worker(&hasher{}, Worker{})
	s.collect(1)
}

// A worker that is thought dead and comes back late hands in a second result.
func TestWorkersComeBackLate(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	late, started, let := hold()
	s.timing.renew = time.Hour
	s.worker(late, Worker{})
	s.timing = hasty
	s.post(1)
	<-started
	s.worker(&hasher{}, Worker{})
	s.collect(1)
	close(let)
	s.collect(1)
}

// holding is an executor that says which jobs it begins together, and makes progress until it is let go.
type holding struct {
	hasher
	started chan []Job
	let     chan struct{}
}

func (h *holding) Do(ctx context.Context, jobs []Job, progress func(float64)) ([][]byte, error) {
	h.started <- jobs
	for {
		select {
		case <-h.let:
			return h.hasher.Do(ctx, jobs, progress)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
			progress(0)
		}
	}
}

// While jobs make progress, the lease of each lasts, however long they take, and they aren't given up.
func TestLeasesLast(t *testing.T) {
	t.Parallel()
	often := hasty // so that a lease runs out only if the machine stands still for nearly two seconds
	often.lease, often.renew = 2*time.Second, 50*time.Millisecond
	s := newFixtureWith(t, often)
	s.post(2)
	slow := &holding{started: make(chan []Job, 10), let: make(chan struct{})}
	s.worker(slow, Worker{GroupSize: 2, Stall: often.lease})
	under := <-slow.started
	until(t, "the status has the jobs under way, as their worker says", func() bool {
		st, err := s.board.conn.Status(t.Context())
		return err == nil && st.UnderWay == uint64(len(under)) && st.Waiting+st.UnderWay == 2 && len(st.Workers[0].Jobs) == len(under)
	})
	others := &hasher{does: func(_ context.Context, j Job) error {
		for _, u := range under {
			if u.ID == j.ID {
				t.Errorf("%s, under way, was handed out again", j.ID)
			}
		}
		return nil
	}}
	s.worker(others, Worker{})
	time.Sleep(often.lease * 3 / 2)
	close(slow.let)
	s.collect(2)
}

// The server restarts in the middle, with its store, and then without it.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	for _, wiped := range []bool{false, true} {
		var work hasher
		slow := make(chan struct{}, 100)
		work.does = func(context.Context, Job) error { <-slow; return nil }
		kill := s.worker(&work, Worker{GroupSize: 2})
		s.post(12)
		for range 5 {
			slow <- struct{}{}
		}
		until(t, "5 jobs are done", func() bool { return work.did.Load() >= 5 })
		if err := s.server.Close(); err != nil {
			t.Fatal(err)
		}
		if wiped {
			if err := os.RemoveAll(filepath.Join(s.dir, "store")); err != nil {
				t.Fatal(err)
			}
		}
		for range 95 {
			slow <- struct{}{}
		}
		s.start()
		s.collect(12)
		kill()
	}
}

// A worker waits with its results for a server that is down for longer than jobs may say nothing.
func TestResultsOutlastTheServer(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	work := &holding{started: make(chan []Job, 1), let: make(chan struct{})}
	_, _, ended := s.serve(work, Worker{Stall: 600 * time.Millisecond})
	s.post(1)
	<-work.started
	if err := s.server.Close(); err != nil {
		t.Fatal(err)
	}
	close(work.let)
	time.Sleep(1500 * time.Millisecond)
	s.start()
	s.collect(1) // there is no other worker
	select {
	case err := <-ended:
		t.Errorf("the worker ended: %v", err)
	default:
	}
}

// A restarted coordinator gets the results again that weren't done, and no job is done twice.
func TestCoordinatorRestarts(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	var work hasher
	s.worker(&work, Worker{GroupSize: 4})
	s.post(8)
	until(t, "all jobs are done", func() bool { return work.did.Load() >= 8 })
	s.next()
	s.board.Close()
	s.board = s.newBoard("campaign")
	s.post(8)
	s.collect(8)
	if n := work.did.Load(); n != 8 {
		t.Errorf("%d jobs were done, want 8", n)
	}
}

// Jobs of a stopped coordinator stay on the server, and keep no worker from another coordinator's jobs.
func TestCoordinatorIsAway(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	here := s.board
	s.board = s.newBoard("away")
	s.post(40)
	s.board.Close()
	s.board = here
	var work hasher
	s.worker(&work, Worker{})
	for i := range 20 {
		s.postJob(job(100 + i))
	}
	s.collect(20)
	if n := work.did.Load(); n != 20 {
		t.Errorf("%d jobs were done, want 20", n)
	}
	s.board = s.newBoard("away")
	s.post(40)
	s.collect(40)
}
