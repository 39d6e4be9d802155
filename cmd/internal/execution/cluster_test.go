package execution

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/tuner"
)

// Flags that say two things, or too little, are refused before anything is read.
func TestClusterFlags(t *testing.T) {
	for _, c := range []struct {
		flags Cluster
		taken bool
	}{
		{Cluster{}, true},
		{Cluster{File: "c.yaml"}, true},
		{Cluster{File: Embedded, Listen: ":4222", Advertise: "host"}, true},
		{Cluster{Listen: ":4222"}, false},
		{Cluster{Advertise: "host"}, false},
		{Cluster{File: "c.yaml", Advertise: "host"}, false},
		{Cluster{File: "nats://host:4222"}, false},
	} {
		if err := c.flags.Check(); (err == nil) != c.taken {
			t.Errorf("%+v: %v", c.flags, err)
		}
	}
}

// Without --listen an embedded server is reached from this machine alone.
func TestEmbeddedClusterIsLocal(t *testing.T) {
	dir := t.TempDir()
	flags := Cluster{File: Embedded}
	_, end, err := flags.Lead(t.Context(), dir, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	f, err := cluster.ReadFile(filepath.Join(dir, cluster.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if u, err := url.Parse(f.URL); err != nil || u.Hostname() != "127.0.0.1" {
		t.Errorf("it is at %s, %v", f.URL, err)
	}
}

// A person is told once that no worker is there, and once more after one was there that left others behind.
func TestAwaitWorkers(t *testing.T) {
	var told []string
	calls := 0
	counts := func() (able, all int) {
		switch calls++; {
		case len(told) == 0:
			return 0, 0
		case calls < 60:
			return 0, 0 // which is known
		case calls < 70:
			return 1, 2
		}
		return 0, 1
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	awaitWorkers(ctx, 20*time.Millisecond, counts, func(text string) {
		if told = append(told, text); len(told) == 2 {
			cancel()
		}
	})
	if len(told) != 2 || !strings.HasPrefix(told[0], "no worker is there") || !strings.HasPrefix(told[1], "none of the workers") || calls < 70 {
		t.Errorf("after %d calls %q", calls, told)
	}
}

// trialsThatEnd are trials that are done once somebody waits for workers.
type trialsThatEnd struct{ waiting chan struct{} }

func (t trialsThatEnd) Run(context.Context, tuner.Plan, []int, func(tuner.PrivateOutcome) error) error {
	<-t.waiting
	return nil
}

// Nobody waits for workers before there are trials, nor after them.
func TestWatchedTrials(t *testing.T) {
	waiting, ended := make(chan struct{}), false
	w := watchedTrials{trialsThatEnd{waiting}, func(ctx context.Context) {
		close(waiting)
		<-ctx.Done()
		ended = true
	}}
	if err := w.Run(t.Context(), tuner.Plan{}, nil, nil); err != nil || !ended {
		t.Errorf("ended %t, %v", ended, err)
	}
}

func TestListen(t *testing.T) {
	for address, good := range map[string]bool{
		"": true, ":4222": true, ":0": true, "127.0.0.1:0": true, "0.0.0.0": true, "::1": true, "[::1]:0": true, "host.example.org:65535": true,
		"4222": false, "localhost": false, "[::1]": false, "abc:": false, ":": false, ":70000": false, ":http": false, "127.0.0.1:-5": false, "-1": false,
	} {
		if err := CheckListen(address); (err == nil) != good {
			t.Errorf("--listen %q: %v", address, err)
		}
	}
}

func TestAdvertise(t *testing.T) {
	for name, good := range map[string]bool{
		"": true, "host": true, "login_1.example.org.": true, "10.0.0.1": true, "::1": true, "fe80::1": true,
		"host:4222": false, "a b": false, "a/b": false, "tls://host": false, "[::1]": false, "-host": false, "user@host": false,
	} {
		if err := CheckAdvertise(name); (err == nil) != good {
			t.Errorf("--advertise %q: %v", name, err)
		}
	}
}

// What isn't a campaign's name is refused, and nothing is waited for or written elsewhere.
func TestCampaignID(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".cluster-id")
	first, err := CampaignID(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := CampaignID(dir); err != nil || again != first || len(first) != 16 {
		t.Errorf("%q, and then %q, %v", first, again, err)
	}
	if other, err := CampaignID(t.TempDir()); err != nil || other == first {
		t.Errorf("%q twice, %v", first, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	elsewhere := filepath.Join(dir, "elsewhere")
	for what, put := range map[string]func() error{
		"text":   func() error { return os.WriteFile(path, []byte("zz\n"), 0o600) },
		"empty":  func() error { return os.WriteFile(path, nil, 0o600) },
		"short":  func() error { return os.WriteFile(path, []byte("0123"), 0o600) },
		"long":   func() error { return os.WriteFile(path, []byte("0123456789abcdefff"), 0o600) },
		"folder": func() error { return os.Mkdir(path, 0o700) },
		"link":   func() error { return os.Symlink(elsewhere, path) },
	} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if id, err := CampaignID(dir); err == nil {
			t.Errorf("%s: %q", what, id)
		}
	}
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("a file was written through a link")
	}
}
