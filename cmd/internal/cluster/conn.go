package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var (
	// ErrRefused reports a key that the server doesn't take, or a worker whose build isn't the coordinator's.
	ErrRefused = errors.New("refused")
	// ErrUnreachable reports a server that can't be reached.
	ErrUnreachable = errors.New("the server can't be reached")
)

// scatter spreads connections that were lost together over a time: each costs the server a handshake.
var scatter = time.Second

// Conn is a connection to the server of a cluster. It reconnects by itself when it is lost.
type Conn struct {
	nats   *nats.Conn
	js     jetstream.JetStream
	timing timing
	stores
	denied atomic.Pointer[error] // the last permission that the server denied
}

// Connect connects to the server that a cluster's file names, and makes the streams and stores that it lacks. name is
// for the server's monitoring. lost is called with an error when the connection is lost and with nil when it is back.
// The error wraps [ErrRefused] if the key isn't taken, and [ErrUnreachable] if no server is reached.
func Connect(ctx context.Context, f File, name string, lost func(err error)) (*Conn, error) {
	return connectWith(ctx, f, name, lost, usual)
}

func connectWith(ctx context.Context, f File, name string, lost func(err error), t timing) (*Conn, error) {
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("the cluster's file: %w", err)
	}
	options, err := f.options()
	if err != nil {
		return nil, err
	}
	c := &Conn{timing: t}
	options = append(options,
		nats.Name(name),
		nats.Timeout(5*time.Second),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250*time.Millisecond),
		nats.ReconnectJitter(scatter, scatter),
		nats.PingInterval(10*time.Second), nats.MaxPingsOutstanding(2),
		nats.IgnoreAuthErrorAbort(), // a server that restarts may not know its users for a moment
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				lost(err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { lost(nil) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { // the default prints
			if errors.Is(err, nats.ErrPermissionViolation) {
				c.denied.Store(&err)
			}
		}),
	)
	if c.nats, err = connect(ctx, f.URL, options); err != nil {
		return nil, explained(f, err)
	}
	if c.js, err = jetstream.New(c.nats); err == nil {
		c.stores, err = c.makeStores(ctx)
	}
	if err != nil {
		c.nats.Close()
		return nil, err
	}
	return c, nil
}

// connect tries for some seconds: the server may be starting.
func connect(ctx context.Context, url string, options []nats.Option) (*nats.Conn, error) {
	for tries := 0; ; tries++ {
		nc, err := nats.Connect(url, options...)
		if err == nil || !errors.Is(err, nats.ErrNoServers) || tries == 10 {
			return nc, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
	}
}

func (f File) options() ([]nats.Option, error) {
	var options []nats.Option
	if f.encrypted() {
		config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.ServerName}
		if f.CA != "" {
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM([]byte(f.CA)) {
				return nil, errors.New("the cluster's file: ca: no certificate in PEM")
			}
		}
		options = append(options, nats.Secure(config))
	}
	pair, public, err := keys(f.NKey)
	if err != nil {
		return nil, fmt.Errorf("the cluster's file: %w", err)
	}
	return append(options, nats.Nkey(public, pair.Sign)), nil
}

// explained returns an error that says what to do about a failed connection.
func explained(f File, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w by %s: it doesn't know the key in the cluster's file", ErrRefused, f.URL)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("%w by %s: it offers no TLS, which connections to other machines need; set it up there", ErrRefused, f.URL)
	case errors.As(err, new(*tls.CertificateVerificationError)), errors.As(err, new(x509.UnknownAuthorityError)):
		return fmt.Errorf("connect to %s: %w; its certificate belongs into the cluster's file, as ca", f.URL, err)
	}
	return fmt.Errorf("connect to %s: %w: %w", f.URL, ErrUnreachable, err)
}

// Close closes the connection.
func (c *Conn) Close() { c.nats.Close() }
