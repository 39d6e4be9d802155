package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Jobs of a coordinator that never comes back cost a worker hardly any time: those of another one are done.
func TestJobsThatNobodyWaitsForStopNoOthers(t *testing.T) {
	once := hasty // it leaves them alone for longer than the test lasts
	once.pulse, once.reply = time.Hour, 200*time.Millisecond
	s := newSceneOf(t, once)
	gone, err := s.connect().Board(t.Context(), "gone", here, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if err := gone.Post(t.Context(), job(i)); err != nil {
			t.Fatal(err)
		}
	}
	gone.Close()
	var asked atomic.Int64
	spy := s.connect() // in its place, so that each question costs its time
	if _, err := spy.nats.Subscribe(keyRoot+"gone", func(*nats.Msg) { asked.Add(1) }); err != nil {
		t.Fatal(err)
	}
	if err := spy.nats.Flush(); err != nil {
		t.Fatal(err)
	}
	s.worker(&crew{}, Worker{})
	s.post(20)
	s.collect(20)
	if n := asked.Load(); n != 4 {
		t.Errorf("a coordinator that doesn't answer was asked %d times, want 4 for one of its jobs", n)
	}
}

// A coordinator that comes back finds workers that had given it up.
func TestCoordinatorComesBack(t *testing.T) {
	s := newScene(t)
	s.post(3)
	s.board.Close()
	told := make(chan string, 9)
	s.worker(&crew{}, Worker{Tell: func(text string) { told <- text }})
	if text := <-told; !strings.Contains(text, "doesn't answer") {
		t.Error(text)
	}
	s.board = s.newBoard()
	s.post(3)
	s.collect(3)
}

// A message that nobody of the cluster has sealed, in the place of a job, doesn't keep the job from being done.
func TestDamagedJobsArePostedAgain(t *testing.T) {
	s := newScene(t)
	j := job(0)
	if _, err := s.board.conn.consumer(t.Context(), j.Lane); err != nil {
		t.Fatal(err)
	}
	if _, err := s.board.conn.js.Publish(t.Context(), s.board.conn.taskSubject(j, "campaign"), []byte("not sealed")); err != nil {
		t.Fatal(err)
	}
	s.post(1)
	s.worker(&crew{}, Worker{})
	s.collect(1)
}

// A server that keeps an earlier body of a job, or brings it back, doesn't get it done with the secret of a later one.
func TestSecretsAreForOneBody(t *testing.T) {
	s := newScene(t)
	stale := job(0)
	stale.Body = []byte("another body")
	if err := s.board.Post(t.Context(), stale); err != nil {
		t.Fatal(err)
	}
	s.board.Close()
	s.board = s.newBoard()
	s.post(1)
	var mu sync.Mutex
	var bodies []string
	s.worker(&crew{does: func(_ context.Context, j Job) error {
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(j.Body))
		return nil
	}}, Worker{})
	s.collect(1)
	mu.Lock()
	defer mu.Unlock()
	if len(bodies) != 1 || bodies[0] != string(job(0).Body) {
		t.Errorf("jobs %q were done with the secret of %q", bodies, job(0).Body)
	}
}

// Names of lanes have hashes of own files: workers tell nobody.
func TestPulsesHaveNoLanes(t *testing.T) {
	s := newScene(t)
	heard := make(chan []byte, 10)
	c := s.connect()
	if _, err := c.nats.Subscribe(pulse, func(m *nats.Msg) {
		text, err := c.sealer.open(pulse, m.Data)
		if err != nil {
			t.Error(err)
		}
		heard <- text
	}); err != nil {
		t.Fatal(err)
	}
	s.worker(&crew{}, Worker{})
	if text := <-heard; bytes.Contains(text, []byte("mnist")) {
		t.Errorf("%s", text)
	}
}

// No verb of package fmt prints the secret, the key or the password of a cluster's file, nor the secret of a job.
func TestNoFormatPrintsSecrets(t *testing.T) {
	f := must(newFile())
	f.URL, f.User, f.Password = "nats://localhost", "user", "a password"
	j := job(0)
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x", "%s", "%q", "%o", "%b", "%c"} {
		text := fmt.Sprintf(strings.Repeat(verb+" ", 5), f, &f, f.Secret, j, &j)
		for _, secret := range []string{
			fmt.Sprintf("%d", f.Secret[:]), fmt.Sprintf("%x", f.Secret[:]), fmt.Sprint(f.Secret[0], f.Secret[1], f.Secret[2]), fmt.Sprintf("%#x", f.Secret[0]) + ", ",
			f.NKey, f.Password, fmt.Sprintf("%x", f.NKey), string(j.Secret), fmt.Sprintf("%d", j.Secret), fmt.Sprintf("%x", j.Secret),
		} {
			if strings.Contains(text, secret) {
				t.Errorf("%s prints %q: %s", verb, secret, text)
			}
		}
	}
}

// A file without a secret would seal with a key that everybody knows.
func TestNoConnectionWithoutASecret(t *testing.T) {
	s := embedded(t)
	f := s.File
	f.Secret = Secret{}
	c, err := Connect(t.Context(), f, "test", nil)
	if err == nil {
		c.Close()
		t.Error("it connects")
	} else if !strings.Contains(err.Error(), "secret is missing") {
		t.Error(err)
	}
}

// What a server recorded is worth nothing to one who sends it again: claims, grants, results and jobs.
func TestReplays(t *testing.T) {
	s := newScene(t)
	spy := s.connect()
	var mu sync.Mutex
	var heard []*nats.Msg
	sub, err := spy.nats.Subscribe("dptrain.>", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, m)
	})
	if err != nil {
		t.Fatal(err)
	}
	var work crew
	kill := s.worker(&work, Worker{})
	s.post(4)
	s.collect(4)
	kill()
	_ = sub.Unsubscribe()
	mu.Lock()
	recorded := heard
	mu.Unlock()
	for _, m := range recorded {
		switch {
		case strings.HasPrefix(m.Subject, taskRoot), strings.HasPrefix(m.Subject, resultRoot), strings.HasPrefix(m.Subject, partRoot):
			if _, err := spy.js.Publish(t.Context(), m.Subject, m.Data); err != nil && !errors.As(err, new(*jetstream.APIError)) {
				t.Fatal(err)
			}
		default:
			if err := spy.nats.Publish(m.Subject, m.Data); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	for range 4 { // results of jobs that aren't out: the caller compares them
		r, err := s.board.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.board.Done(ctx, r.ID); err != nil {
			t.Fatal(err)
		}
	}
	s.worker(&work, Worker{})
	for i := range 4 {
		if err := s.board.Post(t.Context(), job(10+i)); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		r, err := s.board.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if r.ID < "job10" || !bytes.Equal(r.Body, outcome(jobOf(r.ID))) {
			t.Errorf("result of %s", r.ID)
		}
	}
	if n := work.did.Load(); n != 8 {
		t.Errorf("%d jobs were done, want 8: none again", n)
	}
}

// Names that machines give themselves don't reach a terminal as commands.
func TestNamesAreNoCommands(t *testing.T) {
	s := newScene(t)
	s.worker(&crew{}, Worker{Host: "a\x1b[2Jb\nc", Machine: "m\u009b"})
	s.hears("worker a [2Jb c-")
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := strings.Join(s.told, ""); strings.ContainsAny(all, "\x1b\n\u009b") {
		t.Errorf("%q", all)
	}
}

// A result that the caller can't use is forgotten. Its job is done again if it is out.
func TestRefuse(t *testing.T) {
	s := newScene(t)
	var work crew
	s.worker(&work, Worker{})
	s.post(2)
	s.collect(1)
	until(t, "both jobs are done", func() bool { return work.did.Load() >= 2 })
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	r, err := s.board.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a refusal that is lost is said again
		if err := s.board.Refuse(t.Context(), r.ID, errors.New("no result")); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := s.board.Next(ctx); err != nil || again.ID != r.ID {
		t.Fatal(again.ID, err)
	}
	if n := work.did.Load(); n < 3 {
		t.Errorf("%d jobs were done", n)
	}
	if err := errors.Join(s.board.Done(t.Context(), r.ID), s.board.Refuse(t.Context(), r.ID, errors.New("no result"))); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * hasty.check)
	if left, err := s.board.conn.counts(t.Context()); err != nil || left.Waiting+left.Results != 0 {
		t.Errorf("%+v, %v", left, err)
	}
}

// A second coordinator of a campaign is refused, and the data that workers have are remembered by the next one.
func TestOneCoordinator(t *testing.T) {
	s := newScene(t)
	var kept map[string][]byte
	s.board.Keep(func(data map[string][]byte) error { kept = data; return nil })
	second := s.connect()
	second.timing.reply = hang // on a slow machine the first one takes a while to say that it is there
	if _, err := second.Board(t.Context(), "campaign", here, nil); !errors.Is(err, ErrLed) {
		t.Errorf("a second coordinator: %v", err)
	}
	if b, err := s.connect().Board(t.Context(), "another", here, nil); err != nil {
		t.Error(err)
	} else {
		b.Close()
	}
	kill := s.worker(&crew{data: "right"}, Worker{})
	s.post(1)
	s.collect(1)
	kill()
	if string(kept["g"]) != "right" {
		t.Errorf("kept %q", kept)
	}
	s.board.Close()
	s.board = s.newBoard()
	s.board.Expect("g", kept["g"])
	wrong := &crew{data: "wrong"}
	s.worker(wrong, Worker{})
	s.post(1)
	s.hears("other data")
	s.worker(&crew{data: "right"}, Worker{})
	s.collect(1)
	if wrong.did.Load() != 0 {
		t.Error("the first worker after a restart decided which data are right")
	}
}

// While the hashes of data can't be kept, no worker gets a secret.
func TestDataCantBeKept(t *testing.T) {
	s := newScene(t)
	full := errors.New("the disk is full")
	var free atomic.Bool
	s.board.Keep(func(map[string][]byte) error {
		if free.Load() {
			return nil
		}
		return full
	})
	var work crew
	s.worker(&work, Worker{})
	s.post(1)
	s.hears("the disk is full")
	if work.did.Load() != 0 {
		t.Error("a job was done")
	}
	free.Store(true)
	s.collect(1)
}

// A job that a machine can't do goes to others, and the coordinator is told; the worker doesn't end.
func TestCannot(t *testing.T) {
	s := newScene(t)
	poor := &crew{does: func(context.Context, Job) error { return fmt.Errorf("%w: no memory", ErrCannot) }}
	s.worker(poor, Worker{Host: "small"})
	s.post(2)
	s.hears("worker small")
	s.hears("leaves some jobs to others: this machine can't do it: no memory")
	s.worker(&crew{}, Worker{})
	s.collect(2)
}
