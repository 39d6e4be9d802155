package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

var build = cluster.Build{Version: "test", Hash: "a", Platform: "test"}

// written writes a file of n rows with two classes, and returns its path.
func written(t *testing.T, name string, n int) string {
	t.Helper()
	text := strings.Builder{}
	text.WriteString("a,b,y\n")
	for i := range n {
		fmt.Fprintf(&text, "%v,%v,%d\n", float64(i%17)/17, float64(i%5)/5, i%2)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ownFiles returns a tuning of some trials on own files.
func ownFiles(t *testing.T, training, test, variant string) experiment.Settings {
	t.Helper()
	var overrides []settings.Override
	for _, o := range [][2]string{
		{"dataset", "files"}, {"data.train", training}, {"data.test", test}, {"data.label", "y"}, {"privacy.variant", variant},
		{"privacy.mean_repetitions", "4"}, {"privacy.epochs", "1"}, {"privacy.sampling_rate", "0.1"},
	} {
		overrides = append(overrides, settings.Override{Key: o[0], Value: o[1]})
	}
	e, err := settings.Resolve(settings.File{}, overrides)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(3)
	return experiment.Settings{Experiment: e, Tune: true, InsecureSeed: &seed}
}

func loaded(t *testing.T, s experiment.Settings) *experiment.Plan {
	t.Helper()
	p, err := experiment.New(s)
	if err == nil {
		err = errors.Join(p.Settle(), p.Load(t.Context(), nil, follows{}))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fixture is a server with a board.
type fixture struct {
	t     *testing.T
	file  cluster.File
	board *cluster.Board
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	server, err := cluster.Embed(t.TempDir(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	s := &fixture{t: t, file: server.File}
	if s.board, err = s.connect().Board(t.Context(), "campaign", build, follows{}.Note); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.board.Close)
	return s
}

func (s *fixture) connect() *cluster.Conn {
	s.t.Helper()
	c, err := cluster.Connect(s.t.Context(), s.file, "test", func(error) {})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// work starts a worker with copies of files, until stop is called.
func (s *fixture) work(training, test string, wrap func(Executor) cluster.Executor) (stop func()) {
	s.t.Helper()
	hash, err := HashFiles(training, test)
	if err != nil {
		s.t.Fatal(err)
	}
	m := &Worker{Engine: cpu.New(cpu.Options{}), Program: "a", Train: training, Test: test}
	ctx, cancel := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	conn := s.connect()
	running.Go(func() {
		_, err := conn.Serve(ctx, cluster.Worker{Build: build, Lanes: Lanes(nil, hash, "cpu"), GroupSize: 2, Idle: -1, Tell: follows{}.Note, Working: func([]cluster.Job, float64) {}}, wrap(Executor{Worker: m, Follower: follows{}}))
		if !errors.Is(err, context.Canceled) {
			s.t.Error(err)
		}
	})
	return func() { cancel(); running.Wait(); m.Close() }
}

// A tuning of own files whose trials workers train releases what it releases alone, even if a worker hands in no
// outcome, or one trial's outcome for another's.
func TestTrialsByWorkers(t *testing.T) {
	training, test := written(t, "train.csv", 400), written(t, "test.csv", 100)
	for variant, spoil := range map[string]bool{"1": false, "baseline": true} {
		settings := ownFiles(t, training, test, variant)
		p := loaded(t, settings)
		key := p.Key()
		want, err := p.Run(t.Context(), cpu.New(cpu.Options{}), experiment.Options{Key: key}, follows{})
		if err != nil {
			t.Fatal(err)
		}
		s := newFixture(t)
		hash, err := HashFiles(training, test)
		if err != nil {
			t.Fatal(err)
		}
		// The worker's files have other paths.
		stop := s.work(written(t, "other.csv", 400), written(t, "names.csv", 100), func(e Executor) cluster.Executor {
			if spoil {
				return &spoiler{Executor: e, seen: map[string]bool{}}
			}
			return e
		})
		digest, err := p.DataDigest()
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		trials := &Trials{
			Workers: Workers{Board: s.board, Files: hash}, Data: digest[:], Job: Job{Run: "run1", Name: "trials", Settings: settings},
			Tell: func(text string) { told = append(told, text) },
		}
		got, err := p.Run(t.Context(), cpu.New(cpu.Options{}), experiment.Options{Key: key, Trials: trials}, follows{})
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parameters(want), parameters(got)); diff != "" {
			t.Errorf("variant %s (-here +by workers)\n%s", variant, diff)
		}
		if spoil != (len(told) > 0) {
			t.Errorf("variant %s: told %q", variant, told)
		}
	}
}

// scripted has one result for every job.
type scripted struct {
	result Result
	data   []byte // of the last job
	did    int
}

func (s *scripted) Data(_ context.Context, j cluster.Job) ([]byte, error) {
	s.data = j.Data
	return []byte("digest"), nil
}

func (s *scripted) Do(context.Context, []cluster.Job, func(float64)) ([][]byte, error) {
	s.did++
	body, err := s.result.Marshal()
	return [][]byte{body}, err
}

func delivered(t *testing.T, run string) Result {
	t.Helper()
	text, err := tuner.MarshalOutcomes([]tuner.PrivateOutcome{{Trial: 4, Score: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	return Result{Run: run, Machine: "a machine", Trials: text}
}

// An outcome stays on the server until it is kept. A trial whose outcome is another run's every time ends the tuning.
func TestOutcomesThatArentKept(t *testing.T) {
	full := errors.New("the disk is full")
	training, test := written(t, "train.csv", 40), written(t, "test.csv", 10)
	hash, err := HashFiles(training, test)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		run       string
		want      error
		did, left int
	}{{"run1", full, 1, 1}, {"run2", tuner.ErrOutcome, 1 + tries, 1}} {
		s := newFixture(t)
		worker := &scripted{result: delivered(t, c.run)}
		stop := s.work(training, test, func(Executor) cluster.Executor { return worker })
		trials := &Trials{
			Workers: Workers{Board: s.board, Files: hash}, Data: []byte("digest"), Tell: func(string) {},
			Job: Job{Run: "run1", Settings: ownFiles(t, training, test, "1")},
		}
		err := trials.Run(t.Context(), tuner.Plan{}, []int{4}, func(tuner.PrivateOutcome) error { return full })
		stop()
		left, errStatus := s.connect().Status(t.Context())
		if !errors.Is(err, c.want) || worker.did != c.did || string(worker.data) != "digest" || int(left.Results) != c.left || errStatus != nil {
			t.Errorf("%s: %v, done %d times, %d results are left, %v", c.run, err, worker.did, left.Results, errStatus)
		}
	}
}

// Runs side by side have their own keys each, and report progress. What this worker can't do is left to others.
func TestExecutor(t *testing.T) {
	training, test := written(t, "train.csv", 400), written(t, "test.csv", 100)
	settings := ownFiles(t, training, test, "1")
	settings.Tune = false
	job := func(run string, trials ...int) cluster.Job {
		body, err := Job{Run: run, Settings: settings, Trials: trials}.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		key := train.InsecureKey(uint64(run[0]))
		return cluster.Job{ID: run, Body: body, Secret: key[:]}
	}
	worker := &Worker{Engine: cpu.New(cpu.Options{}), Program: "a", Train: training, Test: test}
	defer worker.Close()
	e := Executor{Worker: worker, Follower: follows{}}
	share := 0.0
	model := func(jobs ...cluster.Job) []byte {
		bodies, err := e.Do(t.Context(), jobs, func(now float64) { share = now })
		if err != nil {
			t.Fatal(err)
		}
		r, err := UnmarshalResult(bodies[len(bodies)-1])
		if err != nil {
			t.Fatal(err)
		}
		return r.Released["model.safetensors"]
	}
	if alone, beside := model(job("b")), model(job("a"), job("b")); len(alone) == 0 || !bytes.Equal(alone, beside) || share < 0.99 {
		t.Errorf("%d bytes of a model, and others beside another run; share %v", len(alone), share)
	}
	if _, err := e.Do(t.Context(), []cluster.Job{job("a", 1)}, func(float64) {}); !errors.Is(err, cluster.ErrCannot) {
		t.Errorf("trials of a run without any: %v", err)
	}
	e.Worker = &Worker{Engine: cpu.New(cpu.Options{})}
	if _, err := e.Data(t.Context(), job("a")); !errors.Is(err, cluster.ErrCannot) {
		t.Errorf("without files: %v", err)
	}
}

func parameters(o experiment.Outcome) any {
	var out [][]float32
	for _, p := range o.Release.Parameters {
		out = append(out, p.Values)
	}
	return []any{out, o.Release.Score, fmt.Sprintf("%+v", o.Release.Privacy)}
}

// spoiler spoils the results of the first jobs that it does.
type spoiler struct {
	Executor
	seen map[string]bool
}

func (s *spoiler) Do(ctx context.Context, jobs []cluster.Job, progress func(float64)) ([][]byte, error) {
	bodies, err := s.Executor.Do(ctx, jobs, progress)
	if err != nil {
		return nil, err
	}
	first := len(s.seen) == 0
	if len(bodies) > 1 && first {
		slices.Reverse(bodies)
	} else if first {
		bodies[0] = []byte("{}")
	}
	for _, j := range jobs {
		s.seen[j.ID] = true
	}
	return bodies, nil
}

// Workers take what the coordinator posts for them: on their data, and their engine or any.
func TestLanes(t *testing.T) {
	jobs := map[string]string{"": "mnist-any", "auto": "mnist-any", "cpu": "mnist-cpu", "cuda": "mnist-cuda"}
	for engine, want := range jobs {
		j := Job{Settings: experiment.Settings{Experiment: settings.Experiment{Dataset: "mnist"}}}
		if got := (&Workers{Engine: engine}).lane(j); got != want {
			t.Errorf("engine %q: lane %q, want %q", engine, got, want)
		}
	}
	if got, want := Lanes([]string{"mnist"}, "", "cuda"), []string{"mnist-cuda", "mnist-any"}; !reflect.DeepEqual(got, want) {
		t.Errorf("lanes %q, want %q", got, want)
	}
	j := Job{Settings: experiment.Settings{Experiment: settings.Experiment{Dataset: settings.Files}}}
	if lane := (&Workers{Files: "abc"}).lane(j); !slices.Contains(Lanes(nil, "abc", "cpu"), lane) || slices.Contains(Lanes(nil, "abd", "cpu"), lane) {
		t.Errorf("own files: lane %q", lane)
	}
}

func TestHashFiles(t *testing.T) {
	a, b := written(t, "a.csv", 3), written(t, "b.csv", 4)
	seen := map[string]bool{}
	for _, pair := range [][2]string{{a, a}, {a, b}, {b, a}, {b, b}, {a, ""}, {b, ""}} {
		h, err := HashFiles(pair[0], pair[1])
		if err != nil || seen[h] {
			t.Errorf("%q: %s, %v", pair, h, err)
		}
		seen[h] = true
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none"), os.DevNull} {
		if _, err := HashFiles(a, path); err == nil {
			t.Errorf("%s has a hash", path)
		}
	}
}

// A result that can't be read, such as another version's of dptrain, or that is of another run, says so by its check.
func TestResultsThatCantBeRead(t *testing.T) {
	training, test := written(t, "train.csv", 400), written(t, "test.csv", 100)
	settings := ownFiles(t, training, test, "1")
	p := loaded(t, settings)
	hash, err := HashFiles(training, test)
	if err != nil {
		t.Fatal(err)
	}
	s := newFixture(t)
	f := &Workers{Board: s.board, Files: hash}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if r, err := f.Next(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %+v, %v", r, err)
	}
	defer s.work(training, test, func(e Executor) cluster.Executor { return &garbler{Executor: e} })()
	job := Job{Run: "run1", Name: "a run", Settings: settings, Key: p.Key()}
	earlier := cluster.Job{ID: "earlier", Lane: f.lane(job), Group: "g", Secret: job.Key[:]}
	if earlier.Body, err = job.Marshal(); err == nil {
		err = s.board.Post(t.Context(), earlier) // its result is of another run
	}
	if err = errors.Join(err, f.Post(t.Context(), job)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for left := map[string]string{"run1": "decode a result", "earlier": "another run"}; len(left) > 0; {
		r, err := f.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil { // none came for a while
			continue
		}
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), left[r.Run]) {
			t.Errorf("%s: %v", r.Run, err)
		}
		delete(left, r.Run)
	}
}

// garbler hands in a result that can't be read for the job run1.
type garbler struct{ Executor }

func (g *garbler) Do(ctx context.Context, jobs []cluster.Job, progress func(float64)) ([][]byte, error) {
	bodies, err := g.Executor.Do(ctx, jobs, progress)
	for k := range bodies {
		if jobs[k].ID == "run1" {
			bodies[k] = []byte("{}")
		}
	}
	return bodies, err
}
