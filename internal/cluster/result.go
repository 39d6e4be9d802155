package cluster

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// Sizes of what lies in one message, in bytes, for servers that take a megabyte.
const (
	maxInline = 256 << 10 // of a result in its own message, as JSON
	maxPart   = 512 << 10
)

// sizes returns the sizes for the server of a connection, which may take less.
func (c *Conn) sizes() (inline, part int) {
	payload := int(c.nats.MaxPayload())
	return min(maxInline, payload/2), min(maxPart, payload/2)
}

// handIn stores what came of a job, says so, and acknowledges it. If the server isn't there, it waits.
func (s *serving) handIn(ctx context.Context, j leased, body []byte) error {
	note := made{Worker: s.id, Attempt: hex.EncodeToString(newNonce()), Body: body}
	if inline, size := s.conn.sizes(); len(body) > inline {
		note.Body = nil
		for part := range slices.Chunk(body, size) {
			subject := partSubject(j.campaign, j.ID, note.Attempt, strconv.Itoa(note.Parts))
			if err := s.store(ctx, subject, subject, s.conn.sealer.seal(subject, part)); err != nil {
				return err
			}
			note.Parts++
		}
	}
	subject := resultSubject(j.campaign, j.ID)
	text, err := s.conn.sealer.encode(subject, note)
	if err != nil {
		return err
	}
	if err := s.store(ctx, subject, note.Attempt, text); err != nil {
		return err
	}
	_ = j.message.Ack() // if it is lost, the job is done once more, to the same bytes
	return nil
}

// store publishes until the server has said that it has the message. The id makes one message of two, if an answer was
// lost.
func (s *serving) store(ctx context.Context, subject, id string, text []byte) error {
	return patiently(ctx, s.conn, s.tellOnce, func(ctx context.Context) error {
		ctx, cancel := s.conn.within(ctx)
		defer cancel()
		_, err := s.conn.js.Publish(ctx, subject, text, jetstream.WithMsgID(id))
		return err
	})
}

// body returns what came of a job, from its parts if it has any. The error wraps [jetstream.ErrMsgNotFound] if one
// isn't there, and [ErrSecret] if one is damaged.
func (b *Board) body(ctx context.Context, id string, note made) ([]byte, error) {
	body := note.Body
	for k := range note.Parts {
		subject := partSubject(b.campaign, id, note.Attempt, strconv.Itoa(k))
		part, err := b.part(ctx, subject)
		if err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", k+1, note.Parts, err)
		}
		body = append(body, part...)
	}
	return body, nil
}

func (b *Board) part(ctx context.Context, subject string) ([]byte, error) {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	m, err := b.conn.results.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return nil, err
	}
	return b.conn.sealer.open(subject, m.Data)
}
