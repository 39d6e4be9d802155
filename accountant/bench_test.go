package accountant

import (
	"fmt"
	"testing"
)

// The budgets: one epsilon of a whole variant 1 plan under 1 ms, a calibration of the noise multiplier under 50 ms in
// the Rényi modes; in mode best an epsilon under 0.2 s and a calibration under 1 s; all on one core.

func benchmarkEpsilon(b *testing.B, e Event, o Options) {
	for b.Loop() {
		mustEpsilon(b, e, 1e-5, o)
	}
}

func benchmarkCalibration(b *testing.B, variant int, o Options) {
	benchmarkCalibrationTo(b, 2, variant, o)
}

func benchmarkCalibrationTo(b *testing.B, epsilon float64, variant int, o Options) {
	p := plan{rate: 0.0213, steps: 1878, mean: 15, q: 0.1, variant: variant}
	for b.Loop() {
		if _, err := CalibrateNoise(epsilon, 1e-5, o, func(noise float64) Event {
			p.noise = noise
			return p.event()
		}); err != nil {
			b.Fatal(err)
		}
	}
}

var benchmarkBase = DPSGD(0.0213, 2, 1878)

func BenchmarkEpsilonRunPaper(b *testing.B) { benchmarkEpsilon(b, benchmarkBase, Options{Mode: Paper}) }
func BenchmarkEpsilonRunBest(b *testing.B)  { benchmarkEpsilon(b, benchmarkBase, Options{Mode: Best}) }

func BenchmarkEpsilonVariant1Paper(b *testing.B) {
	benchmarkEpsilon(b, Variant1(0.1, Poisson{Mean: 15}, benchmarkBase), Options{Mode: Paper})
}

func BenchmarkEpsilonVariant1Tight(b *testing.B) {
	benchmarkEpsilon(b, Variant1(0.1, Poisson{Mean: 15}, benchmarkBase), Options{Mode: Tight})
}

func BenchmarkEpsilonVariant1Orders1024(b *testing.B) {
	benchmarkEpsilon(b, Variant1(0.1, Poisson{Mean: 15}, benchmarkBase), Options{Mode: Paper, Orders: Orders{Low: 2, High: 1024}})
}

func BenchmarkEpsilonVariant1Best(b *testing.B) {
	benchmarkEpsilon(b, Variant1(0.1, Poisson{Mean: 15}, benchmarkBase), Options{Mode: Best})
}

func BenchmarkEpsilonBaselineBest(b *testing.B) {
	benchmarkEpsilon(b, Baseline(Poisson{Mean: 15}, benchmarkBase), Options{Mode: Best})
}

func BenchmarkEpsilonVariant2Best(b *testing.B) {
	benchmarkEpsilon(b, Variant2(0.1, Poisson{Mean: 15}, benchmarkBase), Options{Mode: Best})
}

func BenchmarkCalibrationBaselineGeometricBest(b *testing.B) {
	k, err := Geometric(15)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := CalibrateNoise(2, 1e-5, Options{Mode: Best}, func(noise float64) Event {
			return Baseline(k, DPSGD(0.0213, noise, 1878))
		}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCalibrationVariant1Paper(b *testing.B) {
	benchmarkCalibration(b, 1, Options{Mode: Paper})
}
func BenchmarkCalibrationVariant1Tight(b *testing.B) {
	benchmarkCalibration(b, 1, Options{Mode: Tight})
}
func BenchmarkCalibrationRunBest(b *testing.B) { benchmarkCalibration(b, 3, Options{Mode: Best}) }
func BenchmarkCalibrationVariant1Best(b *testing.B) {
	benchmarkCalibration(b, 1, Options{Mode: Best})
}
func BenchmarkCalibrationVariant2Best(b *testing.B) {
	benchmarkCalibration(b, 2, Options{Mode: Best})
}

func BenchmarkCalibrationsBest(b *testing.B) {
	for variant := 1; variant <= 2; variant++ {
		for _, epsilon := range []float64{1, 2, 4} {
			b.Run(fmt.Sprintf("variant=%d/epsilon=%v", variant, epsilon), func(b *testing.B) {
				benchmarkCalibrationTo(b, epsilon, variant, Options{Mode: Best})
			})
		}
	}
}

// BenchmarkEpsilonLineBest is the epsilon of a random search below a line.
func BenchmarkEpsilonLineBest(b *testing.B) {
	benchmarkEpsilon(b, Variant1(0.1, Poisson{Mean: 15}, RDPLine{Slope: 0.02}), Options{Mode: Best})
}
