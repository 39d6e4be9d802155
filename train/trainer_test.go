package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/engine"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

func TestTrainHandsOverTheJob(t *testing.T) {
	s := settings()
	s.Trial, s.Members = 9, []int32{}
	trainer, e := start(t, s)
	result, err := trainer.Train(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	job := e.job
	if job.Mechanism != s.Privacy.engine() || job.Optimizer != s.Optimizer.engine() || job.Key == s.Key || job.Trial != 9 {
		t.Errorf("job %+v doesn't follow from the settings %+v", job, s)
	}
	if job.Members == nil || len(job.Members) != 0 {
		t.Errorf("no members became %v; nil would mean all", job.Members)
	}
	if !reflect.DeepEqual(job.Initial, engine.LayoutOf(e.program).Join(e.program.Initial())) {
		t.Error("the run doesn't begin with the graph's own values")
	}
	if !reflect.DeepEqual(result.Event, s.Privacy.Event()) {
		t.Errorf("event %+v, want %+v", result.Event, s.Privacy.Event())
	}
	if p := result.Parameters; len(p) != 2 || p[0].Name != "w" || !reflect.DeepEqual(p[1].Shape, []int{1, 3}) || len(p[0].Values) != 6 {
		t.Errorf("parameters %+v", p)
	}
}

func TestTrainReportsProgress(t *testing.T) {
	for _, steps := range []int{0, 1, 7, 199, 200, 201, 1878} {
		s := settings()
		s.Privacy.Steps = steps
		trainer, e := start(t, s)
		e.after = func(step int) {
			if step%50 == 0 { // so that some runs take longer than reading their progress
				time.Sleep(polled / 8)
			}
		}
		last, calls, begin := 0, 0, time.Now()
		_, err := trainer.Train(context.Background(), func(p Progress) {
			if p.Steps != steps || p.Step < last || p.Step > steps {
				t.Errorf("%d steps: progress %+v after step %d", steps, p, last)
			}
			last, calls = p.Step, calls+1
		})
		if err != nil || last != steps {
			t.Errorf("%d steps: ended at %d, %v", steps, last, err)
		}
		if took := time.Since(begin); calls < 1 || calls > 2+int(took/polled) || took > 2*polled && calls < 2 {
			t.Errorf("%d steps: %d calls in %v", steps, calls, took)
		}
		total := 0
		for _, n := range e.steps {
			total += n
		}
		if total != steps {
			t.Errorf("%d steps: the engine took %d", steps, total)
		}
	}
}

// A run that is stopped at any step and resumed from its encoded state on a fresh trainer ends where an
// uninterrupted one does.
func TestResumeIsIdentical(t *testing.T) {
	whole, _ := start(t, settings())
	want, err := whole.Train(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		stop := rapid.IntRange(1, 49).Draw(rt, "stop")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		first, e := start(t, settings())
		e.after = func(step int) {
			if step == stop {
				cancel()
			}
		}
		_, err := first.Train(ctx, nil)
		if !errors.Is(err, context.Canceled) {
			rt.Fatalf("stopped with %v", err)
		}
		data, err := must(first.State()).MarshalBinary()
		if err != nil {
			rt.Fatal(err)
		}
		var state State
		if err := state.UnmarshalBinary(data); err != nil {
			rt.Fatal(err)
		}
		if state.Step() != stop {
			rt.Fatalf("stopped at step %d, want %d", state.Step(), stop)
		}
		second, _ := start(t, settings())
		if err := second.Restore(state); err != nil {
			rt.Fatal(err)
		}
		got, err := second.Train(context.Background(), nil)
		if err != nil {
			rt.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			rt.Fatalf("resumed at %d: %v, want %v", stop, got.Parameters, want.Parameters)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	wide, err := NewClassification(make([]float32, 180), make([]int32, 60), 3)
	if err != nil {
		t.Fatal(err)
	}
	unlabelled, err := NewData(60, make([]float32, 120))
	if err != nil {
		t.Fatal(err)
	}
	good := threeClouds(t, 60).Data
	tests := []struct {
		name   string
		data   *Data
		change func(*Settings)
		want   string
	}{
		{"rate", good, func(s *Settings) { s.Privacy.SamplingRate = 2 }, "sampling rate is 2"},
		{"optimizer", good, func(s *Settings) { s.Optimizer.Method = "" }, "want dp-sgd, dp-momentum, dp-nesterov, dp-adam or dp-adamw"},
		{"shape", wide.Data, func(*Settings) {}, `column 0 holds 180 values for 60 samples, the model's input "x" takes 2 a sample [2]`},
		{"columns", unlabelled, func(*Settings) {}, "the data has 1 columns, the model 2 inputs"},
		{"member", good, func(s *Settings) { s.Members = []int32{3, 60} }, "member is 60: want a sample's number, 0 to 59"},
		{"negative member", good, func(s *Settings) { s.Members = []int32{-1} }, "member is -1"},
		{"member twice", good, func(s *Settings) { s.Members = []int32{3, 3} }, "ascending order, once each; it follows 3"},
		{"initial", good, func(s *Settings) { s.Initial = [][]float32{{1}} }, "number of initial parameters is 1: want the model's 2"},
		{"initial size", good, func(s *Settings) { s.Initial = [][]float32{{1}, {1}} }, `size of initial parameter "w" is 1: want 6`},
		{"initial value", good, func(s *Settings) {
			s.Initial = [][]float32{{1, 2, 3, 4, 5, float32(math.Inf(1))}, {7, 8, 9}}
		}, `initial parameter "w" is +Inf: want finite numbers`},
		{"a value too many", good, func(s *Settings) { s.Initial = [][]float32{{1, 2, 3, 4, 5, 6, 7}, {7, 8, 9}} }, `size of initial parameter "w" is 7`},
	}
	for _, tt := range tests {
		s := settings()
		tt.change(&s)
		_, err := New(&fakeEngine{}, logistic(t, rand.NewPCG(1, 1)), tt.data, s)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v\nwant %s", tt.name, err, tt.want)
		}
		var setting *SettingError
		var data *DataError
		if !errors.As(err, &setting) && !errors.As(err, &data) {
			t.Errorf("%s: %T is not typed", tt.name, err)
		}
	}
	if _, err := New(&fakeEngine{}, Model{}, good, settings()); !errors.Is(err, ErrGraph) {
		t.Errorf("empty graph: %v", err)
	}
	var setting *SettingError
	if _, err := New(&fakeEngine{}, unbound(), good, settings()); !errors.As(err, &setting) || setting.Setting != "initial parameters" {
		t.Errorf("a graph without values: %v", err)
	}
	broken := errors.New("no device")
	if _, err := New(&fakeEngine{fail: broken}, logistic(t, rand.NewPCG(1, 1)), good, settings()); !errors.Is(err, broken) {
		t.Errorf("engine's error: %v", err)
	}
}

// unbound returns a graph whose parameter has no values.
func unbound() Model {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("x"), gorgonia.WithShape(4, 2))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("y"), gorgonia.WithShape(4, 3))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("w"), gorgonia.WithShape(2, 3))
	h := gorgonia.Must(gorgonia.HadamardProd(gorgonia.Must(gorgonia.Mul(x, w)), y))
	return Model{Inputs: gorgonia.Nodes{x, y}, Parameters: gorgonia.Nodes{w}, Cost: gorgonia.Must(gorgonia.Sum(h))}
}

func TestAccuracy(t *testing.T) {
	trainer, _ := start(t, settings())
	// The fake engine's logits are (x0, x1, x0): class 0 or 1, whichever feature is larger.
	test, err := NewClassification([]float32{2, 1, 1, 2, 5, 4, 4, 5}, []int32{0, 1, 1, 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := trainer.Score(context.Background(), test); err != nil || got != 0.5 {
		t.Errorf("accuracy %v, %v; want 0.5", got, err)
	}
	wide, err := NewClassification(make([]float32, 6), make([]int32, 2), 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trainer.Score(context.Background(), wide); err == nil || !strings.HasPrefix(err.Error(), "test set: column 0") {
		t.Errorf("wrong shape: %v", err)
	}
}

func TestCheckTestCountsClasses(t *testing.T) {
	source := logistic(t, rand.NewPCG(1, 1))
	source.Output = nil
	trainer, err := New(&fakeEngine{}, source, threeClouds(t, 60).Data, settings())
	if err != nil {
		t.Fatal(err)
	}
	err = trainer.group.model.CheckTest(threeClouds(t, 6))
	if err == nil || err.Error() != "test set: 3 classes, but the model's output has 0 values a sample" {
		t.Errorf("got %v", err)
	}
}

func TestDiverged(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, tt := range []struct {
		last float32
		want bool
	}{{0, false}, {math.MaxFloat32, false}, {nan, true}, {inf, true}} {
		r := Result{Parameters: []Parameter{{Values: []float32{1}}, {Values: []float32{2, tt.last}}}}
		if r.Diverged() != tt.want {
			t.Errorf("%v: diverged is %v", tt.last, r.Diverged())
		}
	}
}

func TestCloseClosesTheRun(t *testing.T) {
	trainer, e := start(t, settings())
	if err := trainer.Close(); err != nil || e.closed != 2 {
		t.Errorf("closed %d times, want runs and model: %v", e.closed, err)
	}
}

var _ engine.Engine = (*fakeEngine)(nil)

// The zero key, as of a caller that forgot to set one, is refused: its noise is no secret.
func TestZeroKeyIsRefused(t *testing.T) {
	s := cpuSettings(SGD(0.5))
	s.Key = Key{}
	_, err := New(&fakeEngine{}, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 600).Data, s)
	var setting *SettingError
	if !errors.As(err, &setting) || !strings.Contains(err.Error(), "NewKey") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// Neither key nor members show in any format.
func TestSettingsHideWhatIsPrivate(t *testing.T) {
	s := cpuSettings(SGD(0.5))
	s.Members = []int32{31337}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		if text := fmt.Sprintf(format, s); strings.Contains(text, "31337") || strings.Contains(text, fmt.Sprint(s.Key[0], " ", s.Key[1])) {
			t.Errorf("%s prints %s", format, text)
		}
	}
	if _, err := json.Marshal(s); err == nil {
		t.Error("JSON takes the key")
	}
}
