package runs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
)

// create makes a run in a new store, or fails the test.
// madeBy has members in another order than by their names.
type madeBy struct {
	Program string `json:"program"`
	Build   int    `json:"build"`
}

func create(t *testing.T, dir string) *Run {
	t.Helper()
	r, err := Create(dir, false, Manifest{Command: "tune", Dataset: "glyphs", Epsilon: 4, Guarantee: true, MadeBy: madeBy{"dptrain", 1}}, Record{Data: "glyphs"}, []byte("settings"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// release writes two files.
func release(dir string) error {
	return errors.Join(os.WriteFile(filepath.Join(dir, "model"), []byte("m"), 0o644), os.WriteFile(filepath.Join(dir, "statement"), nil, 0o644))
}

// tree lists everything under a folder with its permissions.
func tree(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	found := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		found[filepath.ToSlash(rel)] = info.Mode().Perm()
		return err
	})
	must(t, err)
	return found
}

// A run from its beginning to its end: the files at each stage, and their permissions.
func TestALife(t *testing.T) {
	store := filepath.Join(t.TempDir(), "runs")
	dir := filepath.Join(store, "one")
	r := create(t, dir)
	began := map[string]fs.FileMode{
		"one": 0o700, "one/run.json": 0o644, "one/private": 0o700, "one/private/state": 0o700, "one/private/lock": 0o600,
		"one/private/record.json": 0o600, "one/private/settings.yaml": 0o600,
	}
	got := tree(t, store)
	if got["one/private/lock"] &^= 0o077; cmp.Diff(began, got) != "" {
		t.Errorf("begun (-want +got)\n%s", cmp.Diff(began, got))
	}
	must(t, r.KeepKey([]byte("secret")), r.Train(), r.Save("state-1", []byte("s")), r.Reserve(200_000))
	if _, err := Resume(dir); !errors.Is(err, ErrRuns) {
		t.Errorf("a running run was taken over: %v", err)
	}
	if i, err := Open(dir); err != nil || !i.Running || i.Resumable() || i.Stage != Training || i.Record == nil {
		t.Errorf("running: %+v, %v", i, err)
	}
	log, err := r.Log()
	must(t, err, log.Close())
	must(t, r.Finish([]byte("{}"), release))
	ended := map[string]fs.FileMode{
		"one": 0o755, "one/run.json": 0o644, "one/released": 0o755, "one/released/model": 0o644, "one/released/statement": 0o644,
		"one/private": 0o700, "one/private/log.txt": 0o600, "one/private/record.json": 0o600, "one/private/run.json": 0o600,
		"one/private/settings.yaml": 0o600,
	}
	if diff := cmp.Diff(ended, tree(t, store)); diff != "" {
		t.Errorf("ended (-want +got)\n%s", diff)
	}
	if i, err := Open(dir); err != nil || i.Running || i.Resumable() || i.Stage != Finished || i.Name != "one" {
		t.Errorf("finished: %+v, %v", i, err)
	}
	if _, err := Resume(dir); !errors.Is(err, ErrEnded) {
		t.Errorf("a finished run was resumed: %v", err)
	}
}

// A run that is interrupted at any stage is found as it was, and goes on.
func TestResume(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(t *testing.T, r *Run)
		want Stage
		key  string
		kept string
	}{
		{"at once", func(t *testing.T, r *Run) {}, Planned, "", ""},
		{"with its key", func(t *testing.T, r *Run) { must(t, r.KeepKey([]byte("k"))) }, Planned, "k", ""},
		{"training", func(t *testing.T, r *Run) { must(t, r.KeepKey([]byte("k")), r.Train(), r.Save("a-1", []byte("s"))) }, Training, "k", "s"},
		{"stopped", func(t *testing.T, r *Run) {
			must(t, r.KeepKey([]byte("k")), r.Train(), r.Reserve(1), r.Save("a-1", []byte("s")), r.Stop("why"))
		}, Stopped, "k", "s"},
		{"writing", func(t *testing.T, r *Run) {
			must(t, r.KeepKey([]byte("k")), r.Train(), r.Reserve(1), r.Save("a-1", []byte("s")))
			for _, dir := range []string{"", "private", "private/state"} {
				must(t, os.WriteFile(filepath.Join(r.Dir(), dir, ".new-1"), []byte("half"), 0o600))
			}
		}, Training, "k", "s"},
		{"releasing", func(t *testing.T, r *Run) {
			must(t, r.KeepKey([]byte("k")), r.Train(), r.Save("a-1", []byte("s")), os.Mkdir(filepath.Join(r.Dir(), "released"), 0o755))
			must(t, os.WriteFile(filepath.Join(r.Dir(), "released", "model"), []byte("m"), 0o600))
		}, Training, "k", "s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			r := create(t, dir)
			c.cut(t, r)
			must(t, r.Release()) // as when a process dies
			if i, err := Open(dir); err != nil || i.Running || !i.Resumable() || i.Stage != c.want {
				t.Fatalf("%+v, %v", i, err)
			}
			again, err := Resume(dir)
			must(t, err)
			key, err := again.Key()
			must(t, err)
			kept, err := again.Load("a-1")
			must(t, err)
			if string(key) != c.key || string(kept) != c.kept || string(again.Settings) != "settings" || again.Record.ID != r.Record.ID {
				t.Errorf("key %q, state %q, %+v", key, kept, again)
			}
			if m := again.Record.Moments; m[0].What != "created" || m[len(m)-1].What != "resumed" {
				t.Errorf("moments %v", m)
			}
			for path := range tree(t, dir) {
				if strings.Contains(path, ".new-") || strings.Contains(path, "reserve") {
					t.Errorf("%s is left", path)
				}
			}
			must(t, again.Train(), again.Finish([]byte("{}"), release))
			if got := slices.Sorted(maps.Keys(tree(t, filepath.Join(dir, "released")))); !slices.Equal(got, []string{"model", "statement"}) {
				t.Errorf("released %q", got)
			}
			// The bytes of a public file don't tell that the run was resumed.
			text, err := os.ReadFile(filepath.Join(dir, "run.json"))
			must(t, err)
			if want := "\"made_by\": {\n    \"program\": \"dptrain\",\n    \"build\": 1\n  }"; !strings.Contains(string(text), want) {
				t.Errorf("no %s in %s", want, text)
			}
		})
	}
}

// A stopped run says nothing about its would-be release, frees its reserved space, and keeps its state. A run that
// ended while another process waited for it isn't taken over.
func TestStop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	must(t, r.KeepKey([]byte("k")), r.Train(), r.Reserve(1000), r.Save("a", []byte("old")))
	before := filepath.Join(t.TempDir(), "before")
	if err := os.Link(r.private("state/a"), before); err != nil {
		t.Skip(err)
	}
	must(t, r.Save("a", []byte("newer")))
	if old, err := os.ReadFile(before); err != nil || string(old) != "old" {
		t.Errorf("the state was written over: %q, %v", old, err)
	}
	rate := 0.1
	r.Manifest.Score, r.Manifest.LearningRate, r.Manifest.TunedLearningRate = &Score{Metric: "accuracy", Value: 0.5}, &rate, &rate
	if err := r.Finish(nil, func(string) error { return errors.New("no space") }); err == nil {
		t.Fatal("no error")
	}
	must(t, r.Reserve(1000), r.Stop("no space"))
	i, err := Open(dir)
	if err != nil || i.Stage != Stopped || i.Score != nil || i.LearningRate != nil || i.TunedLearningRate != nil || exists(r.private("reserve")) {
		t.Errorf("%+v, %v; the reserve is there: %t", i, err, exists(r.private("reserve")))
	}
	info, err := os.Stat(r.private("key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key: %v, %v", info, err)
	}
	must(t, os.Rename(r.private("record.json"), r.private("elsewhere")))
	if i, err := Open(dir); err != nil || i.Resumable() {
		t.Errorf("without a record: %+v, %v", i, err)
	}
	must(t, os.Rename(r.private("elsewhere"), r.private("record.json")))
	again, err := Resume(dir)
	must(t, err, again.Finish(nil, release))
	if err := (&Run{dir: dir}).read(); !errors.Is(err, ErrEnded) {
		t.Errorf("it ended meanwhile: %v", err)
	}
}

// The key's bytes are gone from the disk before its file is, and never before the run has ended.
func TestTheKeyIsDestroyed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	must(t, r.KeepKey([]byte("secret")), r.Train())
	key := filepath.Join(dir, "private", "key")
	link := filepath.Join(t.TempDir(), "link") // shows the file's blocks after its removal
	if err := os.Link(key, link); err != nil {
		t.Skip(err)
	}
	if err := r.Finish(nil, func(string) error { return errors.New("no space") }); err == nil || !exists(key) {
		t.Fatalf("%v, and the key is there: %t", err, exists(key))
	}
	manifest := filepath.Join(dir, "run.json")
	must(t, os.Remove(manifest), os.MkdirAll(filepath.Join(manifest, "in the way"), 0o700))
	if err := r.Finish(nil, release); err == nil || !exists(key) {
		t.Fatalf("%v, and the key is there: %t", err, exists(key))
	}
	must(t, os.RemoveAll(manifest), r.Finish(nil, release))
	left, err := os.ReadFile(link)
	if err != nil || exists(key) || !bytes.Equal(left, make([]byte, 6)) {
		t.Errorf("left %q (%v); the file is there: %t", left, err, exists(key))
	}
}

// A run without a model destroys its key too, and can't be resumed.
func TestFail(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	must(t, r.KeepKey([]byte("k")), r.Train(), r.Save("a", nil), r.Fail("diverged"))
	if _, err := Resume(dir); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
	if i, err := Open(dir); err != nil || i.Stage != Failed || i.Resumable() {
		t.Errorf("%+v, %v", i, err)
	}
	if left := tree(t, filepath.Join(dir, "private")); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

// A run's duration reveals about how many trials it had. East of Greenwich the day begins earlier: the zone must not
// show either.
func TestNothingTellsTheTime(t *testing.T) {
	defer func() { now = time.Now }()
	now = func() time.Time { return time.Date(2024, 3, 2, 1, 30, 15, 500, time.FixedZone("", 2*60*60)) }
	dir := filepath.Join(t.TempDir(), "run")
	r := create(t, dir)
	now = func() time.Time { return time.Date(2024, 3, 5, 1, 30, 15, 500, time.UTC) }
	must(t, r.KeepKey(nil), r.Train(), r.Finish([]byte("{}"), release))
	for path := range tree(t, dir) {
		if strings.HasPrefix(path, "private/") {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, path))
		must(t, err)
		if want := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC); !info.ModTime().Equal(want) {
			t.Errorf("%s is of %v, want %v", path, info.ModTime().UTC(), want)
		}
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil || !strings.Contains(string(manifest), `"2024-03-01"`) || strings.Contains(string(manifest), "30:15") {
		t.Errorf("%v: %s", err, manifest)
	}
}

// A refused run leaves nothing behind.
func TestCreateRefuses(t *testing.T) {
	used := t.TempDir()
	if _, err := Create(used, false, Manifest{}, Record{}, nil); !errors.Is(err, ErrExists) {
		t.Errorf("an existing folder: %v", err)
	}
	file := filepath.Join(used, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Create(filepath.Join(file, "run"), false, Manifest{}, Record{}, nil); err == nil {
		t.Error("below a file: no error")
	}
	if left := tree(t, used); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// Runs that begin in one second, or at the same moment, get different folders.
func TestNamesAreUnique(t *testing.T) {
	store := t.TempDir()
	made := make(chan string)
	for range 20 {
		go func() {
			r, err := Create(filepath.Join(store, "run"), true, Manifest{}, Record{}, nil)
			if err != nil {
				made <- err.Error()
				return
			}
			made <- r.Manifest.Name
		}()
	}
	names := map[string]bool{}
	for range 20 {
		names[<-made] = true
	}
	for k := range 20 {
		want := "run"
		if k > 0 {
			want = fmt.Sprintf("run-%d", k+1)
		}
		if !names[want] {
			t.Errorf("no %s among %v", want, names)
		}
	}
}

func TestDiscard(t *testing.T) {
	parent := t.TempDir()
	r := create(t, filepath.Join(parent, "runs", "one"))
	must(t, r.Discard())
	if left := tree(t, parent); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// States have names that are files' names everywhere, and stay in their folder.
func TestStateNames(t *testing.T) {
	r := create(t, filepath.Join(t.TempDir(), "run"))
	for _, name := range []string{"", ".", "..", "../key", "a/b", `a\b`, "A", "a b", "é"} {
		if err := r.Save(name, nil); err == nil {
			t.Errorf("saved %q", name)
		}
	}
	if got, err := r.Load("none"); got != nil || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	must(t, r.Remove("none"))
}

// The list has exactly the runs. A killed process's leftovers are found, and nothing else is removed.
func TestListAndLeftovers(t *testing.T) {
	store := t.TempDir()
	finished, running, killed, ended := create(t, filepath.Join(store, "a")), create(t, filepath.Join(store, "b")), create(t, filepath.Join(store, "c")), create(t, filepath.Join(store, "d"))
	must(t, finished.Finish(nil, release), killed.KeepKey([]byte("k")), killed.Release(), running.KeepKey([]byte("k")))
	must(t, ended.KeepKey([]byte("k")), ended.Finish(nil, release))
	killedAtTheEnd := func() {
		must(t, os.WriteFile(filepath.Join(store, "d", "private", "key"), []byte("k"), 0o600))
		must(t, os.Mkdir(filepath.Join(store, "d", "private", "state"), 0o700))
	}
	killedAtTheEnd()
	if running.Record.ID == killed.Record.ID {
		t.Error("two runs have one id")
	}
	begins := flock.New(filepath.Join(store, ".y.partial-1", "private", "lock"))
	must(t, os.MkdirAll(filepath.Dir(begins.Path()), 0o700), begins.Lock())
	must(t, os.MkdirAll(filepath.Join(store, ".x.partial-12", "private"), 0o700), os.Mkdir(filepath.Join(store, "other"), 0o700))
	must(t, os.WriteFile(filepath.Join(store, "file"), nil, 0o600))
	list, err := List(store)
	must(t, err)
	var names []string
	for _, i := range list {
		names = append(names, fmt.Sprintf("%s %s %t %t", i.Name, i.Stage, i.Running, i.Resumable()))
	}
	if want := []string{"a finished false false", "b planned true false", "c planned false true", "d finished false false"}; !slices.Equal(names, want) {
		t.Errorf("list %q, want %q", names, want)
	}
	if exists(ended.private("key")) || exists(ended.private("state")) || !exists(killed.private("key")) || !exists(running.private("key")) {
		t.Error("keys of ended runs stayed, or those of others didn't")
	}
	killedAtTheEnd()
	left, err := Leftovers(store)
	must(t, err)
	if want := []string{filepath.Join(store, ".x.partial-12"), filepath.Join(store, "d", "private", "key"), filepath.Join(store, "d", "private", "state")}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
	must(t, os.WriteFile(filepath.Join(store, ".x.partial-12", "private", "key"), []byte("k"), 0o600))
	links := t.TempDir() // show the keys' blocks after their removal
	for k, dir := range []string{".x.partial-12", "d", "c"} {
		if err := os.Link(filepath.Join(store, dir, "private", "key"), filepath.Join(links, fmt.Sprint(k))); err != nil {
			t.Skip(err)
		}
	}
	for _, path := range left {
		must(t, RemoveLeftover(path))
	}
	if left, err := Leftovers(store); len(left) > 0 || err != nil {
		t.Errorf("left %q, %v", left, err)
	}
	if err := Abandon(running.Dir()); !errors.Is(err, ErrRuns) {
		t.Errorf("a running run was abandoned: %v", err)
	}
	must(t, Abandon(killed.Dir()))
	for k := range 3 {
		if left, err := os.ReadFile(filepath.Join(links, fmt.Sprint(k))); err != nil || string(left) != "\x00" {
			t.Errorf("key %d: %q, %v", k, left, err)
		}
	}
	if list, _ = List(store); len(list) != 3 {
		t.Errorf("%d runs", len(list))
	}
	must(t, os.WriteFile(filepath.Join(store, "a", "run.json"), []byte("{"), 0o600))
	if list, err = List(store); len(list) != 2 || !errors.Is(err, ErrNoRun) {
		t.Errorf("beside a damaged run there are %d, %v", len(list), err)
	}
}

// A newer version is refused, but not as damage.
func TestNewerVersions(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"version": 2}`), 0o600))
	if _, err := Open(dir); !errors.Is(err, ErrNoRun) || !strings.Contains(err.Error(), "version 2, and this dptrain reads versions up to 1") {
		t.Error(err)
	}
}

// A run of format 1, written by the first version with this format, is readable by every later version. A later format
// gets its own folder.
func TestARunOfVersion1(t *testing.T) {
	i, err := Open(filepath.Join("testdata", "run-1"))
	must(t, err)
	rate := i.TunedLearningRate
	if i.Stage != Finished || i.Name != "g" || i.Command != "tune" || i.Epsilon != 3.999999999999966 || i.Guarantee || i.Score == nil || i.Score.Value != 0.634 ||
		rate == nil || *rate != 1 || !strings.Contains(string(i.Event), "subset_then_rest") || i.Day != "2026-11-23" {
		t.Errorf("%+v", i)
	}
	if r := i.Record; r == nil || r.ID != "afca1bdf70f569a0" || *r.Seed != 1 || len(r.Moments) != 3 || r.Moments[2].What != "finished" || r.Store != "/home/somebody/s" {
		t.Errorf("%+v", r)
	}
}
