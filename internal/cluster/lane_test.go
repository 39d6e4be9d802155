package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// between stands between a board and the stream of its jobs.
type between struct {
	jetstream.Stream
	looked func()
}

func (b *between) Info(ctx context.Context, options ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	info, err := b.Stream.Info(ctx, options...)
	if looked := b.looked; looked != nil {
		b.looked = nil
		looked()
	}
	return info, err
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
		m, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
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
