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

// seed returns the seed of a job's run, or nil without one. A run that is repeated has another.
func (s *Store) seed(j Job) *uint64 {
	if s.Description.Seed == nil {
		return nil
	}
	attempt := 1
	if _, err := os.Lstat(s.runDir(j) + failedSuffix); err == nil {
		attempt = 2
	}
	return new(s.seedOf(j, attempt))
}

// seedOf returns the seed of an attempt at a job, in a campaign with a seed.
func (s *Store) seedOf(j Job, attempt int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "dptrain campaign %d, %s, attempt %d", *s.Description.Seed, j.Name(), attempt))
	return binary.LittleEndian.Uint64(sum[:])
}

// failedSuffix ends the name of a run that failed and is carried out once more.
const failedSuffix = "-failed"

// cutOffSuffix ends the name of a run that was cut off and can't go on.
const cutOffSuffix = "-cut-off"

// clear moves a failed run out of its job's place, so that the job is carried out once more.
func (s *Store) clear(j Job) error {
	info, err := runs.Open(s.runDir(j))
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

// destroyKeys destroys keys and states that a process left because it was killed as their runs ended.
func (s *Store) destroyKeys() error {
	left, err := runs.Leftovers(s.Runs())
	for _, path := range left {
		if err == nil && filepath.Base(filepath.Dir(path)) == "private" { // others may be another process's
			err = runs.RemoveLeftover(path)
		}
	}
	return err
}
