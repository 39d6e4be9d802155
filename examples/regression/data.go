package main

import (
	"math"
	"math/rand/v2"

	"github.com/dptrain/dptrain/train"
)

// waves returns n points of the plane, and what to predict there.
func waves(n int, seed uint64) *train.Regression {
	draw := rand.New(rand.NewPCG(seed, 0))
	var points, targets []float32
	for range n {
		a, b := draw.NormFloat64(), draw.NormFloat64()
		points, targets = append(points, float32(a), float32(b)), append(targets, float32(math.Sin(a)+0.5*b))
	}
	return must(train.NewRegression(points, targets))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
