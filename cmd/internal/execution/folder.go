package execution

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/show"
	"github.com/dptrain/dptrain/train"
)

// Create makes the folder of a run that begins, of the given path or, without it, of the data's name and the time in
// the store.
func Create(p *experiment.Plan, path, store string, curve flags.Curve) (*runs.Run, error) {
	points, err := curve.Points(p)
	if err != nil {
		return nil, err
	}
	folder, errFolder := os.Getwd()
	absolute, errStore := filepath.Abs(store)
	program, errProgram := build.Hash()
	if err := errors.Join(errFolder, errStore, errProgram); err != nil {
		return nil, term.Input(err)
	}
	unique := path == ""
	if unique {
		path = filepath.Join(store, p.Experiment.Dataset+"-"+time.Now().Format("20060102-150405"))
	}
	run, err := p.Create(path, unique, runs.Record{Folder: folder, Store: absolute, Program: program, CurvePoints: points}, engines.Current())
	switch {
	case errors.Is(err, runs.ErrExists):
		return nil, term.Inputf("%w; give another by --out, or remove it", err)
	case err != nil:
		return nil, term.Inputf("%w; give a directory that can be made by --out", err)
	}
	return run, nil
}

// leftovers says what killed runs, of those found in the store but one, left there.
func leftovers(store string, found []runs.Info, but *runs.Run) (notes []string) {
	found = slices.DeleteFunc(slices.Clone(found), func(i runs.Info) bool { return !i.Resumable() || i.Dir == but.Dir() })
	if len(found) > 0 {
		notes = append(notes, fmt.Sprintf("runs that were cut off: %d; dptrain runs list shows them, dptrain resume goes on with one", len(found)))
	}
	if left, err := runs.Leftovers(store); err == nil && len(left) > 0 {
		notes = append(notes, fmt.Sprintf("%s has %d leftovers of killed runs, which are private: dptrain runs clean removes them", term.Relative(store), len(left)))
	}
	return notes
}

// stop ends a run that failed. Before its training the folder is removed; later it is kept, and the error says how to
// go on.
func stop(folder *runs.Run, err error) error {
	m := folder.Manifest
	switch {
	case m.Stage == runs.Planned && len(folder.Record.Moments) == 1:
		discarded := folder.Discard()
		if errors.Is(err, term.ErrInterrupted) && discarded == nil {
			err = fmt.Errorf("%w; nothing was written", err)
		}
		return errors.Join(err, discarded)
	case m.Stage == runs.Finished:
		return fmt.Errorf("%w; the run is finished, and in %s; remove private/key and private/state there", err, folder.Dir())
	case errors.Is(err, train.ErrDiverged):
		return errors.Join(err, folder.Fail(err.Error()))
	case errors.Is(err, runs.ErrNoKey):
		return errors.Join(err, folder.Unreserve())
	}
	if _, gone := os.Stat(folder.Dir()); errors.Is(gone, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%w; the run's folder %s is gone: if it was moved, resume it there", err, folder.Dir()), folder.Release())
	}
	hint := fmt.Errorf("%w; what is done is kept: dptrain resume %s", err, show.Quoted(term.Relative(folder.Dir())))
	if stopped := folder.Stop(err.Error()); stopped != nil {
		hint = fmt.Errorf("%w (the stop isn't noted there: %v)", hint, stopped)
	}
	return hint
}

// finish writes the released folder.
func finish(folder *runs.Run, o experiment.Outcome) error {
	private, err := o.PrivateJSON()
	if err == nil { // of trials on a cluster, perhaps by a process that was killed
		err = os.RemoveAll(clusterDir(folder))
	}
	if err != nil {
		return err
	}
	if o.Evaluation != nil {
		if folder.Manifest.Evaluation, err = json.Marshal(o.Evaluation); err != nil {
			return err
		}
	}
	h := o.Release.Hyperparameters
	if s := o.Release.Score; s.Metric != "" {
		folder.Manifest.Score = &runs.Score{Metric: string(s.Metric), Value: s.Value, HeldOut: s.HeldOut != nil}
	}
	folder.Manifest.LearningRate, folder.Manifest.TunedLearningRate = &h.LearningRate, h.TunedLearningRate
	return term.Input(folder.Finish(private, o.Release.Write))
}

// keptStates keeps a run's states in its folder. When the disk is full, the reserve makes room for the last of them,
// and the run stops.
type keptStates struct {
	folder *runs.Run
	fail   func(error)
}

func (s keptStates) Save(name string, content []byte) error {
	err := s.folder.Save(name, content)
	if err == nil {
		return nil
	}
	if s.folder.Unreserve() != nil || s.folder.Save(name, content) != nil {
		return term.Input(err)
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
