package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/accountant"
)

// example returns a ledger with a bit of everything.
func example(t testing.TB) *book {
	void := Release{Run: "void", Data: Named("mnist", 60000), Void: true, Began: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	census := rows("census <&>\u2028.csv", 1, 1, 2, 3)
	one, two := gaussian(t, "one", census, 0.1, 1e-5), gaussian(t, "two", Named("mnist", 60000), 3, 1e-6)
	two.Event = accountant.Variant2(0.1, accountant.TruncatedNegativeBinomial{Shape: -0.5, Success: 0.1}, accountant.DPSGD(0.01, 3, 100))
	all := []Release{one, two, void}
	for i := range all {
		checked, err := all[i].checked()
		if err != nil {
			t.Fatal(err)
		}
		all[i] = checked
	}
	return &book{releases: all, budgets: []Budget{{census, 8, 1e-5}, {Named("imdb", 25000), 0.1, 1e-7}}}
}

func sameBooks(t testing.TB, got, want *book) {
	t.Helper()
	a, errA := got.encode()
	b, errB := want.encode()
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("%s, %v\nwant\n%s, %v", a, errA, b, errB)
	}
}

// The form of the file. An old one is read, and writing it anew changes the version alone.
func TestGoldenFile(t *testing.T) {
	golden, err := os.ReadFile("testdata/v1.json")
	if err != nil {
		t.Fatal(err)
	}
	b, err := parse(golden)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.encode()
	if err != nil || !bytes.Equal(again, bytes.Replace(golden, []byte(`"version": 1`), []byte(`"version": 2`), 1)) {
		t.Errorf("%s, %v, want testdata/v1.json", again, err)
	}
	one, two, void := b.releases[0], b.releases[1], b.releases[2]
	if one.Run != "one" || one.Data.Name != "census <&>\u2028.csv" || one.Data.Sketch.Rows() != 4 || one.Event != (accountant.Gaussian{NoiseMultiplier: 0.1}) || one.Delta != 1e-5 ||
		two.Data.Sketch != nil || two.Data.Rows != 60000 || two.Began != time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) ||
		!void.Void || void.Event != nil || len(b.budgets) != 2 || b.budgets[1].Epsilon != 0.1 {
		t.Errorf("%+v", b)
	}
}

func TestFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := &book{}
		sets := []Data{Named("mnist", 60000), rows("a.csv", 1, 2, 3), rows("a.csv", 1, 2), rows("b.csv", 1, 2), Named("a.csv", 3)}
		for i := range rapid.IntRange(0, 5).Draw(rt, "releases") {
			r := Release{
				Run: fmt.Sprint(i), Path: rapid.String().Draw(rt, "path"), Command: rapid.String().Draw(rt, "command"), Data: rapid.SampledFrom(sets).Draw(rt, "data"),
				Event:   accountant.Gaussian{NoiseMultiplier: rapid.Float64Range(0, math.MaxFloat64).Draw(rt, "noise")},
				Epsilon: rapid.Float64Range(0, math.MaxFloat64).Draw(rt, "epsilon"), Delta: rapid.Float64Range(1e-300, 0.999).Draw(rt, "delta"),
				Void: rapid.Bool().Draw(rt, "void"), Began: time.Unix(rapid.Int64Range(0, 1e11).Draw(rt, "began"), 7),
			}
			r, err := r.checked()
			if err != nil {
				rt.Fatal(err)
			}
			b.releases = append(b.releases, r)
		}
		text, err := b.encode()
		if err != nil {
			rt.Fatal(err)
		}
		back, err := parse(text)
		if err != nil || len(back.releases) != len(b.releases) {
			rt.Fatalf("%s: %v", text, err)
		}
		for i, r := range back.releases {
			want := b.releases[i]
			if !r.Data.equal(want.Data) || !r.Began.Equal(want.Began) || r.Event != want.Event || r.Epsilon != want.Epsilon || r.Delta != want.Delta || r.Void != want.Void {
				rt.Fatalf("%+v, want %+v", r, want)
			}
		}
	})
}

// A damaged file is an error that names it and says what to do, and it stays as it is.
func TestDamagedFiles(t *testing.T) {
	good, err := example(t).encode()
	if err != nil {
		t.Fatal(err)
	}
	damaged := map[string][]byte{
		"empty": {}, "blank": []byte("\n"), "null": []byte("null"), "zeros": make([]byte, 1000), "twice": slices.Concat(good, good),
		"another release": bytes.Replace(good, []byte(`"one"`), []byte(`"own"`), 1), "another budget": bytes.Replace(good, []byte(`"epsilon": 8`), []byte(`"epsilon": 9`), 1),
		"version 0": bytes.Replace(good, []byte(`"version": 2`), []byte(`"version": 0`), 1), "not UTF-8": bytes.Replace(good, []byte("census"), []byte("c\xffnsus"), 1),
	}
	for cut := 1; cut < len(good)-1; cut += 37 {
		damaged[fmt.Sprintf("cut at %d", cut)] = good[:cut]
	}
	for at := 0; at < len(good); at += 29 {
		flipped := bytes.Clone(good)
		flipped[at] ^= 1
		damaged[fmt.Sprintf("bit at %d", at)] = flipped
	}
	blanks := 0
	for name, text := range damaged {
		dir := t.TempDir()
		path := filepath.Join(dir, FileName)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		l := &Ledger{store: store{dir: dir}}
		_, opened := Open(dir)
		if opened == nil && strings.HasPrefix(name, "bit") { // a blank between tokens, or a name in another case
			blanks++
			continue
		}
		_, recorded := l.Record(t.Context(), gaussian(t, "x", Named("mnist", 1), 3, 1e-5))
		set := l.SetBudget(t.Context(), Named("mnist", 1), 1, 1e-5)
		for _, err := range []error{opened, recorded, set} {
			var wrong *FileError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore a copy") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, text) {
			t.Errorf("%s: the file was changed, %v", name, err)
		}
	}
	if blanks > 2 {
		t.Errorf("%d flipped bits aren't noticed", blanks)
	}
	if _, err := parse([]byte(`{"version": 3, "releases": "in another way"}`)); !errors.Is(err, errNewer) {
		t.Errorf("%v, want errNewer", err)
	}
}

// A right checksum doesn't make the content right.
func TestContentsThatMakeNoSense(t *testing.T) {
	release := func(more string) string {
		return `{"data":[{"name":"a","rows":1}],"releases":[{"run":"1","path":"","command":"tune","data":0,"event":{"kind":"gaussian","noise_multiplier":1},"epsilon":1,"delta":0.1,"began":"2026-11-23T00:00:00Z","program":""}` + more + `],"budgets":[]}`
	}
	if _, err := parse(signed(release(""))); err != nil {
		t.Fatal(err)
	}
	good := release("")
	for _, c := range [][2]string{
		{`"data":0`, `"data":1`}, {`"data":0`, `"data":-1`}, {`"rows":1`, `"rows":-1`}, {`"name":"a"`, `"name":""`}, {`"run":"1"`, `"run":""`},
		{`"epsilon":1`, `"epsilon":-1`}, {`"epsilon":1`, `"epsilon":1e999`}, {`"delta":0.1`, `"delta":0`}, {`"delta":0.1`, `"delta":1`},
		{`"noise_multiplier":1`, `"noise_multiplier":-1`}, {`"gaussian"`, `"laplace"`}, {`"event":{"kind":"gaussian","noise_multiplier":1},`, ``},
		{`"began":"2026-11-23T00:00:00Z"`, `"began":"yesterday"`}, {`"path"`, `"pith"`}, {`"budgets":[]`, `"budgets":[{"data":0,"epsilon":0,"delta":0.1}]`},
		{`"budgets":[]`, `"budgets":[{"data":1,"epsilon":1,"delta":0.1}]`}, {`"rows":1`, `"rows":1,"sketch":{"form":1,"rows":1,"hashes":""}`},
	} {
		wrong := strings.Replace(good, c[0], c[1], 1)
		if wrong == good {
			t.Fatalf("%s isn't in the example", c[0])
		}
		if _, err := parse(signed(wrong)); err == nil {
			t.Errorf("%s is read", c[1])
		}
	}
	_, twice, _ := strings.Cut(good, `"releases":[`)
	twice, _, _ = strings.Cut(twice, `],"budgets"`)
	if _, err := parse(signed(release("," + twice))); err == nil || !strings.Contains(err.Error(), "stands twice") {
		t.Errorf("a run that stands twice: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	good, err := example(f).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":1,"sha256":"","ledger":{"data":[],"releases":[],"budgets":[]}}`))
	f.Add([]byte(`{"data":[],"releases":[],"budgets":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, text := range [][]byte{text, signed(string(text))} {
			b, err := parse(text)
			if err != nil {
				continue
			}
			again, err := b.encode()
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			back, err := parse(again)
			if err != nil {
				t.Fatalf("%s: %v", again, err)
			}
			sameBooks(t, back, b)
		}
	})
}

func TestFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions")
	}
	dir := filepath.Join(t.TempDir(), "new", "runs")
	l := open(t, dir)
	if _, err := os.Stat(dir); err == nil {
		t.Error("to open a ledger makes its folder")
	}
	record(t, l, gaussian(t, "1", Named("mnist", 1), 3, 1e-5))
	if err := os.Chmod(l.Path(), 0o644); err != nil {
		t.Fatal(err)
	}
	record(t, l, gaussian(t, "2", Named("mnist", 1), 3, 1e-5))
	for _, name := range []string{FileName, lockName} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// A rename would replace a link, and other files aren't ledgers.
func TestWrongPlaces(t *testing.T) {
	elsewhere, dir := t.TempDir(), t.TempDir()
	record(t, open(t, elsewhere), gaussian(t, "1", Named("mnist", 1), 3, 1e-5))
	if err := os.Symlink(filepath.Join(elsewhere, FileName), filepath.Join(dir, FileName)); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(elsewhere, FileName)
	occupied := t.TempDir()
	if err := os.Mkdir(filepath.Join(occupied, FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{dir, file, occupied} {
		var wrong *FileError
		if _, err := Open(where); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", where, err)
		}
	}
	// A folder may be a link.
	link := filepath.Join(t.TempDir(), "runs")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	record(t, open(t, link), gaussian(t, "2", Named("mnist", 1), 3, 1e-5))
	if all, err := open(t, elsewhere).Releases(); err != nil || len(all) != 2 {
		t.Errorf("%d releases, %v", len(all), err)
	}
}

// A leftover that can't be removed stops a record before it writes.
func TestLeftoverThatStays(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".ledger-1.tmp", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	if _, err := l.Record(t.Context(), gaussian(t, "1", Named("mnist", 1), 3, 1e-5)); err == nil || !strings.Contains(err.Error(), "the old one is as it was") {
		t.Error(err)
	}
	if all, err := l.Releases(); len(all) != 0 || err != nil {
		t.Errorf("%d releases, %v", len(all), err)
	}
}

// Fifty writers in one process don't lose each other's records.
func TestConcurrentRecorders(t *testing.T) {
	dir := t.TempDir()
	shared := open(t, dir)
	const writers = 50
	var all sync.WaitGroup
	for i := range writers {
		l := shared
		if i%2 == 1 {
			l = open(t, dir)
		}
		r := gaussian(t, fmt.Sprint(i/2*2), Named("mnist", 1), 1000, 1e-5) // each run is recorded twice
		all.Go(func() {
			if _, err := l.Record(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	recorded, err := shared.Releases()
	if err != nil || len(recorded) != writers/2 {
		t.Fatalf("%d releases, %v, want %d", len(recorded), err, writers/2)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// hooked is a context that calls a function when it is first asked for an error.
type hooked struct {
	context.Context
	once func()
}

func (h hooked) Err() error {
	h.once()
	return h.Context.Err()
}

// An account has the releases of others that are recorded while the ledger waits for its lock.
func TestRecordCountsWhatOthersRecordMeanwhile(t *testing.T) {
	dir := t.TempDir()
	other := gaussian(t, "other", Named("mnist", 1), 3, 1e-5)
	ctx := hooked{t.Context(), sync.OnceFunc(func() { record(t, open(t, dir), other) })}
	a, err := open(t, dir).Record(ctx, gaussian(t, "own", Named("mnist", 1), 3, 1e-5))
	if err != nil || len(a.Releases) != 1 || len(a.Planned) != 1 {
		t.Errorf("%d releases of others and %d planned, %v", len(a.Releases), len(a.Planned), err)
	}
}

func TestInterruptedRecord(t *testing.T) {
	l := open(t, t.TempDir())
	r := gaussian(t, "1", Named("mnist", 1), 3, 1e-5)
	held, err := l.store.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Record(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v while another process has the lock", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	record(t, l, r)
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if _, err := l.Record(cancelled, gaussian(t, "2", Named("mnist", 1), 3, 1e-5)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	late, stop := context.WithCancel(t.Context()) // while it accounts
	if err := l.change(late, func(b *book) (bool, error) { stop(); b.releases = nil; return true, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if all, _ := l.Releases(); len(all) != 1 {
		t.Errorf("%d releases", len(all))
	}
}
