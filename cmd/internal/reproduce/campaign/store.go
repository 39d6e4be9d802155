package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2/maybe"

	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

var (
	// ErrBusy reports a campaign that another process works on.
	ErrBusy = errors.New("another process works on this campaign")
	// ErrOther reports a folder whose campaign, or whose run in a task's place, is another one.
	ErrOther = errors.New("another campaign")
	// ErrNone reports a folder without a campaign.
	ErrNone = errors.New("no campaign")
)

// Description is what a campaign consists of. It is kept in campaign.json.
type Description struct {
	Version int      `json:"version"` // of this format
	Scale   Scale    `json:"scale"`
	Seed    *uint64  `json:"insecure_seed,omitempty"` // of all draws, by which the campaign can be repeated
	Figures []string `json:"figures,omitempty"`       // labels of what the tasks are for
	Tasks   []string `json:"tasks"`                   // names, in order; those of the last call
	Command string   `json:"command"`                 // that goes on with the campaign
	Machine string   `json:"machine,omitempty"`       // that worked last
	Pace    Pace     `json:"pace,omitempty"`          // as it was measured on that machine
}

const descriptionVersion = 1

// The names in a campaign's folder.
const (
	descriptionName = "campaign.json"
	lockName        = ".campaign.lock"
	runsName        = "runs"
)

// Store is the folder of a campaign.
type Store struct {
	Description Description
	dir         string       // empty if it has none
	lock        *flock.Flock // nil if it was opened for reading
	experiments map[Cell]settings.Experiment
	noises      map[string]float64 // by budget, as Noise computed them; 0 for none
}

// Look opens a campaign's folder for reading, beside a process that may work on it. The error wraps [ErrNone] if there
// is no campaign.
func Look(dir string) (*Store, error) {
	s := &Store{dir: filepath.Clean(dir), experiments: map[Cell]settings.Experiment{}, noises: map[string]float64{}}
	text, err := os.ReadFile(s.path(descriptionName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s; dptrain reproduce begins one", ErrNone, dir)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &s.Description); err != nil {
		return nil, fmt.Errorf("%s: %w; restore a copy of it, or remove it: the runs stay", s.path(descriptionName), err)
	}
	if v := s.Description.Version; v < 1 || v > descriptionVersion {
		return nil, fmt.Errorf("%s: version %d, and this dptrain reads versions up to %d; use the one that wrote it", s.path(descriptionName), v, descriptionVersion)
	}
	return s, nil
}

// Open opens a campaign's folder to work on it, and makes it if need be. It takes scale and seed of the description,
// which must be those that the folder has, and replaces the rest. The error wraps [ErrBusy] while another process works
// on the campaign, and [ErrOther] if scale or seed differ. The caller closes the store.
func Open(dir string, d Description) (_ *Store, err error) {
	dir = filepath.Clean(dir)
	if err := outside(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, runsName), 0o755); err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	lock := flock.New(filepath.Join(dir, lockName))
	taken, err := lock.TryLock()
	for range 10 { // Working may hold it for a moment
		if taken || err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
		taken, err = lock.TryLock()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the campaign in %s: %w", dir, err), lock.Close())
	}
	if !taken {
		return nil, errors.Join(fmt.Errorf("%w in %s; wait for it, or give another folder by --out", ErrBusy, dir), lock.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	before, err := Look(dir)
	if err != nil && !errors.Is(err, ErrNone) {
		return nil, err
	}
	if before != nil {
		if err := before.Description.agrees(d, dir); err != nil {
			return nil, err
		}
		d.Machine, d.Pace = before.Description.Machine, before.Description.Pace
	}
	s := &Store{Description: d, dir: dir, lock: lock, experiments: map[Cell]settings.Experiment{}, noises: map[string]float64{}}
	return s, s.write()
}

// outside returns an error for a folder inside of a run's.
func outside(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	for up := dir; ; up = filepath.Dir(up) {
		if i, err := runs.Open(up); err == nil && i.Record != nil {
			return fmt.Errorf("%w: %s is inside of the run in %s, which may be published or removed; give another folder by --out", ErrOther, dir, up)
		}
		if up == filepath.Dir(up) {
			return nil
		}
	}
}

// agrees returns an error unless another description's runs may lie beside those of d.
func (d Description) agrees(other Description, dir string) error {
	size := func(s Scale) string {
		if s.Full() {
			return "at full size"
		}
		return "of " + s.String()
	}
	seed := func(s *uint64) string {
		if s == nil {
			return "without a seed"
		}
		return fmt.Sprintf("with seed %d", *s)
	}
	if d.Scale != other.Scale {
		return fmt.Errorf("%w is in %s, %s, and this one is %s; give another folder by --out", ErrOther, dir, size(d.Scale), size(other.Scale))
	}
	if a, b := seed(d.Seed), seed(other.Seed); a != b {
		return fmt.Errorf("%w is in %s, %s, and this one is %s; give another folder by --out", ErrOther, dir, a, b)
	}
	return nil
}

// write writes the description.
func (s *Store) write() error {
	s.Description.Version = descriptionVersion
	text, err := json.MarshalIndent(s.Description, "", " ")
	if err != nil {
		return err
	}
	return maybe.WriteFile(s.path(descriptionName), append(text, '\n'), 0o644)
}

// Working reports whether a process, perhaps this one, works on the campaign. It takes the lock for a moment if none
// does.
func (s *Store) Working() bool {
	if s.lock != nil && s.lock.Locked() {
		return true
	}
	if info, err := os.Lstat(s.path(lockName)); s.dir == "" || err != nil || !info.Mode().IsRegular() {
		return false
	}
	lock := flock.New(s.path(lockName), flock.SetFlag(os.O_RDONLY))
	taken, err := lock.TryRLock()
	_ = lock.Close() // it was opened for reading
	return err == nil && !taken
}

// PaceOf returns a copy of what is known of a machine's pace.
func (s *Store) PaceOf(machine string) Pace {
	pace := Pace{}
	if s.Description.Machine == machine {
		maps.Copy(pace, s.Description.Pace)
	}
	return pace
}

// SetPace keeps what was measured on a machine.
func (s *Store) SetPace(machine string, p Pace) error {
	s.Description.Machine, s.Description.Pace = machine, p
	return s.write()
}

// Close lets other processes work on the campaign.
func (s *Store) Close() error {
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// Runs returns the folder of the campaign's runs and of their ledger.
func (s *Store) Runs() string { return s.path(runsName) }

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// runDir returns the folder of a task's run.
func (s *Store) runDir(t Task) string { return filepath.Join(s.Runs(), t.Name()) }

// experiment returns the settings of a cell's tuning.
func (s *Store) experiment(c Cell) (settings.Experiment, error) {
	if e, ok := s.experiments[c]; ok {
		return e, nil
	}
	e, err := s.Description.Scale.Experiment(c)
	if err == nil {
		s.experiments[c] = e
	}
	return e, err
}

// Tasks returns the tasks of the description.
func (s *Store) Tasks() ([]Task, error) {
	tasks := make([]Task, len(s.Description.Tasks))
	for k, name := range s.Description.Tasks {
		t, ok := ParseTask(name)
		if !ok {
			return nil, fmt.Errorf("%s: %q is no task; restore a copy of the file, or remove it: the runs stay", s.path(descriptionName), name)
		}
		tasks[k] = t
	}
	return tasks, nil
}

// Scan is what a store has of some tasks.
type Scan struct {
	Finished map[Task]Result
	CutOff   map[Task]runs.Info // runs that can be resumed, or that a process carries out
	Failed   map[Task]runs.Info // runs without a model
	Repeated map[Task]bool      // runs that failed once before
}

// Scan reads what the store has of tasks. A run in a task's place whose settings aren't the task's is an error that
// wraps [ErrOther], and so are two copies of one run, and a single run whose baseline is among the tasks and is gone.
func (s *Store) Scan(tasks []Task) (Scan, error) {
	scan := Scan{map[Task]Result{}, map[Task]runs.Info{}, map[Task]runs.Info{}, map[Task]bool{}}
	ids := map[string]string{} // folders by the ids of their runs
	asked := map[Task]bool{}
	for _, t := range tasks {
		asked[t] = true
	}
	for _, single := range []bool{false, true} { // what a single run must be depends on its baseline
		for _, t := range tasks {
			if single != (t.Method == Single) {
				continue
			}
			err := s.scan(t, &scan, ids)
			if _, gone := os.Lstat(s.runDir(t)); err != nil && errors.Is(gone, fs.ErrNotExist) {
				err = nil // the process that works on the campaign has just moved it away
			}
			if _, ok := scan.Finished[t.Of(Baseline)]; err == nil && single && !ok && asked[t.Of(Baseline)] && scan.has(t) {
				// The baseline would be trained anew, find other hyperparameters, and this wouldn't be its single run.
				err = fmt.Errorf("%w: the run in %s has lost its baseline; bring back %s, or move this one away too", ErrOther, s.runDir(t), t.Of(Baseline).Name())
			}
			if err != nil {
				return scan, err
			}
		}
	}
	return scan, nil
}

// has reports whether there is a run of a task.
func (s Scan) has(t Task) bool {
	_, finished := s.Finished[t]
	_, cutOff := s.CutOff[t]
	_, failed := s.Failed[t]
	return finished || cutOff || failed
}

// copied reports two folders with one run.
func copied(a, b string) error {
	return fmt.Errorf("%w: the run in %s is a copy of the one in %s, and would count twice; move one of them away", ErrOther, b, a)
}

func (s *Store) scan(t Task, scan *Scan, ids map[string]string) error {
	if s.dir == "" {
		return nil
	}
	dir := s.runDir(t)
	if _, err := os.Lstat(dir + failedSuffix); err == nil {
		scan.Repeated[t] = true
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	info, err := runs.Open(dir)
	if err != nil {
		return fmt.Errorf("%w; bring back the whole folder of the run, or move it away", err)
	}
	given, err := readSettings(info.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w; bring back the whole folder of the run, or move it away", info.Dir, err)
	}
	var baseline *Result
	if r, ok := scan.Finished[t.Of(Baseline)]; ok {
		baseline = &r
	}
	if err := s.check(t, info, given, baseline); err != nil {
		return err
	}
	if info.Record != nil {
		if other, twice := ids[info.Record.ID]; twice {
			return copied(other, dir)
		}
		ids[info.Record.ID] = dir
	}
	switch info.Stage {
	case runs.Finished:
		r, err := read(t, given, info)
		if err != nil {
			return err
		}
		scan.Finished[t] = r
	case runs.Failed:
		scan.Failed[t] = info
	default:
		scan.CutOff[t] = info
	}
	return nil
}

// check returns an error unless a run has the settings and the seed of its task. A single run whose baseline is nil has
// the hyperparameters of any.
func (s *Store) check(t Task, i runs.Info, given settings.Experiment, baseline *Result) error {
	e, err := s.experiment(t.Cell)
	if err != nil {
		return err
	}
	switch {
	case t.Method == Single && baseline == nil:
		e.Privacy.Epsilon, e.Privacy.NoiseMultiplier = nil, given.Privacy.NoiseMultiplier
		e.Privacy.SamplingRate, e.Privacy.ClippingNorm, e.Privacy.Epochs = given.Privacy.SamplingRate, given.Privacy.ClippingNorm, given.Privacy.Epochs
		e.Training.LearningRate = given.Training.LearningRate
	case t.Method == Single:
		settings, err := t.settingsOf(e, baseline)
		if err != nil {
			return err
		}
		e = settings.Experiment
	}
	if !same(e, given) {
		return fmt.Errorf("%w: the run in %s has other settings than %s; move it away", ErrOther, i.Dir, t)
	}
	if i.Record == nil {
		return nil // it isn't finished, and can't go on
	}
	seed, wanted := i.Record.Seed, s.Description.Seed
	switch {
	case seed == nil && wanted == nil:
	case seed == nil || wanted == nil:
		return fmt.Errorf("%w: the run in %s has a seed, or has none, unlike this campaign; move it away", ErrOther, i.Dir)
	case *seed != s.seedOf(t, 1) && *seed != s.seedOf(t, 2):
		return fmt.Errorf("%w: the run in %s has another seed than %s has in this campaign; move it away", ErrOther, i.Dir, t.Name())
	}
	return nil
}

// Agrees returns an error that wraps [ErrOther] unless the runs of a description may lie in the store.
func (s *Store) Agrees(d Description) error { return s.Description.agrees(d, s.dir) }

// Planned returns a store without a folder, which has no runs, for estimates.
func Planned(d Description) *Store {
	return &Store{Description: d, experiments: map[Cell]settings.Experiment{}, noises: map[string]float64{}}
}
