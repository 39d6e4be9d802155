package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

type resumeOptions struct {
	givenSettings
	keep  keeping
	store string
	clusterFlags
}

// resumable are the settings that may differ from those that a run began with: they change no result, and where files
// are is checked by their content.
var resumable = []string{"workers", "engine", "devices", "train", "test"}

func newResumeCommand(g *global) *cobra.Command {
	var opts resumeOptions
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was interrupted, killed or out of disk space",
		Long: `Go on with a run that was interrupted, killed or out of disk space, from its
last saved state. It ends in the released bytes that it would have given without
the interruption. RUN is the run's folder; "dptrain runs list" shows which can be
resumed.

A run saves its state every minute, and when it is stopped by Ctrl-C, SIGTERM,
SIGHUP or a full disk. Trials that have ended are kept. Resuming is no second
release: the run's random draws come from its key, which private/key keeps until
the run ends, so nothing is drawn twice with another meaning. It is therefore
refused with other data, another plan, another dptrain or another arithmetic
(such as a GPU's instead of the CPU's).

At the end the key is overwritten and removed. With the key, whoever has the
released model can remove its noise: until then guard the folder like the data.
Backups, snapshots and flash disks may keep copies.

` + exitCodes,
		Example: `  dptrain resume runs/mnist-20261122-100352
  dptrain resume runs/files-20261122-100352 --train moved/train.csv
  dptrain resume runs/mnist-20261122-100352 --workers 4
  dptrain resume runs/mnist-20261122-100352 --cluster embedded`,
		Args: takes(1, 1, "one run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runResume(cmd.Context(), g, runDir(storeDir(opts.store), args[0]), opts)
		},
	}
	opts.addOnly(cmd, resumable...)
	opts.keep.addFlags(cmd)
	cmd.Flags().StringVar(&opts.store, "store", "", "`folder` with the ledger that has the run, if it was moved elsewhere than the run")
	_ = cmd.MarkFlagDirname("store") // it fails for unknown flags only
	opts.addLeading(cmd, "the trials that are left")
	return cmd
}

func runResume(ctx context.Context, g *global, dir string, opts resumeOptions) error {
	if err := errors.Join(opts.keep.check(), opts.clusterFlags.check()); err != nil {
		return err
	}
	folder, err := runs.Resume(dir)
	if err != nil {
		return coded(codeInput, err)
	}
	s, err := opts.resumed(folder)
	if err == nil {
		folder.Record.Store, err = opts.storeOf(folder)
	}
	if err == nil {
		err = g.carryOut(ctx, s, opts.keep, opts.clusterFlags, folder.Record.Store, func(p *experiment.Plan) (*runs.Run, error) { return folder, samePlan(p, folder) })
	}
	return errors.Join(err, folder.Release())
}

// resumed returns the settings of a run that was cut off.
func (o *resumeOptions) resumed(folder *runs.Run) (s experiment.Settings, err error) {
	program, err := programHash()
	if err != nil {
		return s, coded(codeInput, err)
	}
	if r := folder.Record; program != r.Program {
		return s, coded(codeInput, fmt.Errorf("the run in %s was begun by another dptrain (%s), and this one (%s) may draw or compute otherwise: resume with that one", folder.Dir(), r.MadeBy, version()))
	}
	e, err := o.restored(folder.Settings, folder.Record)
	if err != nil {
		return s, err
	}
	return experiment.Settings{Experiment: e, Tune: experiment.Tuned(folder.Manifest), InsecureSeed: folder.Record.Seed}, nil
}

// restored returns the settings that a run began with, with those of the command line over them.
func (o *givenSettings) restored(text []byte, r runs.Record) (settings.Experiment, error) {
	e, err := settings.Resolve(settings.File{Name: "settings.yaml", Text: text}, o.overrides())
	if err != nil {
		return e, coded(codeUsage, err)
	}
	for _, f := range []struct {
		flag string
		path *string
	}{{"train", &e.Data.Train}, {"test", &e.Data.Test}} {
		if *f.path == "" || o.gives("data."+f.flag) {
			continue
		}
		if !filepath.IsAbs(*f.path) {
			*f.path = filepath.Join(r.Folder, *f.path)
		}
		if _, err := os.Stat(*f.path); errors.Is(err, fs.ErrNotExist) {
			return e, coded(codeInput, fmt.Errorf("%w: --%s says where it is now", err, f.flag))
		}
	}
	return e, nil
}

// releasesIn returns the releases that a store's ledger has.
func releasesIn(store string) ([]ledger.Release, error) {
	l, err := ledger.Open(store)
	if err != nil {
		return nil, coded(codeInput, err)
	}
	releases, err := l.Releases()
	if err != nil {
		return nil, coded(codeInput, err)
	}
	return releases, nil
}

// storeOf returns the folder whose ledger has the run: the one that the run began with or, if a store was moved with
// its runs and its ledger, the one that the run is in now. Another ledger would begin anew, and forget what is spent.
func (o *resumeOptions) storeOf(folder *runs.Run) (string, error) {
	if o.store != "" {
		return filepath.Abs(o.store)
	}
	began, now := folder.Record.Store, filepath.Dir(folder.Dir())
	for _, store := range []string{began, now} {
		releases, err := releasesIn(store)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(releases, func(r ledger.Release) bool { return r.Run == folder.Record.ID }) {
			return store, nil
		}
	}
	for _, store := range []string{began, now} {
		if _, err := os.Stat(filepath.Join(store, ledger.FileName)); err == nil {
			return store, nil
		}
	}
	if folder.Manifest.Stage == runs.Planned { // it is the first run of its store
		return began, nil
	}
	return "", coded(codeInput, fmt.Errorf("the ledger that has the run isn't in %s any more: --store says where it is now", began))
}

// samePlan returns an error if a plan isn't that of the run's folder.
func samePlan(p *experiment.Plan, folder *runs.Run) error {
	now, err := p.Manifest()
	if err != nil {
		return err
	}
	m := folder.Manifest
	if now.Epsilon != m.Epsilon || now.Delta != m.Delta || now.Samples != m.Samples || !sameJSON(now.Event, m.Event) {
		return coded(codeInput, fmt.Errorf("the run in %s was planned for %d samples and epsilon %v, and now there are %d and epsilon %v: resume with the same data and settings",
			folder.Dir(), m.Samples, m.Epsilon, now.Samples, now.Epsilon))
	}
	return nil
}

// sameJSON reports whether two texts are the same JSON but for spaces.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
