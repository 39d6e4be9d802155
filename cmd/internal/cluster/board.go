package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dptrain/dptrain/internal/show"
)

// Board is where a coordinator posts jobs and receives their results. Its methods are safe for concurrent use.
type Board struct {
	conn     *Conn
	campaign string
	build    Build
	tell     func(text string)

	arrived chan arrival
	stop    context.CancelFunc
	running sync.WaitGroup
	keys    *nats.Subscription

	mu      sync.Mutex
	out     map[string]Job                      // jobs that are posted and not done, by id
	waiting map[string]map[uint64]jetstream.Msg // results handed out and not done, by job and sequence number
	workers map[string]Heartbeat
}

// arrival is a result, or an error after which none comes.
type arrival struct {
	Result
	err error
}

// Board opens the board of a campaign. A coordinator that is restarted gives the same campaign, and then receives the
// results of its earlier jobs too. Only workers of the same build do the jobs. tell is called with news for a person,
// such as that a worker has come.
func (c *Conn) Board(ctx context.Context, campaign string, build Build, tell func(text string)) (*Board, error) {
	if err := checkTokens(campaign); err != nil {
		return nil, err
	}
	if err := c.free(ctx, campaign); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	b := &Board{
		conn: c, campaign: campaign, build: build, tell: func(text string) { tell(show.Printable(text)) }, arrived: make(chan arrival), stop: stop,
		out: map[string]Job{}, waiting: map[string]map[uint64]jetstream.Msg{}, workers: map[string]Heartbeat{},
	}
	var err error
	if b.keys, err = c.nats.Subscribe(keyRoot+campaign, b.giveKey); err != nil {
		stop()
		return nil, c.ofServer(err)
	}
	_ = c.nats.FlushTimeout(c.timing.reply) // if the connection is lost, the library subscribes again
	b.running.Go(func() { b.receive(ctx) })
	b.running.Go(func() { b.watch(ctx) })
	return b, nil
}

// ErrLed reports a campaign that has a coordinator already.
var ErrLed = errors.New("another coordinator has the jobs of this folder, or of a copy of it")

// free returns an error if a campaign has a coordinator: two would take each other's results.
func (c *Conn) free(ctx context.Context, campaign string) error {
	ctx, cancel := c.within(ctx)
	defer cancel()
	if _, err := c.nats.RequestWithContext(ctx, keyRoot+campaign, []byte("{}")); err == nil {
		return ErrLed
	}
	return nil
}

// Close ends the board's work in the background. Jobs and results stay on the server.
func (b *Board) Close() {
	b.stop()
	_ = b.keys.Unsubscribe() // the connection may be gone
	b.running.Wait()
}

// giveKey answers a worker's request for the secret of a job.
func (b *Board) giveKey(m *nats.Msg) {
	var ask keyRequest
	if json.Unmarshal(m.Data, &ask) != nil {
		return
	}
	reply, err := json.Marshal(b.keyFor(ask))
	if err == nil {
		_ = m.Respond(reply) // without a reply the worker gives the job back
	}
}

func (b *Board) keyFor(ask keyRequest) keyReply {
	b.mu.Lock()
	defer b.mu.Unlock()
	j, out := b.out[ask.ID]
	if message, err := j.message(b.build); !out || len(b.waiting[ask.ID]) > 0 || err != nil || sha256.Sum256(message) != ask.Message {
		return keyReply{Ended: true} // the worker removes the message; if the job is out, repost posts it again
	}
	return keyReply{Secret: j.Secret}
}

// Post posts a job. Posting it again changes nothing, even in another process, until Done is called.
func (b *Board) Post(ctx context.Context, j Job) error {
	if err := checkTokens(j.ID, j.Lane, j.Group); err != nil {
		return err
	}
	b.mu.Lock()
	b.out[j.ID] = j
	b.mu.Unlock()
	return b.conn.patiently(ctx, b.tell, func(ctx context.Context) error { return b.post(ctx, j) })
}

// post posts a job, unless the server has the job or a result of it. It replaces an earlier message of the job that
// differs, such as another build's.
func (b *Board) post(ctx context.Context, j Job) error {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	if _, err := b.conn.results.GetLastMsgForSubject(ctx, resultSubject(b.campaign, j.ID)); !errors.Is(err, jetstream.ErrMsgNotFound) {
		return err
	}
	message, err := j.message(b.build)
	if err != nil {
		return err
	}
	subject := jobSubject(j.Lane, b.campaign, j.ID)
	_, err = b.conn.js.Publish(ctx, subject, message, jetstream.WithExpectLastSequencePerSubject(0))
	if taken := new(jetstream.APIError); !errors.As(err, &taken) || taken.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequence {
		return err
	}
	before, err := b.conn.jobs.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && slices.Equal(before.Data, message) {
		return nil // a message that is gone was done in between
	}
	if err == nil {
		_, err = b.conn.js.Publish(ctx, subject, message)
	}
	if err == nil {
		err = b.conn.jobs.DeleteMsg(ctx, before.Sequence)
	}
	return err
}

// Done forgets a job and its results. Call it when the first result is filed.
func (b *Board) Done(ctx context.Context, id string) error {
	b.mu.Lock()
	results := b.waiting[id]
	delete(b.out, id)
	delete(b.waiting, id)
	b.mu.Unlock()
	for _, m := range results {
		if err := b.acknowledge(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// acknowledge removes a result from the server. If the acknowledgement is lost, the result comes again, as a second one
// of its job.
func (b *Board) acknowledge(ctx context.Context, m jetstream.Msg) error {
	limited, cancel := b.conn.within(ctx)
	defer cancel()
	_ = m.DoubleAck(limited)
	if object := m.Headers().Get(objectHeader); object != "" {
		_ = b.conn.large.Delete(limited, object) // if it fails, the object expires
	}
	return ctx.Err()
}

// removeJob removes a job's message, if the server has it.
func (b *Board) removeJob(ctx context.Context, subject string) error {
	m, err := b.conn.jobs.GetLastMsgForSubject(ctx, subject)
	if err == nil {
		err = b.conn.jobs.DeleteMsg(ctx, m.Sequence)
	}
	// JetStream's client also reports a missing message by ErrMsgDeleteUnsuccessful.
	if errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		return nil
	}
	return err
}

// Remove removes the campaign from the server. Results that workers hand in later expire there.
func (b *Board) Remove(ctx context.Context) error {
	b.mu.Lock()
	clear(b.out)
	clear(b.waiting)
	b.mu.Unlock()
	limited, cancel := b.conn.within(ctx)
	defer cancel()
	jobs, err := b.conn.jobs.Info(limited, jetstream.WithSubjectFilter(jobSubject("*", b.campaign, "*")))
	if err != nil {
		return err
	}
	for subject := range jobs.State.Subjects { // a purge could hide other campaigns' jobs: nats-server issue 5727
		if err := b.removeJob(limited, subject); err != nil {
			return err
		}
	}
	keys, err := b.conn.data.ListKeysFiltered(limited, b.campaign+".*")
	if err != nil {
		return err
	}
	for key := range keys.Keys() {
		if err := b.conn.data.Purge(limited, key); err != nil {
			return err
		}
	}
	return b.conn.results.Purge(limited, jetstream.WithPurgeSubject(resultSubject(b.campaign, "*")))
}

// watch looks for workers, and posts jobs again that the server has lost.
func (b *Board) watch(ctx context.Context) {
	check, survey := time.NewTicker(b.conn.timing.check), time.NewTicker(b.conn.timing.pulse/5)
	defer check.Stop()
	defer survey.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-check.C:
			_ = b.repost(ctx) // if the server is down, the next call is soon
		case <-survey.C:
			b.survey(ctx)
		}
	}
}

// repost posts the jobs again that are out and of which the server has neither a message nor a result.
func (b *Board) repost(ctx context.Context) error {
	b.mu.Lock()
	var out []Job
	for id, j := range b.out {
		if len(b.waiting[id]) == 0 {
			out = append(out, j)
		}
	}
	b.mu.Unlock()
	if len(out) == 0 {
		return nil
	}
	limited, cancel := b.conn.within(ctx)
	defer cancel()
	info, err := b.conn.jobs.Info(limited, jetstream.WithSubjectFilter(jobSubject("*", b.campaign, "*")))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = b.conn.makeStores(ctx)
		info = new(jetstream.StreamInfo)
	}
	if err != nil {
		return err
	}
	for _, j := range out {
		b.mu.Lock()
		_, still := b.out[j.ID]
		b.mu.Unlock()
		if _, there := info.State.Subjects[jobSubject(j.Lane, b.campaign, j.ID)]; there || !still {
			continue
		}
		if err := b.post(ctx, j); err != nil {
			return err
		}
	}
	return nil
}
