package cuda

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// On a device, too, closed things report that they are closed, and nothing is closed while something else uses it.
func TestUseAfterClose(t *testing.T) {
	d, err := kernelsOrSkip(t).Device(seeds.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
	network, err := models.MLP(models.Options{}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	data, err := train.NewData(2, []float32{1, 2, 3, 4}, []float32{1, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	s := train.Settings{
		Privacy:   train.Privacy{SamplingRate: 1, NoiseMultiplier: 1, ClippingNorm: 1, Steps: 2, NominalSize: 2},
		Optimizer: train.SGD(1),
		Key:       train.InsecureKey(1),
		Initial:   [][]float32{make([]float32, 4), make([]float32, 2)},
	}
	loaded, err := train.Load(e, network, data)
	if err != nil {
		t.Fatal(err)
	}
	group, err := loaded.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	predictor, err := train.NewPredictor(e, network, s.Initial)
	if err != nil {
		t.Fatal(err)
	}
	if l, e := loaded.Close(), e.Close(); !errors.Is(l, engine.ErrInUse) || !errors.Is(e, engine.ErrInUse) {
		t.Errorf("closed while it is in use: the model %v, the engine %v", l, e)
	}
	if err := group.Train(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	state, err := group.State(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(group.Close(), loaded.Close(), predictor.Close(), e.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for name, call := range map[string]func() error{
		"Group.Train":       func() error { return group.Train(context.Background(), nil) },
		"Group.State":       func() error { _, err := group.State(0); return err },
		"Group.Restore":     func() error { return group.Restore(0, state) },
		"Group.Result":      func() error { _, err := group.Result(0); return err },
		"Group.Predict":     func() error { _, err := group.Predict(context.Background(), data, 0); return err },
		"Loaded.Start":      func() error { _, err := loaded.Start(s); return err },
		"Predictor.Predict": func() error { _, err := predictor.Predict(context.Background(), data); return err },
		"Load":              func() error { _, err := train.Load(e, network, data); return err },
	} {
		if err := call(); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

// A load that failed isn't one to be closed, and one that is closed twice counts once: the engine's own Close depends
// on it.
func TestLoadsAreCounted(t *testing.T) {
	d, err := kernelsOrSkip(t).Device(seeds.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
	network, err := models.MLP(models.Options{}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	program, err := compile.Compile(compile.Source{Inputs: network.Inputs, Params: network.Parameters, Output: network.Output, Cost: network.Cost})
	if err != nil {
		t.Fatal(err)
	}
	data := &engine.Data{Samples: 2, Columns: engine.Floats([]float32{1, 2, 3, 4}, []float32{1, 0, 0, 1})}
	first, err := e.Load(program, data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Load(program, data); err != nil { // stays open
		t.Fatal(err)
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("an engine with an open load is closed: %v", err)
	}
	other := newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
	if _, err := other.Load(program, &engine.Data{}); err == nil {
		t.Fatal("data without columns are loaded")
	}
	if err := other.Close(); err != nil {
		t.Errorf("after a load that failed: %v", err)
	}
}

// An engine that New didn't make has no GPUs, and says so.
func TestEngineThatIsNone(t *testing.T) {
	for _, e := range []*Engine{nil, {}} {
		if _, err := e.Load(nil, nil); err == nil || !strings.Contains(err.Error(), "make one by cuda.New") || e.Close() != nil || e.Name() != "cuda ()" {
			t.Errorf("it loads (%v), can't be closed or is called %q", err, e.Name())
		}
	}
}
