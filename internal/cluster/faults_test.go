package cluster

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// hasty is for tests that wait for leases to run out.
var hasty = timing{lease: time.Second, renew: 250 * time.Millisecond, pulse: 200 * time.Millisecond, check: 300 * time.Millisecond, reply: time.Second}

// patient is for tests in which neither a lease that runs out nor a look of the coordinator may repair anything.
var patient = timing{lease: time.Hour, renew: 100 * time.Millisecond, pulse: 200 * time.Millisecond, check: time.Hour, reply: 5 * time.Second}

// scene is a coordinator and what it told.
type scene struct {
	t      testing.TB
	timing timing
	server *Server
	dir    string
	board  *Board

	mu   sync.Mutex
	told []string
}

func newScene(t testing.TB) *scene { return newSceneOf(t, hasty) }

func newSceneOf(t testing.TB, with timing) *scene {
	s := &scene{t: t, timing: with, dir: t.TempDir()}
	s.start()
	t.Cleanup(func() { _ = s.server.Close() })
	s.board = s.newBoard()
	return s
}

func (s *scene) start() {
	s.t.Helper()
	var err error
	if s.server, err = Embed(s.dir, "127.0.0.1:0", ""); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) connect() *Conn {
	c := connected(s.t, s.server.File)
	c.timing = s.timing
	return c
}

func (s *scene) newBoard() *Board {
	s.t.Helper()
	b, err := s.connect().Board(s.t.Context(), "campaign", here, s.tell)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(b.Close)
	return b
}

func (s *scene) tell(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, text)
}

func (s *scene) hears(text string) {
	s.t.Helper()
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if s.heard(text) {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Errorf("nothing was told of %q, but\n%s", text, strings.Join(s.told, "\n"))
}

// heard reports whether a text was told.
func (s *scene) heard(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.told, "\n"), text)
}

func (s *scene) post(n int) {
	s.t.Helper()
	for i := range n {
		if err := s.board.Post(s.t.Context(), job(i)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// collect waits for the results of n jobs, each of which is to come at least once.
func (s *scene) collect(n int) (results int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), hang)
	defer cancel()
	for seen := map[string]bool{}; len(seen) < n; results++ {
		r, err := s.board.Next(ctx)
		if err != nil {
			s.t.Fatalf("after %d of %d jobs: %v", len(seen), n, err)
		}
		seen[r.ID] = true
		if !bytes.Equal(r.Body, outcome(jobOf(r.ID))) {
			s.t.Errorf("%s: another result", r.ID)
		}
		if err := s.board.Done(ctx, r.ID); err != nil {
			s.t.Fatal(err)
		}
	}
	return results
}

// worker starts a worker, and returns a function that ends it as if its machine had lost its power.
func (s *scene) worker(c Crew, w Worker) (kill func()) {
	conn := s.connect()
	ctx, cancel := context.WithCancel(context.Background())
	w.Lanes = []string{"mnist"}
	if w.Build == (Build{}) {
		w.Build = here
	}
	w.Batch, w.Idle = max(w.Batch, 1), -1
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = conn.Serve(ctx, w, c)
	}()
	kill = func() {
		conn.Close() // it says nothing any more
		cancel()
		<-ended
	}
	s.t.Cleanup(kill)
	return kill
}

// hold returns a crew that says when it begins a job, and waits until it is let go or its worker ends.
func hold() (c *crew, begun, let chan struct{}) {
	begun, let = make(chan struct{}, 100), make(chan struct{})
	return &crew{does: func(ctx context.Context, _ Job) error {
		begun <- struct{}{}
		select {
		case <-let:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}, begun, let
}

// A worker that dies costs its lease. One that ends by itself gives its jobs back at once.
func TestWorkersDie(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	dead, begun, _ := hold()
	kill := s.worker(dead, Worker{Batch: 2, Host: "victim"})
	s.post(3)
	<-begun
	s.hears("worker victim")
	kill()
	s.worker(&crew{}, Worker{Batch: 3})
	if n := s.collect(3); n != 3 {
		t.Errorf("%d results of 3 jobs", n)
	}
	s.hears("is gone without a word; another takes over its jobs")
	for _, p := range s.board.Workers() {
		if p.Host == "victim" {
			t.Error("the dead are counted")
		}
	}

	s.post(2)
	s.collect(2)
}

// A lease isn't renewed for a job that makes no progress, and the worker ends. It may end before it begins the job: to
// ask for its secret is no progress either.
func TestWorkersHang(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	hung, _, _ := hold()
	conn, ended := s.connect(), make(chan error)
	go func() {
		_, err := conn.Serve(t.Context(), Worker{Build: here, Lanes: []string{"mnist"}, Batch: 1, Idle: -1, Stall: time.Millisecond}, hung)
		ended <- err
	}()
	s.post(1)
	if err := <-ended; !errors.Is(err, errStalled) {
		t.Error(err)
	}
	s.worker(&crew{}, Worker{})
	s.collect(1)
}

// A worker that is thought dead and comes back late hands in a second result.
func TestWorkersComeBackLate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	late, begun, let := hold()
	conn := s.connect()
	conn.timing.renew = time.Hour
	go func() {
		_, _ = conn.Serve(t.Context(), Worker{Build: here, Lanes: []string{"mnist"}, Batch: 1, Idle: -1}, late)
	}()
	s.post(1)
	<-begun
	s.worker(&crew{}, Worker{})
	s.collect(1)
	close(let)
	s.collect(1)
}

// holding is a crew that says which jobs it begins together, and makes progress until it is let go.
type holding struct {
	crew
	begun chan []Job
	let   chan struct{}
}

func (h *holding) Do(ctx context.Context, jobs []Job, progress func(float64)) ([][]byte, error) {
	h.begun <- jobs
	for {
		select {
		case <-h.let:
			return h.crew.Do(ctx, jobs, progress)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
			progress(0)
		}
	}
}

// While jobs make progress, the lease of each lasts, however long they take.
func TestLeasesLast(t *testing.T) {
	t.Parallel()
	often := hasty // so that a lease runs out only if the machine stands still for nearly two seconds
	often.lease, often.renew = 2*time.Second, 50*time.Millisecond
	s := newSceneOf(t, often)
	s.post(2)
	slow := &holding{begun: make(chan []Job, 10), let: make(chan struct{})}
	s.worker(slow, Worker{Batch: 2})
	under := <-slow.begun
	others := &crew{does: func(_ context.Context, j Job) error {
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
	if s.heard("overlooked") {
		t.Error("jobs under way count as overlooked")
	}
}

// The server restarts in the middle, with its store, and then without it.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, wiped := range []bool{false, true} {
		var work crew
		slow := make(chan struct{}, 100)
		work.does = func(context.Context, Job) error { <-slow; return nil }
		kill := s.worker(&work, Worker{Batch: 2})
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

// A coordinator that starts anew gets the results that it hadn't done with, and no job is done twice for it.
func TestCoordinatorRestarts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var work crew
	s.worker(&work, Worker{Batch: 4})
	s.post(8)
	until(t, "all jobs are done", func() bool { return work.did.Load() >= 8 })
	if _, err := s.board.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.board.Close()
	s.board = s.newBoard()
	s.post(8)
	s.collect(8)
	if n := work.did.Load(); n != 8 {
		t.Errorf("%d jobs were done, want 8", n)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.post(1)
	f := s.server.File
	for name, change := range map[string]func(*File){
		"another key":    func(f *File) { f.NKey = must(newFile()).NKey },
		"no key":         func(f *File) { f.NKey = "" },
		"a password":     func(f *File) { f.NKey, f.User, f.Password = "", "dptrain", "dptrain" },
		"another server": func(f *File) { f.CA = must(Embed(t.TempDir(), "127.0.0.1:0", "")).File.CA },
	} {
		strange := f
		change(&strange)
		c, err := Connect(t.Context(), strange, "stranger", nil)
		if err == nil {
			c.Close()
			t.Errorf("%s: it was let in", name)
			continue
		}
		if want := name == "another server"; errors.Is(err, ErrRefused) == want || want != strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", name, err)
		}
	}
	serve := func(f File, b Build) error {
		ctx, cancel := context.WithTimeout(t.Context(), hang)
		defer cancel()
		conn, err := Connect(ctx, f, "test", nil)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Serve(ctx, Worker{Build: b, Lanes: []string{"mnist"}, Batch: 1}, &crew{})
		return err
	}
	var serving sync.WaitGroup // each waits for coordinators
	for _, b := range []Build{
		{Version: "dptrain v2", Exact: true, Hash: "bb", Platform: "linux/arm64"},
		{Version: "dptrain v1", Exact: true, Hash: "bb", Platform: "linux/amd64"}, // one file for one platform
		{Version: "dptrain v1", Hash: "bb", Platform: "linux/arm64"},
		{Version: "dptrain v1", Exact: true, Platform: "linux/amd64"},
	} {
		serving.Go(func() {
			if err := serve(f, b); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "run the same") {
				t.Errorf("%+v: %v", b, err)
			}
		})
	}
	other := f
	other.Secret = NewSecret()
	serving.Go(func() {
		if err := serve(other, here); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "another secret") {
			t.Errorf("another secret: %v", err)
		}
	})
	serving.Wait()
	if err := serve(f, Build{Version: "dptrain v1", Exact: true, Hash: "cc", Platform: "linux/arm64"}); err != nil {
		t.Errorf("the same version for another platform: %v", err)
	}
	s.collect(1)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// A worker with other data does nothing, and the coordinator is told.
func TestOtherDataAreRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	right, wrong := &crew{data: "right"}, &crew{data: "wrong"}
	kill := s.worker(right, Worker{})
	s.post(1)
	s.collect(1)
	kill()
	s.worker(wrong, Worker{})
	s.post(3)
	s.hears("other data")
	s.worker(right, Worker{})
	s.collect(3)
	if wrong.did.Load() != 0 {
		t.Error("it did jobs with other data")
	}
}

// What is private is nowhere in the server's folder or in what passes through it, and a secret not even sealed.
func TestServerLearnsNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var heard []string
	var mu sync.Mutex
	spy := s.connect() // the server's owner hears all that is sent
	sub, err := spy.nats.Subscribe(">", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, m.Subject+" "+string(m.Data))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	s.worker(&crew{}, Worker{Host: "a-host-name"})
	s.post(5)
	for range 5 {
		if _, err := s.board.Next(t.Context()); err != nil { // not done: all is still stored
			t.Fatal(err)
		}
	}
	mu.Lock()
	all := strings.Join(heard, "\n")
	mu.Unlock()
	if !strings.Contains(all, "dptrain.key.campaign") || !strings.Contains(all, pulse) {
		t.Fatal("the spy is deaf")
	}
	err = filepath.WalkDir(filepath.Join(s.dir, "store"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all += path + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		for _, private := range []string{string(job(i).Body), string(job(i).Secret), string(outcome(job(i))), "a-host-name", "mnist"} {
			if strings.Contains(all, private) {
				t.Errorf("%q can be read", private)
			}
		}
	}
}
