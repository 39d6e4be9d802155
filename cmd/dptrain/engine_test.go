package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/cuda"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

var (
	volta  = cuda.Info{Name: "Volta", Driver: "12.4", Memory: 16 << 30, Multiprocessors: 80, Major: 7}
	hopper = cuda.Info{Name: "Hopper", Driver: "12.4", Memory: 150_000_000_000, Multiprocessors: 132, Major: 9}
	pascal = cuda.Info{Name: "Pascal", Driver: "12.4", Memory: 8 << 30, Multiprocessors: 20, Major: 6, Minor: 1}
)

// box is a machine with GPUs that compute as the CPU does. It records their use.
type box struct {
	infos   []cuda.Info
	broken  error // of opening
	lacks   bool  // every operation
	steps   func() error
	closing error

	mu     sync.Mutex
	looked bool
	opened []cuda.Options
	closed chan bool // has one value for each time
}

func newBox(infos ...cuda.Info) *box { return &box{infos: infos, closed: make(chan bool, 9)} }

func (b *box) gpus() engines.GPUs {
	return engines.GPUs{
		List: func() ([]cuda.Info, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.looked = true
			if len(b.infos) == 0 {
				return nil, fmt.Errorf("%w: nothing in the slot", cuda.ErrNoDevice)
			}
			return b.infos, nil
		},
		Open: func(o cuda.Options) (engines.GPU, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.opened = append(b.opened, o)
			if b.broken != nil {
				return nil, b.broken
			}
			return fakeEngine{cpu.New(cpu.Options{Workers: 1}), b}, nil
		},
	}
}

// run executes a command on the machine.
func (b *box) run(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = newGlobal(b.gpus(), &term.Output{To: &out}, &err, ui.Screen{}).execute(ctx, args)
	return code, out.String(), err.String()
}

type fakeEngine struct {
	engine.Engine
	box *box
}

func (e fakeEngine) Name() string { return "fake" }

func (e fakeEngine) Close() error {
	e.box.closed <- true
	return e.box.closing
}

func (e fakeEngine) Load(p *compile.Program, d *engine.Data) (engine.Loaded, error) {
	if e.box.lacks {
		return nil, &engine.UnsupportedError{Engine: "fake", Operation: "everything"}
	}
	l, err := e.Engine.Load(p, d)
	return fakeLoaded{l, e.box}, err
}

type fakeLoaded struct {
	engine.Loaded
	box *box
}

func (l fakeLoaded) Start(jobs ...engine.Job) (engine.Runs, error) {
	r, err := l.Loaded.Start(jobs...)
	return fakeRuns{r, len(jobs), l.box}, err
}

type fakeRuns struct {
	engine.Runs
	runs int
	box  *box
}

// Steps fails in every run if the box has an error.
func (r fakeRuns) Steps(ctx context.Context, steps ...int) error {
	if r.box.steps != nil {
		if err := r.box.steps(); err != nil {
			failed := make(engine.RunErrors, r.runs)
			for i := range failed {
				failed[i] = fmt.Errorf("step 0: %w", err)
			}
			return failed
		}
	}
	return r.Runs.Steps(ctx, steps...)
}

// short is a training of a moment, on a few rows, in a new directory. Its tests don't depend on the data,
// and the built-in data set takes most of a second to draw.
func short(t *testing.T, command string, flags ...string) (args []string, dir string) {
	t.Helper()
	in := t.TempDir()
	private, public := filepath.Join(in, "private.csv"), filepath.Join(in, "public.csv")
	for path, rows := range map[string]string{private: strings.Repeat("-1,no\n1,yes\n-0.8,no\n", 40), public: "-2,no\n2,yes\n"} {
		if err := os.WriteFile(path, []byte("x,y\n"+rows), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir = filepath.Join(t.TempDir(), "run")
	args = []string{
		command, "--train", private, "--test", public, "--label", "y", "--delta", "0.001",
		"--model", "mlp", "--epochs", "0.1", "--accounting", "paper", "--noise-multiplier", "2", "--insecure-seed", "7", "--out", dir,
	}
	return append(args, flags...), dir
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestEngineIsChosen(t *testing.T) {
	const onCPU = "training on the CPU: no usable GPU, see \"dptrain devices\"\n"
	none := []cuda.Info{}
	both := []cuda.Info{volta, hopper}
	for name, c := range map[string]struct {
		infos  []cuda.Info
		broken error
		flags  string
		opened [][]int // the devices of each time
		code   int
		says   string // on standard error
	}{
		"GPUs are used":         {infos: both, opened: [][]int{nil}, says: "training on fake\n"},
		"usable ones are":       {infos: []cuda.Info{pascal, hopper}, opened: [][]int{nil}, says: "training on fake\n"},
		"else the CPU":          {infos: none, says: onCPU},
		"old ones aren't":       {infos: []cuda.Info{pascal}, says: onCPU},
		"broken ones aren't":    {infos: both, broken: errors.New("on fire"), opened: [][]int{nil}, says: "warning: training on the CPU: the GPUs can't be opened: on fire\n"},
		"cpu":                   {infos: both, flags: "--engine cpu"},
		"cuda":                  {infos: both, flags: "--engine cuda", opened: [][]int{nil}, says: "training on fake\n"},
		"cuda without":          {infos: none, flags: "--engine cuda", code: term.CodeDevice, says: "dptrain: no usable GPU: nothing in the slot; --engine cpu trains without\n"},
		"cuda with an old one":  {infos: []cuda.Info{pascal}, flags: "--engine cuda", code: term.CodeDevice, says: "dptrain: no usable GPU: Pascal has compute capability 6.1; dptrain needs 7.0"},
		"cuda with broken ones": {infos: both, broken: errors.New("on fire"), flags: "--engine cuda", opened: [][]int{nil}, code: term.CodeDevice, says: "dptrain: open the GPUs: on fire; --engine cpu trains without\n"},
		"one":                   {infos: both, flags: "--devices 1", opened: [][]int{{1}}, says: "training on fake\n"},
		"some, in an order":     {infos: both, flags: "--engine cuda --devices 1,0", opened: [][]int{{1, 0}}, says: "training on fake\n"},
		"one without any":       {infos: none, flags: "--devices 0", code: term.CodeDevice, says: "dptrain: no usable GPU: nothing in the slot; --engine cpu instead of --devices trains without\n"},
		"one that is broken":    {infos: both, broken: errors.New("on fire"), flags: "--devices 0", opened: [][]int{{0}}, code: term.CodeDevice, says: "dptrain: open the GPUs: on fire; "},
		"one that is old":       {infos: []cuda.Info{volta, pascal}, flags: "--devices 0,1", code: term.CodeDevice, says: "dptrain: no usable GPU: number 1: Pascal has"},
		"one that isn't there":  {infos: both, flags: "--devices 1,2", code: term.CodeUsage, says: "dptrain: --devices: there is no GPU 2; there are 0 (Volta), 1 (Hopper)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(c.infos...)
			b.broken = c.broken
			args, dir := short(t, "train", strings.Fields(c.flags)...)
			code, _, stderr := b.run(t.Context(), args...)
			if code != c.code || !strings.Contains(stderr, c.says) || strings.Count(stderr, "training on") > 1 {
				t.Errorf("exit code %d, want %d:\n%swant %s", code, c.code, stderr, c.says)
			}
			var opened [][]int
			for _, o := range b.opened {
				opened = append(opened, o.Devices)
			}
			if diff := cmp.Diff(c.opened, opened); diff != "" {
				t.Errorf("opened (-want +got)\n%s", diff)
			}
			if strings.Contains(c.flags, "cpu") && b.looked {
				t.Error("looked for GPUs that nobody wants")
			}
			if exists(dir) != (code == term.CodeOK) {
				t.Errorf("exit code %d, and there is a directory: %t", code, exists(dir))
			}
		})
	}
}

// A plan needs no GPU.
func TestDryRunLooksForNoGPU(t *testing.T) {
	b := newBox()
	args, _ := short(t, "tune", "--engine", "cuda", "--dry-run")
	if code, _, stderr := b.run(t.Context(), args...); code != term.CodeOK || b.looked {
		t.Errorf("exit code %d, looked: %t, %s", code, b.looked, stderr)
	}
}

// All trials and the final run share GPUs, which are opened once and closed once, whatever happens.
func TestGPUsAreOpenedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		set   func(*box)
		flags string
		code  int
	}{
		"trained":  {set: func(*box) {}},
		"fallback": {set: func(b *box) { b.lacks = true }},
		"failed":   {set: func(b *box) { b.steps = func() error { return errors.New("x") } }, code: term.CodeInternal},
		"diverged": {set: func(*box) {}, flags: "--variant baseline --set tuning.learning_rates=1e60", code: term.CodeDiverged},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(hopper)
			c.set(b)
			args, _ := short(t, "tune", append([]string{"--mu", "9"}, strings.Fields(c.flags)...)...)
			code, _, stderr := b.run(t.Context(), args...)
			if code != c.code || len(b.opened) != 1 || len(b.closed) != 1 {
				t.Errorf("exit code %d, opened %d times, closed %d times: %s", code, len(b.opened), len(b.closed), stderr)
			}
		})
	}
}

// The CPU trains models that GPUs can't, with a warning of one line.
func TestProgramsFallBackToTheCPU(t *testing.T) {
	for _, command := range []string{"train", "tune"} {
		b := newBox(hopper)
		b.lacks = true
		args, _ := short(t, command)
		code, _, stderr := b.run(t.Context(), args...)
		if code != term.CodeOK || strings.Count(stderr, "warning: the model is trained by a slower engine, which takes more time and guarantees the same: engine fake has no operation everything\n") != 1 {
			t.Errorf("%s: exit code %d: %s", command, code, stderr)
		}
	}
}

// A GPU that fails ends the command with a code of its own and one line, however many runs it took along and whatever
// goes wrong afterwards. Finished work is kept.
func TestGPUsFail(t *testing.T) {
	lost := &cuda.DeviceError{Device: "0 (Hopper)", Err: errors.New("fell off the bus")}
	for _, command := range []string{"train", "tune"} {
		b := newBox(hopper)
		b.steps = func() error { return lost }
		b.closing = lost
		args, dir := short(t, command, "--quiet")
		code, _, stderr := b.run(t.Context(), args...)
		lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
		const want = "dptrain: GPU 0 (Hopper) failed: fell off the bus; a new process may find it well; what is done is kept: dptrain resume "
		if last := lines[len(lines)-1]; code != term.CodeDevice || last != want+dir || strings.Count(stderr, "dptrain: ") != 1 {
			t.Errorf("%s: exit code %d: %s", command, code, stderr)
		}
		if exists(filepath.Join(dir, "released")) || len(b.closed) != 1 {
			t.Errorf("%s: closed %d times, or something is released", command, len(b.closed))
		}
	}
}

// A model isn't released if the GPUs that trained it can't be closed.
func TestGPUsFailToClose(t *testing.T) {
	b := newBox(hopper)
	b.closing = errors.New("stuck\nfor good")
	args, dir := short(t, "train")
	code, _, stderr := b.run(t.Context(), args...)
	if code != term.CodeInternal || !strings.HasSuffix(stderr, "dptrain: stuck; for good; what is done is kept: dptrain resume "+dir+"\n") || exists(filepath.Join(dir, "released")) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestInterruptClosesGPUs(t *testing.T) {
	b := newBox(hopper)
	ctx, cancel := context.WithCancel(t.Context())
	b.steps = func() error { cancel(); return nil }
	args, dir := short(t, "tune")
	code, _, stderr := b.run(ctx, args...)
	if code != term.CodeInterrupted || !strings.HasSuffix(stderr, "dptrain: interrupted while training; what is done is kept: dptrain resume "+dir+"\n") || exists(filepath.Join(dir, "released")) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	select { // the training ends by itself
	case <-b.closed:
	case <-time.After(time.Minute):
		t.Error("the GPUs stay open")
	}
}

// A run that is interrupted between its record in the ledger and its first step is paid for: it can be resumed.
func TestAnInterruptedRecordKeepsTheRun(t *testing.T) {
	for range 3 { // the first step may come before the interruption
		ctx, cancel := context.WithCancel(t.Context())
		store := t.TempDir()
		go func() {
			for ctx.Err() == nil && !exists(filepath.Join(store, "ledger.json")) {
				runtime.Gosched()
			}
			cancel()
		}()
		args, dir := short(t, "tune", "--store", store)
		args[slices.Index(args, "--epochs")+1] = "1000" // or it may end before
		code, _, stderr := newBox(hopper).run(ctx, args...)
		cancel()
		l, err := ledger.Open(store)
		if err != nil {
			t.Fatal(err)
		}
		all, err := l.Releases()
		if err != nil || len(all) != 1 || code != term.CodeInterrupted {
			t.Fatalf("exit code %d, %d releases, %v: %s", code, len(all), err, stderr)
		}
		if i, err := runs.Open(dir); err != nil || !i.Resumable() {
			t.Errorf("the ledger has the release, and the run is %q, %v: %s", i.Stage, err, stderr)
		}
	}
}

// Warnings of GPUs are in the log.
func TestGPUsWarn(t *testing.T) {
	b := newBox(hopper)
	b.steps = func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.opened[0].Warn("memory is short")
		return nil
	}
	args, dir := short(t, "train")
	if code, _, stderr := b.run(t.Context(), args...); code != term.CodeOK || !strings.Contains(stderr, "warning: memory is short\n") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	log, err := os.ReadFile(filepath.Join(dir, "private", "log.txt"))
	if err != nil || !strings.Contains(string(log), "memory is short") {
		t.Errorf("%v, log:\n%s", err, log)
	}
}

// Released files depend on the arithmetic of the chosen engine, and not on the settings that choose it.
func TestEngineSettingsNeverChangeTheRelease(t *testing.T) {
	var want []byte
	for _, flags := range []string{"--engine cpu", "--engine auto", "--engine cuda", "--devices 0"} {
		b := newBox(volta)
		args, dir := short(t, "train", strings.Fields(flags)...)
		if code, _, stderr := b.run(t.Context(), args...); code != term.CodeOK {
			t.Fatal(stderr)
		}
		var got []byte
		for _, file := range []string{"model.safetensors", "hyperparameters.json", "privacy.json", "STATEMENT.md"} {
			text, err := os.ReadFile(filepath.Join(dir, "released", file))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, text...)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: released something else", flags)
		}
	}
}

func TestDevices(t *testing.T) {
	const trained = "Training runs on the CPU.\n\nA GPU is used if it is NVIDIA's, of compute capability 7.0"
	for _, c := range []struct {
		infos []cuda.Info
		want  []string
		not   string
	}{
		{[]cuda.Info{hopper, pascal}, []string{
			"NUMBER  NAME    MEMORY     CAPABILITY  MULTIPROCESSORS  CUDA  USABLE\n",
			"0       Hopper  139.7 GiB  9.0         132              12.4  yes\n",
			"1       Pascal  8.0 GiB    6.1         20               12.4  no: Pascal has compute capability 6.1; dptrain needs 7.0",
		}, "Training runs"},
		{[]cuda.Info{pascal}, []string{"0       Pascal", trained}, "no usable GPU"},
		{nil, []string{"no usable GPU: nothing in the slot\n", trained}, "NUMBER"},
	} {
		code, stdout, stderr := newBox(c.infos...).run(t.Context(), "devices")
		if code != term.CodeOK || stderr != "" || strings.Contains(stdout, c.not) {
			t.Errorf("exit code %d, %s%s", code, stdout, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("no %q in\n%s", want, stdout)
			}
		}
	}
}

func TestDevicesAsJSON(t *testing.T) {
	for _, c := range []struct {
		infos []cuda.Info
		want  string
	}{
		{[]cuda.Info{volta, pascal}, `{"devices": [
			{"number": 0, "name": "Volta", "memory_bytes": 17179869184, "compute_capability": "7.0", "multiprocessors": 80, "cuda": "12.4", "usable": true},
			{"number": 1, "name": "Pascal", "memory_bytes": 8589934592, "compute_capability": "6.1", "multiprocessors": 20, "cuda": "12.4", "usable": false,
			 "problem": "Pascal has compute capability 6.1; dptrain needs 7.0 or newer (Volta, 2017)"}]}`},
		{nil, `{"devices": [], "problem": "no usable GPU: nothing in the slot"}`},
	} {
		code, stdout, _ := newBox(c.infos...).run(t.Context(), "devices", "--json")
		var got, want any
		if err := errors.Join(json.Unmarshal([]byte(stdout), &got), json.Unmarshal([]byte(c.want), &want)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); code != term.CodeOK || diff != "" {
			t.Errorf("exit code %d (-want +got)\n%s", code, diff)
		}
	}
}
