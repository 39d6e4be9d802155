package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/long"
)

// invent makes the folder of a job's run without training, at a stage, and its record in the ledger. rate is the
// learning rate of its model, or for a single run of its baseline's model.
func invent(t *testing.T, s *Store, job Job, stage runs.Stage, rate float64) *runs.Run {
	t.Helper()
	e, err := s.experiment(job.Cell)
	if err != nil {
		t.Fatal(err)
	}
	b := Result{NoiseMultiplier: 2, TunedLearningRate: rate, SamplingRate: e.Privacy.SamplingRate, ClippingNorm: 1, Steps: 20}
	settings, err := job.settingsOf(e, &b)
	if err != nil {
		t.Fatal(err)
	}
	text, err := settings.Experiment.YAML()
	if err != nil {
		t.Fatal(err)
	}
	r, err := runs.Create(s.runDir(job), false, runs.Manifest{Dataset: job.Dataset, Samples: 1000, Delta: 1e-5}, runs.Record{Seed: s.seed(job), Program: "p"}, text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(s.Runs())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.RecordAll(t.Context(), []ledger.Release{releaseOf(r)}); err != nil {
		t.Fatal(err)
	}
	if err := r.KeepKey(make([]byte, 32)); err != nil {
		t.Fatal(err)
	}
	switch stage {
	case runs.Finished:
		r.Manifest.Score = &runs.Score{Value: 0.5}
		err = r.Finish([]byte("{}"), func(dir string) error {
			h, err := json.Marshal(map[string]any{
				"noise_multiplier": 2, "learning_rate": rate, "sampling_rate": b.SamplingRate, "clipping_norm": 1, "steps": 20, "expected_batch_size": 64,
			})
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "hyperparameters.json"), h, 0o644))
		})
	case runs.Failed:
		err = r.Fail("a fault")
	default:
		err = r.Stop("a test")
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func releaseOf(r *runs.Run) ledger.Release {
	return ledger.Release{Run: r.Record.ID, Path: r.Dir(), Command: "tune", Data: ledger.Named("glyphs", 1000), Void: true, Began: time.Now()}
}

// empty opens a campaign of the built-in digits without runs.
func empty(t *testing.T, seed *uint64) *Store {
	t.Helper()
	_, names := glyphs(1, Methods()...)
	return open(t, t.TempDir(), Description{Scale: small, Seed: seed, Jobs: names})
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// Two folders with one run count for nothing: neither two finished ones nor two that were cut off, which would draw by
// one key. A run with another seed than its job's would be another job's.
func TestCopiesInTheStore(t *testing.T) {
	jobs, _ := glyphs(2, Variant1)
	for _, stage := range []runs.Stage{runs.Finished, runs.Stopped, runs.Failed} {
		s := empty(t, nil)
		copyFolder(t, invent(t, s, jobs[0], stage, 0.1).Dir(), s.runDir(jobs[1]))
		if _, err := s.Scan(jobs); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), jobs[1].Name()) {
			t.Errorf("%s: %v", stage, err)
		}
	}
	seed := uint64(3)
	s := empty(t, &seed)
	if err := os.Rename(invent(t, s, jobs[0], runs.Finished, 0.1).Dir(), s.runDir(jobs[1])); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Scan(jobs); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "another seed") {
		t.Errorf("renamed, with a seed: %v", err)
	}
}

// Of a single run without its baseline, all that isn't the baseline's choice is checked. It is refused where the
// baseline would be trained anew.
func TestSingleRunWithoutItsBaseline(t *testing.T) {
	s := empty(t, nil)
	jobs, _ := glyphs(1, Single, Variant1)
	dir := invent(t, s, jobs[0], runs.Finished, 0.1).Dir()
	if scan, err := s.Scan(jobs); err != nil || len(scan.Finished) != 1 {
		t.Errorf("%+v, %v", scan, err)
	}
	if _, err := s.Scan([]Job{jobs[0], jobs[0].Of(Baseline)}); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "has lost its baseline") {
		t.Errorf("the baseline is to do: %v", err)
	}
	other := jobs[0]
	other.Accounting = "best"
	if err := os.Rename(dir, s.runDir(other)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Scan([]Job{other}); !errors.Is(err, ErrOther) {
		t.Errorf("of another cell: %v", err)
	}
}

// The single runs of a baseline that failed twice aren't left to do.
func TestStatusOfOrphans(t *testing.T) {
	s := empty(t, nil)
	s.Description.Pace = Pace{"glyphs dp-sgd": {Fixed: 1}}
	jobs, _ := glyphs(1, Baseline, Single)
	if err := os.Rename(invent(t, s, jobs[0], runs.Failed, 0.1).Dir(), s.runDir(jobs[0])+failedSuffix); err != nil {
		t.Fatal(err)
	}
	for failed := range 2 {
		scan, err := s.Scan(jobs)
		if err != nil {
			t.Fatal(err)
		}
		st, err := s.Status(jobs, scan)
		if err != nil || st.Orphans != failed || len(st.Failed) != failed || (st.Left == 0) != (failed == 1) {
			t.Errorf("%d more: %+v, %v", failed, st, err)
		}
		if failed == 0 {
			invent(t, s, jobs[0], runs.Failed, 0.1)
		}
	}
}

// A run that was cut off and can't go on, since it began on another engine or its state is damaged, hasn't failed: it
// begins anew. One whose files can't be read stops the work, and stays as it is.
func TestRunsThatCannotGoOn(t *testing.T) {
	jobs, names := glyphs(1, Variant1)
	e := cpu.New(cpu.Options{})
	for _, c := range []struct {
		name  string
		spoil func(path string) error
		stops bool
	}{
		{"another engine", func(path string) error {
			var kept map[string]string
			text, err := os.ReadFile(path)
			err = errors.Join(err, json.Unmarshal(text, &kept))
			kept["engine"] = "another"
			text, failed := json.Marshal(kept)
			return errors.Join(err, failed, os.WriteFile(path, text, 0o600))
		}, false},
		{"unreadable", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, true},
		{"damaged", func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }, false},
	}[:min(3, 1+long.Times())] {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, t.TempDir(), Description{Scale: small, Jobs: names})
			ctx, cancel := context.WithCancel(t.Context())
			if err := carry(t, ctx, s, e, &quiet{working: func(float64) { cancel() }}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if err := c.spoil(filepath.Join(s.runDir(jobs[0]), "private", "state", "fingerprint")); err != nil {
				t.Fatal(err)
			}
			if err := carry(t, t.Context(), s, e, &quiet{}); (err != nil) != c.stops {
				t.Fatal(err)
			}
			scan, err := s.Scan(jobs)
			if err != nil || len(scan.Failed) != 0 || scan.Repeated[jobs[0]] || (len(scan.Finished) == 0) != c.stops {
				t.Errorf("%+v, %v", scan, err)
			}
			if _, err := os.Lstat(s.runDir(jobs[0]) + cutOffSuffix); (err != nil) != c.stops {
				t.Errorf("the run that was cut off: %v", err)
			}
			l, err := ledger.Open(s.Runs())
			if err != nil {
				t.Fatal(err)
			}
			if all, err := l.Releases(); err != nil || (len(all) == 1) != c.stops || len(all) > 2 {
				t.Errorf("%d releases, %v", len(all), err)
			}
		})
	}
}

// Work destroys the key and the states that a killed process left in a run that has ended.
func TestLeftKeys(t *testing.T) {
	s := empty(t, nil)
	jobs, _ := glyphs(1, Variant1)
	private := filepath.Join(invent(t, s, jobs[0], runs.Finished, 0.1).Dir(), "private")
	for _, name := range []string{"key", "state/0"} {
		path := filepath.Join(private, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("a secret"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Work(t.Context(), nil, Scan{}, Options{Follower: &quiet{}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"key", "state"} {
		if _, err := os.Lstat(filepath.Join(private, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}
