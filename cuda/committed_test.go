package cuda

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/cuda/internal/ptx"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// What ships is the PTX, so it is tested too: translated to C++, on the emulated device, with all of the checks that
// kernels compiled from sources get.

// parseModules parses the PTX that is committed.
func parseModules() (map[string]*ptx.Module, error) {
	texts, err := ptxTexts()
	if err != nil {
		return nil, err
	}
	out := map[string]*ptx.Module{}
	for name, text := range texts {
		if out[name], err = ptx.Parse(name, text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// translated compiles modules for the emulated device.
func translated(modules map[string]*ptx.Module, flags ...string) (*emulator.Library, error) {
	files := fstest.MapFS{}
	for name, m := range modules {
		text, err := m.Cpp(name)
		if err != nil {
			return nil, err
		}
		files[strings.TrimSuffix(name, filepath.Ext(name))+".cu"] = &fstest.MapFile{Data: []byte(text)}
	}
	return emulator.Build(context.Background(), fstest.MapFS{}, files, append([]string{"-O1", "-w"}, flags...)...)
}

// library is the committed PTX, translated for the emulated device, once.
var library = sync.OnceValues(func() (*emulator.Library, error) {
	all, err := parseModules()
	if err != nil {
		return nil, err
	}
	return translated(all)
})

// kernelsOrSkip skips the test where there is no C++ compiler.
func kernelsOrSkip(t *testing.T) *emulator.Library {
	t.Helper()
	return compiledOrSkip(t, library)
}

func compiledOrSkip(t *testing.T, compiled func() (*emulator.Library, error)) *emulator.Library {
	t.Helper()
	l, err := compiled()
	if errors.Is(err, emulator.ErrNoCompiler) {
		t.Skip("no C++ compiler: the kernels can't be run")
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// No path through the committed PTX reads a register before it is written.
func TestPTXSetsItsRegisters(t *testing.T) {
	all, err := parseModules()
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range all {
		for _, k := range m.Kernels {
			for _, where := range k.Unset() {
				t.Errorf("%s, %s, %s", name, k.Name, where)
			}
		}
	}
}

// sourcesLibrary is the sources of the kernels, compiled for the emulated device, once.
var sourcesLibrary = sync.OnceValues(func() (*emulator.Library, error) {
	return build(context.Background(), sources, "-O1")
})

// outcome is the parameters of runs, and their predictions.
type outcome struct{ params, out [][]float32 }

func outcomeOf(e engine.Engine, p *compile.Program, data *engine.Data, jobs []engine.Job) (o outcome, err error) {
	loaded, err := e.Load(p, data)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	runs, err := loaded.Start(jobs...)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	var steps, which []int
	for i := range jobs {
		steps, which = append(steps, 1), append(which, i)
	}
	if err := runs.Steps(context.Background(), steps...); err != nil {
		return o, err
	}
	for i := range jobs {
		o.params = append(o.params, runs.State(i).Params)
	}
	o.out, err = runs.Predict(context.Background(), data, which...)
	return o, err
}

// Where no function of a library is called the sources and the PTX give the same bits: no compiler or translator
// changes what a kernel computes.
func TestSourcesAndPTXAgree(t *testing.T) {
	for _, name := range []string{
		"a convolution with dilated rows", "filter in two shapes", "max-pool with overlap and padding", "matrix times vector",
		"slices within a sample", "two rows within a sample",
	} {
		p := enginetest.Zoo()[name].Program(t, 2)
		j := jobOf(p, engine.LayoutOf(p).Join(p.Initial()), 20)
		var outcomes []outcome
		for _, l := range []*emulator.Library{kernelsOrSkip(t), compiledOrSkip(t, sourcesLibrary)} {
			o, err := outcomeOf(emulated(t, l, 1)(), p, enginetest.RandomData(p, 20, 3), []engine.Job{j})
			if err != nil {
				t.Fatal(err)
			}
			outcomes = append(outcomes, o)
		}
		if !reflect.DeepEqual(outcomes[0], outcomes[1]) {
			t.Errorf("%s: the PTX ends at %v, the sources at %v", name, outcomes[0], outcomes[1])
		}
	}
}
