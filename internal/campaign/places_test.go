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

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/runs"
)

// invent makes the folder of a task's run without training, at a stage, and its record in the ledger. rate is the
// learning rate of its model, and of a single run that of its baseline.
func invent(t *testing.T, s *Store, task Task, stage runs.Stage, rate float64) *runs.Run {
	t.Helper()
	e, err := s.experiment(task.Cell)
	if err != nil {
		t.Fatal(err)
	}
	b := Result{NoiseMultiplier: 2, TunedLearningRate: rate, SamplingRate: e.Privacy.SamplingRate, ClippingNorm: 1, Steps: 20}
	settings, err := task.settingsOf(e, &b)
	if err != nil {
		t.Fatal(err)
	}
	text, err := settings.Experiment.YAML()
	if err != nil {
		t.Fatal(err)
	}
	r, err := runs.Create(s.runDir(task), false, runs.Manifest{Dataset: task.Dataset, Samples: 1000, Delta: 1e-5}, runs.Record{Seed: s.seed(task), Program: "p"}, text)
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
	return open(t, t.TempDir(), Description{Scale: small, Seed: seed, Tasks: names})
}

// linear gives tasks the model that open gives them.
func linear(t *testing.T, s *Store, tasks ...Task) {
	t.Helper()
	clear(s.experiments)
	for _, task := range tasks {
		e, err := s.experiment(task.Cell)
		if err != nil {
			t.Fatal(err)
		}
		e.Model = "linear"
		s.experiments[task.Cell] = e
	}
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// finishedOf returns the names of the finished runs of the first repetitions of baselines and single runs.
func finishedOf(t *testing.T, s *Store) string {
	t.Helper()
	tasks, _ := glyphs(4, Baseline, Single)
	scan, err := s.Scan(tasks)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, task := range tasks {
		if _, ok := scan.Finished[task]; ok {
			names = append(names, string(task.Method)+string(rune('0'+task.Repetition)))
		}
	}
	return strings.Join(names, " ")
}

// A single run stays with the baseline whose hyperparameters it has, whenever the two are merged and whatever numbers
// they get. Where no baseline is, or one that has a single run already, it isn't taken.
func TestMergedSingleRunsStayWithTheirBaseline(t *testing.T) {
	tasks, _ := glyphs(1, Baseline, Single)
	a, b := empty(t, nil), empty(t, nil)
	invent(t, a, tasks[0], runs.Finished, 0.1)
	invent(t, a, tasks[1], runs.Finished, 0.1)
	invent(t, b, tasks[0], runs.Finished, 0.3)
	if m, err := a.Merge(t.Context(), b.dir); err != nil || m != (Merged{Taken: 1, Renamed: 1}) {
		t.Fatalf("the baseline: %+v, %v", m, err)
	}
	other := filepath.Join(t.TempDir(), "copy") // goes on elsewhere with the same baseline
	copyFolder(t, b.dir, other)
	invent(t, b, tasks[1], runs.Finished, 0.3)
	if m, err := a.Merge(t.Context(), b.dir); err != nil || m != (Merged{Taken: 1, Renamed: 1, Had: 1}) {
		t.Fatalf("its single run: %+v, %v", m, err)
	}
	if got := finishedOf(t, a); got != "baseline1 single1 baseline2 single2" {
		t.Errorf("the store has %s", got)
	}
	c, err := Look(other)
	if err != nil {
		t.Fatal(err)
	}
	linear(t, c, tasks...)
	invent(t, c, tasks[1], runs.Finished, 0.3)
	if m, err := a.Merge(t.Context(), other); err != nil || m != (Merged{Had: 1, Alone: 1}) {
		t.Errorf("another single run of one baseline: %+v, %v", m, err)
	}
	if err := os.RemoveAll(c.runDir(tasks[0])); err != nil {
		t.Fatal(err)
	}
	if m, err := a.Merge(t.Context(), other); err != nil || m != (Merged{Alone: 1}) {
		t.Errorf("a store of single runs alone: %+v, %v", m, err)
	}
	if got := finishedOf(t, a); got != "baseline1 single1 baseline2 single2" {
		t.Errorf("then the store has %s", got)
	}
}

// Merge takes nothing of a folder with runs that aren't what their names say, or that no ledger knows.
func TestMergeChecksFirst(t *testing.T) {
	tasks, _ := glyphs(1, Baseline, Variant1)
	seed, otherSeed := uint64(3), uint64(4)
	for name, spoil := range map[string]func(t *testing.T, s *Store){
		"another size": func(t *testing.T, s *Store) { s.Description.Scale = Scale{} },
		"the name of another": func(t *testing.T, s *Store) {
			if err := os.Rename(s.runDir(tasks[1]), s.runDir(tasks[0].Of(Variant2))); err != nil {
				t.Fatal(err)
			}
		},
		"a copy":       func(t *testing.T, s *Store) { copyFolder(t, s.runDir(tasks[0]), s.runDir(Task{tasks[0].Cell, 2})) },
		"a seed":       func(t *testing.T, s *Store) { s.Description.Seed = &seed },
		"another seed": func(t *testing.T, s *Store) { s.Description.Seed = &otherSeed },
		"no ledger": func(t *testing.T, s *Store) {
			if err := os.Remove(filepath.Join(s.Runs(), ledger.FileName)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var mine *uint64
			if name == "another seed" {
				mine = &seed
			}
			from, to := empty(t, mine), empty(t, mine)
			early := strings.HasSuffix(name, "seed") || name == "another size"
			if early { // its runs have it
				spoil(t, from)
			}
			linear(t, from, tasks...)
			for _, task := range tasks {
				invent(t, from, task, runs.Finished, 0.1)
			}
			if !early {
				spoil(t, from)
			}
			var file *ledger.FileError
			m, err := to.Merge(t.Context(), from.Runs()) // the folder of runs says neither size nor seed
			if !errors.Is(err, ErrOther) && !errors.As(err, &file) || m.Taken != 0 {
				t.Errorf("%+v, %v", m, err)
			}
			if got := finishedOf(t, to); got != "" {
				t.Errorf("took %s", got)
			}
		})
	}
	_, err := empty(t, nil).Merge(t.Context(), filepath.Join(t.TempDir(), "nowhere"))
	if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "own folder") {
		t.Errorf("a folder that isn't there: %v", err)
	}
}

// A merge that was killed leaves no run that the ledger doesn't know, and the next one removes what it left. A copy has
// no key, and its private files are its owner's alone, whatever the other file system says.
func TestCopiesOfRuns(t *testing.T) {
	tasks, _ := glyphs(1, Variant1)
	a, b := empty(t, nil), empty(t, nil)
	r := invent(t, b, tasks[0], runs.Finished, 0.1)
	private := filepath.Join(r.Dir(), "private")
	for _, name := range []string{"key", "lock", "state/0", ".new-1"} { // of a killed process
		path := filepath.Join(private, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("a secret"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(private, 0o777), os.Chmod(filepath.Join(private, "record.json"), 0o777)); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(a.Runs(), copying+"1")
	if err := os.MkdirAll(filepath.Join(left, tasks[0].Name(), "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	if m, err := a.Merge(t.Context(), b.dir); err != nil || m.Taken != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what an earlier merge left: %v", err)
	}
	var files []string
	root := filepath.Join(a.runDir(tasks[0]), "private")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if want := fs.FileMode(0o600); err == nil && !e.IsDir() {
			files = append(files, e.Name())
			if info.Mode() != want {
				t.Errorf("%s has mode %o", path, info.Mode())
			}
		} else if err == nil && info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %o", path, info.Mode())
		}
		return err
	})
	if got := strings.Join(files, " "); err != nil || got != "record.json run.json settings.yaml" {
		t.Errorf("private/ has %s, %v", got, err)
	}
	// The work itself destroys a key that a killed process left.
	if err := b.Work(t.Context(), NewLocal(nil, Scan{}, nil), Worker{Follower: &quiet{}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"key", "state"} {
		if _, err := os.Lstat(filepath.Join(private, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

// Two folders with one run count for nothing: neither two finished ones nor two that were cut off, which would draw by
// one key. A run whose seed isn't its task's would be that of another.
func TestCopiesInTheStore(t *testing.T) {
	tasks, _ := glyphs(2, Variant1)
	for _, stage := range []runs.Stage{runs.Finished, runs.Stopped, runs.Failed} {
		s := empty(t, nil)
		copyFolder(t, invent(t, s, tasks[0], stage, 0.1).Dir(), s.runDir(tasks[1]))
		if _, err := s.Scan(tasks); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), tasks[1].Name()) {
			t.Errorf("%s: %v", stage, err)
		}
	}
	seed := uint64(3)
	s := empty(t, &seed)
	if err := os.Rename(invent(t, s, tasks[0], runs.Finished, 0.1).Dir(), s.runDir(tasks[1])); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Scan(tasks); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "another seed") {
		t.Errorf("renamed, with a seed: %v", err)
	}
}

// Of a single run without its baseline, all that isn't the baseline's choice is checked. It is refused where the
// baseline would be trained anew.
func TestSingleRunWithoutItsBaseline(t *testing.T) {
	s := empty(t, nil)
	tasks, _ := glyphs(1, Single, Variant1)
	dir := invent(t, s, tasks[0], runs.Finished, 0.1).Dir()
	if scan, err := s.Scan(tasks); err != nil || len(scan.Finished) != 1 {
		t.Errorf("%+v, %v", scan, err)
	}
	if _, err := s.Scan([]Task{tasks[0], tasks[0].Of(Baseline)}); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "has lost its baseline") {
		t.Errorf("the baseline is to do: %v", err)
	}
	other := tasks[0]
	other.Accounting = "best"
	if err := os.Rename(dir, s.runDir(other)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Scan([]Task{other}); !errors.Is(err, ErrOther) {
		t.Errorf("of another cell: %v", err)
	}
}

// The single runs of a baseline that failed twice aren't left to do.
func TestStatusOfOrphans(t *testing.T) {
	s := empty(t, nil)
	tasks, _ := glyphs(1, Baseline, Single)
	if err := os.Rename(invent(t, s, tasks[0], runs.Failed, 0.1).Dir(), s.runDir(tasks[0])+failedSuffix); err != nil {
		t.Fatal(err)
	}
	for failed := range 2 {
		scan, err := s.Scan(tasks)
		if err != nil {
			t.Fatal(err)
		}
		st, err := s.Status(tasks, scan)
		if err != nil || st.Orphans != failed || len(st.Failed) != failed || (st.Left.Models == 0) != (failed == 1) {
			t.Errorf("%d more: %+v, %v", failed, st, err)
		}
		if failed == 0 {
			invent(t, s, tasks[0], runs.Failed, 0.1)
		}
	}
}

// A campaign isn't begun inside of a run's folder.
func TestCampaignInsideOfARun(t *testing.T) {
	s := empty(t, nil)
	tasks, _ := glyphs(1, Variant1)
	dir := invent(t, s, tasks[0], runs.Finished, 0.1).Dir()
	for _, out := range []string{dir, filepath.Join(dir, "released", "new")} {
		if _, err := Open(out, Description{}); !errors.Is(err, ErrOther) {
			t.Errorf("%s: %v", out, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, runsName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
}

// A run that was cut off and can't go on, since it began on another engine or its state is damaged, hasn't failed: it
// begins anew. One whose files can't be read stops the work, and stays as it is.
func TestRunsThatCannotGoOn(t *testing.T) {
	tasks, names := glyphs(1, Variant1)
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
		{"damaged", func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }, false},
		{"unreadable", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, t.TempDir(), Description{Scale: small, Tasks: names})
			ctx, cancel := context.WithCancel(t.Context())
			if err := carry(t, ctx, s, e, &quiet{working: func(float64) { cancel() }}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if err := c.spoil(filepath.Join(s.runDir(tasks[0]), "private", "state", "fingerprint")); err != nil {
				t.Fatal(err)
			}
			if err := carry(t, t.Context(), s, e, &quiet{}); (err != nil) != c.stops {
				t.Fatal(err)
			}
			scan, err := s.Scan(tasks)
			if err != nil || len(scan.Failed) != 0 || scan.Repeated[tasks[0]] || (len(scan.Finished) == 0) != c.stops {
				t.Errorf("%+v, %v", scan, err)
			}
			if _, err := os.Lstat(s.runDir(tasks[0]) + cutOffSuffix); (err != nil) != c.stops {
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
