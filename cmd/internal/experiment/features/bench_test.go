package features_test

import (
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
	"github.com/dptrain/dptrain/cpu"
)

// BenchmarkExtract takes images through the network on one core.
func BenchmarkExtract(b *testing.B) {
	x, err := features.New(cpu.New(cpu.Options{Workers: 1}), randomWeights(1))
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	const n = 256
	images := inMemory(randomImages(1, n))
	for b.Loop() {
		if _, err := x.Compute(b.Context(), images, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "images/s")
}
