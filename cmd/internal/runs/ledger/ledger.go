package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Ledger is the ledger of one folder. All methods read the file anew, and are safe for concurrent use, within a process
// and among several.
type Ledger struct {
	store    store
	composer composer
}

// Open opens the ledger of a folder, which needn't exist yet. A file that can't be read is a [*FileError].
func Open(dir string) (*Ledger, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, &FileError{filepath.Join(dir, FileName), dir + " is not a folder; give the folder of runs", nil}
	}
	l := &Ledger{store: store{dir: dir}}
	if _, err := l.store.read(); err != nil {
		return nil, err
	}
	return l, nil
}

// Path returns the path of the ledger's file.
func (l *Ledger) Path() string { return l.store.path() }

// Releases returns all releases, in the order in which they were recorded.
func (l *Ledger) Releases() ([]Release, error) {
	b, err := l.store.read()
	if err != nil {
		return nil, err
	}
	return b.releases, nil
}

// Account returns the state of a data set, without and with the planned releases. A planned release that is recorded
// already, by its run's id, counts as planned.
func (l *Ledger) Account(data Data, planned ...Release) (Account, error) {
	planned, err := checkedAll(planned)
	if err != nil {
		return Account{}, err
	}
	b, err := l.store.read()
	if err != nil {
		return Account{}, err
	}
	return b.account(&l.composer, data, planned)
}

// DataSets returns all recorded data sets, grouped by which of them count as one.
func (l *Ledger) DataSets() ([][]Data, error) {
	b, err := l.store.read()
	if err != nil {
		return nil, err
	}
	return b.dataSets(), nil
}

func (b *book) dataSets() (sets [][]Data) {
	rest := b.all()
	for len(rest) > 0 {
		var set []Data
		set, rest = b.connected(rest, rest[0])
		sets = append(sets, set)
	}
	return sets
}

// Accounts returns the state of every data set of DataSets.
func (l *Ledger) Accounts() ([]Account, error) {
	b, err := l.store.read()
	if err != nil {
		return nil, err
	}
	var all []Account
	for _, set := range b.dataSets() {
		a, err := b.account(&l.composer, set[0], nil)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func checkedAll(all []Release) ([]Release, error) {
	out := make([]Release, len(all))
	for i, r := range all {
		var err error
		if out[i], err = r.checked(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Record adds a release, and returns the account of its data set, in which the release is the planned one. Call it
// before training. It is synced to disk when Record returns. A release whose run is recorded already changes nothing,
// so a run that is resumed is one release; if the record has other data or another event, that is an error. If a
// standing budget refuses the release, the error is a [*BudgetError], and nothing is recorded.
func (l *Ledger) Record(ctx context.Context, r Release) (Account, error) {
	r, err := r.checked()
	if err != nil {
		return Account{}, err
	}
	var account Account
	err = l.change(ctx, func(b *book) (changed bool, err error) {
		account, err = b.account(&l.composer, r.Data, []Release{r})
		if err != nil {
			return false, err
		}
		if i := slices.IndexFunc(b.releases, func(o Release) bool { return o.Run == r.Run }); i >= 0 {
			return false, l.compare(b.releases[i], r)
		}
		if err := account.Refusal(); err != nil {
			return false, err
		}
		b.releases = append(b.releases, account.Planned...)
		return true, nil
	})
	return account, err
}

// RecordAll is Record for several releases of one data set: it adds all of them or none. It returns no account, so
// without a standing budget it needs no accounting.
func (l *Ledger) RecordAll(ctx context.Context, releases []Release) error {
	releases, err := checkedAll(releases)
	if err != nil {
		return err
	}
	return l.change(ctx, func(b *book) (changed bool, err error) {
		known := map[string]Release{}
		for _, r := range b.releases {
			known[r.Run] = r
		}
		var fresh []Release
		for _, r := range releases {
			if o, ok := known[r.Run]; !ok {
				fresh = append(fresh, r)
				known[r.Run] = r // a file with a run twice would be a damaged one
			} else if err := l.compare(o, r); err != nil {
				return false, err
			}
		}
		if len(fresh) > 0 && len(b.budgets) > 0 {
			account, err := b.account(&l.composer, fresh[0].Data, fresh)
			if err == nil {
				err = account.Refusal()
			}
			if err != nil {
				return false, err
			}
		}
		b.releases = append(b.releases, fresh...)
		return len(fresh) > 0, nil
	})
}

// compare returns an error unless a release is the recorded one of its run.
func (l *Ledger) compare(recorded, r Release) error {
	before, errBefore := recorded.eventText()
	now, errNow := r.eventText()
	if err := errors.Join(errBefore, errNow); err != nil {
		return err
	}
	if before != now || recorded.Void != r.Void || !recorded.Data.sameContent(r.Data) {
		return &FileError{l.Path(), fmt.Sprintf("run %q is recorded with other data, or another event; start a new run instead of resuming this one", r.Run), nil}
	}
	return nil
}

// SetBudget sets the standing budget of a data set, and changes the budgets of all data that count as the same to it.
// The budget may be below the amount spent; it then refuses all releases.
func (l *Ledger) SetBudget(ctx context.Context, data Data, epsilon, delta float64) error {
	budget := Budget{data, epsilon, delta}
	if err := budget.check(); err != nil {
		return err
	}
	return l.change(ctx, func(b *book) (bool, error) {
		// A budget that was set for a larger file stays, with the new values: it may connect other data.
		about, known := b.about(data), false
		for i, s := range b.budgets {
			if about(s) {
				known = known || s.Data.equal(data)
				b.budgets[i].Epsilon, b.budgets[i].Delta = epsilon, delta
			}
		}
		if !known {
			b.budgets = append(b.budgets, budget)
		}
		return true, nil
	})
}

// RemoveBudget removes the standing budgets of a data set, and reports whether there were some.
func (l *Ledger) RemoveBudget(ctx context.Context, data Data) (removed bool, err error) {
	err = l.change(ctx, func(b *book) (bool, error) {
		before := len(b.budgets)
		b.budgets = slices.DeleteFunc(b.budgets, b.about(data))
		removed = len(b.budgets) < before
		return removed, nil
	})
	return removed, err
}

// about returns a function that reports whether a budget is for data that count as the same.
func (b *book) about(data Data) func(Budget) bool {
	same, _ := b.connected(b.all(), data)
	return func(s Budget) bool { return slices.ContainsFunc(same, s.Data.equal) }
}

// change applies a change to the ledger, under its lock. Unless change reports that it changed something, nothing is
// written.
func (l *Ledger) change(ctx context.Context, change func(*book) (changed bool, err error)) (err error) {
	held, err := l.store.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	b, err := l.store.read()
	if err != nil {
		return err
	}
	if changed, err := change(b); err != nil || !changed {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.store.write(b)
}
