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

// token matches what may be a part of a subject.
var token = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

func checkTokens(names ...string) error {
	for _, name := range names {
		if !token.MatchString(name) {
			return fmt.Errorf("cluster: %q can't be part of a subject; want letters, digits, - and _", name)
		}
	}
	return nil
}

// timing is how patient a connection is.
type timing struct {
	lease time.Duration // of a job or a result whose holder says nothing
	renew time.Duration // between two renewals of a lease
	pulse time.Duration // between two heartbeats of a worker
	check time.Duration // between two looks of a coordinator at the jobs that the server has
	reply time.Duration // of the server or a coordinator, before it is asked again
}

// A server that restarts is back before a lease runs out.
var usual = timing{lease: 30 * time.Second, renew: 7 * time.Second, pulse: 5 * time.Second, check: 15 * time.Second, reply: 10 * time.Second}

// gone is how long a worker may say nothing before it counts as gone.
func (t timing) gone() time.Duration { return 4 * t.pulse }

// forgotten is when a server forgets the jobs and results of a coordinator that never came back. One that comes back
// posts its jobs anew.
const forgotten = 30 * 24 * time.Hour

// stores are handles. They stay valid when the server loses what they name, and has it again.
type stores struct {
	jobs, results jetstream.Stream
	large         jetstream.ObjectStore
	workers, data jetstream.KeyValue
}

// makeStores makes what the server lacks.
func (c *Conn) makeStores(ctx context.Context) (s stores, _ error) {
	for _, create := range []func(context.Context) error{
		func(ctx context.Context) (err error) {
			s.jobs, err = c.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
				Name: jobsName, Description: "jobs of dptrain", Subjects: []string{jobRoot + "*.*.*"}, Retention: jetstream.WorkQueuePolicy, MaxAge: forgotten,
			})
			return err
		},
		func(ctx context.Context) (err error) {
			s.results, err = c.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
				Name: resultsName, Description: "results of dptrain", Subjects: []string{resultRoot + "*.*"}, Retention: jetstream.WorkQueuePolicy, MaxAge: forgotten,
			})
			return err
		},
		func(ctx context.Context) (err error) {
			s.large, err = c.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: largeName, Description: "large results of dptrain", TTL: forgotten})
			return err
		},
		func(ctx context.Context) (err error) {
			s.workers, err = c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: workersName, Description: "workers of dptrain", TTL: c.timing.gone()})
			return err
		},
		func(ctx context.Context) (err error) {
			s.data, err = c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: dataName, Description: "hashes of dptrain's data", TTL: forgotten})
			return err
		},
	} {
		limited, cancel := c.within(ctx)
		err := create(limited)
		cancel()
		if err != nil {
			return s, c.ofServer(err)
		}
	}
	return s, nil
}

// laneConsumer returns the consumer that hands out a lane's jobs under leases. Lanes don't overlap, so that each job
// has one.
func (c *Conn) laneConsumer(ctx context.Context, lane string) (jetstream.Consumer, error) {
	return c.consumer(ctx, jobsName, "lane-"+lane, jobSubject(lane, "*", "*"))
}

// consumer makes a durable consumer. It never gives up a message: workers may be killed any number of times.
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

// forObject returns a context for the transfer of an object, in which each megabyte may take as long as a request.
func (c *Conn) forObject(ctx context.Context, size uint64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(1+size>>20)*c.timing.reply)
}

// patiently calls a function until the server is there, and has its streams.
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
			_, _ = c.makeStores(ctx) // the server may have lost its disk; if this fails, so does the next call
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

// ofServer says what to do about an error of JetStream.
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
