package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/train"
)

// begun returns what the folder of a run that begins holds.
func begun(p *experiment.Plan, store string) (m runs.Manifest, r runs.Record, settings []byte, err error) {
	if m, err = p.Manifest(); err != nil {
		return m, r, nil, err
	}
	if settings, err = p.Experiment.YAML(); err != nil {
		return m, r, nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return m, r, nil, coded(codeInput, err)
	}
	if store, err = filepath.Abs(store); err != nil {
		return m, r, nil, coded(codeInput, err)
	}
	program, err := programHash()
	if err != nil {
		return m, r, nil, coded(codeInput, err)
	}
	m.MadeBy = version()
	return m, runs.Record{Data: p.DataName(), Folder: folder, Store: store, Seed: p.Seed(), Program: program, MadeBy: version().String()}, settings, nil
}

// noteLeftovers shows what killed runs left in the store.
func (r *run) noteLeftovers() {
	found, _ := runs.List(r.store) // what can't be read is for "runs list" to say
	found = slices.DeleteFunc(found, func(i runs.Info) bool { return !i.Resumable() || i.Dir == r.folder.Dir() })
	const shown = 3
	for _, i := range found[:min(shown, len(found))] {
		r.console.Log().Infof("%s was cut off: dptrain resume %s goes on with it", cleaned(i.Name), quoted(relative(i.Dir)))
	}
	if n := len(found) - shown; n > 0 {
		r.console.Log().Infof("%d more runs were cut off: dptrain runs list shows them", n)
	}
	if left, err := runs.Leftovers(r.store); err == nil && len(left) > 0 {
		r.console.Log().Infof("%s has %d leftovers of killed runs, which are private: dptrain runs clean removes them", relative(r.store), len(left))
	}
}

// noteUnrecorded shows which runs of the store its ledger lacks.
func (r *run) noteUnrecorded() error {
	l, err := ledger.Open(r.store)
	if err != nil {
		return err
	}
	return warnUnrecorded(r.console, l, r.store)
}

// stop ends a run that failed. Before its training the folder is removed; later it is kept, and the error says how to
// go on.
func (r *run) stop(err error) error {
	if r.folder == nil {
		return err
	}
	if cause := context.Cause(r.ctx); cause != nil && !errors.Is(cause, context.Canceled) { // such as a full disk
		err = coded(codeInput, cause)
	}
	err = blameDevice(err)
	m := r.folder.Manifest
	switch {
	case m.Stage == runs.Planned && len(r.folder.Record.Moments) == 1:
		discarded := r.folder.Discard()
		if errors.Is(err, errInterrupted) && discarded == nil {
			err = fmt.Errorf("%w; nothing was written", err)
		}
		return errors.Join(err, discarded)
	case m.Stage == runs.Finished:
		return fmt.Errorf("%w; the run is finished, and in %s; remove private/key and private/state there", err, r.folder.Dir())
	case errors.Is(err, train.ErrDiverged):
		return errors.Join(err, r.folder.Fail(err.Error()))
	case errors.Is(err, runs.ErrNoKey):
		return errors.Join(err, r.folder.Unreserve())
	}
	if _, gone := os.Stat(r.folder.Dir()); errors.Is(gone, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%w; the run's folder %s is gone: if it was moved, resume it there", err, r.folder.Dir()), r.folder.Release())
	}
	hint := fmt.Errorf("%w; what is done is kept: dptrain resume %s", err, quoted(relative(r.folder.Dir())))
	if stopped := r.folder.Stop(err.Error()); stopped != nil {
		hint = fmt.Errorf("%w (the stop isn't noted there: %v)", hint, stopped)
	}
	return hint
}

// finish writes what is released.
func (r *run) finish(o experiment.Outcome) error {
	private, err := o.PrivateJSON()
	if err == nil { // of trials on a cluster, perhaps by a process that was killed
		err = os.RemoveAll(r.clusterDir())
	}
	if err != nil {
		return err
	}
	h := o.Release.Hyperparameters
	r.folder.Manifest.Score = &runs.Score{Metric: string(o.Release.Score.Metric), Value: o.Release.Score.Value, HeldOut: o.Release.Score.HeldOut != nil}
	r.folder.Manifest.LearningRate, r.folder.Manifest.TunedLearningRate = &h.LearningRate, h.TunedLearningRate
	if err := r.folder.Finish(private, o.Release.Write); err != nil {
		return coded(codeInput, err)
	}
	return nil
}

// fail stops the run for a reason that is no error of the training, such as a full disk.
func (r *run) fail(err error) {
	_ = r.folder.Unreserve() // so that states can be saved
	r.cancel(err)
}

// keptStates keeps a run's states in its folder. When the disk is full, the reserve makes room for the last of them,
// and the run stops.
type keptStates struct{ *run }

func (s keptStates) Save(name string, content []byte) error {
	err := s.folder.Save(name, content)
	if err == nil {
		return nil
	}
	if s.folder.Unreserve() != nil || s.folder.Save(name, content) != nil {
		return coded(codeInput, err)
	}
	s.fail(err)
	return nil
}

func (s keptStates) Load(name string) ([]byte, error) { return s.folder.Load(name) }
func (s keptStates) Remove(name string) error         { return s.folder.Remove(name) }

// guardedLog is the private log. Its first failure stops the run; more of them are no news.
type guardedLog struct {
	to     io.Writer
	fail   func(error)
	failed bool
}

func (l *guardedLog) Write(p []byte) (int, error) {
	if l.failed {
		return len(p), nil
	}
	if _, err := l.to.Write(p); err != nil {
		l.failed = true
		l.fail(fmt.Errorf("write the private log: %w", err))
	}
	return len(p), nil
}

// keeping says how a run keeps its state.
type keeping struct {
	every time.Duration
}

func (k *keeping) addFlags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&k.every, "save-every", time.Minute, "`time` between two saves of the run's state, from which \"dptrain resume\" goes on")
}

func (k keeping) check() error {
	if k.every < time.Millisecond {
		return usagef("--save-every: want 1ms or more, got %v", k.every)
	}
	return nil
}
