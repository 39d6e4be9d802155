package execution

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
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

// A folder's name lasts, and no other folder has it.
func TestCampaignID(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".cluster-id")
	first, err := CampaignID(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := CampaignID(dir); err != nil || again != first || first == "" {
		t.Errorf("%q, and then %q, %v", first, again, err)
	}
	if other, err := CampaignID(t.TempDir()); err != nil || other == first {
		t.Errorf("%q twice, %v", first, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
}
