package cluster

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// silent is a crew whose jobs take no time and have results of one size.
type silent struct{ body []byte }

func (silent) Data(context.Context, Job) ([]byte, error) { return nil, nil }

func (c silent) Do(_ context.Context, jobs []Job, progress func(float64)) (out [][]byte, _ error) {
	for range jobs {
		out = append(out, c.body)
	}
	progress(1)
	return out, nil
}

// BenchmarkJobs measures what a job costs that takes no time itself, from Post to the end of Done: by itself, and with
// as many jobs out as a coordinator posts. Server, coordinator and workers share this machine.
func BenchmarkJobs(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10, 2 << 20} {
		for _, workers := range []int{1, 10, 200} {
			for _, out := range []int{1, 4 + 2*workers} {
				b.Run(fmt.Sprintf("size=%d/workers=%d/out=%d", size, workers, out), func(b *testing.B) { benchmarkJobs(b, size, workers, out) })
			}
		}
	}
}

func benchmarkJobs(b *testing.B, size, workers, out int) {
	server := embedded(b)
	board, err := connected(b, server.File).Board(b.Context(), "campaign", here, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer board.Close()
	work := silent{make([]byte, size)}
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(work.body)
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	for range workers {
		c := connected(b, server.File)
		running.Go(func() {
			_, _ = c.Serve(ctx, Worker{Build: here, Lanes: []string{"mnist"}, Batch: 1, Idle: -1}, work)
		})
	}
	for len(board.Workers()) < workers {
		time.Sleep(10 * time.Millisecond)
	}
	message := func() int64 {
		v, err := server.nats.Varz(nil)
		if err != nil {
			b.Fatal(err)
		}
		return v.InMsgs + v.OutMsgs
	}
	body := make([]byte, 1000)
	post := func(n int) {
		j := job(n)
		j.Body = body
		if err := board.Post(b.Context(), j); err != nil {
			b.Error(err)
		}
	}
	before := message()
	b.ResetTimer()
	var posting sync.WaitGroup
	slots := make(chan struct{}, out)
	posting.Go(func() {
		for n := range b.N {
			slots <- struct{}{}
			post(n)
		}
	})
	for range b.N {
		result, err := board.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := board.Done(b.Context(), result.ID); err != nil {
			b.Fatal(err)
		}
		<-slots
	}
	b.StopTimer()
	posting.Wait()
	b.ReportMetric(float64(message()-before)/float64(b.N), "messages/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	stop()
	running.Wait()
}

// BenchmarkWaiting measures what results that wait for their coordinator take on the server's disk and in memory.
func BenchmarkWaiting(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10, 2 << 20} {
		b.Run(fmt.Sprint("size=", size), func(b *testing.B) {
			dir := b.TempDir()
			server := must(Embed(dir, "127.0.0.1:0", ""))
			defer func() { _ = server.Close() }()
			board := must(connected(b, server.File).Board(b.Context(), "campaign", here, nil))
			defer board.Close()
			for n := range b.N {
				if err := board.Post(b.Context(), job(n)); err != nil {
					b.Fatal(err)
				}
			}
			bytesIn := func() (n int64) {
				_ = filepath.WalkDir(filepath.Join(dir, "store"), func(_ string, e fs.DirEntry, err error) error {
					if err == nil && !e.IsDir() {
						if info, err := e.Info(); err == nil {
							n += info.Size()
						}
					}
					return nil
				})
				return n
			}
			heap := func() int64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return int64(m.HeapAlloc)
			}
			disk, memory := bytesIn(), heap()
			work := silent{make([]byte, size)}
			_, _ = rand.NewChaCha8([32]byte{}).Read(work.body)
			if _, err := connected(b, server.File).Serve(b.Context(), Worker{Build: here, Lanes: []string{"mnist"}, Batch: 1}, work); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(bytesIn()-disk)/float64(b.N), "disk-bytes/op")
			b.ReportMetric(float64(heap()-memory)/float64(b.N), "heap-bytes/op")
		})
	}
}

// BenchmarkIdle measures the messages of workers that wait for jobs, by default's timing.
func BenchmarkIdle(b *testing.B) {
	const workers = 200
	server := embedded(b)
	board := must(connected(b, server.File).Board(b.Context(), "campaign", here, nil))
	defer board.Close()
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	for range workers {
		c := connected(b, server.File)
		running.Go(func() {
			_, _ = c.Serve(ctx, Worker{Build: here, Lanes: []string{"mnist"}, Batch: 1, Idle: -1}, silent{})
		})
	}
	time.Sleep(5 * time.Second)
	before, start := must(server.nats.Varz(nil)), time.Now()
	time.Sleep(10 * time.Second)
	after, took := must(server.nats.Varz(nil)), time.Since(start).Seconds()
	b.ReportMetric(float64(after.InMsgs+after.OutMsgs-before.InMsgs-before.OutMsgs)/took/workers, "messages/s/worker")
	stop()
	running.Wait()
}

// BenchmarkKilled measures what a worker costs that says nothing any more, by default's timing: the time until another
// begins its job.
func BenchmarkKilled(b *testing.B) {
	server := embedded(b)
	board := must(connected(b, server.File).Board(b.Context(), "campaign", here, nil))
	defer board.Close()
	victim, first, _ := hold()
	heir, second, let := hold()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	c, d := connected(b, server.File), connected(b, server.File)
	serve := func(c *Conn, work *crew) {
		_, _ = c.Serve(ctx, Worker{Build: here, Lanes: []string{"mnist"}, Batch: 1, Idle: -1}, work)
	}
	go serve(c, victim)
	if err := board.Post(b.Context(), job(1)); err != nil {
		b.Fatal(err)
	}
	<-first
	go serve(d, heir)
	time.Sleep(time.Second)
	c.Close()
	start := time.Now()
	<-second
	b.ReportMetric(time.Since(start).Seconds(), "s")
	close(let)
}
