package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

var (
	manyWorkers = flag.Int("workers", 25, "workers of TestManyWorkers")
	manyJobs    = flag.Int("jobs", 300, "jobs of TestManyWorkers")
	manyFaults  = flag.Bool("faults", true, "let TestManyWorkers' machines fail")
	manySeed    = flag.Uint64("seed", 1, "of the faults of TestManyWorkers and of the proxy; scheduling is left to chance")
)

// many is a campaign of many jobs whose machines all fail.
type many struct {
	t      *testing.T
	file   File
	server *process
	proxy  *proxy
	jobs   int

	filed      map[string]bool
	duplicates int
	progress   atomic.Int64 // jobs filed
	did, lives atomic.Int64
	faults     [6]atomic.Int64
}

func TestManyWorkers(t *testing.T) {
	server, proxy, f := proxied(t)
	m := &many{t: t, file: f, server: server, proxy: proxy, jobs: *manyJobs, filed: map[string]bool{}}
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()

	start := time.Now()
	working, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	for k := range *manyWorkers {
		running.Go(func() { m.worker(working, rand.New(rand.NewPCG(*manySeed, uint64(k)))) })
	}
	var chaos sync.WaitGroup
	if *manyFaults {
		chaos.Go(func() { m.chaos(working) })
	}
	for life := 1; ; life++ { // of the coordinator
		end := m.jobs
		if *manyFaults && life < 4 {
			end = m.jobs * life / 4
		}
		m.coordinate(ctx, end)
		t.Logf("coordinator %d ends after %v", life, time.Since(start))
		if end == m.jobs {
			break
		}
	}
	took := time.Since(start)
	chaos.Wait()
	stop()
	running.Wait()
	m.ends(ctx)
	t.Logf("%d jobs in %v, done %d times by %d workers in %d lives, %d duplicates arrived; lives: %d sane, %d without power, %d cancelled, %d late, %d twice, %d slow",
		m.jobs, took, m.did.Load(), *manyWorkers, m.lives.Load(), m.duplicates, m.faults[0].Load(), m.faults[1].Load(), m.faults[2].Load(), m.faults[3].Load(), m.faults[4].Load(), m.faults[5].Load())
	for runtime.NumGoroutine() > before+2 && ctx.Err() == nil { // of the runtime and the proxy
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before+2 {
		text := make([]byte, 1<<20)
		t.Errorf("%d goroutines, %d before\n%s", n, before, text[:runtime.Stack(text, true)])
	}
}

// manyJob has results of all sizes: most in their own messages, some in objects.
func manyJob(n int) Job {
	j := job(n)
	j.Group = []string{"g", "h"}[n/10%2]
	return j
}

func manyOutcome(j Job) []byte {
	size := 500
	switch n := number(j.ID); {
	case n%50 == 7:
		size = 700_000
	case n%10 == 3:
		size = 100_000
	}
	body := make([]byte, size)
	_, _ = rand.NewChaCha8(sha256.Sum256(append(bytes.Clone(j.Body), j.Secret...))).Read(body)
	return body
}

// coordinate posts jobs and files their results, until a number of jobs is filed. Then it ends without notice.
func (m *many) coordinate(ctx context.Context, end int) {
	conn := m.connect(ctx)
	defer conn.Close()
	board, err := conn.Board(ctx, "campaign", here, func(text string) {
		if strings.Contains(text, "server") { // not of workers, which come and go
			m.t.Log(text)
		}
	})
	if err != nil {
		m.t.Fatal(err)
	}
	defer board.Close()
	limit := 2 * *manyWorkers
	for posted, out := 0, 0; len(m.filed) < end; {
		for ; posted < m.jobs && out < limit; posted++ {
			j := manyJob(posted)
			if m.filed[j.ID] {
				continue
			}
			if err := board.Post(ctx, j); err != nil {
				m.t.Fatal(err)
			}
			out++
		}
		waiting, cancel := context.WithTimeout(ctx, hang)
		began := time.Now()
		r, err := board.Next(waiting)
		cancel()
		if d := time.Since(began); d > time.Second {
			m.t.Logf("%d: waited %v", len(m.filed), d)
		}
		if err != nil {
			m.t.Fatalf("%d of %d jobs: %v", len(m.filed), m.jobs, err)
		}
		if !bytes.Equal(r.Body, manyOutcome(manyJob(number(r.ID)))) {
			m.t.Errorf("%s: another result", r.ID)
		}
		if m.filed[r.ID] {
			m.duplicates++
		} else {
			out--
			m.filed[r.ID] = true
			m.progress.Add(1)
		}
		if err := board.Done(ctx, r.ID); err != nil {
			m.t.Fatal(err)
		}
	}
}

func number(id string) (n int) {
	for _, c := range id[len("job"):] {
		n = 10*n + int(c-'0')
	}
	return n
}

func (m *many) connect(ctx context.Context) *Conn {
	for ctx.Err() == nil {
		if c, err := connectWith(ctx, m.file, "test", unseen, hasty); err == nil {
			return c
		}
	}
	m.t.Fatal(ctx.Err())
	return nil
}

// worker lives many lives on one machine.
func (m *many) worker(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		conn, err := connectWith(ctx, m.file, "test", unseen, hasty)
		if err != nil {
			continue // the server is down
		}
		m.lives.Add(1)
		fault := 0
		if *manyFaults && r.IntN(2) == 0 {
			fault = 1 + r.IntN(5)
		}
		m.faults[fault].Add(1)
		living, end := context.WithCancel(ctx)
		work := &manyExecutor{many: m, conn: conn, twice: fault == 4}
		var death *time.Timer
		switch age := time.Duration(r.IntN(1500)) * time.Millisecond; fault {
		case 1:
			death = time.AfterFunc(age, func() { conn.Close(); end() })
		case 2:
			death = time.AfterFunc(age, end)
		case 3:
			// It ends before it would renew a lease. With an hour, jobs that it hands back because its machine fails
			// would come back to none while the test lasts.
			life := 3 * hasty.lease
			conn.timing.renew = life
			work.lasts = hasty.lease * 3 / 2
			death = time.AfterFunc(life, end)
		case 5:
			work.lasts = 150 * time.Millisecond
		}
		_, _ = conn.Serve(living, quietly(Worker{Build: here, Lanes: []string{"imdb", "mnist"}, GroupSize: 1 + r.IntN(3), Idle: -1}), work)
		if death != nil {
			death.Stop()
		}
		end()
		conn.Close()
	}
}

// manyExecutor is the executor of one worker of many.
type manyExecutor struct {
	*many
	conn  *Conn
	lasts time.Duration
	twice bool
}

func (*manyExecutor) Data(context.Context, Job) ([]byte, error) { return []byte("data"), nil }

func (e *manyExecutor) Do(ctx context.Context, jobs []Job, progress func(float64)) (out [][]byte, err error) {
	for k, j := range jobs {
		if k == 0 && e.lasts > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(e.lasts):
			}
		}
		out = append(out, manyOutcome(j))
		e.did.Add(1)
		progress(float64(k+1) / float64(len(jobs)))
		if e.twice && len(out[k]) < maxInline { // another worker hands in the same
			limited, cancel := e.conn.within(ctx)
			_, _ = e.conn.js.Publish(limited, resultSubject("campaign", j.ID), out[k])
			cancel()
		}
	}
	return out, ctx.Err()
}

// chaos lets the network and the server fail, each when a share of the jobs is filed.
func (m *many) chaos(ctx context.Context) {
	for k, fail := range []func(){
		func() { m.proxy.cut(0.5) },
		func() { m.restart(false) },
		func() { m.proxy.outage(500 * time.Millisecond) },
		func() { m.restart(true) },
		func() { m.proxy.cut(0.5) },
	} {
		for m.progress.Load() < int64(m.jobs*(2*k+1)/11) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		began := time.Now()
		fail()
		m.t.Logf("%d: fault %d took %v", m.progress.Load(), k, time.Since(began))
	}
}

func (m *many) restart(hard bool) {
	m.server.stop(hard)
	if err := m.server.start(); err != nil {
		m.t.Error(err)
	}
}

// ends checks that nothing is left when all have gone.
func (m *many) ends(ctx context.Context) {
	if len(m.filed) != m.jobs {
		m.t.Errorf("%d jobs were filed, want %d", len(m.filed), m.jobs)
	}
	conn := m.connect(ctx)
	defer conn.Close()
	board, err := conn.Board(ctx, "campaign", here, quiet)
	if err != nil {
		m.t.Fatal(err)
	}
	defer board.Close()
	if err := board.Remove(ctx); err != nil {
		m.t.Fatal(err)
	}
	for _, s := range []jetstream.Stream{conn.jobs, conn.results} {
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
		if err != nil {
			m.t.Fatal(err)
		}
		if info.State.Msgs > 0 {
			m.t.Errorf("%s: %v is left", info.Config.Name, info.State.Subjects)
		}
	}
}
