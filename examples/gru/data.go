package main

import (
	"math"
	"math/rand/v2"

	"github.com/dptrain/dptrain/train"
)

// waves returns n sequences: noisy waves of one of two lengths, at any phase.
func waves(n int, seed uint64) *train.Classification {
	draw := rand.New(rand.NewPCG(seed, 0))
	var samples []float32
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(draw.IntN(2))
		phase, speed := draw.Float64()*2*math.Pi, []float64{0.6, 1.4}[labels[i]]
		for t := range steps {
			samples = append(samples, float32(math.Sin(phase+speed*float64(t))+0.2*draw.NormFloat64()))
		}
	}
	return must(train.NewClassification(samples, labels, 2))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
