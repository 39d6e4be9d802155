package cluster

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// sound returns a valid file.
func sound() File {
	return File{URL: "nats://host:4222", NKey: "SUthe-key"}
}

// ReadFile refuses a file on which others have any right, and Write gives them none.
func TestFilesAreTheirOwners(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	path := filepath.Join(t.TempDir(), "cluster.yaml")
	want := sound()
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err != nil {
		t.Error(err)
	}
	for _, none := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := ReadFile(none); err == nil {
			t.Errorf("%s is a file", none)
		}
	}
	worse := want
	worse.NKey = ""
	if err := worse.Write(path); err == nil {
		t.Error("a file without a key is written")
	}
}

// Files that lack something, or say two things, are refused, by errors that have none of their text.
func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	good := "url: nats://host:4222\nnkey: SUthe-key\n"
	f, err := ParseFile([]byte(good))
	if err != nil || f.NKey != "SUthe-key" {
		t.Fatalf("%+v, %v", f, err)
	}
	for name, change := range map[string][2]string{
		"no key":            {"nkey: SUthe-key\n", ""},
		"an unknown field":  {"nkey: ", "x: 1\nnkey: "},
		"no url":            {"url: nats://host:4222\n", ""},
		"no server":         {"nats://host:4222", "nats://"},
		"another scheme":    {"nats://", "http://"},
		"a bad second url":  {"host:4222", "host:4222,http://host2"},
		"a password in url": {"nats://host", "nats://u:SUthe-key@host"},
		"a user in url":     {"nats://host", "nats://u@host"},
		"no YAML":           {"nkey: ", "nkey: u: "},
		"a list":            {good, "[1, 2]"},
		"nothing":           {good, ""},
		"a password":        {"nkey: ", "password: SUthe-key\nnkey: "},
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		if text == good {
			t.Fatalf("%s: no %q", name, change[0])
		}
		_, err := ParseFile([]byte(text))
		if err == nil || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "the-key") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only connections within this machine may be unencrypted, and none if the file names a certificate.
func TestConnectionsAreEncrypted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f    File
		want bool
	}{
		{File{URL: "nats://localhost:4222"}, false},
		{File{URL: "nats://127.0.0.1:4222"}, false},
		{File{URL: "nats://127.9.9.9:4222"}, false},
		{File{URL: "nats://[::1]:4222"}, false},
		{File{URL: "nats://192.0.2.1:4222"}, true},
		{File{URL: "nats://[2001:db8::1]:4222"}, true},
		{File{URL: "nats://0.0.0.0:4222"}, true},
		{File{URL: "nats://host:4222"}, true},
		{File{URL: "nats://localhost.example:4222"}, true},
		{File{URL: "tls://localhost:4222"}, true},
		{File{URL: "nats://localhost:4222,nats://host:4222"}, true},
		{File{URL: "nats://localhost:4222,nats://127.0.0.1:4223"}, false},
		{File{URL: "nats://localhost:4222", CA: "x"}, true},
		{File{URL: "nats://localhost:4222", ServerName: "x"}, true},
	} {
		if got := c.f.encrypted(); got != c.want {
			t.Errorf("%+v: encrypted %t, want %t", c.f, got, c.want)
		}
	}
}

// A file that ParseFile takes comes back from the file that Write writes.
func FuzzParseFile(f *testing.F) {
	f.Add([]byte("url: nats://host:4222\nnkey: SU\n"))
	f.Add([]byte("url: tls://a,nats://b:1\nnkey: SU\nca: |\n  x\n  y\nserver_name: a\n"))
	f.Add([]byte("secret: [1]"))
	f.Add([]byte("nkey: [1]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ParseFile(text)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := got.Write(path); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadFile(path); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%+v became %+v, %v", got, again, err)
		}
	})
}
