package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/google/renameio/v2/maybe"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/cmd/internal/cluster"
)

// embeddedCluster is the value of --cluster for a server inside this process.
const embeddedCluster = "embedded"

// clusterFlags say which cluster a command takes part in.
type clusterFlags struct {
	cluster   string // empty for none
	listen    string
	advertise string
}

// addJoining adds the flags of a command that joins a cluster.
func (c *clusterFlags) addJoining(cmd *cobra.Command, usage string) {
	cmd.Flags().Var((*once)(&c.cluster), "cluster", usage)
	_ = cmd.MarkFlagFilename("cluster")
}

// addLeading adds the flags of a command that has others work for it.
func (c *clusterFlags) addLeading(cmd *cobra.Command, what string) {
	c.addJoining(cmd, "have workers train "+what+": the cluster's `file`, or \"embedded\" for a server inside of this process; see dptrain worker --help")
	cmd.Flags().StringVar(&c.listen, "listen", "", "`address` of an embedded server, such as :4222; without it only this machine reaches it")
	cmd.Flags().StringVar(&c.advertise, "advertise", "", "`name` or address by which workers reach an embedded server, if it isn't this machine's name")
}

// check checks the flags before anything is read.
func (c *clusterFlags) check() error {
	switch {
	case c.cluster != embeddedCluster && cmp.Or(c.listen, c.advertise) != "":
		return usagef("--listen and --advertise go with --cluster embedded")
	case strings.Contains(c.cluster, "://"):
		return usagef("--cluster %s: want the cluster's file, which has the address and the key; dptrain cluster new makes one", c.cluster)
	}
	if err := checkListen(c.listen); err != nil {
		return err
	}
	return checkAdvertise(c.advertise)
}

// checkListen returns an error unless a server can be asked to listen there; empty is anywhere it likes.
func checkListen(address string) error {
	if address == "" || net.ParseIP(address) != nil {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return usagef("--listen %q: want an address such as :4222 or 127.0.0.1:4222", address)
	}
	return nil
}

// hostName matches what machines are named by.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$`)

// checkAdvertise returns an error unless a text is the name or the address of a machine, or empty.
func checkAdvertise(text string) error {
	if text == "" || net.ParseIP(text) != nil || hostName.MatchString(text) {
		return nil
	}
	return usagef("--advertise %q: want a name or an address without a port, such as host.example.org; --listen has the port", text)
}

// file reads the cluster's file.
func (c *clusterFlags) file() (cluster.File, error) {
	f, err := cluster.ReadFile(c.cluster)
	if err != nil {
		return f, coded(codeInput, err)
	}
	return f, nil
}

// lead connects to the cluster that is to work for this process, and starts an embedded server first if it is to. It
// keeps what belongs to the server in a folder. Close gives both back.
func (c *clusterFlags) lead(ctx context.Context, dir string, note func(string)) (*cluster.Conn, func() error, error) {
	if c.cluster != embeddedCluster {
		f, err := c.file()
		if err != nil {
			return nil, nil, err
		}
		conn, err := connect(ctx, f, "dptrain coordinator", note)
		return conn, func() error { conn.Close(); return nil }, err
	}
	server, err := cluster.Embed(dir, cmp.Or(c.listen, "127.0.0.1:0"), c.advertise)
	if err != nil {
		return nil, nil, coded(codeInput, err)
	}
	conn, err := connect(ctx, server.File, "dptrain coordinator", note)
	if err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	file := relative(filepath.Join(dir, cluster.FileName))
	where := "on this machine"
	if c.listen != "" {
		where = "on any machine that has a copy of this file"
	}
	note(fmt.Sprintf("the cluster's server is at %s; start workers %s by: dptrain worker --cluster %s", strings.TrimPrefix(server.File.URL, "tls://"), where, quoted(file)))
	return conn, func() error { conn.Close(); return server.Close() }, nil
}

// connect connects to a cluster, and says when the connection is lost and found.
func connect(ctx context.Context, f cluster.File, name string, note func(string)) (*cluster.Conn, error) {
	conn, err := cluster.Connect(ctx, f, name, func(err error) { // which mustn't wait for a terminal
		if err != nil {
			go note(fmt.Sprintf("the connection to the cluster's server is lost (%v); trying again", err))
		} else {
			go note("the connection to the cluster's server is back")
		}
	})
	return conn, ofCluster(err)
}

// ofCluster gives an error of a cluster its exit code.
func ofCluster(err error) error {
	switch {
	case errors.Is(err, cluster.ErrUnreachable):
		return coded(codeNetwork, err)
	case errors.Is(err, cluster.ErrRefused), errors.Is(err, cluster.ErrLed):
		return coded(codeInput, err)
	}
	return err
}

// clusterBuild returns this program as others in a cluster compare it with theirs.
func clusterBuild() (cluster.Build, error) {
	hash, err := programHash()
	if err != nil {
		return cluster.Build{}, coded(codeInput, err)
	}
	b := build.Current()
	return cluster.Build{
		Version: b.String(), Exact: !b.Modified && (b.Commit != "" || b.Version != build.Unknown), Hash: hash, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}, nil
}

// campaignID returns the name that a folder's jobs have in a cluster, which lasts as long as the folder. It is random:
// whoever reads the names of messages learns nothing of the folder.
func campaignID(dir string) (string, error) {
	path := filepath.Join(dir, ".cluster-id")
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		return "", coded(codeInput, fmt.Errorf("%s is no file; remove it: what workers are at is then done anew", path))
	}
	text, err := os.ReadFile(path)
	if err == nil {
		id := strings.TrimSpace(string(text))
		if raw, err := hex.DecodeString(id); err != nil || len(raw) != 8 {
			return "", coded(codeInput, fmt.Errorf("%s is damaged; remove it: what workers are at is then done anew", path))
		}
		return id, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	raw := make([]byte, 8)
	rand.Read(raw) // it never fails
	id := hex.EncodeToString(raw)
	return id, maybe.WriteFile(path, []byte(id+"\n"), 0o600) // whole, or not at all
}
