package campaign

import (
	"context"
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

	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/tuner"
)

// errCut ends a coordinator that is to be cut off.
var errCut = errors.New("cut off")

// posts are Workers with one worker. They outlive their coordinators.
type posts struct {
	worker *remote.Worker
	spoil  func(number int, r remote.Result) []remote.Result // returns the results to hand in instead
	want   int
	cutAt  int // the number of the call that fails; 0 for none

	calls   int
	keys    map[string][]byte // of all jobs that were ever posted
	waiting map[string]remote.Job
	done    []string
	carried map[string]int
	number  int                        // of results that were made
	made    []remote.Result            // not returned yet
	kept    map[string][]remote.Result // not done, by run
}

func newPosts(w *remote.Worker) *posts {
	return &posts{worker: w, want: 3, keys: map[string][]byte{}, waiting: map[string]remote.Job{}, carried: map[string]int{}, kept: map[string][]remote.Result{}}
}

// call counts a call, and fails the one at which the coordinator is cut off.
func (p *posts) call() error {
	p.calls++
	if p.calls == p.cutAt {
		return errCut
	}
	return nil
}

// restart makes ready for another coordinator, which gets all results again that aren't done.
func (p *posts) restart() {
	p.made = nil
	for _, run := range slices.Sorted(maps.Keys(p.kept)) {
		p.made = append(p.made, p.kept[run]...)
	}
}

func (p *posts) Want() int { return p.want }

func (p *posts) Post(_ context.Context, j remote.Job) error {
	text, err := j.Marshal()
	if err != nil {
		return err
	}
	key, known := p.keys[j.Run]
	if known && !slices.Equal(key, j.Key[:]) {
		return fmt.Errorf("run %s is posted with another key", j.Run)
	}
	p.keys[j.Run] = slices.Clone(j.Key[:])
	if len(p.kept[j.Run]) == 0 {
		again, err := remote.UnmarshalJob(text)
		if err != nil {
			return err
		}
		again.Key = j.Key
		p.waiting[j.Run] = again
	}
	return p.call()
}

func (p *posts) Next(ctx context.Context) (*remote.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(p.made) == 0 {
		if err := p.work(ctx); err != nil {
			return nil, err
		}
	}
	if len(p.made) == 0 {
		return nil, nil
	}
	r := p.made[0]
	p.made = p.made[1:]
	return &r, p.call()
}

// work carries out the first job.
func (p *posts) work(ctx context.Context) error {
	if runs := slices.Sorted(maps.Keys(p.waiting)); len(runs) > 0 {
		run, j := runs[0], p.waiting[runs[0]]
		all, err := p.worker.CarryOut(ctx, []remote.Job{j}, follows{})
		if err != nil {
			return err
		}
		delete(p.waiting, run)
		p.carried[run]++
		if p.spoil != nil {
			all = p.spoil(p.number, all[0])
			p.number++
		}
		p.kept[run] = append(p.kept[run], all...)
		p.made = append(p.made, all...)
	}
	return nil
}

func (p *posts) Done(_ context.Context, run string) error {
	if err := p.call(); err != nil {
		return err
	}
	delete(p.kept, run)
	delete(p.waiting, run)
	p.done = append(p.done, run)
	return nil
}

// follows is a follower that ignores all reports.
type follows struct{}

func (follows) Note(string)                       {}
func (follows) Warn(string)                       {}
func (follows) Progress(float64, float64, string) {}
func (follows) Tuning(tuner.PrivateProgress)      {}
func (follows) Working(float64)                   {}

// one is a worker for all tests, which settles plans and loads data once.
var one = sync.OnceValue(func() *remote.Worker {
	e := cpu.New(cpu.Options{})
	return &remote.Worker{Engine: e, Features: e, Program: "p", Name: "another machine", Performance: settings.Performance{Engine: settings.EngineCPU}}
})

// direct has workers carry out the jobs that a store lacks.
func direct(t *testing.T, ctx context.Context, s *Store, p *posts, f *quiet) error {
	t.Helper()
	jobs, err := s.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	scan, err := s.Scan(jobs)
	if err != nil {
		t.Fatal(err)
	}
	p.restart()
	return s.Work(ctx, jobs, scan, distributing(p, f))
}

func distributing(p *posts, f *quiet) Options {
	return Options{Workers: p, Performance: settings.Performance{Engine: settings.EngineCPU, Devices: []int{}}, Program: "p", MadeBy: text("a test"), Follower: f}
}

// finishedAll checks that a store has all its runs, each once in the ledger, and no key.
func finishedAll(t *testing.T, s *Store) map[Job]Result {
	t.Helper()
	jobs, err := s.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	scan, err := s.Scan(jobs)
	if err != nil || len(scan.Finished) != len(jobs) {
		t.Fatalf("%d of %d runs, %v", len(scan.Finished), len(jobs), err)
	}
	if n := releases(t, s); n != len(jobs) {
		t.Errorf("%d releases of %d runs", n, len(jobs))
	}
	if keys, err := filepath.Glob(filepath.Join(s.Runs(), "*", "private", "key")); len(keys) > 0 || err != nil {
		t.Errorf("keys are left: %q, %v", keys, err)
	}
	return scan.Finished
}

func releases(t *testing.T, s *Store) int {
	t.Helper()
	l, err := ledger.Open(s.Runs())
	if err != nil {
		t.Fatal(err)
	}
	all, err := l.Releases()
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// A campaign with workers ends in the bytes of one that trains on its own machine, at whichever call of Workers its
// coordinator is cut off, and also if it goes on without workers.
func TestWorkers(t *testing.T) {
	seed := uint64(7)
	_, names := glyphs(1, Single, Variant1, Baseline)
	d := Description{Scale: small, Seed: &seed, Jobs: names}
	s := open(t, t.TempDir(), d)
	if err := carry(t, t.Context(), s, cpu.New(cpu.Options{}), &quiet{}); err != nil {
		t.Fatal(err)
	}
	want := released(t, s.dir)
	own, alone := finishedAll(t, s), s

	p := newPosts(one())
	s = open(t, t.TempDir(), d)
	if err := direct(t, t.Context(), s, p, &quiet{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, released(t, s.dir)); diff != "" {
		t.Error(diff)
	}
	for job, r := range finishedAll(t, s) {
		if r.Machine != "another machine" || r.Accuracy != own[job].Accuracy || r.Gradients != own[job].Gradients || r.Seconds <= 0 {
			t.Errorf("%+v, and on its own machine %+v", r, own[job])
		}
		i, errWorker := runs.Open(s.runDir(job))
		o, errOwn := runs.Open(alone.runDir(job))
		if errWorker != nil || errOwn != nil || len(i.Record.Key) != 64 || i.Record.Key != o.Record.Key || i.LearningRate == nil {
			t.Errorf("%+v, %v, and on its own machine %+v, %v", i, errWorker, o, errOwn)
		}
	}
	calls := p.calls
	if calls != 9 { // each run is posted, has its result and is done
		t.Errorf("%d calls", calls)
	}
	d.Jobs = []string{names[0], names[2]} // to save time
	maps.DeleteFunc(want, func(name, _ string) bool { return strings.Contains(name, string(Variant1)) })
	for cut := 1; cut <= calls*2/3; cut += 1 + 1/long.Times() { // make test takes every second
		p := newPosts(one())
		p.cutAt = cut
		s := open(t, t.TempDir(), d)
		if err := direct(t, t.Context(), s, p, &quiet{}); !errors.Is(err, errCut) {
			t.Fatalf("cut off at call %d: %v", cut, err)
		}
		again := func() error { return direct(t, t.Context(), s, p, &quiet{}) }
		if cut%3 == 0 {
			again = func() error { return carry(t, t.Context(), s, cpu.New(cpu.Options{}), &quiet{}) }
		}
		if err := again(); err != nil {
			t.Fatalf("after call %d: %v", cut, err)
		}
		if diff := cmp.Diff(want, released(t, s.dir)); diff != "" {
			t.Errorf("cut off at call %d: %s", cut, diff)
		}
		finishedAll(t, s)
		// The last result may be on the disk already, so that another coordinator has nothing to do.
		if cut%3 != 0 && (len(p.kept) > 1 || len(p.waiting) > 0) {
			t.Errorf("cut off at call %d: %d results and %d jobs are left", cut, len(p.kept), len(p.waiting))
		}
	}
}

// Runs that are out stay so when ctx is cancelled, as stopped runs without a lock, and can go on without workers.
func TestWorkersIsCancelled(t *testing.T) {
	jobs, names := glyphs(4, Variant1)
	s := open(t, t.TempDir(), Description{Scale: small, Jobs: names})
	ctx, cancel := context.WithCancel(t.Context())
	p := newPosts(one())
	p.spoil = func(int, remote.Result) []remote.Result { cancel(); return nil } // it is lost
	if err := direct(t, ctx, s, p, &quiet{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	out := 0
	for _, job := range jobs {
		i, err := runs.Open(s.runDir(job))
		if errors.Is(err, runs.ErrNoRun) {
			continue
		}
		if out++; err != nil || i.Stage != runs.Stopped || i.Running || i.Score != nil {
			t.Errorf("%+v, %v", i, err)
		}
		if key, err := os.ReadFile(filepath.Join(i.Dir, "private", "key")); err != nil || !slices.Equal(key, p.keys[i.Record.ID]) {
			t.Errorf("%s: %d bytes of a key, %v", job.Name(), len(key), err)
		}
	}
	if out != 3 || releases(t, s) != 3 {
		t.Errorf("%d runs are out, and %d are in the ledger", out, releases(t, s))
	}
	if err := carry(t, t.Context(), s, cpu.New(cpu.Options{}), &quiet{}); err != nil {
		t.Fatal(err)
	}
	finishedAll(t, s)
}

// Runs that are out are counted as such while their coordinator is there, and then as cut off.
func TestStatusOfRunsThatAreOut(t *testing.T) {
	jobs, names := glyphs(4, Variant1)
	s := open(t, t.TempDir(), Description{Scale: small, Jobs: names})
	look := func() Status {
		t.Helper()
		other, err := Look(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		other.experiments = s.experiments
		scan, err := other.Scan(jobs)
		if err != nil {
			t.Fatal(err)
		}
		st, err := other.Status(jobs, scan)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := newPosts(one())
	p.spoil = func(int, remote.Result) []remote.Result { cancel(); return nil }
	if err := direct(t, ctx, s, p, &quiet{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if st := look(); st.Out != 3 || st.CutOff != 0 || st.Running != 0 {
		t.Errorf("with a coordinator %+v", st)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if st := look(); st.Out != 0 || st.CutOff != 3 || st.Running != 0 {
		t.Errorf("without a coordinator %+v", st)
	}
}

// A budget that no noise meets leaves out its own runs alone, and they have no job for workers.
func TestWorkersInfeasibleBudgets(t *testing.T) {
	jobs, _ := glyphs(1, Variant1)
	impossible := jobs[0]
	impossible.Epsilon = 1e-3
	s := open(t, t.TempDir(), Description{Scale: small, Jobs: []string{impossible.Name(), jobs[0].Name()}})
	p, f := newPosts(one()), &quiet{}
	if err := direct(t, t.Context(), s, p, f); err != nil {
		t.Fatal(err)
	}
	scan, err := s.Scan([]Job{impossible, jobs[0]})
	if err != nil || len(scan.Finished) != 1 || len(p.keys) != 1 || releases(t, s) != 1 {
		t.Errorf("%+v, %d jobs, %v", scan, len(p.keys), err)
	}
	if said := strings.Join(f.texts, "\n"); strings.Count(said, impossible.Cell.String()+" can't be run: ") != 1 {
		t.Errorf("said %q", said)
	}
}

// A standing budget that refuses a release stops the campaign before any job of it is out.
func TestWorkersKeepsBudgets(t *testing.T) {
	jobs, names := glyphs(1, Variant1)
	s := open(t, t.TempDir(), Description{Scale: small, Jobs: names})
	l, err := ledger.Open(s.Runs())
	if err != nil {
		t.Fatal(err)
	}
	info, err := datasets.Describe("glyphs")
	if err == nil {
		err = l.SetBudget(t.Context(), ledger.Named("glyphs", info.Train), 1, 1e-5)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := newPosts(one())
	var refused *ledger.BudgetError
	if err := direct(t, t.Context(), s, p, &quiet{}); !errors.As(err, &refused) || len(p.keys) > 0 || releases(t, s) > 0 {
		t.Errorf("%v, %d jobs, %d releases", err, len(p.keys), releases(t, s))
	}
	i, err := runs.Open(s.runDir(jobs[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range i.Record.Moments {
		if strings.Contains(m.What, "training") {
			t.Errorf("training began before the release was recorded: %+v", i.Record.Moments)
		}
	}
	if _, err := l.RemoveBudget(t.Context(), ledger.Named("glyphs", info.Train)); err != nil {
		t.Fatal(err)
	}
	if err := direct(t, t.Context(), s, p, &quiet{}); err != nil {
		t.Fatal(err)
	}
	finishedAll(t, s)
}

// A run that was out and has lost its key begins anew, as another release, and a note says so.
func TestWorkersWithoutAKey(t *testing.T) {
	jobs, names := glyphs(1, Variant1)
	s := open(t, t.TempDir(), Description{Scale: small, Jobs: names})
	p := newPosts(one())
	p.cutAt = 1
	if err := direct(t, t.Context(), s, p, &quiet{}); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.runDir(jobs[0]), "private", "key")); err != nil {
		t.Fatal(err)
	}
	p, f := newPosts(one()), &quiet{}
	if err := direct(t, t.Context(), s, p, f); err != nil || len(p.keys) != 1 || releases(t, s) != 2 || !strings.Contains(strings.Join(f.texts, ""), "lost its key") {
		t.Errorf("%v, %d jobs, %d releases, said %q", err, len(p.keys), releases(t, s), f.texts)
	}
}
