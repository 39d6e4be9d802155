package cluster

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// serve starts a worker that one test stops by cancel, and returns how it ended.
func (s *scene) serve(c Crew, w Worker) (cancel context.CancelFunc, ended chan error) {
	conn := s.connect()
	ctx, cancel := context.WithCancel(s.t.Context())
	w.Build, w.Lanes, w.Batch = here, []string{"mnist"}, max(w.Batch, 1)
	ended = make(chan error, 1)
	go func() {
		_, err := conn.Serve(ctx, w, c)
		ended <- err
	}()
	return cancel, ended
}

// onServer returns the number of messages of a stream.
func (s *scene) onServer(stream jetstream.Stream) uint64 {
	s.t.Helper()
	info, err := stream.Info(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return info.State.Msgs
}

// A worker that is stopped, or whose machine fails, gives its jobs back, although their leases would last.
func TestJobsGoBack(t *testing.T) {
	t.Parallel()
	fault := errors.New("a fault")
	for _, stopped := range []bool{true, false} {
		s := newSceneOf(t, patient)
		begun := make(chan struct{}, 1)
		first := &crew{does: func(ctx context.Context, _ Job) error {
			begun <- struct{}{}
			if !stopped {
				return fault
			}
			<-ctx.Done()
			return ctx.Err()
		}}
		s.post(2)
		cancel, ended := s.serve(first, Worker{Batch: 2, Idle: -1, Host: "first"})
		defer cancel()
		<-begun
		if stopped {
			cancel()
		}
		if err := <-ended; !errors.Is(err, fault) && !errors.Is(err, context.Canceled) || stopped == errors.Is(err, fault) {
			t.Errorf("stopped %t: %v", stopped, err)
		}
		s.worker(&crew{}, Worker{})
		s.collect(2)
		s.hears("worker first")
		s.hears("has left")
	}
}

// A worker that is stopped while it hands in gives back what it hasn't handed in.
func TestUnfinishedJobsGoBack(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.post(2)
	// A server that takes no parts of results for a moment.
	info, err := s.board.conn.results.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info.Config.Subjects = []string{resultRoot + "*.*"}
	if _, err := s.board.conn.js.UpdateStream(t.Context(), info.Config); err != nil {
		t.Fatal(err)
	}
	cancel, ended := s.serve(unequal{make([]byte, 2*maxInline)}, Worker{Batch: 2, Idle: -1})
	defer cancel()
	ids := s.results(1)
	until(t, "it is acknowledged", func() bool { return s.onServer(s.board.conn.tasks) <= 1 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.worker(silent{[]byte("x")}, Worker{})
	if ids = append(ids, s.results(1)...); ids[0] == ids[1] {
		t.Errorf("results of %q", ids)
	}
}

// unequal is a crew whose first result of several is small.
type unequal struct{ large []byte }

func (unequal) Data(context.Context, Job) ([]byte, error) { return nil, nil }

func (u unequal) Do(_ context.Context, jobs []Job, _ func(float64)) (out [][]byte, _ error) {
	for range jobs {
		out = append(out, u.large)
	}
	if len(jobs) > 1 {
		out[0] = []byte("x")
	}
	return out, nil
}

// counting is a crew whose data are wrong, or which can't do jobs. It says when it is asked.
type counting struct {
	crew
	err   error
	asked chan struct{}
}

func (c *counting) Data(context.Context, Job) ([]byte, error) {
	c.asked <- struct{}{}
	return []byte("wrong"), c.err
}

// Jobs that aren't for a worker go to others, and it leaves their group alone, and stays for other groups.
func TestJobsForOthers(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"other data": nil, "can't": fmt.Errorf("too little memory: %w", ErrCannot)} {
		s := newSceneOf(t, patient)
		s.board.Expect("g", []byte("right"))
		c := &counting{err: err, asked: make(chan struct{}, 1000)}
		cancel, ended := s.serve(c, Worker{Idle: -1})
		defer cancel()
		s.post(1)
		<-c.asked
		if err := s.board.Post(t.Context(), job(1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		if n := len(c.asked); n > 0 {
			t.Errorf("%s: it tried %d times more", name, n)
		}
		stop := s.worker(&crew{data: "right"}, Worker{Batch: 2})
		s.collect(2)
		stop()
		other := job(2)
		other.Group = "another"
		if err := s.board.Post(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		select {
		case <-c.asked:
		case err := <-ended:
			t.Fatalf("%s: it ended: %v", name, err)
		case <-time.After(hang):
			t.Errorf("%s: jobs of other groups aren't taken", name)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// results waits for n results, and returns the names of their jobs.
func (s *scene) results(n int) (ids []string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), hang)
	defer cancel()
	for range n {
		r, err := s.board.Next(ctx)
		if err != nil {
			s.t.Fatalf("after %q: %v", ids, err)
		}
		ids = append(ids, r.ID)
	}
	return ids
}

// A crew gets jobs of one group of one campaign at a time.
func TestGroupsAreApart(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	other, err := s.connect().Board(t.Context(), "other", here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	for n := range 4 {
		for _, group := range []string{"g", "h"} {
			for _, b := range []*Board{s.board, other} {
				j := Job{ID: fmt.Sprintf("%s-%s-%d", b.campaign, group, n), Lane: "mnist", Group: group}
				if err := b.Post(t.Context(), j); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	apart := &apart{t: t}
	cancel, _ := s.serve(apart, Worker{Batch: 16, Idle: -1})
	defer cancel()
	for range 8 {
		for _, b := range []*Board{s.board, other} {
			if r, err := b.Next(t.Context()); err != nil || !strings.HasPrefix(r.ID, b.campaign) {
				t.Fatal(r.ID, err)
			}
		}
	}
}

// apart is a crew that checks that its jobs belong together.
type apart struct {
	t *testing.T
	silent
}

func (a *apart) Do(ctx context.Context, jobs []Job, progress func(float64)) ([][]byte, error) {
	for _, j := range jobs {
		if first := jobs[0].ID; j.ID[:len(j.ID)-1] != first[:len(first)-1] {
			a.t.Errorf("%s is done with %s", j.ID, first)
		}
	}
	return a.silent.Do(ctx, jobs, progress)
}

// A worker takes jobs of its lanes alone, and a crew that loses results is found out.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.post(2)
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if n, err := s.connect().Serve(ctx, Worker{Build: here, Lanes: []string{"imdb"}, Batch: 2}, &crew{}); n != 0 || err != nil {
		t.Errorf("another lane: %d jobs, %v", n, err)
	}
	n, err := s.connect().Serve(ctx, Worker{Build: here, Lanes: []string{"mnist"}, Batch: 2}, losing{})
	if n != 0 || err == nil || !strings.Contains(err.Error(), "1 results of 2 jobs") {
		t.Errorf("too few results: %d jobs, %v", n, err)
	}
	for _, w := range []Worker{{Build: here, Batch: 1}, {Build: here, Lanes: []string{"mnist"}}} {
		if _, err := s.connect().Serve(ctx, w, &crew{}); err == nil {
			t.Errorf("%+v: no error", w)
		}
	}
}

// losing is a crew that loses its last result.
type losing struct{ silent }

func (l losing) Do(ctx context.Context, jobs []Job, progress func(float64)) ([][]byte, error) {
	out, err := l.silent.Do(ctx, jobs, progress)
	return out[1:], err
}

// A job is acknowledged, and not before all parts of its result and then its message were sent.
func TestAcknowledgedLast(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	var mu sync.Mutex
	var passed []string
	seen := make(chan struct{}, 100)
	spy := s.connect()
	if _, err := spy.nats.Subscribe(">", func(m *nats.Msg) {
		what := ""
		switch {
		case strings.HasPrefix(m.Reply, "$JS.ACK."): // the server hands it out
			return
		case strings.HasPrefix(m.Subject, partRoot):
			what = "part"
		case strings.HasPrefix(m.Subject, resultRoot):
			what = "result"
		case strings.HasPrefix(m.Subject, "$JS.ACK."+tasksName) && bytes.HasPrefix(m.Data, []byte("+ACK")):
			what = "ack"
		default:
			return
		}
		mu.Lock()
		passed = append(passed, what)
		mu.Unlock()
		seen <- struct{}{}
	}); err != nil {
		t.Fatal(err)
	}
	if err := spy.nats.Flush(); err != nil {
		t.Fatal(err)
	}
	s.worker(silent{make([]byte, 2*maxPart+1)}, Worker{})
	s.post(1)
	for range 5 {
		select {
		case <-seen:
		case <-time.After(hang):
			t.Error("nothing more is sent")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(passed, " "); got != "part part part result ack" {
		t.Error(got)
	}
}

// A result that the server didn't take is handed in until it does, and its job isn't done twice for it.
func TestHandedInUntilTaken(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	work, begun, let := hold()
	s.worker(work, Worker{})
	s.post(1)
	<-begun
	if err := s.board.conn.js.DeleteStream(t.Context(), resultsName); err != nil {
		t.Fatal(err)
	}
	close(let)
	s.collect(1)
	if n := work.did.Load(); n != 1 {
		t.Errorf("the job was done %d times", n)
	}
	// One message of two, if the answer to the first was lost.
	conn := s.connect()
	w := &serving{conn: conn, told: map[string]bool{}}
	w.Tell = func(string) {}
	subject := resultSubject("elsewhere", "twice")
	before := s.onServer(conn.results)
	for range 2 {
		if err := w.store(t.Context(), subject, "attempt", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.onServer(conn.results) - before; n != 1 {
		t.Errorf("%d messages of one result", n)
	}
}

// While no coordinator answers, jobs stay where they are.
func TestNoCoordinatorNoJob(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.post(1)
	s.board.Close()
	told := make(chan string, 1)
	work := &crew{}
	cancel, _ := s.serve(work, Worker{Idle: -1, Tell: func(text string) { told <- text }})
	defer cancel()
	if text := <-told; !strings.Contains(text, "doesn't answer") {
		t.Error(text)
	}
	time.Sleep(50 * time.Millisecond)
	if n := s.onServer(s.board.conn.tasks); n != 1 || work.did.Load() != 0 {
		t.Errorf("%d jobs are left of 1, and %d are done", n, work.did.Load())
	}
}

// A job whose result waits leaves the queue when a worker asks for it.
func TestEndedJobsLeave(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.post(1)
	s.put(made{Worker: "other", Attempt: "0", Body: outcome(job(0))})
	s.results(1) // not done
	work := &crew{}
	s.worker(work, Worker{})
	until(t, "it isn't handed out any more", func() bool { return s.onServer(s.board.conn.tasks) == 0 })
	if work.did.Load() != 0 {
		t.Error("it was done")
	}
}

// put hands in a result of job 0, as another worker would.
func (s *scene) put(m made) {
	s.t.Helper()
	subject := resultSubject("campaign", job(0).ID)
	text, err := s.board.conn.sealer.encode(subject, m)
	if err == nil {
		_, err = s.board.conn.js.Publish(s.t.Context(), subject, text)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// What a job is posted as has no secret in it, sealed or not.
func TestPostedWithoutSecret(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.post(1)
	j := job(0)
	subject := s.board.conn.taskSubject(j, "campaign")
	m, err := s.board.conn.tasks.GetLastMsgForSubject(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.board.conn.sealer.open(subject, m.Data)
	if err != nil || !bytes.Contains(text, []byte(base64.StdEncoding.EncodeToString(j.Body))) {
		t.Fatalf("%s, %v", text, err)
	}
	for _, shown := range []string{string(j.Secret), base64.StdEncoding.EncodeToString(j.Secret)} {
		if bytes.Contains(text, []byte(shown)) {
			t.Errorf("%s has the secret", text)
		}
	}
}

// A job is never given up, however often workers gave it back.
func TestJobsAreNeverGivenUp(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.post(1)
	consumer, err := s.connect().consumer(t.Context(), "mnist")
	if err != nil {
		t.Fatal(err)
	}
	for try := range 20 {
		m, err := consumer.Next(jetstream.FetchMaxWait(hang))
		if err != nil {
			t.Fatalf("after %d tries: %v", try, err)
		}
		if err := m.Nak(); err != nil {
			t.Fatal(err)
		}
	}
}
