package campaign

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cpu"
)

// The time left is the pace's, corrected by how long the finished runs took compared with their pace's time.
func TestTimeLeft(t *testing.T) {
	jobs := []Job{{Cell{"mnist", "dp-sgd", Rate, Single, "paper", 1}, 1}, {Cell{"mnist", "dp-sgd", Rate, Single, "paper", 1}, 2}}
	// 939 seconds for the 1,878 steps of a run
	s := newStore("nowhere", Description{Pace: Pace{"mnist dp-sgd": {Fixed: 0.5}}})
	if st, err := s.Status(jobs, Scan{Finished: map[Job]Result{jobs[0]: {Job: jobs[0], Seconds: math.NaN()}}}); err != nil || st.Took != 0 || st.Left != 939 {
		t.Errorf("without a time: %+v, %v", st, err)
	}
	st, err := s.Status(jobs, Scan{Finished: map[Job]Result{jobs[0]: {Job: jobs[0], Seconds: 313}}})
	if err != nil || st.Finished != 1 || math.Abs(st.Left-313) > 1e-9 || math.Abs(st.Done-313) > 1e-9 || st.Expected != 939 {
		t.Errorf("%+v, %v", st, err)
	}
}

// A run's gradients are its trials', on the tuning subset unless it is a baseline, and its final run's.
func TestGradientsOfARun(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"released/hyperparameters.json": `{"steps": 100, "expected_batch_size": 450, "sampling_rate": 0.5}`,
		"private/run.json":              `{"trials": [{"steps": 10, "sampling_rate": 0.5, "seconds": 1}, {"steps": 30, "sampling_rate": 0.25, "seconds": 2}], "final_seconds": 4}`,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	info := runs.Info{Dir: dir, Manifest: runs.Manifest{Samples: 1000, Score: &runs.Score{Value: 0.5}}, Record: &runs.Record{Processors: 1.5}}
	e := settings.Experiment{Privacy: settings.Privacy{SubsetRate: 0.1}}
	// Trials on all samples compute 10·0.5·1000 + 30·0.25·1000 = 12,500 gradients, and a tenth of that on a subset. A
	// final run computes 45,000.
	for m, want := range map[Method]float64{Variant1: 46250, Baseline: 12500} {
		r, err := read(Job{Cell{"mnist", "dp-sgd", Rate, m, "paper", 1}, 1}, e, info)
		if err != nil || r.Gradients != want || r.Seconds != 7 || r.ProcessorSeconds != 10.5 || r.Trials != 2 {
			t.Errorf("%s: %+v, %v, want %v gradients", m, r, err, want)
		}
	}
}

// A run whose processors weren't counted has no processor seconds; a process that works has some.
func TestProcessorSeconds(t *testing.T) {
	r, err := resultOf(Job{}, settings.Experiment{}, runs.Info{Record: &runs.Record{}}, 1, release.Hyperparameters{}, []byte(`{"seconds": 2}`))
	if err != nil || r.Seconds != 2 || !math.IsNaN(r.ProcessorSeconds) {
		t.Errorf("%+v, %v", r, err)
	}
	before, sum := processorTime(), 0.0
	for i := range 20_000_000 {
		sum += math.Sqrt(float64(i))
	}
	if runtime.GOOS != "windows" && (!(processorTime() > before+time.Millisecond) || sum == 0) {
		t.Errorf("%v after %v", processorTime(), before)
	}
}

// A seeded run that failed is carried out once more by another key: the same would fail again.
func TestSeedsOfAttempts(t *testing.T) {
	seed := uint64(1)
	jobs, names := glyphs(2, Variant1)
	s := open(t, t.TempDir(), Description{Scale: small, Seed: &seed, Jobs: names})
	first, other := *s.seed(jobs[0]), *s.seed(jobs[1])
	if err := os.Mkdir(s.runDir(jobs[0])+failedSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	if again := *s.seed(jobs[0]); again == first || again == other || first == other {
		t.Errorf("seeds %d, %d and, once more, %d", first, other, again)
	}
}

// A run that another program began doesn't go on: that program may draw otherwise. It is kept aside.
func TestAnotherProgram(t *testing.T) {
	jobs, names := glyphs(1, Variant1)
	s := open(t, t.TempDir(), Description{Scale: Scale{Epochs: 0.1, Trials: 1}, Jobs: names})
	ctx, cancel := context.WithCancel(t.Context())
	e := cpu.New(cpu.Options{})
	if err := carry(t, ctx, s, e, &quiet{working: func(float64) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	folder, err := runs.Resume(s.runDir(jobs[0]))
	if err != nil {
		t.Fatal(err)
	}
	id := folder.Record.ID
	folder.Record.Program = "another"
	if err := folder.Stop("a test"); err != nil {
		t.Fatal(err)
	}
	if err := carry(t, t.Context(), s, e, &quiet{}); err != nil {
		t.Fatal(err)
	}
	aside, err := runs.Open(s.runDir(jobs[0]) + cutOffSuffix)
	if err != nil || aside.Record.ID != id {
		t.Errorf("aside %+v, %v", aside, err)
	}
	if now, err := runs.Open(s.runDir(jobs[0])); err != nil || now.Stage != runs.Finished || now.Record.ID == id {
		t.Errorf("now %+v, %v", now, err)
	}
}
