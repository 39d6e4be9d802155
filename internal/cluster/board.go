package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
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
	out     map[string]Job    // posted, and not done
	waiting map[string]result // jobs that aren't done and have results
	data    map[string][]byte // that the first worker of a group used
	grants  map[string]int    // how often a job was begun
	lanes   map[string]bool   // that have consumers
	workers map[string]Pulse
	refused map[string]bool // workers, as they were told
	removed bool

	idle atomic.Bool                   // all results that the server has sent were handed out
	kept func(map[string][]byte) error // keeps data; may be nil

	again chan struct{} // the server has results that it didn't send
}

// result is what the server has of a job that has been done.
type result struct {
	attempts []string // that were handed out
	parts    bool     // there are some
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
	if err := c.free(ctx, campaign, build); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	b := &Board{
		conn: c, campaign: campaign, build: build, tell: func(text string) { tell(printable(text)) }, arrived: make(chan arrival), stop: stop,
		out: map[string]Job{}, waiting: map[string]result{}, data: map[string][]byte{}, grants: map[string]int{}, lanes: map[string]bool{},
		workers: map[string]Pulse{}, refused: map[string]bool{}, again: make(chan struct{}, 1),
	}
	for subject, handle := range map[string]nats.MsgHandler{keyRoot + campaign: b.answer, hello: b.answer, pulse: b.feel} {
		sub, err := c.nats.Subscribe(subject, handle)
		if err != nil {
			b.Close()
			return nil, err
		}
		b.subs = append(b.subs, sub)
	}
	if err := c.settle(ctx); err != nil {
		b.Close()
		return nil, err
	}
	b.running.Go(func() { b.receive(ctx) })
	b.running.Go(func() { b.watch(ctx) })
	return b, nil
}

// ErrLed reports a campaign that has a coordinator.
var ErrLed = errors.New("another coordinator has the jobs of this folder, or of a copy of it")

// free returns an error if a campaign has a coordinator: two would take each other's results away.
func (c *Conn) free(ctx context.Context, campaign string, build Build) error {
	subject, nonce := keyRoot+campaign, newNonce()
	text, err := c.sealer.encode(subject, claim{Build: build, Nonce: nonce})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timing.reply/5)
	defer cancel()
	m, err := c.nats.RequestWithContext(ctx, subject, text)
	var g grant
	if err == nil && c.sealer.decode(replyTo(subject, nonce), m.Data, &g) == nil {
		return ErrLed
	}
	return nil
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
	_, waiting := b.waiting[j.ID]
	known := b.lanes[j.Lane]
	b.lanes[j.Lane] = true
	b.mu.Unlock()
	if waiting {
		return nil
	}
	if !known {
		if err := b.patiently(ctx, func(ctx context.Context) error { return b.openLane(ctx, j.Lane) }); err != nil {
			return err
		}
	}
	return b.patiently(ctx, func(ctx context.Context) error {
		_, err := b.post(ctx, j)
		return err
	})
}

// post posts a job that the server doesn't have, and wakes a worker. It reports whether the server has a result of it
// instead.
func (b *Board) post(ctx context.Context, j Job) (done bool, err error) {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	switch _, err := b.conn.results.GetLastMsgForSubject(ctx, resultSubject(b.campaign, j.ID)); {
	case err == nil:
		return true, nil
	case !errors.Is(err, jetstream.ErrMsgNotFound):
		return false, err
	}
	subject := b.conn.taskSubject(j, b.campaign)
	text, err := b.conn.sealer.encode(subject, posted{j.Group, j.Body})
	if err != nil {
		return false, err
	}
	if limit := b.conn.nats.MaxPayload(); int64(len(text)) > limit {
		return false, fmt.Errorf("job %s takes %d bytes, and a message of the server at most %d: %w", j.ID, len(text), limit, nats.ErrMaxPayload)
	}
	_, err = b.conn.js.Publish(ctx, subject, text)
	if full := new(jetstream.APIError); errors.As(err, &full) && full.Description == "maximum messages per subject exceeded" {
		return false, nil // it is out already; the code says no more than that it can't be stored
	}
	if err != nil {
		return false, err
	}
	return false, b.conn.nats.Publish(b.conn.wakeSubject(j.Lane), nil)
}

// patiently calls a function until the server is there, and has its streams.
func (b *Board) patiently(ctx context.Context, do func(context.Context) error) error {
	return patiently(ctx, b.conn, b.tell, do)
}

func patiently(ctx context.Context, c *Conn, tell func(string), do func(context.Context) error) error {
	told := false
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, c.timing.reply) {
		err := do(ctx)
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if !c.passing(err) {
			return c.ofServer(err)
		}
		if pause >= time.Second && !told {
			told = true
			tell(fmt.Sprintf("the cluster's server doesn't answer: %v; waiting for it", err))
		}
		if pause > time.Second/2 {
			_, _, _ = c.makeStreams(ctx) // the server may have lost its store; if this fails, so does the next call
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// passing reports whether an error of the server may be gone in a while: it restarts, or the network is down.
func (c *Conn) passing(err error) bool {
	if c.denied.Load() != nil {
		return false
	}
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
			if !b.conn.passing(err) {
				b.arrive(ctx, arrival{err: b.conn.ofServer(err)})
				return
			}
			_, _, _ = b.conn.makeStreams(ctx) // it may have lost its store
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

// errAnew ends the receiving of results, which is to begin with the first one.
var errAnew = errors.New("results are looked at anew")

// maxAhead bounds the results that are received ahead of the one that is handed out: 6 MB at most.
const maxAhead = 16

func (b *Board) receiveFrom(ctx context.Context, last *place) error {
	waits, cancel := context.WithCancelCause(ctx)
	var anew sync.WaitGroup
	defer anew.Wait()
	defer cancel(nil)
	anew.Go(func() {
		select {
		case <-b.again:
			cancel(errAnew)
		case <-waits.Done():
		}
	})
	// The library would go on after a lost connection too, but waits 10 s for each answer that is lost meanwhile.
	defer context.AfterFunc(*b.conn.link.Load(), func() { cancel(nil) })()
	limited, stop := b.conn.within(ctx)
	defer stop()
	info, err := b.conn.results.Info(limited)
	if err != nil {
		return err
	}
	if !info.Created.Equal(last.made) || info.State.LastSeq < last.sequence { // a disk may lose the last writes
		*last = place{made: info.Created}
	}
	config := jetstream.OrderedConsumerConfig{FilterSubjects: []string{resultSubject(b.campaign, "*")}, MaxResetAttempts: 5}
	if last.sequence > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, last.sequence+1
	}
	consumer, err := b.conn.js.OrderedConsumer(limited, resultsName, config)
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(maxAhead))
	if err != nil {
		return err
	}
	defer messages.Stop()
	defer b.idle.Store(false)
	for {
		b.idle.Store(true)
		m, err := messages.Next(jetstream.NextContext(waits))
		b.idle.Store(false)
		if err != nil {
			if context.Cause(waits) == errAnew {
				*last = place{}
			}
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
	var note made
	if err := b.conn.sealer.decode(subject, m.Data(), &note); err != nil {
		b.tell(fmt.Sprintf("a result of %s can't be read, and is left out: %v", id, err))
		return b.drop(ctx, sequence)
	}
	b.mu.Lock()
	_, out := b.out[id]
	known, removed := slices.Contains(b.waiting[id].attempts, note.Attempt), b.removed
	b.mu.Unlock()
	if removed {
		return b.forget(ctx, id, note.Parts > 0)
	}
	if known {
		return nil
	}
	body, err := b.body(ctx, id, note)
	if errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, ErrSecret) {
		if out { // Done takes the parts of an attempt that came late
			b.tell(fmt.Sprintf("the result of %s isn't whole, and is left out: %v", id, err))
		}
		return b.drop(ctx, sequence)
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.waiting[id] = result{append(b.waiting[id].attempts, note.Attempt), b.waiting[id].parts || note.Parts > 0}
	b.mu.Unlock()
	b.arrive(ctx, arrival{Result: Result{id, body, note.Worker}})
	return ctx.Err()
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
	parts := b.waiting[id].parts
	delete(b.out, id)
	delete(b.waiting, id)
	delete(b.grants, id)
	b.mu.Unlock()
	return b.patiently(ctx, func(ctx context.Context) error {
		if posted { // another worker may be about to begin it
			if err := b.unpost(ctx, b.conn.taskSubject(job, b.campaign)); err != nil {
				return err
			}
		}
		return b.forget(ctx, id, parts)
	})
}

// Refuse forgets a job's results, which the caller can't use, tells why, and posts the job again if it is out. Those of
// jobs that aren't out may be of another version of dptrain.
func (b *Board) Refuse(ctx context.Context, id string, why error) error {
	b.tell(fmt.Sprintf("a result of %s can't be used, and is left out: %v", id, why))
	b.mu.Lock()
	job, out := b.out[id]
	b.mu.Unlock()
	if err := b.Done(ctx, id); err != nil || !out {
		return err
	}
	return b.Post(ctx, job)
}

// forget removes all results of a job from the server, and also the parts of those that no worker has ended. The
// messages come first: one without its parts would be a loss.
func (b *Board) forget(ctx context.Context, id string, parts bool) error {
	if err := b.purge(ctx, resultSubject(b.campaign, id)); err != nil || !parts {
		return err
	}
	return b.purge(ctx, partSubject(b.campaign, id, "*", "*"))
}

// drop removes one message of a result that isn't one.
func (b *Board) drop(ctx context.Context, sequence uint64) error {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	return unlessGone(b.conn.results.DeleteMsg(ctx, sequence))
}

// unlessGone returns the error of a deletion, or nil if the message was deleted before. JetStream's client reports that
// in words alone, under an error that it has for other reasons too. They do no harm here: a message that stays is found
// again, a job by a worker and a result by the next look.
func unlessGone(err error) error {
	if errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		return nil
	}
	return err
}

// purge removes the messages of results with a subject.
func (b *Board) purge(ctx context.Context, subject string) error {
	ctx, cancel := b.conn.within(ctx)
	defer cancel()
	return b.conn.results.Purge(ctx, jetstream.WithPurgeSubject(subject))
}

// Remove removes all that the server has of the campaign. As long as the board is open, it also removes what workers
// hand in late; the server forgets later ones by itself.
func (b *Board) Remove(ctx context.Context) error {
	b.mu.Lock()
	b.removed = true
	clear(b.out)
	clear(b.waiting)
	b.mu.Unlock()
	limited, cancel := b.conn.within(ctx)
	defer cancel()
	info, err := b.conn.tasks.Info(limited, jetstream.WithSubjectFilter(allTasks(b.campaign)))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		err = errors.Join(err, b.unpost(ctx, subject))
	}
	return errors.Join(err, b.purge(ctx, resultSubject(b.campaign, "*")), b.purge(ctx, partSubject(b.campaign, "*", "*", "*")))
}

// watch posts again what the server has lost, and notices workers that are gone.
func (b *Board) watch(ctx context.Context) {
	check, feel := time.NewTicker(b.conn.timing.check), time.NewTicker(b.conn.timing.pulse)
	defer check.Stop()
	defer feel.Stop()
	var unseen, overlooked map[string]bool
	for {
		select {
		case <-ctx.Done():
			return
		case <-check.C:
			before := unseen
			if unseen, _ = b.check(ctx); b.idle.Load() && slices.ContainsFunc(slices.Collect(maps.Keys(unseen)), func(id string) bool { return before[id] }) {
				select { // its results begin anew, or a disk lost the last writes: it counts from where we have been
				case b.again <- struct{}{}:
				default:
				}
			}
			lanes, _ := b.overlooked(ctx)
			for lane := range lanes {
				if overlooked[lane] && b.repair(ctx, lane) == nil {
					delete(lanes, lane)
				}
			}
			overlooked = lanes
		case <-feel.C:
			b.miss(time.Now())
		}
	}
}

// check posts again what is neither among the server's jobs nor among its results. It returns the jobs that have
// results that haven't arrived; if the server is down, the next look is soon.
func (b *Board) check(ctx context.Context) (unseen map[string]bool, err error) {
	b.mu.Lock()
	var out []Job
	for id, j := range b.out {
		if _, waits := b.waiting[id]; !waits {
			out = append(out, j)
		}
	}
	b.mu.Unlock()
	if len(out) == 0 {
		return nil, nil
	}
	limited, cancel := b.conn.within(ctx)
	defer cancel()
	info, err := b.conn.tasks.Info(limited, jetstream.WithSubjectFilter(allTasks(b.campaign)))
	if errors.Is(err, jetstream.ErrStreamNotFound) { // and with it all jobs
		info = new(jetstream.StreamInfo)
		_, _, err = b.conn.makeStreams(ctx)
	}
	if err != nil {
		return nil, err
	}
	unseen = map[string]bool{}
	for _, j := range out {
		b.mu.Lock()
		_, still := b.out[j.ID]
		b.mu.Unlock()
		if _, ok := info.State.Subjects[b.conn.taskSubject(j, b.campaign)]; ok || !still {
			continue
		}
		done, err := b.post(ctx, j)
		if err != nil {
			return unseen, err
		}
		b.mu.Lock()
		if _, waits := b.waiting[j.ID]; done && !waits {
			unseen[j.ID] = true
		}
		b.mu.Unlock()
	}
	return unseen, nil
}
