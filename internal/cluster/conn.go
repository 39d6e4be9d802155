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
	"github.com/nats-io/nkeys"
)

var (
	// ErrRefused reports credentials that the server doesn't take, or a worker that the coordinator doesn't.
	ErrRefused = errors.New("refused")
	// ErrUnreachable reports a server that can't be reached.
	ErrUnreachable = errors.New("the server can't be reached")
)

// scatter spreads connections that come back together: each costs the server a handshake.
var scatter = time.Second

// Conn is a connection to the server of a cluster. It connects anew by itself when it is lost.
type Conn struct {
	file   File
	sealer sealer
	nats   *nats.Conn
	js     jetstream.JetStream
	timing timing

	tasks, results jetstream.Stream // handles: they stay valid when the server loses the streams, and has them again
	denied         atomic.Pointer[error]

	link atomic.Pointer[context.Context] // ends when the connection is lost
	cut  atomic.Pointer[context.CancelFunc]
}

// Connect connects to the server that a cluster's file names, and makes the streams there if need be. name is shown by
// the server's monitoring. lost is called when the connection is lost and when it is back; it may be nil. The error
// wraps [ErrRefused] or [ErrUnreachable].
func Connect(ctx context.Context, f File, name string, lost func(err error)) (*Conn, error) {
	if err := f.check(); err != nil { // without a secret all would be sealed with a key that everybody knows
		return nil, fmt.Errorf("the cluster's file: %w", err)
	}
	options, err := f.options()
	if err != nil {
		return nil, err
	}
	if lost == nil {
		lost = func(error) {}
	}
	c := &Conn{file: f, sealer: newSealer(f.Secret), timing: usual}
	c.relink()
	options = append(options,
		nats.Name(name),
		nats.Timeout(5*time.Second),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250*time.Millisecond),
		nats.ReconnectJitter(scatter, scatter),
		nats.PingInterval(10*time.Second), nats.MaxPingsOutstanding(2),
		nats.IgnoreAuthErrorAbort(), // a server that restarts may not know its users for a moment
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			c.relink()
			if err != nil {
				lost(err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { lost(nil) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { // the default prints
			if errors.Is(err, nats.ErrPermissionViolation) {
				c.denied.Store(&err)
				c.relink()
			}
		}),
	)
	if c.nats, err = connect(ctx, f.URL, options); err != nil {
		return nil, explained(f, err)
	}
	if c.js, err = jetstream.New(c.nats); err == nil {
		c.tasks, c.results, err = c.makeStreams(ctx)
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
	switch {
	case f.User != "":
		options = append(options, nats.UserInfo(f.User, f.Password))
	case f.Credentials != "":
		if err := guarded(f.Credentials); err != nil {
			return nil, fmt.Errorf("the cluster's file: credentials: %w", err)
		}
		options = append(options, nats.UserCredentials(f.Credentials))
	case f.NKey != "":
		pair, err := nkeys.FromSeed([]byte(f.NKey))
		if err != nil {
			return nil, errors.New("the cluster's file: nkey: no seed of an NKey, which begins with SU")
		}
		public, err := pair.PublicKey()
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Nkey(public, pair.Sign))
	}
	return options, nil
}

// explained returns an error that says what to do about a failed connection.
func explained(f File, err error) error {
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w by %s: it doesn't know the user, password or key in the cluster's file", ErrRefused, f.URL)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("%w by %s: it offers no TLS, which connections to other machines need; set it up there, or say plaintext: true in the cluster's file", ErrRefused, f.URL)
	case errors.As(err, &certificate), errors.As(err, new(x509.UnknownAuthorityError)):
		return fmt.Errorf("connect to %s: %w; its certificate belongs into the cluster's file, as ca", f.URL, err)
	}
	return fmt.Errorf("connect to %s: %w: %w", f.URL, ErrUnreachable, err)
}

// Close closes the connection.
func (c *Conn) Close() { c.nats.Close() }

// Token returns a name that those who have the cluster's secret get alike: see [Secret.Token].
func (c *Conn) Token(of []byte) string { return c.file.Secret.Token(of) }
