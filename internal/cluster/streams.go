package cluster

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The names on the server. Several coordinators, each with a campaign, may use one server.
const (
	tasksName   = "DPTRAIN_TASKS"
	resultsName = "DPTRAIN_RESULTS"

	taskRoot   = "dptrain.task."   // lane's token, campaign, job
	resultRoot = "dptrain.result." // campaign, job
	partRoot   = "dptrain.part."   // campaign, job, attempt, number
	keyRoot    = "dptrain.key."    // campaign
	wakeRoot   = "dptrain.wake."   // lane's token: tells one of the workers that wait that there is something to do
	hello      = "dptrain.hello"   // asks all coordinators whether they take a worker
	pulse      = "dptrain.pulse"   // what workers do
)

// laneToken returns the name of a lane on the server. Clusters with other secrets have other lanes, and the server
// learns no name of a data set.
func (c *Conn) laneToken(lane string) string { return c.file.Secret.Token([]byte("lane " + lane)) }

func (c *Conn) taskSubject(j Job, campaign string) string {
	return taskRoot + c.laneToken(j.Lane) + "." + campaign + "." + j.ID
}

func (c *Conn) consumerName(lane string) string { return "lane-" + c.laneToken(lane) }

// laneSubjects matches the jobs of a lane.
func (c *Conn) laneSubjects(lane string) string { return taskRoot + c.laneToken(lane) + ".*.*" }

// allTasks matches the jobs of a campaign.
func allTasks(campaign string) string { return taskRoot + "*." + campaign + ".*" }

func resultSubject(campaign, id string) string { return resultRoot + campaign + "." + id }

// partSubject names a part of a result. A worker that does a job once more makes another attempt.
func partSubject(campaign, id, attempt, number string) string {
	return partRoot + campaign + "." + id + "." + attempt + "." + number
}

func (c *Conn) wakeSubject(lane string) string { return wakeRoot + c.laneToken(lane) }

// timing is how patient a connection is.
type timing struct {
	lease time.Duration // of a job that nobody says anything of
	renew time.Duration // between two renewals of a lease
	pulse time.Duration // between two words of a worker
	check time.Duration // between two looks of a coordinator at what the server has
	reply time.Duration // of a coordinator, before it is asked again
}

// request is how long one request to the server may take: a result's part of half a megabyte may take a while.
func (t timing) request() time.Duration { return 4 * t.reply }

// A server that restarts is back before a lease runs out.
var usual = timing{lease: 30 * time.Second, renew: 7 * time.Second, pulse: 5 * time.Second, check: 15 * time.Second, reply: 5 * time.Second}

// gone is how long a worker may say nothing before it counts as gone.
func (t timing) gone() time.Duration { return 4 * t.pulse }

// forgotten is when a server forgets the jobs and results of a coordinator that never came back. One that comes back
// posts its jobs anew.
const forgotten = 30 * 24 * time.Hour

// token matches what may be a part of a subject. It must show nothing private.
var token = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func checkTokens(names ...string) error {
	for _, name := range names {
		if !token.MatchString(name) {
			return fmt.Errorf("cluster: %q can't be part of a subject; want letters, digits, - and _", name)
		}
	}
	return nil
}

// within returns a context for one request to the server. It also ends when the connection is lost: the answer was lost
// with it, and the request is to be made again.
func (c *Conn) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.request())
	link := *c.link.Load()
	stop := context.AfterFunc(link, cancel)
	return ctx, func() { stop(); cancel() }
}

// relink ends all requests under way, and begins anew.
func (c *Conn) relink() {
	link, cut := context.WithCancel(context.Background())
	c.link.Store(&link)
	if last := c.cut.Swap(&cut); last != nil {
		(*last)()
	}
}

// settle waits until the server has all subscriptions. When the connection is lost in the meantime, the library says
// that it is closed, and subscribes anew on the next one.
func (c *Conn) settle(ctx context.Context) error {
	for {
		err := c.nats.FlushTimeout(c.timing.request())
		if !errors.Is(err, nats.ErrConnectionClosed) || c.nats.IsClosed() || ctx.Err() != nil {
			return c.ofServer(err)
		}
	}
}

// makeStreams makes the streams that the server lacks.
func (c *Conn) makeStreams(ctx context.Context) (tasks, results jetstream.Stream, err error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	var made []jetstream.Stream
	for _, s := range []jetstream.StreamConfig{
		{
			Name: tasksName, Description: "jobs of dptrain, sealed", Subjects: []string{taskRoot + "*.*.*"},
			Retention: jetstream.WorkQueuePolicy, MaxAge: forgotten,
			// A job that is posted twice is one.
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		},
		{
			Name: resultsName, Description: "results of dptrain, sealed", Subjects: []string{resultRoot + "*.*", partRoot + "*.*.*.*"},
			Retention: jetstream.LimitsPolicy, MaxAge: forgotten, AllowDirect: true,
		},
	} {
		stream, err := c.js.CreateOrUpdateStream(ctx, s)
		if err != nil {
			return nil, nil, c.ofServer(err)
		}
		made = append(made, stream)
	}
	return made[0], made[1], nil
}

// ofServer says what to do about an error of JetStream.
func (c *Conn) ofServer(err error) error {
	denied := c.denied.Load()
	switch {
	case err == nil:
		return nil
	case denied != nil: // requests that aren't allowed are never answered
		return fmt.Errorf("the server doesn't allow what a cluster needs; let the user of the cluster's file publish and subscribe to dptrain.>, $JS.> and _INBOX.>: %w", *denied)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("the server has no JetStream, which keeps jobs and results: start it with -js, or allow it for the account: %w", err)
	}
	return fmt.Errorf("the cluster's server: %w", err)
}

// consumer returns the consumer of a lane, and makes it if need be. One that is there stays as it is: its settings are
// the coordinator's, and an update may fail where all else works.
func (c *Conn) consumer(ctx context.Context, lane string) (jetstream.Consumer, error) {
	limited, cancel := c.within(ctx)
	defer cancel()
	consumer, err := c.js.Consumer(limited, tasksName, c.consumerName(lane))
	if !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return consumer, err
	}
	return c.makeConsumer(ctx, lane)
}

// makeConsumer makes or updates the consumer of a lane, which hands out its jobs under leases. Lanes don't overlap, so
// that each job has one.
func (c *Conn) makeConsumer(ctx context.Context, lane string) (jetstream.Consumer, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	return c.js.CreateOrUpdateConsumer(ctx, tasksName, jetstream.ConsumerConfig{
		Durable:       c.consumerName(lane),
		FilterSubject: c.laneSubjects(lane),
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       c.timing.lease,
		MaxDeliver:    -1, // a job is never given up: workers may be killed any number of times
		MaxAckPending: -1,
		MaxWaiting:    16384,
		// A consumer that's gone with its lane comes back when a worker asks for it, with all jobs that aren't done.
		InactiveThreshold: forgotten,
	})
}

// splitTask returns the campaign and the id in a job's subject.
func splitTask(subject string) (campaign, id string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(subject, taskRoot), ".")
	if len(parts) != 3 {
		return "", "", false
	}
	return parts[1], parts[2], true
}
