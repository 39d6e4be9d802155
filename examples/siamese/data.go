package main

import (
	"context"

	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/train"
)

// digits returns pairs of MNIST's images, about half of which show the same digit twice.
func digits() (*train.Data, *train.Measured) {
	set := must(datasets.Open(context.Background(), "mnist", datasets.Options{}))
	return pairs(set.Train), must(train.NewScored(pairs(set.Test), train.MeasureFunc("accuracy of pairs", accuracy)))
}

// pairs makes pairs of the same digit of the first half of the images, and of different ones of the second. No image is
// in two pairs. The guarantee is for pairs as they are: which images of the first half meet depends on those before.
func pairs(s datasets.Split) *train.Data {
	var images, same []float32
	add := func(i, j int, equal float32) {
		for _, k := range []int{i, j} {
			images = append(images, s.Samples[k*s.SampleSize():(k+1)*s.SampleSize()]...)
		}
		same = append(same, equal)
	}
	waiting := map[int32]int{} // for another image of its class
	for i, class := range s.Labels[:s.N/2] {
		if j, found := waiting[class]; found {
			add(j, i, 1)
			delete(waiting, class)
		} else {
			waiting[class] = i
		}
	}
	for i := s.N / 2; i+1 < s.N; i += 2 {
		if s.Labels[i] != s.Labels[i+1] {
			add(i, i+1, 0)
		}
	}
	return must(train.NewData(len(same), images, same))
}

// accuracy returns the share of pairs whose distance is on the right side of half the margin.
func accuracy(distances []float32, labels train.Labels) float64 {
	right := 0
	for i, same := range labels.Columns[1].Floats {
		if (distances[i] < 1) == (same == 1) {
			right++
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
