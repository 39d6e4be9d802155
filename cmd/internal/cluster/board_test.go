package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A job's secret is given while the job is out, for its message alone, and is in no stream.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := newFixtureWith(t, patient)
	message := func(j Job, b Build) [sha256.Size]byte {
		text, err := j.message(b)
		if err != nil {
			t.Fatal(err)
		}
		return sha256.Sum256(text)
	}
	other := job(0)
	other.Body = []byte("another body")
	check := func(what string, m [sha256.Size]byte, want string) {
		t.Helper()
		if r := s.board.keyFor(keyRequest{job(0).ID, m}); string(r.Secret) != want || r.Ended != (want == "") {
			t.Errorf("%s: secret %q, want %q", what, r.Secret, want)
		}
	}
	check("not posted", message(job(0), here), "")
	s.post(1)
	check("out", message(job(0), here), string(job(0).Secret))
	check("another body", message(other, here), "")
	check("another build", message(job(0), Build{}), "")
	m, err := s.board.conn.jobs.GetLastMsgForSubject(t.Context(), jobSubject("mnist", "campaign", job(0).ID))
	if err != nil || !bytes.Contains(m.Data, []byte(base64.StdEncoding.EncodeToString(job(0).Body))) {
		t.Fatalf("%s, %v", m.Data, err)
	}
	for _, shown := range []string{string(job(0).Secret), base64.StdEncoding.EncodeToString(job(0).Secret)} {
		if bytes.Contains(m.Data, []byte(shown)) {
			t.Errorf("%s has the secret", m.Data)
		}
	}
	s.put(outcome(job(0)))
	s.next()
	check("its result waits", message(job(0), here), "")
	s.done(job(0).ID)
	check("done", message(job(0), here), "")
	var work hasher
	s.worker(&work, Worker{}) // the job is there still, as if an acknowledgement had been lost
	until(t, "the job is removed", func() bool { return s.onServer(s.board.conn.jobs) == 0 })
	if work.did.Load() > 0 {
		t.Error("a job that has ended is done")
	}
}

// put hands in a result of job 0, as another worker would.
func (s *fixture) put(body []byte) {
	s.t.Helper()
	if _, err := s.board.conn.js.Publish(s.t.Context(), resultSubject("campaign", job(0).ID), body); err != nil {
		s.t.Fatal(err)
	}
}

// No verb of package fmt prints the key of a cluster's file or the secret of a job.
func TestNoFormatPrintsSecrets(t *testing.T) {
	t.Parallel()
	f, _, err := NewFile("nats://localhost")
	if err != nil {
		t.Fatal(err)
	}
	j := job(0)
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x", "%s", "%q", "%o", "%b", "%c"} {
		text := fmt.Sprintf(strings.Repeat(verb+" ", 4), f, &f, j, &j)
		for _, secret := range []string{f.NKey, fmt.Sprintf("%x", f.NKey), string(j.Secret), fmt.Sprintf("%d", j.Secret), fmt.Sprintf("%x", j.Secret)} {
			if strings.Contains(text, secret) {
				t.Errorf("%s prints %q: %s", verb, secret, text)
			}
		}
	}
}

func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	another, err := Embed(t.TempDir(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = another.Close() }()
	for name, change := range map[string]func(*File){
		"another key":    func(f *File) { f.NKey = another.File.NKey },
		"another server": func(f *File) { f.CA = another.File.CA },
	} {
		strange := s.server.File
		change(&strange)
		c, err := Connect(t.Context(), strange, "stranger", unseen)
		if err == nil {
			c.Close()
			t.Errorf("%s: it was let in", name)
		} else if want := name == "another server"; errors.Is(err, ErrRefused) == want || want != strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := Connect(t.Context(), File{URL: s.server.File.URL}, "stranger", unseen); err == nil {
		c.Close()
		t.Error("a file without a key connects")
	}
}

// A worker of another build does no job, and worker and coordinator both say so.
func TestOtherBuildsAreRefused(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.post(1)
	for _, b := range []Build{
		{Version: "dptrain v2", Exact: true, Hash: "bb", Platform: "linux/arm64"},
		{Version: "dptrain v1", Exact: true, Hash: "bb", Platform: "linux/amd64"}, // one file for one platform
		{Version: "dptrain v1", Hash: "bb", Platform: "linux/arm64"},
		{Version: "dptrain v1", Exact: true, Platform: "linux/amd64"},
	} {
		var work hasher
		_, _, ended := s.serve(&work, Worker{Build: b, Host: "other", Idle: hasty.lease})
		if err := <-ended; !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "run the same") || work.did.Load() > 0 {
			t.Errorf("%+v: %v", b, err)
		}
	}
	s.hears("worker other")
	s.hears("gets nothing")
	// The same version for another platform does the job.
	s.worker(&hasher{}, Worker{Build: Build{Version: "dptrain v1", Exact: true, Hash: "cc", Platform: "linux/arm64"}})
	s.collect(1)
	if a := (Build{Version: "v1", Platform: "linux/amd64"}); a.same(a) {
		t.Error("builds whose file isn't known are the same")
	}
}

// A worker with other data than the coordinator's, or than the first worker's, does nothing, and the coordinator is
// told; also after the coordinator has restarted.
func TestOtherDataAreRefused(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		s := newFixture(t)
		right, wrong := &hasher{data: "right"}, &hasher{data: "wrong"}
		post := func(n int) {
			j := job(n)
			if known {
				j.Data = []byte("right")
			} else if n == 0 {
				defer s.worker(right, Worker{})()
				defer s.collect(1)
			}
			s.postJob(j)
		}
		post(0)
		s.board.Close()
		s.board = s.newBoard("campaign")
		s.worker(wrong, Worker{})
		post(1)
		s.hears("other data")
		s.worker(right, Worker{})
		if known {
			post(0)
			s.collect(2)
		} else {
			s.collect(1)
		}
		if wrong.did.Load() != 0 {
			t.Error("it did jobs with other data")
		}
	}
}

// A job that a machine can't do goes to others, which the coordinator is told. The worker leaves its group alone, and
// stays for other groups.
func TestCannot(t *testing.T) {
	t.Parallel()
	s := newFixtureWith(t, patient)
	tried := make(chan string, 100)
	s.worker(&hasher{does: func(_ context.Context, j Job) error {
		tried <- j.Group
		return fmt.Errorf("%w: no memory", ErrCannot)
	}}, Worker{Host: "small"})
	s.post(2)
	s.hears("leaves some jobs to others: this machine can't do it: no memory")
	s.worker(&hasher{}, Worker{})
	s.collect(2)
	j := job(2)
	j.Group = "another"
	s.postJob(j)
	s.collect(1)
	groups := map[string]int{}
	for len(tried) > 0 {
		groups[<-tried]++
	}
	if groups["g"] != 1 || groups["another"] > 1 {
		t.Errorf("it tried %v", groups)
	}
}

// An executor gets jobs of one group of one campaign at a time.
func TestGroupsAreApart(t *testing.T) {
	t.Parallel()
	s := newFixtureWith(t, patient)
	other := s.newBoard("other")
	for n := range 4 {
		for _, group := range []string{"g", "h"} {
			for _, b := range []*Board{s.board, other} {
				if err := b.Post(t.Context(), Job{ID: fmt.Sprintf("%s-%s-%d", b.campaign, group, n), Lane: "mnist", Group: group}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	s.worker(apart{t}, Worker{GroupSize: 16})
	for range 8 {
		for _, b := range []*Board{s.board, other} {
			if r, err := b.Next(t.Context()); err != nil || !strings.HasPrefix(r.ID, b.campaign) {
				t.Fatal(r.ID, err)
			}
		}
	}
}

// apart is an executor that checks that its jobs belong together.
type apart struct{ t *testing.T }

// Data are compared with data of the same group and campaign alone.
func (apart) Data(_ context.Context, j Job) ([]byte, error) { return []byte(j.ID[:len(j.ID)-1]), nil }

func (a apart) Do(_ context.Context, jobs []Job, _ func(float64)) ([][]byte, error) {
	for _, j := range jobs {
		if first := jobs[0].ID; j.ID[:len(j.ID)-1] != first[:len(first)-1] {
			a.t.Errorf("%s is done with %s", j.ID, first)
		}
	}
	return make([][]byte, len(jobs)), nil
}

// A worker takes jobs of its lanes alone, and an executor that loses results is found out.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	s := newFixtureWith(t, patient)
	s.post(2)
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if n, err := s.connect().Serve(ctx, quietly(Worker{Build: here, Lanes: []string{"imdb"}, GroupSize: 2}), &hasher{}); n != 0 || err != nil {
		t.Errorf("another lane: %d jobs, %v", n, err)
	}
	n, err := s.connect().Serve(ctx, quietly(Worker{Build: here, Lanes: []string{"mnist"}, GroupSize: 2}), sized{})
	if n != 0 || err == nil || !strings.Contains(err.Error(), "0 results of 2 jobs") {
		t.Errorf("no results: %d jobs, %v", n, err)
	}
	for _, w := range []Worker{{Build: here, GroupSize: 1}, {Build: here, Lanes: []string{"mnist"}}, {Build: here, Lanes: []string{"*"}, GroupSize: 1}} {
		if _, err := s.connect().Serve(ctx, w, &hasher{}); err == nil {
			t.Errorf("%+v: no error", w)
		}
	}
}

// sized is an executor with results of given sizes.
type sized []int

func (sized) Data(context.Context, Job) ([]byte, error) { return nil, nil }

func (s sized) Do(context.Context, []Job, func(float64)) (out [][]byte, _ error) {
	for _, n := range s {
		body := make([]byte, n)
		for i := range body {
			body[i] = byte(i >> 12)
		}
		out = append(out, body)
	}
	return out, nil
}

// A job is acknowledged after its result was sent, and a large result before the message that names it. None is left.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	s := newFixtureWith(t, patient)
	var mu sync.Mutex
	var passed []string
	spy := s.connect()
	if _, err := spy.nats.Subscribe(">", func(m *nats.Msg) {
		for prefix, what := range map[string]string{"$O." + largeName + ".M.": "object", resultRoot: "result", "$JS.ACK." + jobsName: "ack"} {
			if strings.HasPrefix(m.Subject, prefix) && !strings.HasPrefix(m.Reply, "$JS.ACK.") && !bytes.HasPrefix(m.Data, []byte("+WPI")) {
				mu.Lock()
				passed = append(passed, what)
				mu.Unlock()
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := spy.nats.Flush(); err != nil {
		t.Fatal(err)
	}
	s.worker(sized{12<<20 + 5}, Worker{})
	s.post(1)
	r := s.next()
	if want, _ := (sized{12<<20 + 5}).Do(t.Context(), nil, nil); !bytes.Equal(r.Body, want[0]) {
		t.Errorf("another result, of %d bytes", len(r.Body))
	}
	until(t, "the job is acknowledged", func() bool { return s.onServer(s.board.conn.jobs) == 0 })
	mu.Lock()
	if got := strings.Join(passed, " "); got != "object result ack" {
		t.Error(got)
	}
	mu.Unlock()
	s.done(r.ID)
	if left := s.onServer(s.board.conn.results); left > 0 {
		t.Errorf("%d results are left", left)
	}
	if objects, err := s.board.conn.large.List(t.Context()); !errors.Is(err, jetstream.ErrNoObjectsFound) {
		t.Errorf("%d objects are left, %v", len(objects), err)
	}
	j := job(1)
	j.Body = make([]byte, 2<<20)
	if err := s.board.Post(t.Context(), j); !errors.Is(err, nats.ErrMaxPayload) {
		t.Error(err)
	}
}

// A result whose object is gone or damaged is left out, and its job is done again.
func TestResultsThatArentWhole(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.post(1)
	info, err := s.board.conn.large.PutBytes(t.Context(), "damaged", outcome(job(0)))
	if err == nil {
		_, err = s.board.conn.js.Publish(t.Context(), "$O."+largeName+".C."+info.NUID, []byte("more"))
	}
	for _, object := range []string{"none", "damaged"} {
		m := &nats.Msg{Subject: resultSubject("campaign", job(0).ID), Header: nats.Header{objectHeader: {object}}}
		if err == nil {
			_, err = s.board.conn.js.PublishMsg(t.Context(), m)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.board.conn.jobs.Purge(t.Context()); err != nil { // its worker has acknowledged the job
		t.Fatal(err)
	}
	s.hears(jetstream.ErrObjectNotFound.Error())
	s.hears(jetstream.ErrDigestMismatch.Error())
	s.worker(&hasher{}, Worker{})
	s.collect(1)
}

// A result is handed out once, although the server sends it again while it isn't done. Two results of a job are both
// handed out. Done removes both.
func TestEachResultOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.put([]byte("a"))
	s.next()
	s.put([]byte("b"))
	if r := s.next(); string(r.Body) != "b" {
		t.Errorf("%+v", r)
	}
	soon, cancel := context.WithTimeout(t.Context(), 2*hasty.lease)
	defer cancel()
	if r, err := s.board.Next(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("again: %+v, %v", r, err)
	}
	s.done(job(0).ID)
	if n := s.onServer(s.board.conn.results); n > 0 {
		t.Errorf("%d results are left", n)
	}
}

// A job's earlier message that differs is replaced, and the same one isn't posted twice.
func TestJobsAreReplaced(t *testing.T) {
	t.Parallel()
	s := newFixtureWith(t, patient)
	stale := job(0)
	stale.Body = []byte("another body")
	s.postJob(stale)
	s.board.Close()
	s.board = s.newBoard("campaign")
	for range 2 {
		s.post(1)
		if n := s.onServer(s.board.conn.jobs); n != 1 {
			t.Errorf("%d messages of one job", n)
		}
	}
	s.worker(&hasher{}, Worker{})
	s.collect(1)
}

// Remove leaves nothing, and removes nothing of others.
func TestRemove(t *testing.T) {
	t.Parallel()
	s := newFixtureWith(t, patient)
	other := s.newBoard("other")
	if err := other.Post(t.Context(), job(5)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.board.conn.data.Create(t.Context(), "campaign.g", []byte("x")); err != nil {
		t.Fatal(err)
	}
	s.post(3)
	s.put([]byte("a"))
	s.next()
	if err := s.board.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.onServer(s.board.conn.results); n > 0 {
		t.Errorf("%d results are left", n)
	}
	if n := s.onServer(s.board.conn.jobs); n != 1 {
		t.Errorf("%d jobs are left, and the other campaign has 1", n)
	}
	if _, err := s.board.conn.data.Get(t.Context(), "campaign.g"); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Errorf("the hash of data: %v", err)
	}
	s.board = other
	s.worker(&hasher{}, Worker{})
	s.collect(1)
}

// A second coordinator of a campaign is refused while the first one is there. A name that would
// match other subjects is refused.
func TestBoardsAreRefused(t *testing.T) {
	t.Parallel()
	s := newFixtureWith(t, patient)
	if _, err := s.connect().Board(t.Context(), "campaign", here, quiet); !errors.Is(err, ErrLed) {
		t.Errorf("a second coordinator: %v", err)
	}
	s.board.Close()
	s.board = s.newBoard("campaign")
	for _, name := range []string{"", "a.b", "*", ">", "a b", "a\n", "ä"} {
		for _, j := range []Job{{ID: name, Lane: "mnist", Group: "g"}, {ID: "a", Lane: name, Group: "g"}, {ID: "a", Lane: "mnist", Group: name}} {
			if err := s.board.Post(t.Context(), j); err == nil {
				t.Errorf("the job %+v of lane %q is posted", j, j.Lane)
			}
		}
		if b, err := s.board.conn.Board(t.Context(), name, here, quiet); err == nil {
			b.Close()
			t.Errorf("the campaign %q has a board", name)
		}
	}
}

// As many jobs are out as the workers of this build need, and four more. Names that machines give themselves don't
// reach a terminal as commands.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	s := newFixtureWith(t, patient)
	if n := s.board.Want(); n != 4 {
		t.Errorf("%d jobs without workers", n)
	}
	for _, h := range []Heartbeat{
		{Worker: "a", Host: "a\x1b[2Jb\nc", Machine: "m\u009b", Build: here, GroupSize: 3, Lanes: []string{"mnist"}}, {Worker: "b", Build: here, GroupSize: 1},
		{Worker: "c", GroupSize: 50}, {Worker: "d", Build: here, GroupSize: 9, Left: true, Refusal: "no memory"},
	} {
		text, err := json.Marshal(h)
		if err == nil {
			_, err = s.board.conn.workers.Put(t.Context(), h.Worker, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.board.survey(t.Context())
	s.board.survey(t.Context())
	if n := s.board.Want(); n != 4+2*3+2*1 {
		t.Errorf("%d jobs", n)
	}
	s.hears("worker a [2Jb c-a is here")
	s.mu.Lock()
	defer s.mu.Unlock()
	// Why a worker leaves jobs to others is told once, although the server keeps it for a while after it has left.
	if all := strings.Join(s.told, ""); strings.ContainsAny(all, "\x1b\n\u009b") || strings.Count(all, "no memory") != 1 {
		t.Errorf("%q", all)
	}
}
