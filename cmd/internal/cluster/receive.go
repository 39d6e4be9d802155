package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// maxAhead bounds the number of results that the client has buffered.
const maxAhead = 16

// receive hands out results. If the server loses the consumer, it makes another one.
func (b *Board) receive(ctx context.Context) {
	for ctx.Err() == nil {
		err := b.receiveAll(ctx)
		if err != nil && ctx.Err() == nil {
			if !b.conn.passing(err) {
				b.arrive(ctx, arrival{err: b.conn.ofServer(err)})
				return
			}
			_, _ = b.conn.makeStores(ctx) // the server may have lost its disk
		}
		select {
		case <-ctx.Done():
		case <-time.After(b.conn.timing.reply / 10):
		}
	}
}

func (b *Board) receiveAll(ctx context.Context) error {
	consumer, err := b.conn.consumer(ctx, resultsName, "campaign-"+b.campaign, resultSubject(b.campaign, "*"))
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(maxAhead), jetstream.PullExpiry(b.conn.timing.lease))
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err == nil {
			err = b.take(ctx, m)
		}
		if err != nil {
			return err
		}
	}
}

// take hands out a result once, although the server sends it again whenever its lease runs out before it is filed.
func (b *Board) take(ctx context.Context, m jetstream.Msg) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	_, id := splitJob(m.Subject())
	sequence := meta.Sequence.Stream
	b.mu.Lock()
	_, again := b.waiting[id][sequence]
	b.mu.Unlock()
	if again {
		return nil
	}
	body := m.Data()
	if object := m.Headers().Get(objectHeader); object != "" {
		body, err = b.object(ctx, object)
		if errors.Is(err, jetstream.ErrObjectNotFound) || errors.Is(err, jetstream.ErrDigestMismatch) {
			b.tell(fmt.Sprintf("the result of %s isn't whole, and is left out: %v", id, err))
			return b.acknowledge(ctx, m) // repost posts its job again
		}
		if err != nil {
			return err
		}
	}
	b.mu.Lock()
	if b.waiting[id] == nil {
		b.waiting[id] = map[uint64]jetstream.Msg{}
	}
	b.waiting[id][sequence] = m
	b.mu.Unlock()
	b.arrive(ctx, arrival{Result: Result{id, body}})
	return ctx.Err()
}

// object returns the content of an object.
func (b *Board) object(ctx context.Context, name string) ([]byte, error) {
	limited, cancel := b.conn.within(ctx)
	defer cancel()
	info, err := b.conn.large.GetInfo(limited, name)
	if err != nil {
		return nil, err
	}
	transfer, cancel := b.conn.forObject(ctx, info.Size)
	defer cancel()
	return b.conn.large.GetBytes(transfer, name)
}

func (b *Board) arrive(ctx context.Context, a arrival) {
	select {
	case b.arrived <- a:
	case <-ctx.Done():
	}
}

// Next waits for a result. After the coordinator is restarted, results that aren't done come again. If two workers did
// one job, both results come.
func (b *Board) Next(ctx context.Context) (Result, error) {
	select {
	case a := <-b.arrived:
		return a.Result, a.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}
