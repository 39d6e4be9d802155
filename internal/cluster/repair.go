package cluster

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// unpost removes a job from the server. It deletes the one message: with purges of a subject, nats-server 2.15.2 came
// to count other jobs as acknowledged, which then lay in the stream and were never handed out.
func (b *Board) unpost(ctx context.Context, subject string) error {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	m, err := b.conn.tasks.GetLastMsgForSubject(ctx, subject)
	if err == nil {
		err = b.conn.tasks.DeleteMsg(ctx, m.Sequence)
	}
	return unlessGone(err)
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

// overlooks counts only jobs that lie there before and after the server says what the lane's consumer has: workers end
// jobs between two requests. One look may still be wrong, since a consumer notices a job some time after its post.
func (b *Board) overlooks(ctx context.Context, lane string) (bool, error) {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	before, err := b.conn.tasks.Info(ctx, jetstream.WithSubjectFilter(b.conn.laneSubjects(lane)))
	if err != nil || len(before.State.Subjects) == 0 {
		return false, err
	}
	consumer, err := b.conn.tasks.Consumer(ctx, b.conn.consumerName(lane))
	if err != nil {
		return false, err
	}
	info := consumer.CachedInfo()
	has := info.NumPending + uint64(info.NumAckPending)
	if uint64(len(before.State.Subjects)) <= has {
		return false, nil
	}
	after, err := b.conn.tasks.Info(ctx, jetstream.WithSubjectFilter(b.conn.laneSubjects(lane)))
	if err != nil {
		return false, err
	}
	var stayed uint64
	for subject := range before.State.Subjects {
		if _, ok := after.State.Subjects[subject]; ok {
			stayed++
		}
	}
	return stayed > has, nil
}

// repair makes all jobs of a lane new to its consumer. Those under way are done twice. The consumer stays: when
// nats-server 2.15.2 deletes one while a worker makes it again, the new one may lose its folder, and fails every update
// from then on.
func (b *Board) repair(ctx context.Context, lane string) error {
	b.tell("the server overlooked jobs, and is to hand them out again")
	if err := b.openLane(ctx, lane); err != nil { // its settings may be others
		return err
	}
	limited, cancel := b.conn.within(ctx)
	defer cancel()
	limited, stop := context.WithTimeout(limited, b.conn.timing.reply)
	defer stop()
	_, err := b.conn.tasks.ResetConsumerToSequence(limited, b.conn.consumerName(lane), 1)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if err := b.closeLane(ctx, lane); err != nil { // a server that can't do it, such as 2.10.29, doesn't answer
		return err
	}
	return b.openLane(ctx, lane)
}

// openLane makes a lane's consumer, or gives it today's settings. One that can't be updated makes room for a new one,
// to which all jobs are new: its folder is gone, or it is of another version.
func (b *Board) openLane(ctx context.Context, lane string) error {
	_, err := b.conn.makeConsumer(ctx, lane)
	if !errors.Is(err, jetstream.ErrConsumerCreate) {
		return err
	}
	if err := b.closeLane(ctx, lane); err != nil {
		return err
	}
	_, err = b.conn.makeConsumer(ctx, lane)
	return err
}

// closeLane deletes a lane's consumer.
func (b *Board) closeLane(ctx context.Context, lane string) error {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	err := b.conn.tasks.DeleteConsumer(ctx, b.conn.consumerName(lane))
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil
	}
	return err
}
