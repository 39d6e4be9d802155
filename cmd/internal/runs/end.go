package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dptrain/dptrain/internal/durable"
)

// Discard removes the folder of a run that trained nothing, and its parent if Create made it and it is empty.
func (r *Run) Discard() error {
	// Another process must not find the folder half removed.
	gone := filepath.Join(filepath.Dir(r.dir), "."+filepath.Base(r.dir)+partialInfix+newID())
	if err := os.Rename(r.dir, gone); err != nil {
		gone = r.dir
	}
	if err := errors.Join(r.Release(), os.RemoveAll(gone)); err != nil {
		return fmt.Errorf("remove the unfinished run: %w", err)
	}
	if r.madeParent {
		_ = os.Remove(filepath.Dir(r.dir)) // fails unless it is empty, as it should
	}
	return nil
}

// Stop records that the run stopped, and the reason. [Resume] continues it.
func (r *Run) Stop(why string) error {
	r.Manifest.Stage = Stopped
	r.Manifest.Score, r.Manifest.LearningRate, r.Manifest.TunedLearningRate = nil, nil, nil
	return errors.Join(r.Unreserve(), r.Note("stopped: "+why), r.writeManifest(), r.Release())
}

// Fail records that the run gave no model, and the reason, and destroys its key.
func (r *Run) Fail(why string) error {
	return r.end(Failed, "failed: "+why)
}

// Finish lets write fill the released folder, which appears whole, writes the private outcome, and ends the run. If
// Finish fails and the manifest's stage is [Finished] afterwards, the released folder is there, and only the key or
// states may be left. At any other stage the run can be resumed, and Finish or Stop can be called again.
func (r *Run) Finish(outcome []byte, write func(dir string) error) error {
	if err := r.Unreserve(); err != nil {
		return err
	}
	released := filepath.Join(r.dir, releasedName)
	partial, err := os.MkdirTemp(r.dir, temporary)
	if err != nil {
		return fmt.Errorf("write what is released: %w", err)
	}
	content := filepath.Join(partial, releasedName) // made with the permissions of the user's umask
	err = os.Mkdir(content, 0o755)
	if err == nil {
		err = write(content)
	}
	if err == nil {
		err = errors.Join(r.date(content), syncFiles(content))
	}
	if err == nil {
		err = writeFile(r.private("run.json"), outcome, 0o600)
	}
	if err == nil {
		err = os.RemoveAll(released) // of a process that was killed between here and end
	}
	if err == nil {
		err = os.Rename(content, released)
	}
	if err = errors.Join(err, os.RemoveAll(partial)); err != nil {
		return fmt.Errorf("write what is released: %w", err)
	}
	return r.end(Finished, "finished")
}

// end records the end and removes the files that only a running run needs. It writes the manifest first, so that a
// crash in between loses nothing. Once the key may be gone, the stage stays: a run without its key can't go on.
func (r *Run) end(stage Stage, what string) error {
	before := r.Manifest.Stage
	r.Manifest.Stage = stage
	if err := errors.Join(r.Unreserve(), r.Note(what), r.writeManifest(), r.open(), r.date(r.dir)); err != nil {
		r.Manifest.Stage = before
		return fmt.Errorf("end the run: %w", err)
	}
	if err := errors.Join(sweep(r.dir), r.Release(), removed(r.private(lockName)), r.date(r.dir)); err != nil {
		return fmt.Errorf("end the run: %w", err)
	}
	return nil
}

// sweep destroys the key of a run that has ended and removes its states.
func sweep(dir string) error {
	return errors.Join(destroy(filepath.Join(dir, privateName, keyName)), os.RemoveAll(filepath.Join(dir, privateName, stateName)))
}

// destroy overwrites a file and removes it. It doesn't overwrite anything else, such as the target of a link.
func destroy(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return errors.Join(os.Remove(path), durable.SyncFolder(filepath.Dir(path)))
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		_, err = file.WriteAt(make([]byte, info.Size()), 0)
	}
	return errors.Join(err, file.Sync(), file.Close(), os.Remove(path), durable.SyncFolder(filepath.Dir(path)))
}

// date sets the modification times of all files that others can list to 00:00 UTC of the day on which the run began.
// Copies and archives keep modification times: the time of the end, with the time of the beginning in the default name,
// gives the run's duration, and so about the number of trials. Change times can't be set; copies don't keep them.
func (r *Run) date(top string) error {
	day, err := time.Parse(time.DateOnly, r.Manifest.Day)
	if err != nil {
		return err
	}
	return filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == privateName && path == r.private(""):
			if err := os.Chtimes(path, day, day); err != nil {
				return err
			}
			return fs.SkipDir
		}
		return os.Chtimes(path, day, day)
	})
}

// open gives the run's folder the permissions that the user's umask gave to the released folder. Until then only the
// owner can look inside.
func (r *Run) open() error {
	info, err := os.Stat(filepath.Join(r.dir, releasedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(r.dir, info.Mode().Perm())
}
