package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// hello asks the coordinators that are there whether they take the worker.
func (s *serving) hello(ctx context.Context) error {
	inbox := s.conn.nats.NewInbox()
	replies := make(chan *nats.Msg, 64)
	sub, err := s.conn.nats.ChanSubscribe(inbox, replies)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	nonce := newNonce()
	text, err := s.conn.sealer.encode(hello, claim{Worker: s.id, Build: s.Build, Nonce: nonce})
	if err != nil {
		return err
	}
	if err := s.conn.nats.PublishRequest(hello, inbox, text); err != nil {
		return err
	}
	refused, taken := "", false
	for timeout := time.After(time.Second); !taken; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-replies:
			var g grant
			switch err := s.conn.sealer.decode(replyTo(hello, nonce), m.Data, &g); {
			case len(m.Data) == 0: // the server says that no coordinator is there
				return nil
			case err != nil && refused == "":
				refused = "a coordinator is there, and has another secret than this cluster's file; copy the file from its machine"
			case err != nil:
			case g.Refusal != "":
				refused = g.Why
			default:
				taken = true
			}
			continue
		case <-timeout:
		}
		if refused != "" {
			return fmt.Errorf("%w: %s", ErrRefused, refused)
		}
		return nil
	}
	return nil
}
