package execution

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/google/renameio/v2/maybe"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/show"
)

// Embedded is the value of --cluster for a server inside this process.
const Embedded = "embedded"

// Cluster is the flags that say which cluster a command takes part in.
type Cluster struct {
	File      string // or [Embedded]; empty for none
	Listen    string
	Advertise string
}

// AddJoining adds the flags of a command that joins a cluster.
func (c *Cluster) AddJoining(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVar(&c.File, "cluster", "", usage)
	_ = cmd.MarkFlagFilename("cluster")
}

// AddLeading adds the flags of a command that has others work for it.
func (c *Cluster) AddLeading(cmd *cobra.Command, what string) {
	c.AddJoining(cmd, "have workers train "+what+": the cluster's `file`, or \"embedded\" for a server inside of this process; see dptrain worker --help")
	cmd.Flags().StringVar(&c.Listen, "listen", "", "`address` of an embedded server, such as :4222; without it only this machine reaches it")
	cmd.Flags().StringVar(&c.Advertise, "advertise", "", "`name` or address by which workers reach an embedded server, if it isn't this machine's name")
}

// Check checks the flags before anything is read.
func (c *Cluster) Check() error {
	switch {
	case c.File != Embedded && cmp.Or(c.Listen, c.Advertise) != "":
		return term.Usagef("--listen and --advertise go with --cluster embedded")
	case strings.Contains(c.File, "://"):
		return term.Usagef("--cluster %s: want the cluster's file, which has the address and the key; dptrain cluster new makes one", c.File)
	}
	return CheckListen(c.Listen)
}

// CheckListen returns an error unless a server can be asked to listen there; empty is anywhere it likes.
func CheckListen(address string) error {
	if address == "" || net.ParseIP(address) != nil {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return term.Usagef("--listen %q: want an address such as :4222 or 127.0.0.1:4222", address)
	}
	return nil
}

// Read reads the cluster's file.
func (c *Cluster) Read() (cluster.File, error) {
	f, err := cluster.ReadFile(c.File)
	return f, term.Input(err)
}

// Lead connects to the cluster that is to work for this process, and starts an embedded server first if it is to. It
// keeps what belongs to the server in a folder. Close gives both back.
func (c *Cluster) Lead(ctx context.Context, dir string, note func(string)) (*cluster.Conn, func() error, error) {
	if c.File != Embedded {
		f, err := c.Read()
		if err != nil {
			return nil, nil, err
		}
		conn, err := Connect(ctx, f, "dptrain coordinator", note)
		return conn, func() error { conn.Close(); return nil }, err
	}
	server, err := cluster.Embed(dir, cmp.Or(c.Listen, "127.0.0.1:0"), c.Advertise)
	if err != nil {
		return nil, nil, term.Input(err)
	}
	conn, err := Connect(ctx, server.File, "dptrain coordinator", note)
	if err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	file := term.Relative(filepath.Join(dir, cluster.FileName))
	where := "on this machine"
	if c.Listen != "" {
		where = "on any machine that has a copy of this file"
	}
	note(fmt.Sprintf("the cluster's server is at %s; start workers %s by: dptrain worker --cluster %s", strings.TrimPrefix(server.File.URL, "tls://"), where, show.Quoted(file)))
	return conn, func() error { conn.Close(); return server.Close() }, nil
}

// Connect connects to a cluster, and says when the connection is lost and found.
func Connect(ctx context.Context, f cluster.File, name string, note func(string)) (*cluster.Conn, error) {
	conn, err := cluster.Connect(ctx, f, name, func(err error) { // which mustn't wait for a terminal
		if err != nil {
			go note(fmt.Sprintf("the connection to the cluster's server is lost (%v); trying again", err))
		} else {
			go note("the connection to the cluster's server is back")
		}
	})
	return conn, err
}

// ClusterBuild returns this program as others in a cluster compare it with theirs.
func ClusterBuild() (cluster.Build, error) {
	hash, err := build.Hash()
	if err != nil {
		return cluster.Build{}, term.Input(err)
	}
	b := build.Current()
	return cluster.Build{
		Version: b.String(), Exact: !b.Modified && (b.Commit != "" || b.Version != build.Unknown), Hash: hash, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}, nil
}

// CampaignID returns the name that a folder's jobs have in a cluster, which lasts as long as the folder. It is random,
// so the names of messages tell nothing about the folder.
func CampaignID(dir string) (string, error) {
	path := filepath.Join(dir, ".cluster-id")
	text, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return strings.TrimSpace(string(text)), err
	}
	id := rand.Text()
	return id, maybe.WriteFile(path, []byte(id+"\n"), 0o600) // whole, or not at all
}
