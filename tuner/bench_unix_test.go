//go:build unix

package tuner

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// BenchmarkPlans carries out plans of variant 1 side by side and one after another, on random samples with the shapes
// of two presets, but with fewer steps. A plan has 15 expected trials at expected batches of 128, and a final run of
// nine times that. Run it several times instead of with -count, so that the two ways alternate. Besides the time it
// reports the seconds of all cores, which other programs on the machine change less.
func BenchmarkPlans(b *testing.B) {
	for _, preset := range []struct {
		name, network  string
		n, width       int
		rate           float64
		steps, classes int
	}{
		{"fashion-mnist", "mlp", 60000, 784, 0.0213, 8, 10},
		{"cifar-10", "linear", 50000, 64, 0.0256, 80, 10},
	} {
		draw := rand.New(rand.NewPCG(1, 2))
		samples := func(n int) *train.Classification {
			values, labels := make([]float32, n*preset.width), make([]int32, n)
			for i := range values {
				values[i] = draw.Float32()
			}
			for i := range labels {
				labels[i] = int32(draw.IntN(preset.classes))
			}
			set, err := train.NewClassification(values, labels, preset.classes)
			if err != nil {
				b.Fatal(err)
			}
			return set
		}
		data, test := samples(preset.n), samples(10000)
		data.Prepare()
		shape := []int{preset.width}
		if preset.width == 784 {
			shape = []int{28, 28}
		}
		model, err := models.New(preset.network, shape, preset.classes, models.Options{Activation: models.TemperedSigmoid{Scale: 2, Temperature: 2, Offset: 1}})
		if err != nil {
			b.Fatal(err)
		}
		executor := Executor{Engine: cpu.New(cpu.Options{}), Model: model, Data: data.Data, Test: test}
		var work []Work
		for i := range 8 {
			plan, err := NewPlan(Settings{
				Method: Variant1, SubsetRate: 0.1, Repetitions: accountant.Poisson{Mean: 15}, Samples: preset.n, Optimizer: train.SGD(0),
				Space: LearningRates(Candidate{SamplingRate: preset.rate, Steps: preset.steps, NoiseMultiplier: 1.5, ClippingNorm: 3}, 0.01, 0.1, 1),
			}, train.InsecureKey(uint64(i+1)))
			if err != nil {
				b.Fatal(err)
			}
			work = append(work, Work{Plan: plan})
		}
		for _, plans := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/plans=%d/apart", preset.name, plans), func(b *testing.B) {
				defer reportProcessor(b)()
				for b.Loop() {
					for _, w := range work[:plans] {
						if _, err := executor.Run(b.Context(), w.Plan); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
			b.Run(fmt.Sprintf("%s/plans=%d/together", preset.name, plans), func(b *testing.B) {
				defer reportProcessor(b)()
				for b.Loop() {
					if _, err := executor.RunAll(b.Context(), work[:plans]...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// reportProcessor returns a function that reports the processor's seconds since the call, by run of the benchmark.
func reportProcessor(b *testing.B) func() {
	seconds := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
	}
	began := seconds()
	return func() { b.ReportMetric((seconds()-began)/float64(b.N), "core-s/op") }
}
