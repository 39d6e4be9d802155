// FashionMNIST with augmentations that each step draws anew: views of an image, shifted and perhaps mirrored, whose
// gradients are averaged before they are clipped. The test images are shifted too, as photographs of clothes would be.

package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/train"
)

var (
	steps = flag.Int("steps", 600, "steps of training")
	views = flag.Int("views", 4, "views of an image, or 1 for the image as it is")
)

func main() {
	flag.Parse()
	set := must(datasets.Open(context.Background(), "fashion-mnist", datasets.Options{}))
	data := must(train.NewClassification(set.Train.Samples, set.Train.Labels, set.Train.Classes))
	test := must(train.NewClassification(shifted(set.Test.Samples), set.Test.Labels, set.Test.Classes))
	trainer := must(train.New(cpu.New(cpu.Options{}), must(network()), data.Data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.02, NoiseMultiplier: 0.8, ClippingNorm: 1, Steps: *steps, NominalSize: 60000},
		Optimizer: train.Adam(0.003), Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("accuracy %.3f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

// shifted returns images moved by every pair of −shift, …, shift rows and columns in turn.
func shifted(images []float32) []float32 {
	moved := make([]float32, len(images))
	for i := range images {
		n, row, column := i/(side*side), i/side%side, i%side
		if row, column = row+n%5-shift, column+n/5%5-shift; min(row, column) >= 0 && max(row, column) < side {
			moved[(n*side+row)*side+column] = images[i]
		}
	}
	return moved
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
