package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/google/renameio/v2/maybe"
	"go.yaml.in/yaml/v3"
)

// File has all that a machine needs to take part in a cluster. It is kept in a file that its owner alone may read.
type File struct {
	// URL is an address such as tls://host:4222, or several of one NATS cluster, with commas between them.
	URL string `yaml:"url"`
	// NKey is the seed of the NKey by which machines authenticate. Every holder of it is admitted.
	NKey string `yaml:"nkey"`
	// CA are the certificates, in PEM, that the server's is checked against; "" means the system's.
	CA string `yaml:"ca,omitempty"`
	// ServerName is the name in the server's certificate, if it isn't the URL's.
	ServerName string `yaml:"server_name,omitempty"`
}

// Format prints the server's address alone, whatever the verb: the key mustn't get into a message.
func (f File) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "cluster at %s", f.URL) }

// ReadFile reads a cluster's file. It refuses a file that others than its owner can read.
func ReadFile(path string) (File, error) {
	if err := guarded(path); err != nil {
		return File{}, fmt.Errorf("the cluster's file: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("the cluster's file: %w", err)
	}
	out, err := ParseFile(text)
	if err != nil {
		return File{}, fmt.Errorf("the cluster's file %s: %w", path, err)
	}
	return out, nil
}

// guarded returns an error unless path is a file that its owner alone can read.
func guarded(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // reading a pipe would wait
		return fmt.Errorf("%s is no file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s has secrets, and others can read it: chmod 600 %[1]s", path)
	}
	return nil
}

// ParseFile decodes a cluster's file and checks it. Its errors contain no secrets.
func ParseFile(text []byte) (f File, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if d.Decode(&f) == nil {
		return f, f.check()
	}
	// The decoder's error would cite the line, and a secret with it.
	return f, errors.New("it isn't one: want url, nkey, and perhaps ca and server_name; dptrain cluster new makes one")
}

func (f File) check() error {
	if f.NKey == "" {
		return errors.New("nkey is missing; dptrain cluster new makes one")
	}
	return checkURL(f.URL)
}

// checkURL returns an error unless a text is the address of NATS servers.
func checkURL(text string) error {
	if text == "" {
		return errors.New("url is missing; such as nats://host:4222")
	}
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return errors.New("url: want nats://host:4222 or tls://host:4222")
		}
		if u.User != nil {
			return errors.New("url: want no user and password in it: the cluster's file has a key")
		}
	}
	return nil
}

// encrypted reports whether connections must be encrypted, as all must that leave this machine.
func (f File) encrypted() bool {
	if f.CA != "" || f.ServerName != "" {
		return true
	}
	for one := range strings.SplitSeq(f.URL, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Scheme == "tls" {
			return true
		}
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return true
		}
	}
	return false
}

// Write writes a cluster's file, which its owner alone can read.
func (f File) Write(path string) error {
	if err := f.check(); err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("# This file admits to a cluster, with all that is private in its jobs. Keep it like the data.\n")
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(f), e.Close()); err != nil {
		return err
	}
	return maybe.WriteFile(path, text.Bytes(), 0o600)
}
