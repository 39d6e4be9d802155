package main

import (
	"math/rand/v2"

	"github.com/dptrain/dptrain/train"
)

// points returns n points of the plane; those far from the middle are the rare class 1.
func points(n int, seed uint64) *train.Classification {
	draw := rand.New(rand.NewPCG(seed, 0))
	samples, labels := make([]float32, 2*n), make([]int32, n)
	for i := range labels {
		a, b := draw.NormFloat64(), draw.NormFloat64()
		samples[2*i], samples[2*i+1] = float32(a), float32(b)
		if a*a+b*b > 4 {
			labels[i] = 1
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
