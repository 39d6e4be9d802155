package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2/maybe"

	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

var (
	// ErrBusy reports a campaign that another process works on.
	ErrBusy = errors.New("another process works on this campaign")
	// ErrOther reports a folder that has another campaign, or in a job's place another run.
	ErrOther = errors.New("another campaign")
	// ErrNone reports a folder without a campaign.
	ErrNone = errors.New("no campaign")
)

// Description describes a campaign. It is kept in campaign.json.
type Description struct {
	Version int      `json:"version"` // of this format
	Scale   Scale    `json:"scale"`
	Seed    *uint64  `json:"insecure_seed,omitempty"` // of all draws; nil for keys of the operating system
	Jobs    []string `json:"tasks"`                   // names of the last call's jobs, in order
	Command string   `json:"command"`                 // goes on with the campaign
	Machine string   `json:"machine,omitempty"`       // which worked last
	Pace    Pace     `json:"pace,omitempty"`          // as it was measured on that machine

	// Have are results of other campaigns that count here. They are kept in a file of their own; nil keeps those.
	Have []Result `json:"-"`
}

const descriptionVersion = 1

// The names in a campaign's folder.
const (
	descriptionName = "campaign.json"
	haveName        = "have.csv"
	lockName        = ".campaign.lock"
	runsName        = "runs"
)

// Store is the folder of a campaign.
type Store struct {
	Description Description
	dir         string
	lock        *flock.Flock // nil if it was opened for reading
	experiments map[Cell]settings.Experiment
	noises      map[string]float64 // by Noise, by budget; 0 if no noise meets it
	had         map[Job]Result     // results of other campaigns
}

func newStore(dir string, d Description) *Store {
	return &Store{Description: d, dir: filepath.Clean(dir), experiments: map[Cell]settings.Experiment{}, noises: map[string]float64{}}
}

// Look opens a campaign's folder for reading, beside a process that may work on it. The error wraps [ErrNone] if there
// is no campaign.
func Look(dir string) (*Store, error) {
	s := newStore(dir, Description{})
	text, err := os.ReadFile(s.path(descriptionName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s; give its folder by --out, or begin one by dptrain reproduce", ErrNone, dir)
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
	had, err := ReadTable(s.path(haveName))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = s.take(had)
	}
	return s, err
}

// take has results of other campaigns count as this one's.
func (s *Store) take(results []Result) error {
	s.had = map[Job]Result{}
	for _, r := range results {
		size := s.Description.Scale.name()
		switch _, twice := s.had[r.Job]; {
		case twice:
			return fmt.Errorf("%w: the table of results has the run %s twice", ErrOther, r.Name())
		case r.Size != size:
			return fmt.Errorf("%w: the table's run %s is of size %q, and this campaign's runs are of size %q", ErrOther, r.Name(), r.Size, size)
		case r.Day == "":
			return fmt.Errorf("%w: the table's run %s has no day, as in a campaign with a seed, whose runs aren't independent of others", ErrOther, r.Name())
		}
		s.had[r.Job] = r
	}
	return nil
}

// Planned is Look for a campaign that d describes, which need not have begun. The error wraps [ErrOther] if the folder
// has a campaign with another scale or seed.
func Planned(dir string, d Description) (*Store, error) {
	s, err := Look(dir)
	if errors.Is(err, ErrNone) {
		s, err = newStore(dir, d), nil
	}
	if err == nil {
		err = s.Description.agrees(d, dir)
	}
	if err == nil && d.Have != nil {
		err = s.take(d.Have)
	}
	return s, err
}

// Open opens a campaign's folder to work on it, and makes it if there is none. It replaces the folder's description by
// d, which must have the same scale and seed. The error wraps [ErrBusy] while another process works on the campaign,
// and [ErrOther] if scale or seed differ. The caller closes the store.
func Open(dir string, d Description) (_ *Store, err error) {
	dir = filepath.Clean(dir)
	if err := os.MkdirAll(filepath.Join(dir, runsName), 0o755); err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	lock, err := runs.Lock(filepath.Join(dir, lockName))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w in %s; wait for it, or give another folder by --out", ErrBusy, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the campaign in %s: %w", dir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	s, err := Planned(dir, d)
	if err != nil {
		return nil, err
	}
	d.Machine, d.Pace = s.Description.Machine, s.Description.Pace
	s.Description, s.lock = d, lock
	if d.Have != nil {
		if err := s.keep(d.Have); err != nil {
			return nil, err
		}
	}
	return s, s.write()
}

// agrees returns an error unless runs of both descriptions may be in one store.
func (d Description) agrees(other Description, dir string) error {
	same := d.Seed == nil && other.Seed == nil || d.Seed != nil && other.Seed != nil && *d.Seed == *other.Seed
	if !same || d.Scale != other.Scale {
		return fmt.Errorf("%w is in %s, with runs of another size or another seed; give another folder by --out", ErrOther, dir)
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

// Working reports whether a process, perhaps this one, works on the campaign.
func (s *Store) Working() bool { return runs.Locked(s.path(lockName)) }

// PaceOf returns a copy of a machine's pace as far as it is known.
func (s *Store) PaceOf(machine string) Pace {
	pace := Pace{}
	if s.Description.Machine == machine {
		maps.Copy(pace, s.Description.Pace)
	}
	return pace
}

// SetPace keeps the pace of a machine.
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

// runDir returns the folder of a job's run.
func (s *Store) runDir(j Job) string { return filepath.Join(s.Runs(), j.Name()) }

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

// Jobs returns the jobs of the description.
func (s *Store) Jobs() ([]Job, error) {
	jobs := make([]Job, len(s.Description.Jobs))
	for k, name := range s.Description.Jobs {
		j, ok := ParseJob(name)
		if !ok {
			return nil, fmt.Errorf("%s: %q is no job; restore a copy of the file, or remove it: the runs stay", s.path(descriptionName), name)
		}
		jobs[k] = j
	}
	return jobs, nil
}

// Scan has a store's runs of some jobs.
type Scan struct {
	Finished map[Job]Result
	CutOff   map[Job]runs.Info // runs that can be resumed, or that a process trains
	Failed   map[Job]runs.Info // runs without a model
	Repeated map[Job]bool      // runs that failed once before
}

// Scan reads the store's runs of jobs, and takes others from Description.Have. The error wraps [ErrOther] for a run in
// a job's place that has other settings, for two copies of one run, and for a single run whose baseline is among the
// jobs and is gone.
func (s *Store) Scan(jobs []Job) (Scan, error) {
	scan := Scan{map[Job]Result{}, map[Job]runs.Info{}, map[Job]runs.Info{}, map[Job]bool{}}
	ids := map[string]string{} // folders by the ids of their runs
	asked := map[Job]bool{}
	for _, j := range jobs {
		asked[j] = true
	}
	for _, single := range []bool{false, true} { // a single run's settings depend on its baseline
		for _, j := range jobs {
			if single != (j.Method == Single) {
				continue
			}
			err := s.scan(j, &scan, ids)
			_, gone := os.Lstat(s.runDir(j))
			if err != nil && errors.Is(gone, fs.ErrNotExist) {
				err = nil // the process that works on the campaign has just moved it away
			}
			if err == nil && single && asked[j.Of(Baseline)] && scan.has(j) {
				err = s.checkBaseline(j, scan, gone == nil)
			}
			if err != nil {
				return scan, err
			}
		}
	}
	return scan, nil
}

// checkBaseline returns an error if the baseline of a single run isn't there: it would be trained again, and find other
// hyperparameters. Another campaign's run must have those of its baseline; [Store.check] has seen to it for this one's
// own.
func (s *Store) checkBaseline(j Job, scan Scan, own bool) error {
	b, ok := scan.Finished[j.Of(Baseline)]
	switch r := s.had[j]; {
	case own && !ok:
		return fmt.Errorf("%w: the run in %s has lost its baseline; bring back %s, or move this one away too", ErrOther, s.runDir(j), j.Of(Baseline).Name())
	case own:
	case !ok:
		return fmt.Errorf("%w: the table of results has the run %s, and not its baseline", ErrOther, j.Name())
	case r.NoiseMultiplier != b.NoiseMultiplier || r.SamplingRate != b.SamplingRate || r.TunedLearningRate != b.TunedLearningRate:
		return fmt.Errorf("%w: the table's run %s has other hyperparameters than its baseline", ErrOther, j.Name())
	}
	return nil
}

// has reports whether there is a run of a job.
func (s Scan) has(j Job) bool {
	_, finished := s.Finished[j]
	_, cutOff := s.CutOff[j]
	_, failed := s.Failed[j]
	return finished || cutOff || failed
}

func (s *Store) scan(j Job, scan *Scan, ids map[string]string) error {
	dir := s.runDir(j)
	if _, err := os.Lstat(dir + failedSuffix); err == nil {
		scan.Repeated[j] = true
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if r, ok := s.had[j]; ok {
			scan.Finished[j] = r
		}
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
	if r, ok := scan.Finished[j.Of(Baseline)]; ok {
		baseline = &r
	}
	if err := s.check(j, info, given, baseline); err != nil {
		return err
	}
	if info.Record != nil {
		if other, twice := ids[info.Record.ID]; twice {
			return fmt.Errorf("%w: the run in %s is a copy of the one in %s, and would count twice; move one of them away", ErrOther, dir, other)
		}
		ids[info.Record.ID] = dir
	}
	switch info.Stage {
	case runs.Finished:
		r, err := read(j, given, info)
		if err != nil {
			return err
		}
		r.Size = s.Description.Scale.name()
		scan.Finished[j] = r
	case runs.Failed:
		scan.Failed[j] = info
	default:
		scan.CutOff[j] = info
	}
	return nil
}

// check returns an error unless a run has the settings and the seed of its job. If baseline is nil, a single run may
// have any hyperparameters.
func (s *Store) check(j Job, i runs.Info, given settings.Experiment, baseline *Result) error {
	e, err := s.experiment(j.Cell)
	if err != nil {
		return err
	}
	switch {
	case j.Method == Single && baseline == nil:
		e.Privacy.Epsilon, e.Privacy.NoiseMultiplier = nil, given.Privacy.NoiseMultiplier
		e.Privacy.SamplingRate, e.Privacy.ClippingNorm, e.Privacy.Epochs = given.Privacy.SamplingRate, given.Privacy.ClippingNorm, given.Privacy.Epochs
		e.Training.LearningRate = given.Training.LearningRate
	case j.Method == Single:
		settings, err := j.settingsOf(e, baseline)
		if err != nil {
			return err
		}
		e = settings.Experiment
	}
	if !same(e, given) {
		return fmt.Errorf("%w: the run in %s has other settings than %s; move it away", ErrOther, i.Dir, j)
	}
	if i.Record == nil {
		return nil // it isn't finished, and can't go on
	}
	seed, wanted := i.Record.Seed, s.Description.Seed
	switch {
	case seed == nil && wanted == nil:
	case seed == nil || wanted == nil:
		return fmt.Errorf("%w: the run in %s has a seed, or has none, unlike this campaign; move it away", ErrOther, i.Dir)
	case *seed != s.seedOf(j, 1) && *seed != s.seedOf(j, 2):
		return fmt.Errorf("%w: the run in %s has another seed than %s has in this campaign; move it away", ErrOther, i.Dir, j.Name())
	}
	return nil
}

// Result has the numbers of a finished run that figures need.
type Result struct {
	Job

	Accuracy float64 // of the released model on the public test set, a share
	// Epsilon is the run's own. A single run's is less than its cell's: it pays no tuning.
	Epsilon float64

	// The hyperparameters of the released model.
	NoiseMultiplier   float64
	LearningRate      float64
	TunedLearningRate float64 // before it was scaled to the final run's data
	SamplingRate      float64
	ClippingNorm      float64
	Steps             int

	Trials  int     // K; 0 for a single run. Private.
	Seconds float64 // of training, summed over trials and final run. Private.
	// ProcessorSeconds is Seconds times the processors that were busy meanwhile: unlike Seconds it doesn't depend on
	// what else they had to do. NaN if they weren't counted, as by a cluster's workers. Private.
	ProcessorSeconds float64
	Gradients        float64 // expected number of single samples' gradients, given the drawn trials. Private.

	Size    string // "full", or how the run is smaller than the paper's
	MadeBy  string // version and commit of the program
	Machine string // engine, processor, cores; empty if the record has none
	Day     string // of its beginning, YYYY-MM-DD
}
