package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/execution"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/train"
)

type workerOptions struct {
	flags.Settings
	cluster  execution.Cluster
	idle     time.Duration
	batch    int
	datasets []string
	train    string
	test     string
	names    []string // of the data that it works on, for people
}

func newWorkerCommand(g *global) *cobra.Command {
	var opts workerOptions
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Train what a campaign or a tuning on another machine hands out",
		Long: `Train what "dptrain reproduce --cluster" or "dptrain tune --cluster" hands out, on this
machine, until it is stopped. Any number of workers on any number of machines share the
work: each takes what it can do, and a worker that is killed, hangs or loses the network
costs time, and no run. Others take over what it was at, draw the same randomness and,
on the same arithmetic, come to the same bytes.

--cluster is the file that the coordinator wrote, such as reproduction/cluster/cluster.yaml;
copy it to the machine of the worker, and keep it like the data: who has it is admitted,
gets the keys of runs, and with them could remove their noise. A worker must be the same
dptrain as the coordinator, and have the data: each data set that is here is worked on
(see dptrain data list), or those of --datasets. For a tuning of own files give the same
files by --train and, if it has a public one, --test.

A worker uses all cores, or one GPU or several; start one for each GPU by --devices to
train more runs at once. With --idle it ends when there was nothing to do for a while:
so batch systems such as Slurm run it. When it is stopped (Ctrl-C, SIGTERM), others get
its runs at once.

` + term.ExitCodes,
		Example: `  dptrain worker --cluster reproduction/cluster/cluster.yaml
  dptrain worker --cluster cluster.yaml --devices 0 --idle 10m
  dptrain worker --cluster cluster.yaml --datasets mnist
  dptrain worker --cluster cluster.yaml --train train.csv --test test.csv`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runWorker(cmd.Context(), g, opts) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	opts.cluster.AddJoining(cmd, "the cluster's `file`")
	fs.DurationVar(&opts.idle, "idle", 0, "end when there was nothing to do for a `time`, such as 10m; 0 never ends")
	fs.IntVar(&opts.batch, "batch", 0, "`number` of runs side by side; 0 is what fills this machine")
	fs.StringSliceVar(&opts.datasets, "datasets", nil, "data sets to work on: a `list` (default those that are here)")
	fs.StringVar(&opts.train, "train", "", "own training `file`, as the coordinator has it")
	fs.StringVar(&opts.test, "test", "", "own test `file`, as the coordinator has it")
	opts.AddOnly(cmd, "workers", "engine", "devices")
	return cmd
}

func (o *workerOptions) checkWorker() error {
	switch {
	case o.cluster.File == "":
		return term.Usagef("--cluster says whom to work for: the file that the coordinator wrote, such as reproduction/cluster/cluster.yaml")
	case o.cluster.File == execution.Embedded:
		return term.Usagef("--cluster embedded is for the coordinator; give a worker the file that the coordinator wrote, such as reproduction/cluster/cluster.yaml")
	case o.idle < 0:
		return term.Usagef("--idle: want a time such as 10m, got %v", o.idle)
	case o.batch < 0 || o.batch > 64:
		return term.Usagef("--batch: want 0 to 64, got %d", o.batch)
	case o.train == "" && o.test != "":
		return term.Usagef("--test: give the training file as well, by --train")
	}
	return o.cluster.Check()
}

func runWorker(ctx context.Context, g *global, opts workerOptions) error {
	if err := opts.checkWorker(); err != nil {
		return err
	}
	e, err := opts.Resolve()
	if err != nil {
		return err
	}
	file, err := opts.cluster.Read()
	if err != nil {
		return err
	}
	p := e.Performance
	device, err := g.gpus.Choose(p)
	if err != nil {
		return err
	}
	lanes, err := term.Await(ctx, "looking for data sets", func() ([]string, error) { return opts.lanes(device) })
	if err != nil {
		return err
	}
	f := term.NewFollower(ctx, g.Console())
	running := new(sync.WaitGroup)
	working := term.Begin(ctx, running, f, func(f *term.Follower) (any, error) {
		conn, err := execution.Connect(ctx, file, "dptrain worker", f.Note)
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		device = device.Opening(ctx, running, p, f.Warn)
		return nil, device.Using(ctx, p, f, func(gpu train.Engine) error { return opts.serve(ctx, conn, p, gpu, lanes, f) })
	})
	_, err = working.AwaitEnd(ctx, func() { g.Console().Log().Warn("stopping: others get what this worker was at; again to kill") })
	return engines.Blame(err)
}

// lanes returns what the worker can do. It has names of data sets, and a hash of own files.
func (o *workerOptions) lanes(device engines.Choice) ([]string, error) {
	names, err := o.here()
	if err != nil {
		return nil, err
	}
	files := ""
	o.names = names
	if o.train != "" {
		o.names = append(slices.Clone(names), settings.Files)
		if files, err = remote.HashFiles(o.train, o.test); err != nil {
			return nil, term.Inputf("own files: %w", err)
		}
	}
	engine := settings.EngineCPU
	if device.OnGPUs() {
		engine = settings.EngineCUDA
	}
	return remote.Lanes(names, files, engine), nil
}

// dataHere describes all data sets, and says which of them can be trained on without a download.
func dataHere() (all []datasets.Info, has map[string]bool, err error) {
	all, err = datasets.List(datasets.Options{})
	has = map[string]bool{}
	for _, i := range all {
		has[i.Name] = i.Where != ""
	}
	has["cifar-10"] = has["cifar-10"] && has["resnet20"] // it is trained on as that network's features
	return all, has, err
}

// here returns the names of the data sets to work on.
func (o *workerOptions) here() ([]string, error) {
	if o.train != "" && len(o.datasets) == 0 {
		return nil, nil
	}
	all, has, err := dataHere()
	if err != nil {
		return nil, err
	}
	var known, names []string
	for _, i := range all {
		if i.Kind == datasets.KindWeights {
			continue
		}
		if known = append(known, i.Name); has[i.Name] {
			names = append(names, i.Name)
		}
	}
	if len(o.datasets) == 0 {
		return names, nil
	}
	for _, name := range o.datasets {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--datasets: %w", term.Unknown("name", name, known))
		}
		if !has[name] {
			return nil, term.Inputf("--datasets: %s isn't here; dptrain data fetch %[1]s gets it", name)
		}
	}
	return distinct(o.datasets), nil
}

// serve does jobs.
func (o *workerOptions) serve(ctx context.Context, conn *cluster.Conn, p settings.Performance, gpu train.Engine, lanes []string, f *term.Follower) error {
	me, err := execution.ClusterBuild()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "" // it is for people alone
	}
	idle := cmp.Or(o.idle, -1)
	batch := o.batch
	if batch == 0 {
		batch = batchSize(p, gpu != nil)(campaign.Cell{Method: campaign.Variant1})
	}
	w := &remote.Worker{
		Engine: engines.New(p, gpu), Features: engines.CPU(), Performance: p, Program: me.Hash, Name: engines.Machine(p, gpu), Train: o.train, Test: o.test,
	}
	defer w.Close()
	follower := &workerFollower{Follower: f}
	f.Note(fmt.Sprintf("waiting for work on %s, %d at once", strings.Join(o.names, ", "), batch))
	_, err = conn.Serve(ctx, cluster.Worker{
		Build: me, Host: host, Machine: w.Name, Lanes: lanes, GroupSize: batch, Idle: idle, Tell: f.Warn, Working: follower.doing,
	}, remote.Executor{Worker: w, Follower: follower})
	if err == nil {
		f.Note("there is nothing to do")
	}
	if errors.Is(err, context.Canceled) {
		return ctx.Err()
	}
	return err
}

// workerFollower shows what a worker is at. How many runs it has done isn't shown where it would be kept: it says
// something of the number of trials of a private tuning.
type workerFollower struct {
	*term.Follower
	mu   sync.Mutex
	text string
}

// doing notes which jobs are under way.
func (w *workerFollower) doing(jobs []cluster.Job, share float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = "waiting for work"
	if len(jobs) > 0 {
		w.text = "training"
		if j, err := remote.UnmarshalJob(jobs[0].Body); err == nil && w.Console.ShowsPrivate() {
			w.text = fmt.Sprintf("%s; %d side by side", j.Name, len(jobs))
		}
	}
}

func (w *workerFollower) Working(share float64) {
	w.mu.Lock()
	text := w.text
	w.mu.Unlock()
	if !w.Console.ShowsPrivate() { // the share falls when a job begins, so that jobs could be counted
		w.Show(func() { w.Console.Working(text) })
		return
	}
	w.Follower.Progress(math.Max(share, 1e-9), 1, text)
}
