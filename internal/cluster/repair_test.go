package cluster

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// What the server doesn't allow is an error at once: it never answers such a request.
func TestRightsAreMissing(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(),
		Users: []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.CREATE.>"}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(hang) {
		t.Fatal("no server")
	}
	u, err := url.Parse(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = Connect(ctx, File{URL: "nats://" + net.JoinHostPort("127.0.0.1", u.Port()), User: "u", Password: "p", Secret: NewSecret()}, "test", nil)
	if !errors.Is(err, nats.ErrPermissionViolation) || ctx.Err() != nil {
		t.Error(err)
	}
}

// A worker waits with its results for a server that is down for longer than jobs may say nothing.
func TestResultsOutlastTheServer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	work := &holding{begun: make(chan []Job, 1), let: make(chan struct{})}
	conn, ended := s.connect(), make(chan error, 1)
	go func() {
		_, err := conn.Serve(t.Context(), Worker{Build: here, Lanes: []string{"mnist"}, Batch: 1, Idle: -1, Stall: 600 * time.Millisecond}, work)
		ended <- err
	}()
	s.post(1)
	<-work.begun
	if err := s.server.Close(); err != nil {
		t.Fatal(err)
	}
	close(work.let)
	time.Sleep(1500 * time.Millisecond)
	s.start()
	s.collect(1) // there is no other worker
	select {
	case err := <-ended:
		t.Errorf("the worker ended: %v", err)
	default:
	}
}

// While the server doesn't say whether there is a job, a worker that ends when there is none isn't idle.
func TestSilenceIsNoEnd(t *testing.T) {
	t.Parallel()
	const idle = 5 * time.Second
	waiting := hasty
	waiting.pulse = hang / 4 // the server counts as gone after a minute
	s := newSceneOf(t, waiting)
	var looks atomic.Int64 // that found no job
	_, ended := s.serve(&crew{}, Worker{Idle: idle, Working: func(jobs []Job, _ float64) {
		if len(jobs) == 0 {
			looks.Add(1)
		}
	}})
	s.post(1)
	s.collect(1)
	if err := s.server.Close(); err != nil {
		t.Fatal(err)
	}
	before := looks.Load()
	time.Sleep(idle)
	s.start()
	until(t, "it has asked, and there was none", func() bool { return looks.Load() > before })
	s.post(1)
	s.collect(1)
	select {
	case err := <-ended:
		t.Errorf("it ended: %v", err)
	default:
	}
}

// Results whose messages the server doesn't send are looked for: those of a store that went back in time have numbers
// that the board has seen.
func TestResultsAreLookedFor(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.post(3)
	s.worker(&crew{}, Worker{})
	s.collect(3)
	// The same stream with numbers from the beginning, and a consumer that begins behind them.
	ctx := t.Context()
	if err := s.board.conn.js.DeleteStream(ctx, resultsName); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.board.conn.makeStreams(ctx); err != nil {
		t.Fatal(err)
	}
	s.post(3)
	s.collect(3)
}

// What is larger than a message of the server comes in parts, and none is left.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	body := make([]byte, 12<<20+5)
	for i := range body {
		body[i] = byte(i >> 12)
	}
	s.worker(silent{body}, Worker{})
	s.post(1)
	r, err := s.board.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Body) != string(body) {
		t.Error("another result")
	}
	if err := s.board.Done(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	info, err := s.board.conn.results.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.State.Msgs > 0 {
		t.Errorf("%d messages are left", info.State.Msgs)
	}
	if err := s.board.Post(t.Context(), Job{ID: "large", Lane: "mnist", Body: body}); !errors.Is(err, nats.ErrMaxPayload) {
		t.Error(err)
	}
}
