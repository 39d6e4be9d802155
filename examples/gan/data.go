package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/train"
)

// digits returns MNIST's images in 7 by 7 pixels from 0 to 1, with their classes, one-hot, and noise.
func digits() (*train.Data, *train.Measured) {
	set := must(datasets.Open(context.Background(), "mnist", datasets.Options{}))
	mean, std := float32(set.Normalisation.Mean[0]), float32(set.Normalisation.Std[0])
	columns := func(s datasets.Split) *train.Data {
		const cell = 28 / side
		x, y, z := make([]float32, s.N*pixels), make([]float32, s.N*classes), make([]float32, s.N*noise)
		for i, v := range s.Samples {
			x[i/28/cell*side+i%28/cell] += (v*std + mean) / (cell * cell)
		}
		for i, class := range s.Labels {
			y[i*classes+int(class)] = 1
		}
		for i := range z {
			z[i] = float32(rand.NormFloat64())
		}
		return must(train.NewData(s.N, x, y, z))
	}
	return columns(set.Train), must(train.NewScored(columns(set.Test), train.MeasureFunc("accuracy by made digits", accuracy)))
}

// accuracy returns the share of real digits that have the class of the nearest of the first 1000 made ones.
func accuracy(made []float32, labels train.Labels) float64 {
	x, y, right := labels.Columns[0].Floats, labels.Columns[1].Floats, 0
	for i := range labels.Samples {
		nearest, least := 0, float32(math.Inf(1))
		for j := range 1000 {
			var d float32
			for k, v := range made[j*pixels : (j+1)*pixels] {
				d += (v - x[i*pixels+k]) * (v - x[i*pixels+k])
			}
			if d < least {
				nearest, least = j, d
			}
		}
		for k := range classes {
			right += int(y[i*classes+k] * y[nearest*classes+k])
		}
	}
	return float64(right) / float64(labels.Samples)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
