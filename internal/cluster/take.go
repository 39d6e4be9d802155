package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// errGone reports a server that doesn't come back, as one inside of a coordinator that has ended.
var errGone = errors.New("the server is gone")

// take takes jobs of one group from the first lane that has any. Errors that may pass are waited for: by a worker that
// ends when it is idle no longer than that, or than a restart takes. The error is errGone then.
func (s *serving) take(ctx context.Context) (jobs []leased, err error) {
	limited := ctx
	if s.Idle >= 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, max(s.Idle, s.conn.timing.gone()), errGone)
		defer cancel()
	}
	for _, lane := range s.Lanes {
		err := patiently(limited, s.conn, s.tellOnce, func(ctx context.Context) error {
			jobs, err = s.fetch(ctx, lane)
			if err != nil {
				delete(s.lanes, lane)
				s.unsure = true
			}
			return err
		})
		if err != nil && ctx.Err() == nil && context.Cause(limited) == errGone {
			return nil, errGone
		}
		if err != nil || len(jobs) > 0 {
			return jobs, err
		}
	}
	return nil, nil
}

// fetch takes jobs from a lane. Those of another group than the first one's go back at once.
func (s *serving) fetch(ctx context.Context, lane string) ([]leased, error) {
	consumer, ok := s.lanes[lane]
	if !ok {
		var err error
		if consumer, err = s.conn.consumer(ctx, lane); err != nil {
			return nil, err
		}
		s.lanes[lane] = consumer
	}
	for {
		messages, err := s.pull(consumer)
		if err != nil {
			return nil, err
		}
		if jobs, unasked := s.sort(messages, lane); len(jobs) > 0 || unasked == 0 {
			return jobs, nil
		} // others may lie behind them
	}
}

const (
	// A server hands out a job some time after it has acknowledged it: one that is asked at once may say it has none.
	notice = 20 * time.Millisecond
	// Jobs that are posted together are done together.
	gather = 50 * time.Millisecond
	// A server says that it has no job. After this long without a word the library ends as if it had.
	unanswered = time.Second
)

var errUnanswered = errors.New("no answer")

// pull takes as many jobs as the worker does at once, or what there is.
func (s *serving) pull(consumer jetstream.Consumer) (messages []jetstream.Msg, err error) {
	asked := time.Now()
	first, err := consumer.Next(jetstream.FetchMaxWait(notice))
	if errors.Is(err, nats.ErrTimeout) {
		err = nil
		if time.Since(asked) >= unanswered {
			err = errUnanswered
		}
	}
	if err != nil || first == nil {
		return nil, err
	}
	messages = append(messages, first)
	if s.Batch > 1 {
		more, err := consumer.Fetch(s.Batch-1, jetstream.FetchMaxWait(gather))
		if err != nil {
			return messages, nil // what it has is under a lease
		}
		for m := range more.Messages() {
			messages = append(messages, m)
		}
	}
	return messages, nil
}

func (s *serving) open(m jetstream.Msg, lane string) (leased, error) {
	campaign, id, ok := splitTask(m.Subject())
	if !ok {
		return leased{}, fmt.Errorf("subject %q", m.Subject())
	}
	var p posted
	err := s.conn.sealer.decode(m.Subject(), m.Data(), &p)
	return leased{Job{ID: id, Lane: lane, Group: p.Group, Body: p.Body}, campaign, m}, err
}
