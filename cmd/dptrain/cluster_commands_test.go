package main

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
)

// Flags that say two things, or too little, are refused before anything is read.
func TestClusterFlags(t *testing.T) {
	for _, c := range []struct {
		flags clusterFlags
		taken bool
	}{
		{clusterFlags{}, true},
		{clusterFlags{cluster: "c.yaml"}, true},
		{clusterFlags{cluster: embeddedCluster, listen: ":4222", advertise: "host"}, true},
		{clusterFlags{listen: ":4222"}, false},
		{clusterFlags{advertise: "host"}, false},
		{clusterFlags{cluster: "c.yaml", advertise: "host"}, false},
		{clusterFlags{cluster: "nats://host:4222"}, false},
	} {
		if err := c.flags.check(); (err == nil) != c.taken {
			t.Errorf("%+v: %v", c.flags, err)
		}
	}
}

// Without --listen an embedded server is reached from this machine alone.
func TestEmbeddedClusterIsLocal(t *testing.T) {
	dir := t.TempDir()
	flags := clusterFlags{cluster: embeddedCluster}
	_, end, err := flags.lead(t.Context(), dir, func(string) {})
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
