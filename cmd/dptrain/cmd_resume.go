package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/execution"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

type resumeOptions struct {
	flags.Settings
	keep    flags.Keep
	store   string
	cluster execution.Cluster
}

// resumable are the settings that may differ from those that a run began with: they change no result, and where files
// are is checked by their content.
var resumable = []string{"workers", "engine", "devices", "train", "test"}

func newResumeCommand(g *global) *cobra.Command {
	var opts resumeOptions
	cmd := &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Go on with a run that was interrupted, killed or out of disk space",
		Long: `Go on with a run that was interrupted, killed or out of disk space, from its
last saved state. It ends in the released bytes that it would have given without
the interruption. RUN is the run's folder; without it the runs of the store are
listed that can be resumed.

A run saves its state every minute, and when it is stopped by Ctrl-C, SIGTERM,
SIGHUP or a full disk. Trials that have ended are kept. Resuming is no second
release: the run's random draws come from its key, which private/key keeps until
the run ends, so nothing is drawn twice with another meaning. It is therefore
refused with other data, another plan, another dptrain or another arithmetic
(such as a GPU's instead of the CPU's).

At the end the key is overwritten and removed. With the key, whoever has the
released model can remove its noise: until then guard the folder like the data.
Backups, snapshots and flash disks may keep copies.

` + term.ExitCodes,
		Example: `  dptrain resume runs/mnist-20261122-100352
  dptrain resume runs/files-20261122-100352 --train moved/train.csv
  dptrain resume runs/mnist-20261122-100352 --workers 4
  dptrain resume runs/mnist-20261122-100352 --cluster embedded`,
		Args: term.Takes(0, 1, "one run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return runRunsList(g, flags.Store{Given: opts.store}.Dir(), false, true)
			}
			return runResume(cmd.Context(), g, flags.Store{Given: opts.store}.Run(args[0]), opts)
		},
	}
	opts.AddOnly(cmd, resumable...)
	addKeep(cmd, &opts.keep)
	cmd.Flags().StringVar(&opts.store, "store", "", "`folder` with the ledger that has the run, if it was moved elsewhere than the run")
	_ = cmd.MarkFlagDirname("store") // it fails for unknown flags only
	opts.cluster.AddLeading(cmd, "the trials that are left")
	return cmd
}

func runResume(ctx context.Context, g *global, dir string, opts resumeOptions) error {
	if err := errors.Join(opts.keep.Check(), opts.cluster.Check()); err != nil {
		return err
	}
	folder, err := runs.Resume(dir)
	if err != nil {
		return term.Input(err)
	}
	s, err := opts.resumed(folder)
	if err == nil {
		folder.Record.Store, err = opts.storeOf(folder)
	}
	if err == nil {
		err = g.carryOut(ctx, s, execution.Options{
			Store: folder.Record.Store, Every: opts.keep.Every, Cluster: opts.cluster,
			Folder: func(p *experiment.Plan) (*runs.Run, error) { return folder, samePlan(p, folder) },
		})
	}
	return errors.Join(err, folder.Release())
}

// resumed returns the settings of a run that was cut off.
func (o *resumeOptions) resumed(folder *runs.Run) (s experiment.Settings, err error) {
	program, err := build.Hash()
	if err != nil {
		return s, term.Input(err)
	}
	if r := folder.Record; program != r.Program {
		return s, term.Inputf("the run in %s was begun by another dptrain (%s), and this one (%s) may draw or compute otherwise: resume with that one", folder.Dir(), r.MadeBy, engines.Current())
	}
	e, err := o.Restored(folder.Settings, folder.Record.Folder)
	if err != nil {
		return s, err
	}
	return experiment.Settings{Experiment: e, Tune: experiment.Tuned(folder.Manifest), InsecureSeed: folder.Record.Seed}, nil
}

// releasesIn returns the releases that a store's ledger has.
func releasesIn(store string) ([]ledger.Release, error) {
	l, err := ledger.Open(store)
	if err != nil {
		return nil, term.Input(err)
	}
	releases, err := l.Releases()
	return releases, term.Input(err)
}

// storeOf returns the folder whose ledger has the run: the one that the run began with or, if a store was moved with
// its runs and its ledger, the one that the run is in now. Another ledger would begin anew, and forget past releases:
// --store can't name one while one of these has the run.
func (o *resumeOptions) storeOf(folder *runs.Run) (string, error) {
	began, now := folder.Record.Store, filepath.Dir(folder.Dir())
	stores := []string{began, now}
	if o.store != "" {
		given, err := filepath.Abs(o.store)
		if err != nil {
			return "", term.Input(err)
		}
		stores = []string{given, began, now}
	}
	for _, store := range stores {
		releases, err := releasesIn(store)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(releases, func(r ledger.Release) bool { return r.Run == folder.Record.ID }) {
			if o.store != "" && store != stores[0] {
				return "", term.Inputf("--store %s: the ledger in %s has the run, and this one doesn't; leave --store out", o.store, store)
			}
			return store, nil
		}
	}
	if o.store != "" {
		return stores[0], nil
	}
	for _, store := range stores {
		if _, err := os.Stat(filepath.Join(store, ledger.FileName)); err == nil {
			return store, nil
		}
	}
	if folder.Manifest.Stage == runs.Planned { // it is the first run of its store
		return began, nil
	}
	return "", term.Inputf("the ledger that has the run isn't in %s any more: --store says where it is now", began)
}

// samePlan returns an error if a plan isn't that of the run's folder.
func samePlan(p *experiment.Plan, folder *runs.Run) error {
	now, err := p.Manifest()
	if err != nil {
		return err
	}
	m := folder.Manifest
	if now.Epsilon != m.Epsilon || now.Delta != m.Delta || now.Samples != m.Samples || !sameJSON(now.Event, m.Event) {
		return term.Inputf("the run in %s was planned for %d samples and epsilon %v, and now there are %d and epsilon %v: resume with the same data and settings",
			folder.Dir(), m.Samples, m.Epsilon, now.Samples, now.Epsilon)
	}
	return nil
}

// sameJSON reports whether two texts are the same JSON but for spaces.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
