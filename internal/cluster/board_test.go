package cluster

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A job's secret is given to workers with the same build and the right data, while the job is out, and for their
// process alone.
func TestGrants(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	key := must(newKeyPair())
	ask := func(change func(*claim)) (string, refusal) {
		c := claim{Worker: "w", Build: here, ID: job(0).ID, Body: job(0).digest(), Data: []byte("right"), Public: key.PublicKey().Bytes()}
		change(&c)
		g := s.board.grant(c)
		if g.Box == nil {
			return "", g.Refusal
		}
		if bytes.Contains(g.Box, job(0).Secret) || g.Refusal != "" {
			t.Errorf("%+v", g)
		}
		text, err := openWith(key, boxFor("campaign", job(0).ID), g.Box)
		if err != nil {
			t.Error(err)
		}
		return string(text), g.Refusal
	}
	check := func(what string, change func(*claim), secret string, want refusal) {
		t.Helper()
		if text, why := ask(change); text != secret || why != want {
			t.Errorf("%s: secret %q, refusal %q; want %q, %q", what, text, why, secret, want)
		}
	}
	same := func(*claim) {}
	check("not posted", same, "", notOut)
	s.board.Expect("g", []byte("right"))
	s.post(1)
	secret := string(job(0).Secret)
	check("out", same, secret, "")
	check("out, again", same, secret, "")
	check("other data", func(c *claim) { c.Data = []byte("wrong") }, "", otherData)
	check("no data", func(c *claim) { c.Data = nil }, "", otherData)
	check("another body", func(c *claim) { c.Body = job(1).digest() }, "", notOut)
	check("other data, before", same, secret, "")
	check("another build", func(c *claim) { c.Build.Hash, c.Build.Version = "bb", "v2" }, "", otherBuild)
	check("no build", func(c *claim) { c.Build = Build{} }, "", otherBuild)
	check("a hello", func(c *claim) { c.ID = "" }, "", "")
	check("another build's hello", func(c *claim) { c.ID, c.Build = "", Build{} }, "", otherBuild)
	check("no key", func(c *claim) { c.Public = nil }, "", otherBuild)
	s.put(made{Worker: "other", Attempt: "0", Body: outcome(job(0))})
	s.results(1)
	check("its result waits", same, "", notOut)
	if err := s.board.Done(t.Context(), job(0).ID); err != nil {
		t.Fatal(err)
	}
	check("done", same, "", notOut)
}

// The first worker's data count if none are expected.
func TestFirstDataCount(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.post(2)
	for n, c := range []struct {
		data    string
		refused refusal
	}{{"a", ""}, {"b", otherData}, {"b", otherData}, {"a", ""}} {
		if _, g, _ := s.board.decide(claim{Build: here, ID: job(n % 2).ID, Body: job(n % 2).digest(), Data: []byte(c.data)}); g.Refusal != c.refused {
			t.Errorf("%d: refusal %q of data %s", n, g.Refusal, c.data)
		}
	}
}

// A reply is for one request alone, and a box for one job.
func TestPurposesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, purpose := range []string{
		replyTo("a", []byte{1}), replyTo("a", []byte{2}), replyTo("b", []byte{1}), replyTo("a", nil), "a", "b",
		boxFor("a", "b"), boxFor("a", "c"), boxFor("b", "b"), boxFor("b", "a"),
	} {
		if seen[purpose] {
			t.Errorf("%q is two purposes", purpose)
		}
		seen[purpose] = true
	}
	if bytes.Equal(newNonce(), newNonce()) {
		t.Error("a nonce twice")
	}
}

// Builds whose file isn't known aren't the same.
func TestBuildsWithoutHash(t *testing.T) {
	t.Parallel()
	a := Build{Version: "v1", Platform: "linux/amd64"}
	if a.same(a) || !here.same(here) {
		t.Error("builds without a hash are the same, or equal ones aren't")
	}
}

// As many jobs are out as the workers of this build need, and four more.
func TestWant(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	if n := s.board.Want(); n != 4 {
		t.Errorf("%d jobs without workers", n)
	}
	for _, p := range []Pulse{{Worker: "a", Build: here, Batch: 3}, {Worker: "b", Build: here, Batch: 1}, {Worker: "c", Batch: 50}} {
		text, err := s.board.conn.sealer.encode(pulse, p)
		if err == nil {
			err = s.board.conn.nats.Publish(pulse, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	until(t, "two workers are here", func() bool { return len(s.board.Workers()) == 2 })
	time.Sleep(50 * time.Millisecond)
	if n := s.board.Want(); n != 4+2*3+2*1 {
		t.Errorf("%d jobs", n)
	}
}

// Results that can't be read or aren't whole are left out, and their jobs are done.
func TestResultsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(s *scene) error{
		"can't be read": func(s *scene) error {
			_, err := s.board.conn.js.Publish(t.Context(), resultSubject("campaign", job(0).ID), []byte("x"))
			return err
		},
		"isn't whole": func(s *scene) error {
			subject := partSubject("campaign", job(0).ID, "0", "0")
			_, err := s.board.conn.js.Publish(t.Context(), subject, s.board.conn.sealer.seal(subject, []byte("x")))
			s.put(made{Attempt: "0", Parts: 2})
			return err
		},
		"of another job": func(s *scene) error {
			text, err := s.board.conn.sealer.encode(resultSubject("campaign", job(1).ID), made{Attempt: "0", Body: outcome(job(1))})
			if err == nil {
				_, err = s.board.conn.js.Publish(t.Context(), resultSubject("campaign", job(0).ID), text)
			}
			return err
		},
	} {
		s := newScene(t)
		s.post(1)
		if err := put(s); err != nil {
			t.Fatal(err)
		}
		s.hears("is left out")
		s.worker(&crew{}, Worker{})
		s.collect(1)
		if n := s.onServer(s.board.conn.results); n > 0 && name != "isn't whole" { // whose parts go with the campaign
			t.Errorf("%s: %d messages are left", name, n)
		}
	}
}

// A result is handed out once, whatever the board looks at again, and two results are handed out both. Done removes
// both, and the job, which no worker has ended.
func TestEachResultOnce(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.post(1)
	s.put(made{Worker: "one", Attempt: "0", Body: []byte("a")})
	s.results(1)
	s.board.again <- struct{}{}
	s.put(made{Worker: "two", Attempt: "1", Body: []byte("b")})
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if r, err := s.board.Next(ctx); err != nil || r.Worker != "two" || string(r.Body) != "b" {
		t.Errorf("%+v, %v", r, err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	if r, err := s.board.Next(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("again: %+v, %v", r, err)
	}
	if err := s.board.Done(t.Context(), job(0).ID); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []jetstream.Stream{s.board.conn.tasks, s.board.conn.results} {
		if n := s.onServer(stream); n > 0 {
			t.Errorf("%d messages are left", n)
		}
	}
}

// Remove leaves nothing, of what is there and of what comes late, and nothing of others is removed.
func TestRemove(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	other, err := s.connect().Board(t.Context(), "other", here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	if err := other.Post(t.Context(), job(5)); err != nil {
		t.Fatal(err)
	}
	s.post(3)
	s.put(made{Worker: "one", Attempt: "0", Body: []byte("a")})
	s.results(1)
	if err := s.board.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.onServer(s.board.conn.results); n > 0 {
		t.Errorf("%d results are left", n)
	}
	s.put(made{Worker: "late", Attempt: "1", Body: []byte("b")})
	until(t, "a late result is removed", func() bool { return s.onServer(s.board.conn.results) == 0 })
	if n := s.onServer(s.board.conn.tasks); n != 1 {
		t.Errorf("%d jobs are left, and the other campaign has 1", n)
	}
}

// What would match other subjects is no name.
func TestNamesAreTokens(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	for _, name := range []string{"", "a.b", "*", ">", "a b", "a\n", "ä"} {
		if err := s.board.Post(t.Context(), Job{ID: name, Lane: "mnist"}); err == nil {
			t.Errorf("the job %q is posted", name)
		}
		if b, err := s.board.conn.Board(t.Context(), name, here, nil); err == nil {
			b.Close()
			t.Errorf("the campaign %q has a board", name)
		}
	}
}

// Jobs that lie on the server without being handed out are handed out again.
func TestOverlookedJobs(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.post(1)
	ctx := t.Context()
	conn := s.connect()
	name := conn.consumerName("mnist")
	// A server that gives up a job after one try overlooks it from then on.
	consumer, err := conn.js.UpdateConsumer(ctx, tasksName, jetstream.ConsumerConfig{
		Durable: name, FilterSubject: conn.laneSubjects("mnist"), AckPolicy: jetstream.AckExplicitPolicy, AckWait: 50 * time.Millisecond,
		MaxDeliver: 1, MaxAckPending: -1, MaxWaiting: 16384, InactiveThreshold: forgotten,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := consumer.Next(jetstream.FetchMaxWait(hang)); err != nil {
		t.Fatal(err)
	}
	s.hears("overlooked jobs")
	s.worker(&crew{}, Worker{})
	s.collect(1)
}

// A board that connects anew goes on behind the last result that it has seen, and begins anew if the stream is another,
// or has lost its last writes.
func TestNoResultIsSkipped(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.board.Close()
	for _, text := range []string{"a", "b", "c"} {
		s.put(made{Worker: text, Attempt: text, Body: []byte(text)})
	}
	info, err := s.board.conn.results.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		last place
		want string
	}{
		{place{}, "abc"}, {place{info.Created, 1}, "bc"}, {place{info.Created, 2}, "c"}, {place{info.Created.Add(-1), 2}, "abc"}, {place{info.Created, 4}, "abc"},
	} {
		clear(s.board.waiting)
		ctx, cancel := context.WithTimeout(t.Context(), hang)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.board.receiveFrom(ctx, &c.last) // until it is cancelled
		}()
		got := ""
		for range c.want {
			r, err := s.board.Next(ctx)
			if err != nil {
				t.Error(err)
			}
			got += string(r.Body)
		}
		cancel()
		<-ended
		if got != c.want {
			t.Errorf("from %+v: %q, want %q", c.last, got, c.want)
		}
	}
}
