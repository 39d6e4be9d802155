package runs

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/dptrain/dptrain/internal/durable"
)

var (
	// ErrExists reports a folder that exists already.
	ErrExists = errors.New("already exists")
	// ErrRuns reports a run that another process carries out.
	ErrRuns = errors.New("is being carried out by another process")
	// ErrEnded reports a run that can't be resumed because it has ended.
	ErrEnded = errors.New("has ended")
	// ErrNoKey reports a run whose training has begun and whose key is gone.
	ErrNoKey = errors.New("its key is gone, and with another it would draw other noise")
)

// Run is a run that this process carries out. Its methods mustn't be called concurrently, except Save, Load and Remove.
type Run struct {
	Manifest Manifest
	Record   Record
	Settings []byte // settings.yaml

	dir        string
	lock       *flock.Flock
	madeParent bool
}

// now is time.Now, which tests replace.
var now = time.Now

// Create makes the folder of a new run. If the folder exists, Create takes the first free one of dir-2, dir-3, … if
// unique is set; otherwise the error wraps [ErrExists].
func Create(dir string, unique bool, m Manifest, r Record, settings []byte) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	if !unique {
		switch _, err := os.Lstat(dir); {
		case err == nil:
			return nil, fmt.Errorf("output directory %s %w", dir, ErrExists)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("output directory: %w", err)
		}
	}
	if outer := within(dir); outer != "" {
		return nil, fmt.Errorf("output directory %s: it is inside of the run in %s, which may be published or removed", dir, outer)
	}
	parent := filepath.Dir(dir)
	_, err = os.Lstat(parent)
	madeParent := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	partial, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+partialInfix)
	if err != nil {
		return nil, fmt.Errorf("output directory: %w", err)
	}
	began := now().UTC()
	m.Version, m.Stage, m.Day = formatVersion, Planned, began.Format(time.DateOnly)
	r.Version, r.ID, r.Moments = formatVersion, newID(), []Moment{{began, "created"}}
	run := &Run{Manifest: m, Record: r, Settings: settings, dir: partial, madeParent: madeParent}
	if err := run.create(dir, unique); err != nil {
		return nil, errors.Join(fmt.Errorf("output directory: %w", err), run.Release(), os.RemoveAll(partial))
	}
	return run, nil
}

// within returns the folder of the run that a path is inside of, or "".
func within(path string) string {
	for {
		up := filepath.Dir(path)
		if up == path {
			return ""
		}
		if path = up; exists(filepath.Join(path, privateName, recordName)) {
			if _, err := readManifest(path); err == nil {
				return path
			}
		}
	}
}

func newID() string {
	id := make([]byte, 8)
	rand.Read(id) // it never fails
	return hex.EncodeToString(id)
}

// create fills a folder under a temporary name and renames it. It takes the lock before, so that no process finds the
// folder without a lock.
func (r *Run) create(dir string, unique bool) error {
	if err := errors.Join(os.Mkdir(r.private(""), 0o700), os.Mkdir(r.private(stateName), 0o700)); err != nil {
		return err
	}
	if err := r.takeLock(); err != nil {
		return err
	}
	if err := writeFile(r.private(settingsName), r.Settings, 0o600); err != nil {
		return err
	}
	wanted := dir
	for n := 2; ; n++ {
		r.Manifest.Name = filepath.Base(dir)
		if err := errors.Join(r.writeRecord(), r.writeManifest()); err != nil {
			return err
		}
		err := r.move(dir)
		if err == nil {
			return durable.SyncFolder(filepath.Dir(dir))
		}
		if _, taken := os.Lstat(dir); taken != nil || !unique || n > 1000 {
			return err
		}
		dir = fmt.Sprintf("%s-%d", wanted, n)
	}
}

// move renames the folder. Windows renames none with an open file in it, so there the lock is free for a moment.
func (r *Run) move(dir string) error {
	if runtime.GOOS == "windows" {
		if err := r.Release(); err != nil {
			return err
		}
		defer func() { _ = r.takeLock() }()
	}
	err := os.Rename(r.dir, dir)
	if err == nil {
		r.dir = dir
	}
	return err
}

// Resume takes over the folder of an interrupted run. The error wraps [ErrNoRun], [ErrRuns] or [ErrEnded] if there is
// none to resume.
func Resume(dir string) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m, err := readManifest(dir)
	if err == nil {
		err = ended(dir, m)
	}
	if err != nil {
		return nil, err
	}
	r := &Run{dir: dir}
	if err := r.takeLock(); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		return nil, errors.Join(err, r.Release())
	}
	return r, nil
}

// ended returns an error that wraps [ErrEnded] if a run has ended.
func ended(dir string, m Manifest) error {
	switch m.Stage {
	case Finished:
		return fmt.Errorf("the run in %s %w: it is finished, and what it released is in %s", dir, ErrEnded, filepath.Join(dir, releasedName))
	case Failed:
		return fmt.Errorf("the run in %s %w: it gave no model, and would give none again", dir, ErrEnded)
	}
	return nil
}

// read reads all that resuming needs. The result is reliable only with the lock.
func (r *Run) read() (err error) {
	if r.Manifest, err = readManifest(r.dir); err != nil {
		return err
	}
	if err := ended(r.dir, r.Manifest); err != nil {
		return err
	}
	if err := readJSON(r.private(recordName), &r.Record); err != nil {
		return fmt.Errorf("%w in %s that can be resumed: %w", ErrNoRun, r.dir, err)
	}
	if r.Settings, err = os.ReadFile(r.private(settingsName)); err != nil {
		return fmt.Errorf("%w in %s that can be resumed: %w", ErrNoRun, r.dir, err)
	}
	if !exists(r.private(stateName)) {
		return fmt.Errorf("%w in %s that can be resumed: private/%s is gone; start a new run, which is another release", ErrNoRun, r.dir, stateName)
	}
	if err := r.removeLeftovers(); err != nil {
		return err
	}
	return r.Note("resumed")
}

// removeLeftovers removes the files that a killed process was writing.
func (r *Run) removeLeftovers() error {
	failed := r.Unreserve()
	for _, dir := range []string{r.dir, r.private(""), r.private(stateName)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			failed = errors.Join(failed, err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), temporary) {
				failed = errors.Join(failed, os.RemoveAll(filepath.Join(dir, e.Name())))
			}
		}
	}
	return failed
}

// Dir returns the run's absolute path.
func (r *Run) Dir() string { return r.dir }

func (r *Run) private(name string) string { return filepath.Join(r.dir, privateName, name) }

func (r *Run) takeLock() error {
	var err error
	r.lock, err = Lock(r.private(lockName))
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the run in %s %w", r.dir, ErrRuns)
	}
	if err != nil {
		return fmt.Errorf("lock the run in %s: %w", r.dir, err)
	}
	return nil
}

// Lock takes the lock in a file. The error wraps [context.DeadlineExceeded] if a process holds it for longer than
// [Locked] does.
func Lock(path string) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	lock := flock.New(path)
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Release lets other processes take over the run. Finish, Stop, Fail and Discard do it too.
func (r *Run) Release() error {
	if r.lock == nil {
		return nil
	}
	return r.lock.Close()
}

func (r *Run) writeManifest() error {
	return writeJSON(filepath.Join(r.dir, manifestName), r.Manifest, 0o644)
}

func (r *Run) writeRecord() error { return writeJSON(r.private(recordName), r.Record, 0o600) }

func writeJSON(path string, value any, mode fs.FileMode) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	return writeFile(path, append(text, '\n'), mode)
}

// Note adds a moment to the record.
func (r *Run) Note(what string) error {
	r.Record.Moments = append(r.Record.Moments, Moment{now().UTC(), what})
	return r.writeRecord()
}

// Log opens the private log for writing. The caller closes it before the run ends.
func (r *Run) Log() (*os.File, error) {
	f, err := os.OpenFile(r.private("log.txt"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}

// Key returns the run's key, or nil if it has none yet. The error wraps [ErrNoKey] if it had one.
func (r *Run) Key() ([]byte, error) {
	key, err := os.ReadFile(r.private(keyName))
	if errors.Is(err, fs.ErrNotExist) {
		if slices.ContainsFunc(r.Record.Moments, func(m Moment) bool { return m.What == trainingNote }) {
			return nil, fmt.Errorf("the run in %s can't be resumed: %w; start a new run, which is another release", r.dir, ErrNoKey)
		}
		return nil, nil
	}
	return key, err
}

// KeepKey keeps the key of the run. Call it before anything is drawn. A resumed run gets a new id too: copies of a
// folder without a key would draw several keys, and each key is a separate release.
func (r *Run) KeepKey(key []byte) error {
	if len(r.Record.Moments) > 1 {
		r.Record.ID = newID()
		if err := r.writeRecord(); err != nil {
			return err
		}
	}
	return writeFile(r.private(keyName), key, 0o600)
}

// trainingNote is the moment at which training began.
const trainingNote = "training"

// Train records that training begins, and with it the release.
func (r *Run) Train() error {
	r.Manifest.Stage = Training
	return errors.Join(r.Note(trainingNote), r.writeManifest())
}
