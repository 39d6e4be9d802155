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
)

// follows follows nothing, but counts the data sets that are loaded.
type follows struct{ working func(float64) }

func (follows) Note(string)                      {}
func (follows) Warn(string)                      {}
func (follows) Loading(float64, float64, string) {}
func (f follows) Working(share float64) {
	if f.working != nil {
		f.working(share)
	}
}

// settings are those of a run on the built-in digits that takes no time.
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

func order(t *testing.T, run string, key uint64, s experiment.Settings) Order {
	return Order{Run: run, Name: "the run " + run, Settings: s, Key: train.InsecureKey(key)}
}

func machine(e train.Engine) *Machine {
	return &Machine{Engine: e, Features: e, Performance: settings.Performance{Engine: settings.EngineCPU}, Program: "p", Name: "a machine"}
}

// glyphs is a machine for all tests that need nothing special.
var glyphs = sync.OnceValue(func() *Machine { return machine(cpu.New(cpu.Options{})) })

// alone returns the outcome of an order that package experiment carries out by itself.
func alone(t *testing.T, o Order) (experiment.Outcome, *experiment.Plan) {
	t.Helper()
	e := cpu.New(cpu.Options{})
	p, err := experiment.New(o.Settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Settle(), p.Load(t.Context(), e, loading{follows{}})); err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context(), e, experiment.Job{Key: o.Key}, loading{follows{}})
	if err != nil {
		t.Fatal(err)
	}
	return out, p
}

// A delivery has the files that the run alone writes, beside others and after its way through the encodings.
func TestCarryOut(t *testing.T) {
	seeded := settingsOf(t, true)
	seeded.InsecureSeed = new(uint64(3))
	for _, group := range [][]Order{
		{order(t, "a", 1, settingsOf(t, true)), order(t, "b", 2, settingsOf(t, true)), order(t, "c", 3, seeded)},
		{order(t, "d", 4, settingsOf(t, false)), order(t, "e", 5, settingsOf(t, false, "training.learning_rate=0.7"))},
	} {
		var orders []Order
		for _, o := range group {
			text, err := o.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			again, err := UnmarshalOrder(text)
			if err != nil {
				t.Fatal(err)
			}
			again.Key = o.Key
			orders = append(orders, again)
		}
		share := 0.0
		deliveries, err := glyphs().CarryOut(t.Context(), orders, follows{func(now float64) { share = now }})
		if err != nil || share < 0.99 {
			t.Fatal(err, share)
		}
		for k, o := range group {
			text, err := deliveries[k].Marshal()
			if err != nil {
				t.Fatal(err)
			}
			d, err := UnmarshalDelivery(text)
			if err != nil {
				t.Fatal(err)
			}
			want, plan := alone(t, o)
			dir := t.TempDir()
			if err := want.Release.Write(dir); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != len(d.Released) {
				t.Errorf("%d files, and the delivery has %d, %v", len(entries), len(d.Released), err)
			}
			for _, e := range entries {
				content, err := os.ReadFile(filepath.Join(dir, e.Name()))
				if diff := cmp.Diff(string(content), string(d.Released[e.Name()])); err != nil || diff != "" {
					t.Errorf("run %s: %s: %v %s", o.Run, e.Name(), err, diff)
				}
			}
			arithmetic, err := plan.Arithmetic(cpu.New(cpu.Options{}))
			if err != nil || d.Arithmetic != arithmetic {
				t.Errorf("arithmetic %q, want %q, %v", d.Arithmetic, arithmetic, err)
			}
			identity, err := plan.Identity("p")
			if err != nil || d.Run != o.Run || d.Failure != "" || d.Machine != "a machine" || d.Identity != identity || d.Score != want.Release.Score ||
				!strings.HasPrefix(d.Arithmetic, "cpu, ") {
				t.Errorf("%+v, %v", d, err)
			}
			var private struct{ Trials []struct{ Seconds float64 } }
			if err := json.Unmarshal(d.Private, &private); err != nil || (len(private.Trials) > 0) != o.Settings.Tune {
				t.Errorf("run %s: %d trials, %v", o.Run, len(private.Trials), err)
			}
			digest, err := plan.DataDigest()
			if got, errOrder := glyphs().DataDigest(t.Context(), o, follows{}); err != nil || errOrder != nil || got != digest {
				t.Errorf("data %x, want %x, %v, %v", got, digest, err, errOrder)
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

// A run that gives no model is delivered, with its reason on one line. What is a fault of the machine is an error.
func TestFailures(t *testing.T) {
	o := order(t, "a", 1, settingsOf(t, false))
	for _, c := range []struct {
		err     error
		failure string
	}{
		{errors.New("a\nfault \x1b[2J"), "a fault  [2J"},
		{&os.PathError{Op: "write", Path: "x", Err: errors.New("full")}, ""},
		{errLost, ""},
	} {
		m := machine(failing{cpu.New(cpu.Options{}), c.err})
		d, err := m.CarryOut(t.Context(), []Order{o}, follows{})
		switch {
		case c.failure == "" && !(errors.Is(err, c.err) && OfMachine(err)):
			t.Errorf("%v: %v", c.err, err)
		case c.failure != "" && (err != nil || !strings.Contains(d[0].Failure, c.failure) || d[0].Released != nil || d[0].Private != nil || d[0].Identity == ""):
			t.Errorf("%v: %+v, %v", c.err, d, err)
		}
	}
	impossible := order(t, "b", 1, settingsOf(t, true, "privacy.epsilon=0.001"))
	if d, err := glyphs().CarryOut(t.Context(), []Order{impossible}, follows{}); err != nil || d[0].Run != "b" || !strings.Contains(d[0].Failure, "can't be met") {
		t.Errorf("%+v, %v", d, err)
	}
	beside := order(t, "c", 1, settingsOf(t, true))
	both, err := glyphs().CarryOut(t.Context(), []Order{impossible, beside}, follows{})
	if err != nil || both[0].Run != "b" || both[0].Failure == "" || both[0].Released != nil || both[1].Run != "c" || both[1].Failure != "" || both[1].Released == nil {
		t.Errorf("beside one that fails: %v, %v", both, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := glyphs().CarryOut(cancelled, []Order{o}, follows{}); !errors.Is(err, context.Canceled) || d != nil {
		t.Errorf("cancelled: %+v, %v", d, err)
	}
}

// Orders that can't be carried out are errors before anything is trained.
func TestOrdersThatCannotBeCarriedOut(t *testing.T) {
	o := order(t, "a", 1, settingsOf(t, false))
	trials, keyless := o, o
	trials.Trials, keyless.Key = []int{1}, train.Key{}
	other := trials
	other.Trials, other.Key = []int{2}, train.InsecureKey(2)
	for name, orders := range map[string][]Order{
		"the plan trains once": {trials},
		"no key":               {keyless},
		"two keys":             {trials, other},
		"two groups":           {o, order(t, "b", 1, settingsOf(t, true))},
	} {
		if d, err := glyphs().CarryOut(t.Context(), orders, follows{}); err == nil || !strings.Contains(err.Error(), name) || d != nil {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if d, err := glyphs().CarryOut(t.Context(), nil, follows{}); err != nil || len(d) != 0 {
		t.Errorf("no orders: %+v, %v", d, err)
	}
}

// Own files are each machine's own: their paths aren't in the order, and equal files have equal digests.
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
	o := order(t, "a", 1, s)
	encoded, err := o.Marshal()
	if err != nil || strings.Contains(string(encoded), "secret-name") || strings.Contains(string(encoded), here) {
		t.Fatalf("%s, %v", encoded, err)
	}
	sent, err := UnmarshalOrder(encoded)
	if err != nil {
		t.Fatal(err)
	}
	sent.Key = o.Key
	if sent.Group() != o.Group() {
		t.Error("the group depends on paths")
	}
	var deliveries []Delivery
	var digests [][32]byte
	for _, content := range []string{text.String(), text.String(), strings.Replace(text.String(), "0.3", "0.31", 1)} {
		m := machine(cpu.New(cpu.Options{}))
		m.Train, m.Test = file(there, "train.csv", content), file(there, "test.csv", public)
		digest, err := m.DataDigest(t.Context(), sent, follows{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := m.CarryOut(t.Context(), []Order{sent}, follows{})
		if err != nil {
			t.Fatal(err)
		}
		deliveries, digests = append(deliveries, d...), append(digests, digest)
	}
	if digests[0] != digests[1] || digests[0] == digests[2] {
		t.Errorf("digests of data %x", digests)
	}
	if equal := func(k int) bool { return maps.EqualFunc(deliveries[0].Released, deliveries[k].Released, bytes.Equal) }; !equal(1) || equal(2) || deliveries[0].Identity == deliveries[2].Identity {
		t.Error("equal data give other models, or others equal ones")
	}
	want, _ := alone(t, o)
	if want.Release.Score != deliveries[0].Score {
		t.Errorf("score %v, and alone %v", deliveries[0].Score, want.Release.Score)
	}
	if _, err := glyphs().DataDigest(t.Context(), sent, follows{}); err == nil {
		t.Error("a machine without files: no error")
	}
}

// What is no file isn't read as one.
func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err := readFiles(dir); err != nil || len(files) != 1 || string(files["a"]) != "x" {
		t.Errorf("%q, %v", files, err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "b")); err != nil {
		t.Skip(err)
	}
	if files, err := readFiles(dir); err == nil {
		t.Errorf("a link is read: %q", files)
	}
}
