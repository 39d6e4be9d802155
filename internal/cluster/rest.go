package cluster

import (
	"context"
	"math/rand/v2"
	"time"
)

// listen subscribes to what wakes one of the workers that have nothing to do. One of many is enough: it wakes another
// if there is more than it takes.
func (s *serving) listen() error {
	for _, lane := range s.Lanes {
		sub, err := s.conn.nats.ChanQueueSubscribe(s.conn.wakeSubject(lane), "idle", s.wake)
		if err != nil {
			return s.conn.ofServer(err)
		}
		s.ears = append(s.ears, sub)
	}
	return nil
}

// deaf ends the subscriptions. It reports whether one more worker was to be woken.
func (s *serving) deaf() (woken bool) {
	for _, sub := range s.ears {
		_ = sub.Unsubscribe() // the connection may be gone
	}
	s.ears = nil
	for {
		select {
		case <-s.wake:
			woken = true
		default:
			return woken
		}
	}
}

func (s *serving) wakeAnother(lane string) {
	_ = s.conn.nats.Publish(s.conn.wakeSubject(lane), nil) // or it looks by itself
}

// rest waits until there may be a job, and reports whether the worker was woken. A call may be lost, and the jobs of
// workers that are gone wake nobody: it looks by itself, often at first.
func (s *serving) rest(ctx context.Context, idle, hope time.Time) (woken bool) {
	pause := min(max(time.Since(hope), notice), s.conn.timing.pulse)
	pause = pause/5 + rand.N(pause*4/5)
	if left := s.Idle - time.Since(idle); s.Idle >= 0 {
		pause = min(pause, max(left, 0))
	}
	select {
	case <-ctx.Done():
	case <-s.wake:
		return true
	case <-time.After(pause):
	}
	return false
}
