package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/execution"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

func newClusterCommand(g *global) *cobra.Command {
	cmd := term.Group(&cobra.Command{
		Use:   "cluster",
		Short: "Set up what workers on several machines connect by, and see what they do",
		Long: `Set up what workers on several machines connect by, and see what they do.

A cluster is a NATS server with JetStream, a coordinator ("dptrain reproduce --cluster" or
"dptrain tune --cluster"), and workers ("dptrain worker"). With --cluster embedded the
coordinator has the server inside, and none of these commands is needed. "cluster serve"
runs a server that outlives the coordinator; "cluster new" makes the file for a server of
your own.`,
		Example: `  dptrain cluster serve --dir cluster --listen :4222
  dptrain cluster new --url tls://host:4222 --out cluster.yaml
  dptrain cluster status --cluster cluster.yaml`,
	})
	cmd.AddCommand(newClusterServeCommand(g), newClusterNewCommand(g), newClusterStatusCommand(g))
	return cmd
}

func newClusterServeCommand(g *global) *cobra.Command {
	var dir, listen, advertise string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a cluster's server",
		Long: `Run a cluster's server until it is stopped: NATS with JetStream, by TLS with a
certificate of its own. The folder keeps what the server has, and the file that
coordinators and workers connect by, cluster.yaml. A server that is started again in the
same folder goes on, at the same address.`,
		Example: `  dptrain cluster serve --dir cluster --listen :4222
  dptrain worker --cluster cluster/cluster.yaml`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runClusterServe(cmd.Context(), g, dir, listen, advertise)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "cluster", "`folder` of the server")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`address`, such as :4222; without it only this machine reaches the server")
	cmd.Flags().StringVar(&advertise, "advertise", "", "`name` or address by which others reach the server, if it isn't this machine's name")
	_ = cmd.MarkFlagDirname("dir") // it fails for unknown flags only
	return cmd
}

func runClusterServe(ctx context.Context, g *global, dir, listen, advertise string) error {
	if err := execution.CheckListen(listen); err != nil {
		return err
	}
	server, err := cluster.Embed(dir, listen, advertise)
	if err != nil {
		return term.Input(err)
	}
	r := struct {
		URL  string `json:"url"`
		File string `json:"file"`
	}{server.File.URL, filepath.Join(dir, cluster.FileName)}
	if err := g.Print(r, func(w io.Writer) {
		term.Rows(w, release.Facts{{"server", r.URL}, {"file", term.Relative(r.File)}})
	}); err != nil {
		return errors.Join(err, server.Close())
	}
	<-ctx.Done()
	return errors.Join(term.ErrInterrupted, server.Close())
}

func newClusterNewCommand(g *global) *cobra.Command {
	var url, out, ca string
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make a cluster's file for a server of your own",
		Long: `Make a cluster's file, with a new NKey, for a NATS server of your own. The server must
have JetStream and TLS, and know the public part of the key, which is printed.`,
		Example: `  dptrain cluster new --url tls://host:4222 --out cluster.yaml
  dptrain cluster new --url tls://host:4222 --ca ca.pem --out cluster.yaml`,
		Args: term.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runClusterNew(g, url, out, ca) },
	}
	cmd.Flags().StringVar(&url, "url", "", "`address` of the server, such as tls://host:4222")
	cmd.Flags().StringVar(&out, "out", "cluster.yaml", "`file` to write, which must not exist")
	cmd.Flags().StringVar(&ca, "ca", "", "`file` with the certificate that the server proves itself by, in PEM (default those that the system trusts)")
	return cmd
}

func runClusterNew(g *global, url, out, ca string) error {
	if url == "" {
		return term.Usagef("--url says where the server is, such as tls://host:4222")
	}
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		return term.Inputf("%s is there already; give another file by --out", out)
	}
	f, public, err := cluster.NewFile(url)
	if err != nil {
		return term.Usagef("--url: %w", err)
	}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return term.Inputf("--ca: %w", err)
		}
		f.CA = string(text)
	}
	if err := f.Write(out); err != nil {
		return term.Input(err)
	}
	r := struct {
		File string `json:"file"`
		NKey string `json:"public_nkey"`
	}{out, public}
	return g.Print(r, func(w io.Writer) {
		term.Rows(w, release.Facts{
			{"file", term.Relative(out)}, {"key", public},
			{"server", "authorization { users: [ { nkey: " + public + " } ] }"},
		})
	})
}

func newClusterStatusCommand(g *global) *cobra.Command {
	var c execution.Cluster
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "List a cluster's workers, and count its jobs",
		Long:    "List a cluster's workers, what each is at, and count the jobs that wait.\n\nWhile a tuning is under way, these counts tell the number of its trials, which is\nprivate: keep the output like the data.",
		Example: "  dptrain cluster status --cluster reproduction/cluster/cluster.yaml",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runClusterStatus(cmd.Context(), g, c) },
	}
	c.AddJoining(cmd, "the cluster's `file`")
	return cmd
}

func runClusterStatus(ctx context.Context, g *global, c execution.Cluster) error {
	if c.File == "" || c.File == execution.Embedded {
		return term.Usagef("--cluster says which: its file, such as reproduction/cluster/cluster.yaml")
	}
	if err := c.Check(); err != nil {
		return err
	}
	file, err := c.Read()
	if err != nil {
		return err
	}
	s, err := term.Await(ctx, "asking the server", func() (cluster.Status, error) {
		conn, err := execution.Connect(ctx, file, "dptrain cluster status", func(string) {})
		if err != nil {
			return cluster.Status{}, err
		}
		defer conn.Close()
		return conn.Status(ctx)
	})
	if err != nil {
		return err
	}
	return g.Print(s, func(w io.Writer) { printClusterStatus(w, s) })
}

func printClusterStatus(w io.Writer, s cluster.Status) {
	term.Rows(w, release.Facts{
		{"waiting", fmt.Sprint(s.Waiting)}, {"under way", fmt.Sprint(s.UnderWay)}, {"results", fmt.Sprint(s.Results)},
		{"workers", fmt.Sprint(len(s.Workers))},
	})
	if len(s.Workers) == 0 {
		return
	}
	fmt.Fprintln(w)
	lines := [][]string{{"WORKER", "AT ONCE", "UNDER WAY", "DONE", "OF THIS", "MACHINE"}}
	for _, p := range s.Workers {
		lines = append(lines, []string{p.Name(), strconv.Itoa(p.GroupSize), strconv.Itoa(len(p.Jobs)), fmt.Sprint(p.Done), fmt.Sprintf("%.0f %%", 100*p.Share), strings.TrimSpace(cmp.Or(p.Machine, "unknown"))})
	}
	term.Columns(w, lines...)
}
