package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// between stands between a board and the stream of its jobs.
type between struct {
	jetstream.Stream
	looked  func()
	noReset bool
}

func (b *between) Info(ctx context.Context, options ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	info, err := b.Stream.Info(ctx, options...)
	if looked := b.looked; looked != nil {
		b.looked = nil
		looked()
	}
	return info, err
}

// ResetConsumerToSequence gets no answer from an old server.
func (b *between) ResetConsumerToSequence(ctx context.Context, name string, sequence uint64) (*jetstream.ConsumerResetResponse, error) {
	if b.noReset {
		return nil, context.DeadlineExceeded
	}
	return b.Stream.ResetConsumerToSequence(ctx, name, sequence)
}

// laneFolder is where the server of a scene keeps the lane of its jobs.
func (s *scene) laneFolder() string {
	return filepath.Join(s.dir, "store", "jetstream", "$G", "streams", tasksName, "obs", s.board.conn.consumerName("mnist"))
}

// A job that ends or comes while the coordinator looks isn't overlooked, and neither is one under a lease.
func TestMovingJobsAreNotOverlooked(t *testing.T) {
	t.Parallel()
	s := newSceneOf(t, patient)
	s.post(4)
	ctx := t.Context()
	consumer, err := s.connect().consumer(ctx, "mnist")
	if err != nil {
		t.Fatal(err)
	}
	next := func() jetstream.Msg {
		m, err := consumer.Next(jetstream.FetchMaxWait(hang))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	held, tasks := next(), &between{Stream: s.board.conn.tasks}
	s.board.conn.tasks = tasks
	for _, c := range []struct {
		name   string
		looked func()
	}{
		{"nothing moves", func() {}},
		{"a job that waited ends", func() {
			if err := next().DoubleAck(ctx); err != nil {
				t.Error(err)
			}
		}},
		{"a job under a lease ends", func() {
			if err := held.DoubleAck(ctx); err != nil {
				t.Error(err)
			}
		}},
		{"a job comes", func() {
			if err := s.board.Post(ctx, job(9)); err != nil {
				t.Error(err)
			}
		}},
		{"one ends and another comes", func() {
			if err := next().DoubleAck(ctx); err != nil {
				t.Error(err)
			}
			if err := s.board.Post(ctx, job(10)); err != nil {
				t.Error(err)
			}
		}},
	} {
		tasks.looked = c.looked
		if over, err := s.board.overlooks(ctx, "mnist"); over || err != nil {
			t.Errorf("%s: %v, %v", c.name, over, err)
		}
	}
}

// All jobs of a lane that is repaired are handed out anew, also one whose lease has long to run; without a reset by the
// server too.
func TestRepairHandsOutAnew(t *testing.T) {
	t.Parallel()
	for _, noReset := range []bool{false, true} {
		s := newSceneOf(t, patient)
		s.post(2)
		s.board.conn.tasks = &between{Stream: s.board.conn.tasks, noReset: noReset}
		consumer, err := s.connect().consumer(t.Context(), "mnist")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for _, want := range []string{"job0", "job1"} {
				m, err := consumer.Next(jetstream.FetchMaxWait(hang))
				if err != nil {
					t.Fatalf("without reset %v: %s: %v", noReset, want, err)
				}
				if _, id, _ := splitTask(m.Subject()); id != want {
					t.Errorf("without reset %v: %s comes, want %s", noReset, id, want)
				}
			}
			if err := s.board.repair(t.Context(), "mnist"); err != nil {
				t.Fatal(err)
			}
		}
		s.worker(&crew{}, Worker{Batch: 2})
		s.collect(2)
	}
}

// While a coordinator repairs a lane, workers come and ask for it. However they meet, the lane can be used and opened
// afterwards: at once if the server can reset it, and else within some tries.
func TestRepairMeetsWorkers(t *testing.T) {
	t.Parallel()
	for _, noReset := range []bool{false, true} {
		s := newSceneOf(t, patient)
		s.post(1)
		s.board.conn.tasks = &between{Stream: s.board.conn.tasks, noReset: noReset}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var workers sync.WaitGroup
		for range 12 {
			conn := s.connect()
			workers.Go(func() {
				for ctx.Err() == nil {
					_, _ = conn.consumer(ctx, "mnist") // it may be gone in between
				}
			})
		}
		for range 20 {
			if err := s.board.repair(ctx, "mnist"); err != nil && !noReset {
				t.Error(err)
			}
			limited, cancel := context.WithTimeout(ctx, hang)
			if err := s.board.patiently(limited, func(ctx context.Context) error { return s.board.openLane(ctx, "mnist") }); err != nil {
				t.Fatalf("without reset %v: %v", noReset, err)
			}
			cancel()
		}
		stop()
		workers.Wait()
		if _, err := os.Stat(filepath.Join(s.laneFolder(), "meta.inf")); err != nil {
			t.Errorf("without reset %v: %v", noReset, err)
		}
		s.worker(&crew{}, Worker{})
		s.collect(1)
	}
}

// A server that lost the folder of a lane's consumer hands out its jobs, and can't update it: workers that come need no
// update, and a coordinator makes it anew.
func TestLaneWithoutFolder(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.post(1)
	if err := os.RemoveAll(s.laneFolder()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.connect().makeConsumer(t.Context(), "mnist"); !errors.Is(err, jetstream.ErrConsumerCreate) {
		t.Fatalf("an update without a folder: %v", err)
	}
	s.worker(&crew{}, Worker{})
	s.collect(1)
	s.board.Close()
	s.board = s.newBoard()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if err := s.board.Post(ctx, job(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.laneFolder(), "meta.inf")); err != nil {
		t.Error(err)
	}
	if r, err := s.board.Next(ctx); err != nil || r.ID != "job2" {
		t.Errorf("%q, %v", r.ID, err)
	}
}

// A consumer of another version of dptrain, with settings that can't be updated, makes room for today's.
func TestLaneOfAnotherVersion(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	conn := s.connect()
	_, err := conn.js.CreateConsumer(t.Context(), tasksName, jetstream.ConsumerConfig{
		Durable: conn.consumerName("mnist"), FilterSubject: conn.laneSubjects("mnist"), AckPolicy: jetstream.AckExplicitPolicy, MaxWaiting: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if err := s.board.Post(ctx, job(0)); err != nil {
		t.Fatal(err)
	}
	s.worker(&crew{}, Worker{})
	s.collect(1)
}
