package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/runs"
)

// Merged says what became of another store's runs.
type Merged struct {
	Taken     int // runs that the store has now
	Renamed   int // of those, as repetitions with other numbers
	Had       int // runs that the store had already, by their ids
	Unended   int // runs that aren't finished; they stay where they are
	Elsewhere int // folders that are no tasks of a campaign
}

// Merge copies the finished runs of another machine's campaign, or of a folder of runs, into the store. Runs that have
// the name of a run here become repetitions with the next free numbers, a single run together with its baseline: with
// the system's randomness they are independent. Of a campaign with a seed, runs of one name are the same run.
func (s *Store) Merge(ctx context.Context, from string) (m Merged, err error) {
	if other, err := Look(from); err == nil {
		if err := s.Description.agrees(other.Description, from); err != nil {
			return m, err
		}
		from = other.Runs()
	} else if !errors.Is(err, ErrNone) {
		return m, err
	}
	if same, err := sameFolder(from, s.Runs()); same || err != nil {
		return m, errors.Join(fmt.Errorf("merge %s: it is this campaign's own folder", from), err)
	}
	theirs, err := runs.List(from)
	if err != nil {
		return m, err
	}
	ours, err := runs.List(s.Runs())
	if err != nil {
		return m, err
	}
	had := map[string]bool{}
	for _, i := range ours {
		if i.Record != nil {
			had[i.Record.ID] = true
		}
	}
	if len(theirs) == 0 {
		return m, fmt.Errorf("merge %s: %w's runs there; give the folder of another machine's campaign, or of its runs", from, ErrNone)
	}
	families := map[Task][]runs.Info{} // a baseline and its single run stay together
	var order []Task
	for _, i := range theirs {
		t, ok := ParseTask(filepath.Base(i.Dir))
		switch {
		case !ok || i.Record == nil:
			m.Elsewhere++
			continue
		case i.Stage != runs.Finished:
			m.Unended++
			continue
		case had[i.Record.ID]:
			m.Had++
			continue
		}
		family := t
		if t.Method == Single {
			family = t.Of(Baseline)
		}
		if families[family] == nil {
			order = append(order, family)
		}
		families[family] = append(families[family], i)
	}
	for _, family := range order {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		if err := s.take(family, families[family], &m); err != nil {
			return m, err
		}
	}
	return m, s.takeReleases(ctx, from)
}

func sameFolder(a, b string) (bool, error) {
	x, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y), err
}

// take copies runs of one repetition, under the first number that is free for all of them.
func (s *Store) take(family Task, found []runs.Info, m *Merged) error {
	repetition := family.Repetition
	for s.taken(family.Cell, repetition) {
		if s.Description.Seed != nil {
			m.Had += len(found)
			return nil
		}
		repetition++
	}
	for _, i := range found {
		t, _ := ParseTask(filepath.Base(i.Dir)) // it was parsed before
		number := t.Repetition
		t.Repetition = repetition
		if err := copyRun(i.Dir, s.runDir(t), s.Runs(), t.Name()); err != nil {
			return fmt.Errorf("merge %s: %w", i.Dir, err)
		}
		if m.Taken++; repetition != number {
			m.Renamed++
		}
	}
	return nil
}

// taken reports whether a repetition has a run, or a single run beside it.
func (s *Store) taken(c Cell, repetition int) bool {
	methods := []Method{c.Method}
	if c.Method == Baseline {
		methods = append(methods, Single)
	}
	return slices.ContainsFunc(methods, func(m Method) bool {
		_, err := os.Lstat(s.runDir(Task{c.Of(m), repetition}))
		return err == nil
	})
}

// copyRun copies a run's folder under a temporary name, and renames it.
func copyRun(from, to, store, name string) error {
	partial, err := os.MkdirTemp(store, ".merge-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	dir := filepath.Join(partial, name)
	if err := copyTree(from, dir); err != nil {
		return err
	}
	if err := runs.Rename(dir, name); err != nil {
		return err
	}
	return os.Rename(dir, to)
}

// copyTree copies folders and files with their modes and times. Links aren't followed, and aren't copied.
func copyTree(from, to string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	var folders []string
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, path)
		switch {
		case e.IsDir():
			folders = append(folders, path)
			return os.MkdirAll(target, info.Mode().Perm()|0o700)
		case !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".new-"):
			return nil
		}
		text, err := root.ReadFile(path)
		if err == nil {
			err = os.WriteFile(target, text, info.Mode().Perm())
		}
		if err == nil {
			err = os.Chtimes(target, info.ModTime(), info.ModTime())
		}
		return err
	})
	for _, path := range slices.Backward(folders) {
		if info, failed := root.Stat(path); failed == nil && err == nil {
			err = os.Chtimes(filepath.Join(to, path), info.ModTime(), info.ModTime())
		}
	}
	return err
}

// takeReleases adds the releases of another folder's ledger: the store's ledger knows all that its runs cost.
func (s *Store) takeReleases(ctx context.Context, from string) error {
	theirs, err := ledger.Open(from)
	if err != nil {
		return err
	}
	releases, err := theirs.Releases()
	if err != nil || len(releases) == 0 {
		return err
	}
	ours, err := ledger.Open(s.Runs())
	if err != nil {
		return err
	}
	return ours.Adopt(ctx, releases)
}
