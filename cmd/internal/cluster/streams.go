package cluster

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The names on the server. Several coordinators, each with a campaign, may use one server.
const (
	jobsName    = "DPTRAIN_JOBS"
	resultsName = "DPTRAIN_RESULTS"
	largeName   = "DPTRAIN_LARGE"
	workersName = "DPTRAIN_WORKERS"
	dataName    = "DPTRAIN_DATA"

	jobRoot    = "dptrain.jobs."    // lane, campaign, job
	resultRoot = "dptrain.results." // campaign, job
	keyRoot    = "dptrain.key."     // campaign
)

func jobSubject(lane, campaign, id string) string { return jobRoot + lane + "." + campaign + "." + id }

func resultSubject(campaign, id string) string { return resultRoot + campaign + "." + id }

// splitJob returns the campaign and the id in a job's subject.
func splitJob(subject string) (campaign, id string) {
	parts := strings.Split(subject, ".")
	return parts[len(parts)-2], parts[len(parts)-1]
}

// token matches a name that may be part of a subject.
var token = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

func checkTokens(names ...string) error {
	for _, name := range names {
		if !token.MatchString(name) {
			return fmt.Errorf("cluster: %q can't be part of a subject; want letters, digits, - and _", name)
		}
	}
	return nil
}

// timing has a connection's intervals.
type timing struct {
	lease time.Duration // until an unacknowledged job or result is sent again
	renew time.Duration // between two extensions of a lease
	pulse time.Duration // between two heartbeats of a worker
	check time.Duration // between a coordinator's checks that the server has its jobs
	reply time.Duration // until a request to the server or a coordinator has failed
}

// A server restarts in less than a lease.
var usual = timing{lease: 30 * time.Second, renew: 7 * time.Second, pulse: 5 * time.Second, check: 15 * time.Second, reply: 10 * time.Second}

// gone is how long a worker may send no heartbeat before it counts as gone.
func (t timing) gone() time.Duration { return 4 * t.pulse }

// forgotten is how long a server keeps the jobs and results of a coordinator that never comes back. One that comes back
// later posts its jobs again.
const forgotten = 30 * 24 * time.Hour

// stores are handles. They stay valid if the server loses the streams that they name and gets them again.
type stores struct {
	jobs, results jetstream.Stream
	large         jetstream.ObjectStore
	workers, data jetstream.KeyValue
}

// makeStores makes the streams and stores that the server lacks.
func (c *Conn) makeStores(ctx context.Context) (s stores, err error) {
	s.jobs = made(ctx, c, &err, c.js.CreateOrUpdateStream, jetstream.StreamConfig{
		Name: jobsName, Description: "jobs of dptrain", Subjects: []string{jobRoot + "*.*.*"}, Retention: jetstream.WorkQueuePolicy, MaxAge: forgotten,
	})
	s.results = made(ctx, c, &err, c.js.CreateOrUpdateStream, jetstream.StreamConfig{
		Name: resultsName, Description: "results of dptrain", Subjects: []string{resultRoot + "*.*"}, Retention: jetstream.WorkQueuePolicy, MaxAge: forgotten,
	})
	s.large = made(ctx, c, &err, c.js.CreateOrUpdateObjectStore, jetstream.ObjectStoreConfig{Bucket: largeName, Description: "large results of dptrain", TTL: forgotten})
	s.workers = made(ctx, c, &err, c.js.CreateOrUpdateKeyValue, jetstream.KeyValueConfig{Bucket: workersName, Description: "workers of dptrain", TTL: c.timing.gone()})
	s.data = made(ctx, c, &err, c.js.CreateOrUpdateKeyValue, jetstream.KeyValueConfig{Bucket: dataName, Description: "hashes of dptrain's data", TTL: forgotten})
	return s, c.ofServer(err)
}

// made makes a stream or store by one request, unless failed has an error of an earlier one.
func made[Config, Made any](ctx context.Context, c *Conn, failed *error, create func(context.Context, Config) (Made, error), config Config) (m Made) {
	if *failed != nil {
		return m
	}
	ctx, cancel := c.within(ctx)
	defer cancel()
	m, *failed = create(ctx, config)
	return m
}

// consumer makes a durable consumer. It redelivers without end: workers may be killed any number of times.
func (c *Conn) consumer(ctx context.Context, stream, name, subject string) (jetstream.Consumer, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	return c.js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{
		Durable: name, FilterSubject: subject, AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.timing.lease,
		MaxDeliver: -1, MaxAckPending: -1, InactiveThreshold: forgotten,
	})
}

// within returns a context for one request to the server.
func (c *Conn) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timing.reply)
}

// forObject returns a context for the transfer of size bytes. Each megabyte may take as long as a request.
func (c *Conn) forObject(ctx context.Context, size uint64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(1+size>>20)*c.timing.reply)
}

// patiently calls do until it succeeds, and waits while the server is down or lacks its streams.
func (c *Conn) patiently(ctx context.Context, tell func(string), do func(context.Context) error) error {
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
			_, _ = c.makeStores(ctx) // the server may have lost its disk; if this fails, do fails again
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// passing reports whether an error may pass by itself: the server restarts, or the network is down.
func (c *Conn) passing(err error) bool {
	lasting := []error{nats.ErrMaxPayload, nats.ErrConnectionClosed, jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount, nats.ErrPermissionViolation}
	return c.denied.Load() == nil && !slices.ContainsFunc(lasting, func(l error) bool { return errors.Is(err, l) })
}

// ofServer adds to an error of JetStream what a person can do about it.
func (c *Conn) ofServer(err error) error {
	denied := c.denied.Load()
	switch {
	case err == nil:
		return nil
	case denied != nil: // requests that aren't allowed are never answered
		return fmt.Errorf("the server doesn't allow what a cluster needs; let the user of the cluster's file use the subjects that nats.conf in dptrain's documents lists: %w", *denied)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("the server has no JetStream, which keeps jobs and results: start it with -js, or allow it for the account: %w", err)
	}
	return fmt.Errorf("the cluster's server: %w", err)
}
