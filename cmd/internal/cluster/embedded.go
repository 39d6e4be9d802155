package cluster

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2/maybe"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Server is a NATS server with JetStream inside this process.
type Server struct {
	File File // to connect by

	nats *server.Server
	lock *flock.Flock
}

// serverName is the name in the certificate of every embedded server. Clients pin the certificate, so the host's name
// needn't be in it.
const serverName = "dptrain"

// FileName is the name of the cluster's file in an embedded server's folder.
const FileName = "cluster.yaml"

// Embed starts a server that keeps its data in a folder, and writes [FileName] there, by which others connect. The
// server demands TLS, with a certificate of its own, and an NKey. It listens on address, such as 127.0.0.1:4222.
// Without a port, or with port 0, it takes the port in the folder's file, or else any. So a server that starts again in
// the same folder has the same file. name is the name by which others reach this machine; "" means the host of address.
func Embed(dir, address, name string) (_ *Server, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the cluster's folder: %w", err)
	}
	s := &Server{lock: flock.New(filepath.Join(dir, ".lock"))}
	taken, err := s.lock.TryLock()
	if err != nil || !taken {
		return nil, errors.Join(fmt.Errorf("another process serves the cluster in %s, or its folder can't be locked", dir), err, s.lock.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.lock.Close())
		}
	}()
	path := filepath.Join(dir, FileName)
	before, err := ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	host, port := listenOn(address, before)
	if checkURL("tls://"+net.JoinHostPort(reachable(host, name), "1")) != nil {
		return nil, fmt.Errorf("--advertise: %q is no name or address of a machine; want such as node1 or 10.0.0.5, without a port", name)
	}
	if s.File = before; s.File.NKey == "" {
		if s.File.NKey, err = newKey(); err != nil {
			return nil, err
		}
	}
	certificate, public, err := certificateIn(dir)
	if err != nil {
		return nil, err
	}
	_, key, err := keys(s.File.NKey)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove the file to get a new one", path, err)
	}
	s.nats, err = server.NewServer(&server.Options{
		ServerName: serverName, Host: host, Port: port, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Join(dir, "store"),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
		Nkeys:     []*server.NkeyUser{{Nkey: key}},
	})
	if err != nil {
		return nil, fmt.Errorf("the cluster's server: %w", err)
	}
	s.nats.Start()
	if !s.nats.ReadyForConnections(10 * time.Second) {
		s.nats.Shutdown()
		return nil, fmt.Errorf("the cluster's server can't listen on %s: is the port taken, or the folder %s full? give another address by --listen", net.JoinHostPort(host, strconv.Itoa(port)), dir)
	}
	s.File.CA, s.File.ServerName = string(public), serverName
	s.File.URL = "tls://" + net.JoinHostPort(reachable(host, name), strconv.Itoa(s.nats.Addr().(*net.TCPAddr).Port))
	if err := s.File.Write(path); err != nil {
		s.nats.Shutdown()
		return nil, err
	}
	return s, nil
}

// Close stops the server. Its data stay in its folder.
func (s *Server) Close() error {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
	return s.lock.Close()
}

// NewFile returns the file of a cluster whose server is at a URL, with a new NKey, and the public part of the key,
// which the server must know.
func NewFile(url string) (f File, public string, err error) {
	if err := checkURL(url); err != nil {
		return File{}, "", err
	}
	f = File{URL: url}
	if f.NKey, err = newKey(); err != nil {
		return File{}, "", err
	}
	_, public, err = keys(f.NKey)
	return f, public, err
}

// newKey returns the seed of a new NKey.
func newKey() (string, error) {
	user, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	seed, err := user.Seed()
	return string(seed), err
}

// keys returns the keys that follow from a seed.
func keys(seed string) (pair nkeys.KeyPair, public string, err error) {
	if pair, err = nkeys.FromSeed([]byte(seed)); err != nil {
		return nil, "", errors.New("nkey: no seed of an NKey, which begins with SU")
	}
	public, err = pair.PublicKey()
	return pair, public, err
}

// listenOn returns the host and the port to listen on: the port in the file before, unless address has another.
func listenOn(address string, before File) (host string, port int) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	port, _ = strconv.Atoi(text) // which execution.CheckListen has seen
	if port == 0 && before.URL != "" {
		if _, text, err := net.SplitHostPort(before.URL[len("tls://"):]); err == nil {
			port, _ = strconv.Atoi(text) // 0 is any
		}
	}
	return cmp.Or(host, "0.0.0.0"), cmp.Or(port, server.RANDOM_PORT)
}

// reachable returns the name by which other machines reach a server that listens on host.
func reachable(host, name string) string {
	if name != "" {
		return name
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			return name
		}
	}
	return host
}

// certificateIn returns the certificate in a folder and its public part in PEM. It makes it if there is none.
func certificateIn(dir string) (tls.Certificate, []byte, error) {
	path := filepath.Join(dir, "certificate.pem")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = newCertificate(); err == nil {
			err = maybe.WriteFile(path, text, 0o600)
		}
	}
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	certificate, err := tls.X509KeyPair(text, text)
	if err != nil {
		return certificate, nil, fmt.Errorf("%s: %w; remove it to get a new one", path, err)
	}
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}), nil
}

// newCertificate returns a key and a certificate that the key signs, in PEM.
func newCertificate() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	began := time.Now().Add(-24 * time.Hour) // clocks of machines differ
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName},
		NotBefore: began, NotAfter: began.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})...), nil
}
