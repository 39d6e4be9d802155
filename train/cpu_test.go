package train

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/cpu"
)

// onCPU makes a trainer of the logistic regression on the CPU engine.
func onCPU(t *testing.T, workers int, s Settings) *Trainer {
	t.Helper()
	trainer, err := New(cpu.New(cpu.Options{Workers: workers}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 600).Data, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = trainer.Close() })
	return trainer
}

func cpuSettings(o Optimizer) Settings {
	return Settings{
		Privacy:   Privacy{SamplingRate: 0.1, NoiseMultiplier: 1, ClippingNorm: 1, Steps: 300, NominalSize: 600},
		Optimizer: o,
		Key:       InsecureKey(1),
	}
}

func TestCPULearns(t *testing.T) {
	for _, o := range []Optimizer{SGD(0.5), Adam(0.02)} {
		trainer := onCPU(t, 2, cpuSettings(o))
		if _, err := trainer.Train(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		accuracy, err := trainer.Score(context.Background(), threeClouds(t, 300))
		if err != nil {
			t.Fatal(err)
		}
		if accuracy < 0.98 {
			t.Errorf("%s: accuracy %v on clouds that a linear model can tell apart", o.Method, accuracy)
		}
	}
}

// Neither the number of workers nor a stop in the middle changes the event or any bit of the model.
func TestCPUIsReproducible(t *testing.T) {
	for _, o := range []Optimizer{SGD(0.5), Adam(0.02)} {
		want, err := onCPU(t, 1, cpuSettings(o)).Train(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{2, 3} {
			got, err := onCPU(t, workers, cpuSettings(o)).Train(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d workers give another result", o.Method, workers)
			}
		}
		if got := stopAndResume(t, cpuSettings(o), 137); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the resumed run ends elsewhere", o.Method)
		}
	}
}

// stopAndResume trains to a step, encodes the state and finishes on a fresh trainer.
func stopAndResume(t *testing.T, s Settings, step int) Result {
	t.Helper()
	first := onCPU(t, 2, s)
	if err := first.group.runs.Steps(context.Background(), step); err != nil {
		t.Fatal(err)
	}
	var state State
	if err := state.UnmarshalBinary(encode(t, must(first.State()))); err != nil {
		t.Fatal(err)
	}
	second := onCPU(t, 1, s)
	if err := second.Restore(state); err != nil {
		t.Fatal(err)
	}
	result, err := second.Train(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
