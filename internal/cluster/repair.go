package cluster

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// unpost removes a job from the server. It deletes the one message: a purge of a subject makes nats-server forget
// leases of other jobs, which then lie in the stream and are never handed out.
func (b *Board) unpost(ctx context.Context, subject string) error {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	m, err := b.conn.tasks.GetLastMsgForSubject(ctx, subject)
	if err == nil {
		err = b.conn.tasks.DeleteMsg(ctx, m.Sequence)
	}
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	return err
}

// overlooked returns the lanes with jobs that the server neither waits to hand out nor has under a lease.
func (b *Board) overlooked(ctx context.Context) (lanes map[string]bool, err error) {
	b.mu.Lock()
	all := make([]string, 0, len(b.lanes))
	for lane := range b.lanes {
		all = append(all, lane)
	}
	b.mu.Unlock()
	lanes = map[string]bool{}
	for _, lane := range all {
		over, err := b.overlooks(ctx, lane)
		if err != nil {
			return nil, err
		}
		if over {
			lanes[lane] = true
		}
	}
	return lanes, nil
}

func (b *Board) overlooks(ctx context.Context, lane string) (bool, error) {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	info, err := b.conn.tasks.Info(ctx, jetstream.WithSubjectFilter(b.conn.laneSubjects(lane)))
	if err != nil || len(info.State.Subjects) == 0 {
		return false, err
	}
	consumer, err := b.conn.tasks.Consumer(ctx, b.conn.consumerName(lane))
	if err != nil {
		return false, err
	}
	has := consumer.CachedInfo()
	return uint64(len(info.State.Subjects)) > has.NumPending+uint64(has.NumAckPending), nil
}

// repair gives a lane another consumer, to which all its jobs are new. Those under way are done twice.
func (b *Board) repair(ctx context.Context, lane string) error {
	b.tell("the server overlooked jobs, and is to hand them out again")
	limited, cancel := b.conn.within(ctx)
	defer cancel()
	if err := b.conn.tasks.DeleteConsumer(limited, b.conn.consumerName(lane)); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return err
	}
	_, err := b.conn.consumer(ctx, lane)
	return err
}
