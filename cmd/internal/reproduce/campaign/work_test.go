package campaign

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// small makes runs of the built-in digits of some 15 steps.
var small = Scale{Epochs: 0.05, Trials: 0.25}

// glyphs returns jobs on the built-in digits.
func glyphs(repetitions int, methods ...Method) (jobs []Job, names []string) {
	for r := range repetitions {
		for _, m := range methods {
			t := Job{Cell{"glyphs", "dp-sgd", Rate, m, "paper", 4}, r + 1}
			jobs, names = append(jobs, t), append(names, t.Name())
		}
	}
	return jobs, names
}

// quiet is a follower that counts, and may call a function.
type quiet struct {
	mu      sync.Mutex
	texts   []string
	working func(share float64)
	ended   int // jobs
	failed  int // of them
}

func (q *quiet) Note(text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.texts = append(q.texts, text)
}
func (q *quiet) Warn(text string)                  { q.Note(text) }
func (q *quiet) Progress(float64, float64, string) {}
func (q *quiet) Tuning(tuner.PrivateProgress)      {}
func (q *quiet) Ended(_ Job, err error) {
	if q.ended++; err != nil {
		q.failed++
	}
}
func (q *quiet) Working(_ []Job, share float64) {
	if q.working != nil {
		q.working(share)
	}
}

type text string

func (t text) String() string { return string(t) }

// carry carries out the jobs that a store lacks.
func carry(t *testing.T, ctx context.Context, s *Store, e train.Engine, f *quiet) error {
	t.Helper()
	jobs, err := s.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	scan, err := s.Scan(jobs)
	if err != nil {
		t.Fatal(err)
	}
	return s.Work(ctx, jobs, scan, Options{
		Size:   func(Cell) int { return 2 },
		Engine: e, Features: e, Performance: settings.Performance{Engine: settings.EngineCPU}, Program: "p", MadeBy: text("a test"), Machine: "a machine", SaveEvery: 1, Follower: f,
	})
}

func open(t *testing.T, dir string, d Description) *Store {
	t.Helper()
	s, err := Open(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, name := range d.Jobs { // of a model that takes no time
		job, _ := ParseJob(name)
		e, err := s.experiment(job.Cell)
		if err != nil {
			t.Fatal(err)
		}
		e.Model = "linear"
		s.experiments[job.Cell] = e
	}
	return s
}

// released returns the released files of all runs of a campaign.
func released(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join(dir, runsName)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(path, "/released/") {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A campaign with a seed that is cut off again and again, and goes on each time, releases the bytes of one that isn't.
// A campaign that has all its runs trains nothing.
func TestCampaign(t *testing.T) {
	seed := uint64(7)
	jobs, names := glyphs(min(2, long.Times()), Single, Variant1, Baseline)
	d := Description{Scale: small, Seed: &seed, Jobs: names}
	whole, cut := t.TempDir(), t.TempDir()
	s := open(t, whole, d)
	if _, err := Open(whole, d); !errors.Is(err, ErrBusy) {
		t.Errorf("a second process: %v", err)
	}
	e := cpu.New(cpu.Options{})
	if err := carry(t, t.Context(), s, e, &quiet{}); err != nil {
		t.Fatal(err)
	}
	scan, err := s.Scan(jobs)
	if err != nil || len(scan.Finished) != len(jobs) {
		t.Fatalf("%d of %d, %v", len(scan.Finished), len(jobs), err)
	}
	for _, job := range jobs {
		r := scan.Finished[job]
		if r.Job != job || r.Accuracy <= 0 || r.Accuracy > 1 || r.Machine != "a machine" || r.MadeBy != "a test" || r.Seconds <= 0 || !(r.ProcessorSeconds > 0) {
			t.Errorf("%+v", r)
		}
		baseline := scan.Finished[job.Of(Baseline)]
		switch {
		case job.Method != Single && (r.Epsilon > 4 || r.Epsilon < 3.99):
			t.Errorf("%s: epsilon %v", job, r.Epsilon)
		case job.Method == Single && (r.Epsilon >= 4 || r.NoiseMultiplier != baseline.NoiseMultiplier || r.LearningRate != baseline.LearningRate || r.Trials != 0):
			t.Errorf("%+v beside %+v", r, baseline)
		}
	}
	l, err := ledger.Open(s.Runs())
	if err != nil {
		t.Fatal(err)
	}
	if all, err := l.Releases(); err != nil || len(all) != len(jobs) || !all[0].Void {
		t.Errorf("%d releases, %v", len(all), err)
	}
	if err := carry(t, t.Context(), s, nil, &quiet{}); err != nil { // without an engine
		t.Error(err)
	}

	again := open(t, cut, d)
	for stops := 0; ; stops++ {
		ctx, cancel := context.WithCancel(t.Context())
		left := 1 + 3*stops*stops // reports until it is cut off: later each time
		err := carry(t, ctx, again, e, &quiet{working: func(float64) {
			if left--; left == 0 {
				cancel()
			}
		}})
		cancel()
		if err == nil {
			if stops < 3 {
				t.Errorf("cut off %d times", stops)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || stops > 1000 {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(released(t, whole), released(t, cut)); diff != "" {
		t.Error(diff)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	other := d
	if other.Seed = nil; true {
		if _, err := Open(cut, other); !errors.Is(err, ErrOther) {
			t.Errorf("without the seed: %v", err)
		}
	}
	other = d
	if other.Scale = (Scale{}); true {
		if _, err := Open(cut, other); !errors.Is(err, ErrOther) {
			t.Errorf("at full size: %v", err)
		}
	}
}

// faulty is an engine all of whose runs fail as long as count is above 0.
type faulty struct {
	train.Engine
	count *int
}

func (f faulty) Load(p *compile.Program, d *engine.Data) (engine.Loaded, error) {
	l, err := f.Engine.Load(p, d)
	return faultyLoaded{l, f.count}, err
}

type faultyLoaded struct {
	engine.Loaded
	count *int
}

func (f faultyLoaded) Start(jobs ...engine.Job) (engine.Runs, error) {
	r, err := f.Loaded.Start(jobs...)
	return faultyRuns{r, f.count, len(jobs)}, err
}

type faultyRuns struct {
	engine.Runs
	count *int
	runs  int
}

func (f faultyRuns) Steps(ctx context.Context, steps ...int) error {
	if *f.count <= 0 {
		return f.Runs.Steps(ctx, steps...)
	}
	*f.count--
	failed := make(engine.RunErrors, f.runs)
	for i := range failed {
		failed[i] = errors.New("a fault")
	}
	return failed
}

// A run that fails is carried out once more, by another key, and one that fails again is left, with its single run.
func TestFailedRuns(t *testing.T) {
	for _, c := range []struct{ faults, finished, failed int }{{1, 2, 0}, {2, 0, 1}} {
		jobs, names := glyphs(1, Baseline, Single)
		dir := t.TempDir()
		many := Scale{Epochs: 0.05, Trials: 2} // trials, so that there is one
		s := open(t, dir, Description{Scale: many, Jobs: names})
		count := c.faults
		if err := carry(t, t.Context(), s, faulty{cpu.New(cpu.Options{}), &count}, &quiet{}); err != nil {
			t.Fatal(err)
		}
		scan, err := s.Scan(jobs)
		if err != nil || len(scan.Finished) != c.finished || len(scan.Failed) != c.failed || !scan.Repeated[jobs[0]] {
			t.Errorf("%d faults: %+v, %v", c.faults, scan, err)
		}
		st, err := s.Status(jobs, scan)
		if err != nil || st.Finished != c.finished || len(st.Failed) != c.failed || st.Total != 2 || st.Repeated != 1 {
			t.Errorf("%d faults: %+v, %v", c.faults, st, err)
		}
		if info, err := runs.Open(filepath.Join(s.Runs(), jobs[0].Name()+failedSuffix)); err != nil || info.Stage != runs.Failed {
			t.Errorf("%d faults: the first run is %+v, %v", c.faults, info, err)
		}
		if err := carry(t, t.Context(), s, nil, &quiet{}); err != nil {
			t.Errorf("%d faults: once more: %v", c.faults, err)
		}
	}
}

// A budget that no noise meets leaves out its own runs alone.
func TestInfeasibleBudgets(t *testing.T) {
	possible := Job{Cell{"glyphs", "dp-sgd", Rate, Variant1, "paper", 4}, 1}
	impossible := possible
	impossible.Epsilon = 1e-3
	jobs := []Job{impossible, possible}
	s := open(t, t.TempDir(), Description{Scale: small, Jobs: []string{impossible.Name(), possible.Name()}})
	share := 0.0
	f := &quiet{working: func(now float64) { share = now }}
	if err := carry(t, t.Context(), s, cpu.New(cpu.Options{}), f); err != nil || share < 0.99 || f.ended != 2 || f.failed != 1 {
		t.Fatalf("%v, share %v, %d jobs have ended, %d without a model", err, share, f.ended, f.failed)
	}
	scan, err := s.Scan(jobs)
	if err != nil || len(scan.Finished) != 1 || scan.Finished[possible].Job != possible || len(scan.Failed) != 0 {
		t.Errorf("%+v, %v", scan, err)
	}
	said := strings.Join(f.texts, "\n")
	if strings.Count(said, impossible.Cell.String()+" can't be run: ") != 1 {
		t.Errorf("said %q", said)
	}
}

// Another run in a job's place is an error that names it, and is never counted.
func TestOthersInTheirPlace(t *testing.T) {
	jobs, names := glyphs(1, Variant1, Variant2)
	dir := t.TempDir()
	s := open(t, dir, Description{Scale: small, Jobs: names[:1]})
	if err := carry(t, t.Context(), s, cpu.New(cpu.Options{}), &quiet{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.runDir(jobs[0]), s.runDir(jobs[1])); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Scan(jobs); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), jobs[1].Name()) {
		t.Errorf("variant 1 in the place of variant 2: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(s.runDir(jobs[1]), "private")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Scan(jobs); err == nil {
		t.Error("without its settings: no error")
	}
}

// A description of a later version, or a damaged one, is refused, and stays as it is.
func TestDamagedDescriptions(t *testing.T) {
	for _, content := range []string{"", "{", `{"version": 2}`, `{"version": 0}`, "[]"} {
		dir := t.TempDir()
		path := filepath.Join(dir, descriptionName)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, Description{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", content, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, []byte(content)) {
			t.Errorf("%q became %q, %v", content, now, err)
		}
	}
}

// The pace of a machine is positive, and grows with the minibatch.
func TestMeasure(t *testing.T) {
	p := Pace{"mnist dp-sgd": {1, 1}}
	e := cpu.New(cpu.Options{})
	cells := []Cell{{"glyphs", "dp-adam", Rate, Variant1, "paper", 1}, {"mnist", "dp-sgd", Rate, Variant1, "paper", 1}, {"glyphs", "dp-adam", All, Baseline, "best", 2}}
	calls := 0
	if err := p.Measure(t.Context(), e, cells, func(done, total int) {
		if calls++; done != 0 || total != 3 {
			t.Errorf("%d of %d", done, total)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if s := p["glyphs dp-adam"]; calls != 1 || len(p) != 2 || s.Fixed < 0 || s.Sample <= 0 || p["mnist dp-sgd"] != (Step{1, 1}) {
		t.Errorf("%d calls, %+v", calls, p)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (Pace{}).Measure(cancelled, e, cells, func(int, int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
