package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/google/renameio/v2/maybe"
	"go.yaml.in/yaml/v3"
)

// File is what a machine needs to take part in a cluster. It is kept in a file that only its owner may read.
type File struct {
	// URL is such as nats://host:4222; several, with commas between them, are servers of one NATS cluster.
	URL string `yaml:"url"`
	// User and Password, or the seed of an NKey, or the path of a file with NATS credentials (a JWT and its NKey).
	User        string `yaml:"user,omitempty"`
	Password    string `yaml:"password,omitempty"`
	NKey        string `yaml:"nkey,omitempty"`
	Credentials string `yaml:"credentials,omitempty"`
	// CA are certificates, in PEM, by which the server proves itself; none means those that the system trusts.
	CA string `yaml:"ca,omitempty"`
	// ServerName is the name in the server's certificate, if it isn't that of the URL.
	ServerName string `yaml:"server_name,omitempty"`
	// Plaintext allows a connection without TLS to another machine. What is sent is sealed all the same, but for
	// subjects and for a password.
	Plaintext bool   `yaml:"plaintext,omitempty"`
	Secret    Secret `yaml:"secret"`
}

// Format prints where the server is alone, whatever the verb: a secret, password or key mustn't get into a message.
func (f File) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "cluster at %s", f.URL) }

// maxFile bounds a cluster's file, in bytes.
const maxFile = 1 << 20

// ReadFile reads a cluster's file. Others than its owner mustn't be able to read it.
func ReadFile(path string) (File, error) {
	if err := guarded(path); err != nil {
		return File{}, fmt.Errorf("the cluster's file: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("the cluster's file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return File{}, err
	}
	out, err := ParseFile(text)
	if err != nil {
		return File{}, fmt.Errorf("the cluster's file %s: %w", path, err)
	}
	return out, nil
}

// guarded returns an error unless a path is that of a file that its owner alone can read.
func guarded(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // a pipe would be waited for
		return fmt.Errorf("%s is no file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s has secrets, and others can read it: chmod 600 %[1]s", path)
	}
	return nil
}

// ParseFile decodes a cluster's file and checks it. Its errors have none of the secrets.
func ParseFile(text []byte) (f File, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil { // a YAML error cites the line
		return f, errors.New("it isn't one: want url, secret, and user and password, nkey, or credentials; dptrain cluster new writes one")
	}
	return f, f.check()
}

func (f File) check() error {
	if f.Secret == (Secret{}) {
		return errors.New("secret is missing; dptrain cluster new makes one")
	}
	if err := CheckURL(f.URL); err != nil {
		return err
	}
	if (f.User == "") != (f.Password == "") {
		return errors.New("want user and password, or neither")
	}
	ways := 0
	for _, given := range []string{f.User, f.NKey, f.Credentials} {
		if given != "" {
			ways++
		}
	}
	if ways > 1 {
		return errors.New("want one of user and password, nkey, and credentials")
	}
	return nil
}

// CheckURL returns an error unless a text is the address of NATS servers.
func CheckURL(text string) error {
	if text == "" {
		return errors.New("url is missing; such as nats://host:4222")
	}
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return errors.New("url: want nats://host:4222 or tls://host:4222")
		}
		if u.User != nil {
			return errors.New("url: want no user and password in it, where process lists show them: they belong into the cluster's file")
		}
	}
	return nil
}

// encrypted reports whether connections must be encrypted.
func (f File) encrypted() bool {
	if f.CA != "" || f.ServerName != "" {
		return true
	}
	if f.Plaintext {
		return false
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
	text.WriteString("# Whoever has this file can take jobs of the cluster, with all that is private in them. Keep it like the data.\n")
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(f), e.Close()); err != nil {
		return err
	}
	return maybe.WriteFile(path, text.Bytes(), 0o600)
}
