package campaign

import (
	"context"
	"errors"
	"fmt"
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
	Alone     int // single runs that have no baseline here to lie beside; they stay where they are
	Elsewhere int // folders that are no tasks of a campaign
}

// Merge copies the finished runs of another machine's campaign, or of a folder of runs, into the store. Runs that have
// the name of a run here become repetitions with the next free numbers, a single run together with its baseline: with
// the system's randomness they are independent. Of a campaign with a seed, runs of one name are the same run.
//
// Merge checks all runs before it takes one: the error wraps [ErrOther] if one isn't what its name says. It records the
// releases first, so a merge that is cut off leaves no run that the ledger doesn't know; the same call goes on with it.
func (s *Store) Merge(ctx context.Context, from string) (Merged, error) {
	from, err := s.source(from)
	if err != nil {
		return Merged{}, err
	}
	x := &merge{store: s, here: map[string]Task{}, there: map[Task]runs.Info{}, families: map[Task][]Task{}}
	if err := x.read(from); err != nil {
		return x.Merged, err
	}
	if err := x.check(); err != nil {
		return x.Merged, err
	}
	if err := x.takeReleases(ctx, from); err != nil {
		return x.Merged, err
	}
	if err := s.removeCutOffCopies(); err != nil {
		return x.Merged, err
	}
	for _, family := range x.order {
		if err := ctx.Err(); err != nil {
			return x.Merged, err
		}
		if err := x.take(family); err != nil {
			return x.Merged, err
		}
	}
	return x.Merged, nil
}

// source returns the folder of runs that is meant by a folder, and checks that it may be merged.
func (s *Store) source(from string) (string, error) {
	switch other, err := Look(from); {
	case err == nil:
		if err := other.Description.agrees(s.Description, from); err != nil {
			return "", err
		}
		from = other.Runs()
	case !errors.Is(err, ErrNone):
		return "", err
	}
	theirs, err := os.Stat(from)
	if err != nil {
		return "", fmt.Errorf("merge: %w; give the folder of another machine's campaign, or of its runs", err)
	}
	ours, err := os.Stat(s.Runs())
	if err == nil && os.SameFile(theirs, ours) {
		err = fmt.Errorf("merge %s: %w; give that of another", from, ErrOwn)
	}
	return from, err
}

// merge is a call of Merge.
type merge struct {
	Merged
	store *Store

	here     map[string]Task    // the runs of this store by their ids; the zero task if it is no finished task
	there    map[Task]runs.Info // the finished runs of the other
	families map[Task][]Task    // what there is to take; a baseline and its single run stay together
	order    []Task             // of families
}

// read reads both stores.
func (x *merge) read(from string) error {
	ours, err := runs.List(x.store.Runs())
	if err != nil {
		return err
	}
	for _, i := range ours {
		if i.Record == nil {
			continue
		}
		t, ok := ParseTask(filepath.Base(i.Dir))
		if !ok || i.Stage != runs.Finished {
			t = Task{}
		}
		x.here[i.Record.ID] = t
	}
	theirs, err := runs.List(from)
	if err != nil {
		return err
	}
	if len(theirs) == 0 {
		return fmt.Errorf("merge %s: %w's runs there; give the folder of another machine's campaign, or of its runs", from, ErrNone)
	}
	for _, i := range theirs {
		t, ok := ParseTask(filepath.Base(i.Dir))
		switch {
		case !ok || i.Record == nil:
			x.Elsewhere++
			continue
		case i.Stage != runs.Finished:
			x.Unended++
			continue
		}
		x.there[t] = i
		if _, had := x.here[i.Record.ID]; had {
			x.Had++
			continue
		}
		family := t
		if t.Method == Single {
			family = t.Of(Baseline)
		}
		if x.families[family] == nil {
			x.order = append(x.order, family)
		}
		x.families[family] = append(x.families[family], t) // the baseline first, by its name
	}
	return nil
}

// check checks that what there is to take are the runs that their names say, and each of them once.
func (x *merge) check() error {
	ids := map[string]string{}
	for _, family := range x.order {
		for _, t := range x.families[family] {
			i := x.there[t]
			if other, twice := ids[i.Record.ID]; twice {
				return copied(other, i.Dir)
			}
			ids[i.Record.ID] = i.Dir
			given, err := readSettings(i.Dir)
			if err != nil {
				return fmt.Errorf("merge %s: %w; bring back the whole folder of the run, or move it away", i.Dir, err)
			}
			if _, err := read(t, given, i); err != nil {
				return fmt.Errorf("merge %s: %w", i.Dir, err)
			}
			baseline, err := x.baseline(t)
			if err != nil {
				return err
			}
			if err := x.store.check(t, i, given, baseline); err != nil {
				return fmt.Errorf("merge: %w", err)
			}
		}
	}
	return nil
}

// baseline returns the result of the other store's baseline of a single run, or nil.
func (x *merge) baseline(t Task) (*Result, error) {
	i, ok := x.there[t.Of(Baseline)]
	if t.Method != Single || !ok {
		return nil, nil
	}
	given, err := readSettings(i.Dir)
	if err != nil {
		return nil, fmt.Errorf("merge %s: %w; bring back the whole folder of the run, or move it away", i.Dir, err)
	}
	r, err := read(t.Of(Baseline), given, i)
	return &r, err
}

// take copies runs of one repetition, under the first number that is free for all of them.
func (x *merge) take(family Task) error {
	for _, t := range x.families[family] {
		to, ok, err := x.position(family, t)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		i := x.there[t]
		if err := copyRun(i.Dir, x.store.runDir(to), x.store.Runs(), to.Name()); err != nil {
			return fmt.Errorf("merge %s: %w", i.Dir, err)
		}
		x.here[i.Record.ID] = to
		if x.Taken++; to.Repetition != t.Repetition {
			x.Renamed++
		}
	}
	return nil
}

// position returns the task that another store's run becomes here, or counts why it becomes none.
func (x *merge) position(family, t Task) (Task, bool, error) {
	s := x.store
	seeded := s.Description.Seed != nil
	if t.Method == Single {
		return x.besideBaseline(t, seeded)
	}
	to := family
	for s.taken(to.Cell, to.Repetition) {
		if seeded {
			x.Had++
			return to, false, nil
		}
		to.Repetition++
	}
	return to, true, nil
}

// besideBaseline returns the position of a single run: that of the baseline whose hyperparameters it has. Elsewhere it
// would be no single run of the baseline that the campaign trains or has there.
func (x *merge) besideBaseline(t Task, seeded bool) (Task, bool, error) {
	s, to := x.store, t
	if !seeded {
		baseline, ok := x.there[t.Of(Baseline)]
		if ok {
			to, ok = x.here[baseline.Record.ID]
			to = to.Of(Single)
		}
		if !ok || to.Cell != t.Cell {
			x.Alone++
			return to, false, nil
		}
	}
	if _, err := os.Lstat(s.runDir(to)); err == nil {
		if seeded {
			x.Had++
		} else {
			x.Alone++ // the baseline has a single run of its own
		}
		return to, false, nil
	}
	// With a seed too another machine's arithmetic may have found other hyperparameters.
	scan, err := s.Scan([]Task{to.Of(Baseline)})
	if err != nil {
		return to, false, err
	}
	given, err := readSettings(x.there[t].Dir)
	if err != nil {
		return to, false, err
	}
	here, ok := scan.Finished[to.Of(Baseline)]
	if !ok || s.check(to, x.there[t], given, &here) != nil {
		x.Alone++
		return to, false, nil
	}
	return to, true, nil
}

// taken reports whether a repetition has a run, or a single run beside it, or is carried out once more.
func (s *Store) taken(c Cell, repetition int) bool {
	methods := []Method{c.Method}
	if c.Method == Baseline {
		methods = append(methods, Single)
	}
	return slices.ContainsFunc(methods, func(m Method) bool {
		dir := s.runDir(Task{c.Of(m), repetition})
		_, err := os.Lstat(dir)
		_, failed := os.Lstat(dir + failedSuffix)
		return err == nil || failed == nil
	})
}

// takeReleases adds the releases of another folder's ledger: the store's ledger knows all that its runs cost. A run
// that neither ledger has is an error.
func (x *merge) takeReleases(ctx context.Context, from string) error {
	theirs, err := ledger.Open(from)
	if err != nil {
		return err
	}
	releases, err := theirs.Releases()
	if err != nil {
		return err
	}
	ours, err := ledger.Open(x.store.Runs())
	if err != nil {
		return err
	}
	all, err := ours.Releases()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, r := range slices.Concat(all, releases) {
		known[r.Run] = true
	}
	var unknown []string
	for _, family := range x.order {
		for _, t := range x.families[family] {
			if !known[x.there[t].Record.ID] {
				unknown = append(unknown, t.Name())
			}
		}
	}
	if len(unknown) > 0 {
		names := strings.Join(unknown[:min(3, len(unknown))], ", ")
		if more := len(unknown) - 3; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		return &ledger.FileError{Path: theirs.Path(), Problem: "lacks " + names + ", and what they cost would be forgotten; bring back the ledger that has them"}
	}
	if len(releases) == 0 {
		return nil
	}
	return ours.Adopt(ctx, releases)
}
