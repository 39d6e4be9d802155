package cluster

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// An embedded server refuses unencrypted connections, even with the right key, and connections without the key.
func TestEmbeddedDemands(t *testing.T) {
	t.Parallel()
	s := embedded(t)
	pair, err := nkeys.FromSeed([]byte(s.File.NKey))
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	clear := strings.Replace(s.File.URL, "tls://", "nats://", 1)
	if nc, err := nats.Connect(clear, nats.Nkey(public, pair.Sign), nats.Timeout(5*time.Second)); err == nil {
		if _, err := nc.TLSConnectionState(); err != nil {
			t.Error("a connection in the clear is taken")
		}
		nc.Close()
	}
	keyless, err := s.File.options()
	if err != nil {
		t.Fatal(err)
	}
	if nc, err := nats.Connect(s.File.URL, keyless[0]); err == nil { // TLS alone
		nc.Close()
		t.Error("a connection without the key is taken")
	}
}

// An embedded server's folder is its owner's alone. A server that starts again there has the same file.
func TestEmbeddedFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "cluster")
	s, err := Embed(dir, "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Embed(dir, "127.0.0.1:0", ""); err == nil {
		_ = second.Close()
		t.Error("two servers in one folder")
	} else if !strings.Contains(err.Error(), "another process serves the cluster") {
		t.Error(err)
	}
	if runtime.GOOS != "windows" {
		for _, name := range []string{"", FileName, "certificate.pem"} {
			info, err := os.Stat(filepath.Join(dir, name))
			if want := fs.FileMode(0o600); err != nil || info.Mode().Perm()&^0o100 != want {
				t.Errorf("%q: mode %v, %v", name, info.Mode(), err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Embed(dir, "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	read, err := ReadFile(filepath.Join(dir, FileName))
	if err != nil || again.File != s.File || read != s.File {
		t.Errorf("%v: another file after a restart", err)
	}
}

// A connection outlasts a server that doesn't know its key for a while.
func TestRefusedForAWhile(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	s, err := Embed(dir, "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	conn := connected(t, s.File)
	address := strings.TrimPrefix(s.File.URL, "tls://")
	text, err := os.ReadFile(filepath.Join(dir, "certificate.pem"))
	if err == nil {
		err = os.WriteFile(filepath.Join(other, "certificate.pem"), text, 0o600)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	stranger, err := Embed(other, address, "")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond) // some tries
	if conn.nats.IsConnected() {
		t.Error("a stranger's server takes the key")
	}
	if err := stranger.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Embed(dir, address, ""); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	until(t, "it is connected again", conn.nats.IsConnected)
}

// A connection trusts the file's certificate alone, under the file's name, and says its key.
func TestOptions(t *testing.T) {
	t.Parallel()
	s := embedded(t)
	applied := func(f File) (o nats.Options) {
		options, err := f.options()
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range options {
			if err := one(&o); err != nil {
				t.Fatal(err)
			}
		}
		return o
	}
	want := x509.NewCertPool()
	want.AppendCertsFromPEM([]byte(s.File.CA))
	o := applied(s.File)
	if !o.Secure || !o.TLSConfig.RootCAs.Equal(want) || o.TLSConfig.ServerName != serverName || o.TLSConfig.InsecureSkipVerify || o.TLSConfig.MinVersion < 0x0303 || o.Nkey == "" {
		t.Errorf("%+v", o.TLSConfig)
	}
	if o := applied(File{URL: "nats://host:4222", NKey: s.File.NKey}); !o.Secure || o.TLSConfig.RootCAs != nil || o.TLSConfig.InsecureSkipVerify {
		t.Errorf("by the system's certificates: %+v", o.TLSConfig)
	}
	for _, f := range []File{{URL: "tls://host:4222", CA: "no certificate", NKey: s.File.NKey}, {URL: "tls://host:4222", NKey: "SUnone"}} {
		if _, err := f.options(); err == nil || strings.Contains(err.Error(), "none") {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

func TestAdvertisedNameIsAMachines(t *testing.T) {
	for _, name := range []string{"http://node1", "node1:4222", "node 1", "node1,node2"} {
		if _, err := Embed(t.TempDir(), "127.0.0.1:0", name); err == nil || !strings.Contains(err.Error(), "--advertise: ") {
			t.Errorf("%q: error %v; want one that names --advertise", name, err)
		}
	}
}
