//go:build unix

package cpu_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// BenchmarkArchitectures measures whole private steps of networks of common kinds: 2,048 synthetic samples at sampling
// rate 1/16. bench/peers has the same networks beside others.
func BenchmarkArchitectures(b *testing.B) {
	const samples, expected = 2048, 128
	for name, z := range enginetest.Architectures() {
		p := z.Program(b, 2)
		data := enginetest.RandomData(p, samples, 1)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", strings.ReplaceAll(name, " ", "-"), workers), func(b *testing.B) {
				loaded, err := cpu.New(cpu.Options{Workers: workers}).Load(p, data)
				if err != nil {
					b.Fatal(err)
				}
				runs, err := loaded.Start(engine.Job{
					Mechanism: engine.Mechanism{SamplingProbability: 1. / 16, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: expected},
					Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.01},
					Initial:   engine.LayoutOf(p).Join(p.Initial()),
				})
				if err != nil {
					b.Fatal(err)
				}
				defer runs.Close()
				before := processorTime(b)
				for b.Loop() {
					if err := runs.Steps(context.Background(), 1); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(expected*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
				b.ReportMetric(expected*float64(b.N)/(processorTime(b)-before).Seconds(), "samples/cpu-s")
			})
		}
	}
}

// processorTime returns the processor time that this process has taken.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
