package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/cuda"
)

// wrongData is a data folder with a wrong file of MNIST.
func wrongData(t *testing.T) {
	t.Helper()
	data := t.TempDir()
	t.Setenv("DPTRAIN_DATA", data)
	file := filepath.Join(data, "mnist", "train-images-idx3-ubyte.gz")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("no digits"), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// quiet waits until no more goroutines run than before.
func quiet(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, before %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// files returns the names of a folder's entries.
func files(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Whichever part of a run fails first, the error is that of the first part in the order budget, directory, GPUs, data,
// opened GPUs. When the command ends, its GPUs are closed, nothing is left on disk and nothing runs.
func TestErrorsHaveAnOrder(t *testing.T) {
	wrongData(t)
	noGPU, onFire := newBox(), newBox(hopper)
	onFire.broken = errors.New("on fire")
	for _, c := range []struct {
		name  string
		box   *box
		flags string
		there bool // the directory
		code  int
		says  string
	}{
		{"all wrong", noGPU, "--dataset mnist --engine cuda --epsilon 1e-6", true, term.CodeBudget, "can't be met by any noise"},
		{"directory and GPUs wrong", noGPU, "--dataset mnist --engine cuda", true, term.CodeInput, "already exists"},
		{"GPUs and data wrong", noGPU, "--dataset mnist --engine cuda", false, term.CodeDevice, "no usable GPU"},
		{"data and opening wrong", onFire, "--dataset mnist --engine cuda", false, term.CodeInput, "train-images-idx3-ubyte.gz"},
		{"opening wrong", onFire, "--engine cuda", false, term.CodeDevice, "on fire"},
		{"data wrong", newBox(hopper), "--dataset mnist --engine cuda", false, term.CodeInput, "train-images-idx3-ubyte.gz"},
		{"budget wrong", newBox(hopper), "--engine cuda --epsilon 1e-6", false, term.CodeBudget, "can't be met by any noise"},
		{"directory wrong", newBox(hopper), "--engine cuda", true, term.CodeInput, "already exists"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			parent := t.TempDir()
			dir := filepath.Join(parent, "run")
			args := append([]string{"train", "--epochs", "0.1", "--accounting", "paper", "--out", dir}, strings.Fields(c.flags)...)
			if !strings.Contains(c.flags, "epsilon") {
				args = append(args, "--noise-multiplier", "2")
			}
			if c.there {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			code, _, stderr := c.box.run(t.Context(), args...)
			if code != c.code || strings.Count(stderr, "dptrain: ") != 1 || !strings.Contains(stderr, c.says) {
				t.Errorf("exit code %d, want %d, and %q:\n%s", code, c.code, c.says, stderr)
			}
			opened := len(c.box.opened)
			if c.box.broken != nil {
				opened = 0
			}
			if closed := len(c.box.closed); closed != opened {
				t.Errorf("GPUs opened %d times, closed %d times", opened, closed)
			}
			if left := files(t, parent); len(left) > 0 != c.there {
				t.Errorf("left: %q", left)
			}
			quiet(t, before)
		})
	}
}

// A run's data are read and its GPUs opened while the accountant is at work. Interrupted there, it closes the GPUs.
func TestGPUsAreOpenedBesideAccounting(t *testing.T) {
	before := runtime.NumGoroutine()
	b := newBox(hopper)
	gpus := b.gpus()
	ctx, cancel := context.WithCancel(t.Context())
	open := gpus.Open
	gpus.Open = func(o cuda.Options) (engines.GPU, error) {
		defer cancel()
		return open(o)
	}
	var stderr strings.Builder
	g := newGlobal(gpus, &term.Output{To: &strings.Builder{}}, &stderr, ui.Screen{})
	dir := filepath.Join(t.TempDir(), "run")
	args := strings.Fields("tune --epsilon 1 --out " + dir) // as of writing, accounting for it takes half a second
	if code := g.execute(ctx, args); code != term.CodeInterrupted || stderr.String() != "dptrain: interrupted while accounting for the plan\n" {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	quiet(t, before)
	if len(b.closed) != 1 || exists(dir) {
		t.Errorf("GPUs closed %d times, directory there: %t", len(b.closed), exists(dir))
	}
}

// When a GPU opens, and when the data are there, changes no released byte.
func TestOrderOfPreparationsIsNotReleased(t *testing.T) {
	var want string
	for _, late := range []time.Duration{0, 300 * time.Millisecond} {
		b := newBox(hopper)
		gpus := b.gpus()
		open := gpus.Open
		gpus.Open = func(o cuda.Options) (engines.GPU, error) {
			time.Sleep(late)
			return open(o)
		}
		args, dir := short(t, "tune", "--mu", "3")
		g := newGlobal(gpus, &term.Output{To: &strings.Builder{}}, &strings.Builder{}, ui.Screen{})
		if code := g.execute(t.Context(), args); code != term.CodeOK {
			t.Fatal(code)
		}
		got := ""
		for _, file := range files(t, filepath.Join(dir, "released")) {
			text, err := os.ReadFile(filepath.Join(dir, "released", file))
			if err != nil {
				t.Fatal(err)
			}
			got += file + string(text)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("GPUs open %v later, and something else is released", late)
		}
	}
}
