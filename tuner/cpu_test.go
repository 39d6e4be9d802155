package tuner

import (
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/train/cpu"
)

// The whole way on the CPU engine: the same release from any number of workers, and it has learnt.
func TestTuneOnCPU(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		s := settings(m, 5)
		s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 40, NoiseMultiplier: 1, ClippingNorm: 1}, 0.01, 0.3, 3)
		s.Samples = 1000
		plan := planWith(t, s, 5)
		var want Result
		for i, workers := range []int{1, 2, 5} {
			result := mustRun(t, Executor{
				Engine: cpu.New(cpu.Options{Workers: workers}),
				Model:  linear(),
				Data:   labelled(t, 1000, 1),
				Test:   labelled(t, 500, 2),
			}, plan)
			if result = timeless(result); i == 0 {
				want = result
			}
			if !reflect.DeepEqual(result, want) {
				t.Errorf("%d workers: %+v\nwant %+v", workers, result, want)
			}
		}
		if want.Released.TestAccuracy < 0.95 {
			t.Errorf("accuracy %v on classes that a linear model can tell apart", want.Released.TestAccuracy)
		}
	})
}
