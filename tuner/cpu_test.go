package tuner

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// On the CPU engine any number of workers gives the same release, whose model has learned.
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
				Data:   labelled(t, 1000, 1).Data,
				Test:   labelled(t, 500, 2),
			}, plan)
			if result = timeless(result); i == 0 {
				want = result
			}
			if !reflect.DeepEqual(result, want) {
				t.Errorf("%d workers: %+v\nwant %+v", workers, result, want)
			}
		}
		if want.Released.TestScore < 0.95 {
			t.Errorf("accuracy %v on classes that a linear model can tell apart", want.Released.TestScore)
		}
	})
}

// numbers returns n samples of one feature x with the label 3 + x/2.
func numbers(t testing.TB, n int, seed uint64) *train.Regression {
	t.Helper()
	draw := rand.New(rand.NewPCG(seed, 0))
	samples, targets := make([]float32, n), make([]float32, n)
	for i := range samples {
		samples[i] = float32(draw.NormFloat64())
		targets[i] = 3 + samples[i]/2
	}
	r, err := train.NewRegression(samples, targets)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Regression is tuned by R², which has no minimum: a rate that learns almost nothing scores far below -1, but still
// beats one that diverges.
func TestTuneRegression(t *testing.T) {
	network, err := models.New("linear", []int{1}, 1, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tune := func(rates ...float64) Result {
		s := settings(Variant2, 8)
		s.Space = LearningRates(Candidate{SamplingRate: 0.1, Steps: 60, NoiseMultiplier: 0.5, ClippingNorm: 1}, rates...)
		s.Samples = 2000
		return mustRun(t, Executor{
			Engine: cpu.New(cpu.Options{Workers: 2}),
			Model:  network,
			Data:   numbers(t, 2000, 1).Data,
			Test:   numbers(t, 500, 2),
		}, planWith(t, s, 8))
	}
	if got := tune(1e-3, 0.05).Released; got.Hyperparameters.Tuned.LearningRate != 0.05 || got.TestScore < 0.8 {
		t.Errorf("R² %v at %v", got.TestScore, got.Hyperparameters.Tuned)
	}
	got := tune(1e60, 1e-6)
	diverged := slices.ContainsFunc(got.Private.Trials, func(r PrivateTrial) bool { return r.Diverged && math.IsInf(r.Score, -1) })
	if !diverged || got.Released.Hyperparameters.Tuned.LearningRate != 1e-6 || got.Released.TestScore > -1 {
		t.Errorf("R² %v at %v, trials %+v", got.Released.TestScore, got.Released.Hyperparameters.Tuned, got.Private.Trials)
	}
}
