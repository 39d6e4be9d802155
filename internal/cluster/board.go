package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Board is where a coordinator posts jobs, and finds what came of them. Its methods are safe for concurrent use.
type Board struct {
	conn     *Conn
	campaign string
	build    Build
	tell     func(text string)

	arrived chan arrival
	stop    context.CancelFunc
	running sync.WaitGroup
	subs    []*nats.Subscription

	mu      sync.Mutex
	out     map[string]Job      // posted, and not done
	waiting map[string]bool     // of those, the ones whose results have arrived
	stored  map[string][]stored // results of jobs that aren't done
	data    map[string]claim    // who used the data of a group first
	grants  map[string]int      // how often a job was begun
	lanes   map[string]bool     // that have consumers
	workers map[string]Pulse
	refused map[string]bool // workers, as they were told
}

// stored is where a result lies on the server.
type stored struct {
	sequence uint64
	object   string
}

// arrival is a result, or an error that ends all.
type arrival struct {
	Result
	err error
}

// Board opens the board of a campaign, a random name that lasts as long as its jobs. Results of an earlier process's
// jobs are handed out first. Only workers of the same build get anything. tell is called with what a person should
// know, such as that a worker has come; it may be nil.
func (c *Conn) Board(ctx context.Context, campaign string, build Build, tell func(text string)) (*Board, error) {
	if err := checkTokens(campaign); err != nil {
		return nil, err
	}
	if tell == nil {
		tell = func(string) {}
	}
	ctx, stop := context.WithCancel(ctx)
	b := &Board{
		conn: c, campaign: campaign, build: build, tell: tell, arrived: make(chan arrival), stop: stop,
		out: map[string]Job{}, waiting: map[string]bool{}, stored: map[string][]stored{}, data: map[string]claim{}, grants: map[string]int{}, lanes: map[string]bool{},
		workers: map[string]Pulse{}, refused: map[string]bool{},
	}
	for subject, handle := range map[string]nats.MsgHandler{keyRoot + campaign: b.answer, hello: b.answer, pulse: b.feel} {
		sub, err := c.nats.Subscribe(subject, handle)
		if err != nil {
			b.Close()
			return nil, err
		}
		b.subs = append(b.subs, sub)
	}
	if err := c.nats.FlushTimeout(10 * time.Second); err != nil { // the server has the subscriptions
		b.Close()
		return nil, ofServer(err)
	}
	b.running.Go(func() { b.receive(ctx) })
	b.running.Go(func() { b.watch(ctx) })
	return b, nil
}

// Close ends what the board does in the background. Jobs and results stay where they are.
func (b *Board) Close() {
	b.stop()
	for _, s := range b.subs {
		_ = s.Unsubscribe() // the connection may be gone
	}
	b.running.Wait()
}

// Post posts a job. Posting it again, while it is out or its result waits, changes nothing, also in another process.
func (b *Board) Post(ctx context.Context, j Job) error {
	if err := checkTokens(j.ID); err != nil {
		return err
	}
	b.mu.Lock()
	b.out[j.ID] = j
	waiting, known := b.waiting[j.ID], b.lanes[j.Lane]
	b.lanes[j.Lane] = true
	b.mu.Unlock()
	if waiting {
		return nil
	}
	if !known {
		if err := b.patiently(ctx, func(ctx context.Context) error {
			_, err := b.conn.consumer(ctx, j.Lane)
			return err
		}); err != nil {
			return err
		}
	}
	if err := b.patiently(ctx, func(ctx context.Context) error { return b.post(ctx, j) }); err != nil {
		return err
	}
	return b.conn.nats.Publish(wake, nil)
}

// post posts a job that the server doesn't have.
func (b *Board) post(ctx context.Context, j Job) error {
	ctx, cancel := within(ctx)
	defer cancel()
	results, err := b.conn.js.Stream(ctx, resultsName)
	if err != nil {
		return err
	}
	switch _, err := results.GetLastMsgForSubject(ctx, resultSubject(b.campaign, j.ID)); {
	case err == nil:
		return nil // its result waits
	case !errors.Is(err, jetstream.ErrMsgNotFound):
		return err
	}
	subject := b.conn.taskSubject(j, b.campaign)
	text, err := b.conn.sealer.encode(subject, posted{j.Group, j.Body})
	if err != nil {
		return err
	}
	_, err = b.conn.js.Publish(ctx, subject, text)
	if full := new(jetstream.APIError); errors.As(err, &full) && full.Description == "maximum messages per subject exceeded" {
		return nil // it is out already; the code says no more than that it can't be stored
	}
	return err
}

// patiently calls a function until the server is there, and has its streams.
func (b *Board) patiently(ctx context.Context, do func(context.Context) error) error {
	return patiently(ctx, b.conn, b.tell, do)
}

func patiently(ctx context.Context, c *Conn, tell func(string), do func(context.Context) error) error {
	told := false
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := do(ctx)
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if !passing(err) {
			return ofServer(err)
		}
		if pause > time.Second && !told {
			told = true
			tell(fmt.Sprintf("the cluster's server doesn't answer: %v; waiting for it", err))
		}
		if pause > time.Second/2 {
			_ = c.makeStreams(ctx) // the server may have lost its store; if this fails, so does the next call
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// passing reports whether an error of the server may be gone in a while: it restarts, or the network is down.
func passing(err error) bool {
	for _, lasting := range []error{nats.ErrMaxPayload, nats.ErrConnectionClosed, jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount, nats.ErrPermissionViolation} {
		if errors.Is(err, lasting) {
			return false
		}
	}
	return true
}

// receive hands out results in the order in which they were made. It begins anew when the server has lost its place.
func (b *Board) receive(ctx context.Context) {
	var last place
	for ctx.Err() == nil {
		err := b.receiveFrom(ctx, &last)
		if err != nil && ctx.Err() == nil {
			if !passing(err) {
				b.arrive(ctx, arrival{err: ofServer(err)})
				return
			}
			_ = b.conn.makeStreams(ctx) // it may have lost its store
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// place is up to where results were received.
type place struct {
	made     time.Time // the stream: a server that lost its store counts anew
	sequence uint64
}

func (b *Board) receiveFrom(ctx context.Context, last *place) error {
	limited, cancel := within(ctx)
	defer cancel()
	stream, err := b.conn.js.Stream(limited, resultsName)
	if err != nil {
		return err
	}
	if made := stream.CachedInfo().Created; !made.Equal(last.made) {
		*last = place{made: made}
	}
	config := jetstream.OrderedConsumerConfig{FilterSubjects: []string{resultSubject(b.campaign, "*")}, MaxResetAttempts: 5}
	if last.sequence > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, last.sequence+1
	}
	consumer, err := b.conn.js.OrderedConsumer(limited, resultsName, config)
	if err != nil {
		return err
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		if err := b.take(ctx, m, meta.Sequence.Stream); err != nil {
			return err
		}
		last.sequence = meta.Sequence.Stream
	}
}

// take fetches a result and hands it out. A result that can't be read is forgotten, and its job is posted again.
func (b *Board) take(ctx context.Context, m jetstream.Msg, sequence uint64) error {
	subject := m.Subject()
	id := subject[len(resultSubject(b.campaign, "")):]
	var at made
	err := b.conn.sealer.decode(subject, m.Data(), &at)
	if err != nil {
		b.tell(fmt.Sprintf("a result of %s can't be read, and is left out: %v", id, err))
		return b.forget(ctx, stored{sequence: sequence})
	}
	where := stored{sequence, at.Object}
	body, err := b.object(ctx, subject, at.Object)
	if errors.Is(err, jetstream.ErrObjectNotFound) || errors.Is(err, ErrSecret) {
		b.tell(fmt.Sprintf("the result of %s isn't in the object store, or is damaged, and is left out: %v", id, err))
		return b.forget(ctx, where)
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.waiting[id] = true
	b.stored[id] = append(b.stored[id], where)
	b.mu.Unlock()
	b.arrive(ctx, arrival{Result: Result{id, body, at.Worker}})
	return ctx.Err()
}

// object returns the opened content of an object.
func (b *Board) object(ctx context.Context, subject, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	store, err := b.conn.js.ObjectStore(ctx, bucketName)
	if err != nil {
		return nil, err
	}
	object, err := store.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	sealed, err := io.ReadAll(object)
	if err := errors.Join(err, object.Close()); err != nil {
		return nil, err
	}
	return b.conn.sealer.open(subject+" object "+name, sealed)
}

func (b *Board) arrive(ctx context.Context, a arrival) {
	select {
	case b.arrived <- a:
	case <-ctx.Done():
	}
}

// Next waits for a result. After the coordinator is started anew, results that aren't done come again. Two results of
// one job, of workers that didn't know of each other, are handed out both.
func (b *Board) Next(ctx context.Context) (Result, error) {
	select {
	case a := <-b.arrived:
		return a.Result, a.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Done forgets a job and its results: what came of it is safe with the caller.
func (b *Board) Done(ctx context.Context, id string) error {
	b.mu.Lock()
	job, posted := b.out[id]
	results := b.stored[id]
	delete(b.out, id)
	delete(b.waiting, id)
	delete(b.stored, id)
	delete(b.grants, id)
	b.mu.Unlock()
	return b.patiently(ctx, func(ctx context.Context) error {
		if posted { // another worker may be about to begin it
			if err := b.purge(ctx, tasksName, b.conn.taskSubject(job, b.campaign)); err != nil {
				return err
			}
		}
		for _, r := range results {
			if err := b.forget(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// forget removes a result from the server.
func (b *Board) forget(ctx context.Context, r stored) error {
	ctx, cancel := within(ctx)
	defer cancel()
	results, err := b.conn.js.Stream(ctx, resultsName)
	if err != nil {
		return err
	}
	if err := results.DeleteMsg(ctx, r.sequence); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return err
	}
	if r.object == "" {
		return nil
	}
	store, err := b.conn.js.ObjectStore(ctx, bucketName)
	if err == nil {
		err = store.Delete(ctx, r.object)
	}
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return err
}

// purge removes the messages with a subject.
func (b *Board) purge(ctx context.Context, stream, subject string) error {
	ctx, cancel := within(ctx)
	defer cancel()
	s, err := b.conn.js.Stream(ctx, stream)
	if err != nil {
		return err
	}
	return s.Purge(ctx, jetstream.WithPurgeSubject(subject))
}

// Remove removes all that the server has of the campaign.
func (b *Board) Remove(ctx context.Context) error {
	b.mu.Lock()
	results := slices.Concat(slices.Collect(maps.Values(b.stored))...)
	b.mu.Unlock()
	for _, r := range results {
		if err := b.forget(ctx, r); err != nil {
			return err
		}
	}
	return errors.Join(b.purge(ctx, tasksName, allTasks(b.campaign)), b.purge(ctx, resultsName, resultSubject(b.campaign, "*")))
}

// watch posts again what the server has lost, and notices workers that are gone.
func (b *Board) watch(ctx context.Context) {
	check, feel := time.NewTicker(b.conn.timing.check), time.NewTicker(b.conn.timing.pulse)
	defer check.Stop()
	defer feel.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-check.C:
			_ = b.check(ctx) // the server may be down; the next look is soon
		case <-feel.C:
			b.miss(time.Now())
		}
	}
}

// check posts again what is neither among the server's jobs nor among its results.
func (b *Board) check(ctx context.Context) error {
	b.mu.Lock()
	var out []Job
	for id, j := range b.out {
		if !b.waiting[id] {
			out = append(out, j)
		}
	}
	b.mu.Unlock()
	if len(out) == 0 {
		return nil
	}
	limited, cancel := within(ctx)
	defer cancel()
	there := map[string]uint64{}
	tasks, err := b.conn.js.Stream(limited, tasksName)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound): // and with it all jobs
		if err := b.conn.makeStreams(ctx); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		info, err := tasks.Info(limited, jetstream.WithSubjectFilter(allTasks(b.campaign)))
		if err != nil {
			return err
		}
		there = info.State.Subjects
	}
	for _, j := range out {
		b.mu.Lock()
		_, still := b.out[j.ID]
		b.mu.Unlock()
		if _, ok := there[b.conn.taskSubject(j, b.campaign)]; ok || !still {
			continue
		}
		if _, err := b.conn.consumer(ctx, j.Lane); err != nil {
			return err
		}
		if err := b.post(ctx, j); err != nil {
			return err
		}
	}
	return nil
}
