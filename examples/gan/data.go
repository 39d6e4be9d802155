package main

import (
	"context"
	"math/rand/v2"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/train"
)

// digits returns MNIST's images in 7 by 7 pixels from 0 to 1, the training set's with classes and noise beside them.
func digits() (*train.Data, *train.Classification) {
	set := must(datasets.Open(context.Background(), "mnist", datasets.Options{}))
	mean, std := float32(set.Normalisation.Mean[0]), float32(set.Normalisation.Std[0])
	small := func(s datasets.Split) []float32 {
		const cell = 28 / side
		out := make([]float32, s.N*pixels)
		for i, v := range s.Samples {
			out[i/28/cell*side+i%28/cell] += (v*std + mean) / (cell * cell)
		}
		return out
	}
	return columns(small(set.Train), set.Train.Labels), must(train.NewClassification(small(set.Test), set.Test.Labels, classes))
}

// columns returns samples of an image, its class one-hot, and noise.
func columns(images []float32, labels []int32) *train.Data {
	y, z := make([]float32, len(labels)*classes), make([]float32, len(labels)*noise)
	for i, class := range labels {
		y[i*classes+int(class)] = 1
	}
	for i := range z {
		z[i] = float32(rand.NormFloat64())
	}
	return must(train.NewData(len(labels), images, y, z))
}

// generate returns n digits made by a trained network.
func generate(gan train.Model, trained train.Result, n int) *train.Data {
	var values [][]float32
	for _, p := range trained.Parameters {
		values = append(values, p.Values)
	}
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % classes)
	}
	predictor := must(train.NewPredictor(cpu.New(cpu.Options{}), gan, values))
	defer predictor.Close()
	made := must(predictor.Predict(context.Background(), columns(make([]float32, n*pixels), labels))) // of no images
	return must(train.NewClassification(made, labels, classes)).Data
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
