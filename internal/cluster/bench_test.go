package cluster

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

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
	work := sized{size}
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
