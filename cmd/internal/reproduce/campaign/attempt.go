package campaign

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/cmd/internal/runs"
)

// seed returns the seed of a task's run, or nil without one. A run that is repeated has another.
func (s *Store) seed(t Task) *uint64 {
	if s.Description.Seed == nil {
		return nil
	}
	attempt := 1
	if _, err := os.Lstat(s.runDir(t) + failedSuffix); err == nil {
		attempt = 2
	}
	return new(s.seedOf(t, attempt))
}

// seedOf returns the seed of an attempt at a task, in a campaign with a seed.
func (s *Store) seedOf(t Task, attempt int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "dptrain campaign %d, %s, attempt %d", *s.Description.Seed, t.Name(), attempt))
	return binary.LittleEndian.Uint64(sum[:])
}

// failedSuffix ends the name of a run that failed and is carried out once more.
const failedSuffix = "-failed"

// cutOffSuffix ends the name of a run that was cut off and can't go on.
const cutOffSuffix = "-cut-off"

// clear moves a failed run out of a task's place, so that it is carried out once more.
func (s *Store) clear(t Task) error {
	info, err := runs.Open(s.runDir(t))
	if errors.Is(err, runs.ErrNoRun) {
		return nil
	}
	if err == nil && info.Stage == runs.Failed {
		err = moveAside(info.Dir, failedSuffix)
	}
	return err
}

// moveAside renames a run's folder to the first free name that begins with suffix.
func moveAside(dir, suffix string) error {
	to := dir + suffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
			return os.Rename(dir, to)
		}
		to = fmt.Sprintf("%s%s-%d", dir, suffix, n)
	}
}

// destroyKeys destroys the keys and states of runs whose process was killed after their end and before it did.
func (s *Store) destroyKeys() error {
	left, err := runs.Leftovers(s.Runs())
	for _, path := range left {
		if err == nil && filepath.Base(filepath.Dir(path)) == "private" { // what else there is may be another process's
			err = runs.RemoveLeftover(path)
		}
	}
	return err
}
