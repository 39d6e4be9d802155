package train

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/engine"
)

// A predictor computes the same outputs, to the last bit, as the run whose parameters it has.
func TestPredictorIsTheTrainedModel(t *testing.T) {
	trainer := onCPU(t, 2, cpuSettings(SGD(0.5)))
	result, err := trainer.Train(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var parameters [][]float32
	for _, p := range result.Parameters {
		parameters = append(parameters, p.Values)
	}
	p, err := NewPredictor(cpu.New(cpu.Options{}), logistic(t, rand.NewPCG(3, 4)), parameters)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Arithmetic() != trainer.group.model.loaded.Arithmetic() {
		t.Errorf("arithmetic %q", p.Arithmetic())
	}
	for _, n := range []int{0, 1, 300} {
		data := threeClouds(t, n).Data
		want, err := trainer.Predict(context.Background(), data)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := p.Predict(context.Background(), data)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 3*n || !slices.Equal(got, want) {
				t.Errorf("%d samples: %d values, or others than the run's", n, len(got))
			}
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Predict(cancelled, threeClouds(t, 9).Data); !errors.Is(err, context.Canceled) {
		t.Errorf("on a cancelled context: %v", err)
	}
}

// A predictor's engine gets no samples to train on, and takes no step.
func TestPredictorTrainsNothing(t *testing.T) {
	e := &fakeEngine{arithmetic: "fake's"}
	model := logistic(t, rand.NewPCG(3, 4))
	parameters := [][]float32{{1, 2, 3, 4, 5, 6}, {7, 8, 9}}
	p, err := NewPredictor(e, model, parameters)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Predict(context.Background(), threeClouds(t, 9).Data); err != nil {
		t.Fatal(err)
	}
	if e.data.Samples != 0 || e.data.Check(e.program) != nil || len(e.jobs) != 1 || e.steps != nil {
		t.Errorf("loaded %d samples, started %d runs, took steps %v", e.data.Samples, len(e.jobs), e.steps)
	}
	if err := e.job.Check(e.program, e.data); err != nil {
		t.Errorf("the job isn't one: %v", err)
	}
	if got := engine.LayoutOf(e.program).Split(e.job.Initial); !reflect.DeepEqual(got, parameters) {
		t.Errorf("parameters %v, want %v", got, parameters)
	}
	if err := p.Close(); err != nil || e.closed != 2 {
		t.Errorf("closed %d times, the runs and the program: %v", e.closed, err)
	}
}

func TestPredictorRefuses(t *testing.T) {
	model := logistic(t, rand.NewPCG(3, 4))
	good := [][]float32{make([]float32, 6), make([]float32, 3)}
	setting := func(want string) func(error) bool {
		return func(err error) bool {
			var s *SettingError
			return errors.As(err, &s) && s.Setting == want
		}
	}
	silent := model
	silent.Output = nil
	for _, c := range []struct {
		name       string
		engine     engine.Engine
		model      Model
		parameters [][]float32
		right      func(error) bool
	}{
		{"no engine", nil, model, good, setting("engine")},
		{"no graph", &fakeEngine{}, Model{}, good, func(err error) bool { return errors.Is(err, ErrGraph) }},
		{"no output", &fakeEngine{}, silent, good, func(err error) bool { return errors.Is(err, ErrGraph) }},
		{"no parameters", &fakeEngine{}, model, nil, setting("initial parameters")},
		{"one parameter", &fakeEngine{}, model, good[:1], setting("number of initial parameters")},
		{"a short parameter", &fakeEngine{}, model, [][]float32{good[0], {1}}, setting(`size of initial parameter "b"`)},
	} {
		if _, err := NewPredictor(c.engine, c.model, c.parameters); err == nil || !c.right(err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	broken := &fakeEngine{fail: errors.New("no room")}
	if _, err := NewPredictor(broken, model, good); !errors.Is(err, broken.fail) || broken.closed != 1 {
		t.Errorf("an engine that starts nothing: %v, closed %d times", err, broken.closed)
	}
	p, err := NewPredictor(&fakeEngine{}, model, good)
	if err != nil {
		t.Fatal(err)
	}
	var wrong *DataError
	for _, data := range []*Data{nil, {}} {
		if _, err := p.Predict(context.Background(), data); !errors.As(err, &wrong) {
			t.Errorf("data %v: %v", data, err)
		}
	}
	if narrow, err := NewData(2, []float32{1, 2}, make([]float32, 6)); err != nil {
		t.Fatal(err)
	} else if _, err := p.Predict(context.Background(), narrow); !errors.As(err, &wrong) {
		t.Errorf("samples of one value: %v", err)
	}
}
