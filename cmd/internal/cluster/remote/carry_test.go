package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// follows is a follower that passes on the share that is done, if working isn't nil.
type follows struct{ working func(float64) }

func (follows) Note(string)                       {}
func (follows) Warn(string)                       {}
func (follows) Progress(float64, float64, string) {}
func (follows) Tuning(tuner.PrivateProgress)      {}
func (f follows) Working(share float64) {
	if f.working != nil {
		f.working(share)
	}
}

// settingsOf returns the settings of a run on the built-in digits that takes no time.
func settingsOf(t *testing.T, tune bool, overrides ...string) experiment.Settings {
	t.Helper()
	all := []settings.Override{
		{Key: "preset", Value: "glyphs"}, {Key: "privacy.epochs", Value: "0.5"},
		{Key: "privacy.mean_repetitions", Value: "3"}, {Key: "privacy.accounting", Value: "paper"},
	}
	if !slices.ContainsFunc(overrides, func(o string) bool { return strings.HasPrefix(o, "model=") }) {
		overrides = append(overrides, "model=linear")
	}
	for _, text := range overrides {
		o, err := settings.ParseOverride(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	e, err := settings.Resolve(settings.File{}, all)
	if err != nil {
		t.Fatal(err)
	}
	return experiment.Settings{Experiment: e, Tune: tune}
}

func newJob(t *testing.T, run string, key uint64, s experiment.Settings) Job {
	return Job{Run: run, Name: "the run " + run, Settings: s, Key: train.InsecureKey(key)}
}

func newWorker(e train.Engine) *Worker {
	return &Worker{Engine: e, Features: e, Performance: settings.Performance{Engine: settings.EngineCPU}, Program: "p", Name: "a machine"}
}

// glyphs is a worker for all tests that need nothing special.
var glyphs = sync.OnceValue(func() *Worker { return newWorker(cpu.New(cpu.Options{})) })

// alone returns the outcome of a job that package experiment carries out by itself.
func alone(t *testing.T, j Job) (experiment.Outcome, *experiment.Plan) {
	t.Helper()
	e := cpu.New(cpu.Options{})
	p, err := experiment.New(j.Settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Settle(), p.Load(t.Context(), e, follows{})); err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context(), e, experiment.Options{Key: j.Key}, follows{})
	if err != nil {
		t.Fatal(err)
	}
	return out, p
}

// A result has the files that the run alone writes, beside others and after its way through the encodings.
func TestCarryOut(t *testing.T) {
	seeded := settingsOf(t, true)
	seeded.InsecureSeed = new(uint64(3))
	for _, group := range [][]Job{
		{newJob(t, "a", 1, settingsOf(t, true)), newJob(t, "b", 2, settingsOf(t, true)), newJob(t, "c", 3, seeded)},
		{newJob(t, "d", 4, settingsOf(t, false)), newJob(t, "e", 5, settingsOf(t, false, "training.learning_rate=0.7"))},
	} {
		var jobs []Job
		for _, j := range group {
			text, err := j.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			again, err := UnmarshalJob(text)
			if err != nil {
				t.Fatal(err)
			}
			again.Key = j.Key
			jobs = append(jobs, again)
		}
		share := 0.0
		results, err := glyphs().CarryOut(t.Context(), jobs, follows{func(now float64) { share = now }})
		if err != nil || share < 0.99 {
			t.Fatal(err, share)
		}
		for k, j := range group {
			text, err := results[k].Marshal()
			if err != nil {
				t.Fatal(err)
			}
			r, err := UnmarshalResult(text)
			if err != nil {
				t.Fatal(err)
			}
			want, plan := alone(t, j)
			dir := t.TempDir()
			if err := want.Release.Write(dir); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != len(r.Released) {
				t.Errorf("%d files, and the result has %d, %v", len(entries), len(r.Released), err)
			}
			for _, e := range entries {
				content, err := os.ReadFile(filepath.Join(dir, e.Name()))
				if diff := cmp.Diff(string(content), string(r.Released[e.Name()])); err != nil || diff != "" {
					t.Errorf("run %s: %s: %v %s", j.Run, e.Name(), err, diff)
				}
			}
			identity, err := plan.Identity("p")
			if err != nil || r.Run != j.Run || r.Failure != "" || r.Machine != "a machine" || r.Identity != identity || r.Score != want.Release.Score {
				t.Errorf("%+v, %v", r, err)
			}
			var private struct{ Trials []struct{ Seconds float64 } }
			if err := json.Unmarshal(r.Private, &private); err != nil || (len(private.Trials) > 0) != j.Settings.Tune {
				t.Errorf("run %s: %d trials, %v", j.Run, len(private.Trials), err)
			}
			digest, err := plan.DataDigest()
			if got, errJob := glyphs().DataDigest(t.Context(), j, follows{}); err != nil || errJob != nil || got != digest {
				t.Errorf("data %x, want %x, %v, %v", got, digest, err, errJob)
			}
		}
	}
}

// failing is an engine whose runs all fail, by the given error.
type failing struct {
	train.Engine
	err error
}

func (f failing) Load(p *compile.Program, d *engine.Data) (engine.Loaded, error) {
	l, err := f.Engine.Load(p, d)
	return failingLoaded{l, f.err}, err
}

type failingLoaded struct {
	engine.Loaded
	err error
}

func (f failingLoaded) Start(jobs ...engine.Job) (engine.Runs, error) {
	r, err := f.Loaded.Start(jobs...)
	return failingRuns{r, f.err, len(jobs)}, err
}

type failingRuns struct {
	engine.Runs
	err  error
	jobs int
}

func (f failingRuns) Steps(context.Context, ...int) error {
	if errors.Is(f.err, errLost) {
		return f.err
	}
	all := make(engine.RunErrors, f.jobs)
	for k := range all {
		all[k] = f.err
	}
	return all
}

var errLost = fmt.Errorf("a test: %w", train.ErrLost)

// A run that gives no model has a result, with its reason on one line. The worker's own fault is an error.
func TestFailures(t *testing.T) {
	j := newJob(t, "a", 1, settingsOf(t, false))
	for _, c := range []struct {
		err     error
		failure string
	}{
		{errors.New("a\nfault \x1b[2J"), "a fault  [2J"},
		{&os.PathError{Op: "write", Path: "x", Err: errors.New("full")}, ""},
		{errLost, ""},
	} {
		m := newWorker(failing{cpu.New(cpu.Options{}), c.err})
		r, err := m.CarryOut(t.Context(), []Job{j}, follows{})
		switch {
		case c.failure == "" && !(errors.Is(err, c.err) && OfWorker(err)):
			t.Errorf("%v: %v", c.err, err)
		case c.failure != "" && (err != nil || !strings.Contains(r[0].Failure, c.failure) || r[0].Released != nil || r[0].Private != nil || r[0].Identity == ""):
			t.Errorf("%v: %+v, %v", c.err, r, err)
		}
	}
	impossible := newJob(t, "b", 1, settingsOf(t, true, "privacy.epsilon=0.001"))
	if r, err := glyphs().CarryOut(t.Context(), []Job{impossible}, follows{}); err != nil || r[0].Run != "b" || !strings.Contains(r[0].Failure, "can't be met") {
		t.Errorf("%+v, %v", r, err)
	}
	beside := newJob(t, "c", 1, settingsOf(t, true))
	both, err := glyphs().CarryOut(t.Context(), []Job{impossible, beside}, follows{})
	if err != nil || both[0].Run != "b" || both[0].Failure == "" || both[0].Released != nil || both[1].Run != "c" || both[1].Failure != "" || both[1].Released == nil {
		t.Errorf("beside one that fails: %v, %v", both, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := glyphs().CarryOut(cancelled, []Job{j}, follows{}); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
}

// Jobs that can't be carried out are errors before anything is trained.
func TestJobsThatCannotBeCarriedOut(t *testing.T) {
	j := newJob(t, "a", 1, settingsOf(t, false))
	trials, keyless := j, j
	trials.Trials, keyless.Key = []int{1}, train.Key{}
	other := trials
	other.Trials, other.Key = []int{2}, train.InsecureKey(2)
	for name, jobs := range map[string][]Job{
		"the plan trains once": {trials},
		"no key":               {keyless},
		"two keys":             {trials, other},
		"two groups":           {j, newJob(t, "b", 1, settingsOf(t, true))},
	} {
		if r, err := glyphs().CarryOut(t.Context(), jobs, follows{}); err == nil || !strings.Contains(err.Error(), name) || r != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if r, err := glyphs().CarryOut(t.Context(), nil, follows{}); err != nil || len(r) != 0 {
		t.Errorf("no jobs: %+v, %v", r, err)
	}
}

// Own files are each worker's own: a job doesn't have their paths, and equal files have equal digests.
func TestOwnFiles(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y,class\n")
	for k := range 60 {
		text.WriteString([]string{"0.1,0.9,a\n", "0.8,0.2,b\n", "0.3,0.7,a\n"}[k%3])
	}
	file := func(dir, name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	public := strings.ReplaceAll(text.String(), "0.9", "0.95")
	here, there := t.TempDir(), t.TempDir()
	s := settingsOf(t, false)
	e, err := settings.Resolve(settings.File{}, []settings.Override{
		{Key: "data.train", Value: file(here, "secret-name.csv", text.String())}, {Key: "data.test", Value: file(here, "test.csv", public)},
		{Key: "data.label", Value: "class"}, {Key: "model", Value: "linear"}, {Key: "privacy.epochs", Value: "2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Experiment = e
	j := newJob(t, "a", 1, s)
	encoded, err := j.Marshal()
	if err != nil || strings.Contains(string(encoded), "secret-name") || strings.Contains(string(encoded), here) {
		t.Fatalf("%s, %v", encoded, err)
	}
	sent, err := UnmarshalJob(encoded)
	if err != nil {
		t.Fatal(err)
	}
	sent.Key = j.Key
	if sent.Group() != j.Group() {
		t.Error("the group depends on paths")
	}
	var results []Result
	var digests [][32]byte
	for _, content := range []string{text.String(), text.String(), strings.Replace(text.String(), "0.3", "0.31", 1)} {
		m := newWorker(cpu.New(cpu.Options{}))
		m.Train, m.Test = file(there, "train.csv", content), file(there, "test.csv", public)
		digest, err := m.DataDigest(t.Context(), sent, follows{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.CarryOut(t.Context(), []Job{sent}, follows{})
		if err != nil {
			t.Fatal(err)
		}
		results, digests = append(results, r...), append(digests, digest)
	}
	if digests[0] != digests[1] || digests[0] == digests[2] {
		t.Errorf("digests of data %x", digests)
	}
	if equal := func(k int) bool { return maps.EqualFunc(results[0].Released, results[k].Released, bytes.Equal) }; !equal(1) || equal(2) || results[0].Identity == results[2].Identity {
		t.Error("equal data give other models, or others equal ones")
	}
	want, _ := alone(t, j)
	if want.Release.Score != results[0].Score {
		t.Errorf("score %v, and alone %v", results[0].Score, want.Release.Score)
	}
	if _, err := glyphs().DataDigest(t.Context(), sent, follows{}); err == nil {
		t.Error("a worker without files: no error")
	}
}
