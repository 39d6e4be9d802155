package campaign

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/cluster/remote"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
)

// A second result of a run changes nothing, whatever it says, whether this process filed the first or an earlier one.
func TestSecondResults(t *testing.T) {
	_, names := glyphs(2, Variant1)
	for _, earlier := range []bool{false, true} {
		s := open(t, t.TempDir(), Description{Scale: small, Jobs: names})
		p, f := newPosts(one()), &quiet{}
		var second remote.Result
		p.spoil = func(number int, r remote.Result) []remote.Result {
			if number > 0 {
				return []remote.Result{r}
			}
			second = remote.Result{Run: r.Run, Failure: "it diverged", Machine: "x"}
			if earlier {
				return []remote.Result{r}
			}
			return []remote.Result{r, second}
		}
		if earlier {
			p.want, p.cutAt = 1, 4 // the second job is posted
			if err := direct(t, t.Context(), s, p, f); !errors.Is(err, errCut) {
				t.Fatal(err)
			}
			p.kept[second.Run] = append(p.kept[second.Run], second)
		}
		if err := direct(t, t.Context(), s, p, f); err != nil || len(f.texts) > 0 || len(p.kept) > 0 {
			t.Errorf("earlier %t: %v, said %q, %d results aren't done", earlier, err, f.texts, len(p.kept))
		}
		for _, r := range finishedAll(t, s) {
			if r.Machine != "another machine" {
				t.Errorf("earlier %t: the run is machine %q's", earlier, r.Machine)
			}
		}
	}
}

// A result isn't filed into another run's folder that was put in the place of its own.
func TestResultsForOthersInTheirPlace(t *testing.T) {
	jobs, names := glyphs(1, Variant1)
	d := Description{Scale: small, Jobs: names}
	s, other := open(t, t.TempDir(), d), open(t, t.TempDir(), d)
	p := newPosts(one())
	p.cutAt = 1 // the run is out
	if err := direct(t, t.Context(), other, p, &quiet{}); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	p = newPosts(one())
	p.spoil = func(_ int, r remote.Result) []remote.Result {
		in := s.runDir(jobs[0])
		if err := errors.Join(os.Rename(in, in+"-away"), os.CopyFS(in, os.DirFS(other.runDir(jobs[0])))); err != nil {
			t.Error(err)
		}
		return []remote.Result{r}
	}
	if err := direct(t, t.Context(), s, p, &quiet{}); !errors.Is(err, ErrOther) || len(p.done) > 0 {
		t.Errorf("%v, done %q", err, p.done)
	}
	if entries, err := filepath.Glob(filepath.Join(s.Runs(), "*", "released")); len(entries) > 0 || err != nil {
		t.Errorf("%q, %v", entries, err)
	}
}

// A result that comes before the queue hands out its job, whose run was out before, waits for it. One of a run that
// was given up since is forgotten.
func TestResultsOfAnEarlierCoordinator(t *testing.T) {
	jobs, names := glyphs(3, Variant1)
	s := open(t, t.TempDir(), Description{Scale: small, Jobs: names})
	p := newPosts(one())
	p.cutAt = 4 // all are out, and none is done
	if err := direct(t, t.Context(), s, p, &quiet{}); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	for len(p.waiting) > 0 {
		if err := p.work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	id := func(job Job) string {
		i, err := runs.Open(s.runDir(job))
		if err != nil {
			t.Fatal(err)
		}
		return i.Record.ID
	}
	ids := []string{id(jobs[0]), id(jobs[1])}
	if err := moveAside(s.runDir(jobs[2]), cutOffSuffix); err != nil {
		t.Fatal(err)
	}
	p.want, p.cutAt = 1, 0
	f := &quiet{}
	if err := direct(t, t.Context(), s, p, f); err != nil {
		t.Fatal(err)
	}
	if scan, err := s.Scan(jobs); err != nil || len(scan.Finished) != 3 || releases(t, s) != 4 {
		t.Errorf("%+v, %d releases, %v", scan, releases(t, s), err)
	}
	if now := []string{id(jobs[0]), id(jobs[1])}; !slices.Equal(now, ids) || p.carried[ids[0]] != 1 || p.carried[ids[1]] != 1 {
		t.Errorf("runs %q became %q, carried out %v", ids, now, p.carried)
	}
	if len(f.texts) > 0 || len(p.kept) > 0 {
		t.Errorf("said %q, %d results aren't done", f.texts, len(p.kept))
	}
}

// Work doesn't file a result of a run that another process has ended. The next call has the run as it ended.
func TestRunsThatEndElsewhere(t *testing.T) {
	jobs, names := glyphs(1, Variant1)
	s := open(t, t.TempDir(), Description{Scale: small, Jobs: names})
	p := newPosts(one())
	p.spoil = func(number int, r remote.Result) []remote.Result {
		if number == 0 {
			folder, err := runs.Resume(s.runDir(jobs[0]))
			if err := errors.Join(err, folder.Fail("a fault")); err != nil {
				t.Error(err)
			}
		}
		return []remote.Result{r}
	}
	if err := direct(t, t.Context(), s, p, &quiet{}); !errors.Is(err, runs.ErrEnded) || len(p.done) > 0 {
		t.Errorf("%v, done %q", err, p.done)
	}
	if err := direct(t, t.Context(), s, p, &quiet{}); err != nil {
		t.Fatal(err)
	}
	if scan, err := s.Scan(jobs); err != nil || len(scan.Finished) != 1 || !scan.Repeated[jobs[0]] {
		t.Errorf("%+v, %v", scan, err)
	}
}

// A result that can't be filed stays with Workers, and is filed by the next call.
func TestResultsThatCannotBeFiled(t *testing.T) {
	jobs, names := glyphs(1, Variant1)
	s := open(t, t.TempDir(), Description{Scale: small, Jobs: names})
	p := newPosts(one())
	inTheWay := filepath.Join(s.runDir(jobs[0]), "private", "run.json")
	p.spoil = func(_ int, r remote.Result) []remote.Result {
		if err := os.Mkdir(inTheWay, 0o700); err != nil {
			t.Error(err)
		}
		return []remote.Result{r}
	}
	if err := direct(t, t.Context(), s, p, &quiet{}); err == nil || len(p.done) > 0 {
		t.Errorf("%v, done %q", err, p.done)
	}
	if err := errors.Join(os.Remove(inTheWay), direct(t, t.Context(), s, p, &quiet{})); err != nil || p.number != 1 {
		t.Errorf("%v, carried out %d times", err, p.number)
	}
	finishedAll(t, s)
}

// A run that fails is carried out once more, by another key and in another folder, and one that fails again is left.
func TestWorkersFailures(t *testing.T) {
	for _, c := range []struct{ failures, finished, failed int }{{1, 2, 0}, {2, 0, 1}} {
		jobs, names := glyphs(1, Baseline, Single)
		s := open(t, t.TempDir(), Description{Scale: small, Seed: new(uint64(7)), Jobs: names})
		p := newPosts(one())
		p.spoil = func(number int, r remote.Result) []remote.Result {
			if number < c.failures {
				r = remote.Result{Run: r.Run, Failure: "it diverged", Machine: r.Machine}
			}
			return []remote.Result{r}
		}
		f := &quiet{}
		if err := direct(t, t.Context(), s, p, f); err != nil || f.failed != c.failures || f.ended != c.failures+c.finished {
			t.Fatalf("%d failures: %v, %d runs have ended, %d without a model", c.failures, err, f.ended, f.failed)
		}
		scan, err := s.Scan(jobs)
		if err != nil || len(scan.Finished) != c.finished || len(scan.Failed) != c.failed || !scan.Repeated[jobs[0]] {
			t.Errorf("%d failures: %+v, %v", c.failures, scan, err)
		}
		if got := releases(t, s); got != 2+1-c.failed || len(p.keys) != got {
			t.Errorf("%d failures: %d releases, %d jobs", c.failures, got, len(p.keys))
		}
	}
}

// Results that no run of the plan has are refused, and their jobs handed out again. Nothing of them is on the
// disk, and after a few the campaign stops.
func TestRefusedResults(t *testing.T) {
	replace := func(name, old, by string) func(r *remote.Result) {
		return func(r *remote.Result) {
			text := strings.Replace(string(r.Released[name]), old, by, 1)
			if text == string(r.Released[name]) {
				panic(fmt.Sprintf("%s has no %s: %s", name, old, text))
			}
			r.Released[name] = []byte(text)
		}
	}
	const privacyFile, hyperparametersFile = "privacy.json", "hyperparameters.json"
	spoils := map[string]func(r *remote.Result){
		"a path":             func(r *remote.Result) { r.Released["../../x"] = []byte("x") },
		"an absolute path":   func(r *remote.Result) { r.Released["/tmp/x"] = []byte("x") },
		"a hidden file":      func(r *remote.Result) { r.Released[".x"] = []byte("x") },
		"no guarantee":       func(r *remote.Result) { delete(r.Released, privacyFile) },
		"no files":           func(r *remote.Result) { r.Released = nil },
		"a smaller epsilon":  replace(privacyFile, `"epsilon": 3.99`, `"epsilon": 3.98`),
		"a larger epsilon":   replace(privacyFile, `"epsilon": `, `"epsilon": 1`),
		"a second epsilon":   replace(privacyFile, `"epsilon": `, `"epsilon": 1, "epsilon": `),
		"no epsilon":         replace(privacyFile, `"epsilon": `, `"Epsilon": `),
		"delta":              replace(privacyFile, `"delta": `, `"delta": 1`),
		"a guarantee":        replace(privacyFile, `"guarantee_holds": false`, `"guarantee_holds": true`),
		"no hyperparameters": func(r *remote.Result) { delete(r.Released, hyperparametersFile) },
		"steps":              replace(hyperparametersFile, `"steps": `, `"steps": -1.`),
		"a terminal":         func(r *remote.Result) { r.Machine = "\x1b[2J" },
		"another metric":     func(r *remote.Result) { r.Score = release.Score{Metric: "r2", Value: 0.5} },
		"a score above 1":    func(r *remote.Result) { r.Score.Value = 2 },
		"a score below 0":    func(r *remote.Result) { r.Score.Value = -0.1 },
		"no private values":  func(r *remote.Result) { r.Private = []byte("x") },
		"nothing to read":    func(r *remote.Result) { *r = remote.Result{Run: r.Run, Unread: errors.New("x")} },
		"outcomes of trials": func(r *remote.Result) { *r = remote.Result{Run: r.Run, Trials: []byte("x")} },
	}
	if !near(1, 1+1e-10) || near(1, 1+1e-8) {
		t.Error("an epsilon may differ by rounding alone")
	}
	seed := uint64(7)
	_, names := glyphs(1, Variant1)
	s := open(t, t.TempDir(), Description{Scale: small, Seed: &seed, Jobs: names})
	left := slices.Sorted(maps.Keys(spoils))
	spoiled := ""
	p := newPosts(one())
	p.spoil = func(_ int, r remote.Result) []remote.Result {
		if len(left) == 0 {
			return []remote.Result{r}
		}
		r.Released = maps.Clone(r.Released)
		spoiled = left[0]
		spoils[spoiled](&r)
		left = left[1:]
		return []remote.Result{r}
	}
	stops := 0
	for {
		f := &quiet{}
		err := direct(t, t.Context(), s, p, f)
		if err == nil {
			break
		}
		if stops++; !errors.Is(err, ErrRefused) || len(f.texts) != maxRefused {
			t.Fatalf("%s: %v, said %q", spoiled, err, f.texts)
		}
		if strings.ContainsAny(strings.Join(f.texts, ""), "\x1b\n") {
			t.Errorf("%s: said %q", spoiled, f.texts)
		}
		if entries, err := filepath.Glob(filepath.Join(s.Runs(), "*", "released")); len(entries) > 0 || err != nil {
			t.Errorf("%s: %q, %v", spoiled, entries, err)
		}
	}
	if want := len(spoils) / maxRefused; stops != want || len(left) > 0 {
		t.Errorf("stopped %d times, want %d; not tried: %q", stops, want, left)
	}
	finishedAll(t, s)
	if len(p.keys) != 1 {
		t.Errorf("%d jobs", len(p.keys))
	}
}
