// A variational autoencoder of MNIST's images, whose noise is drawn within the graph: images with noise go in, and what
// comes out is compared with the images.

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

var steps = flag.Int("steps", 1500, "steps of training")

func main() {
	flag.Parse()
	set := must(datasets.Open(context.Background(), "mnist", datasets.Options{}))
	data := must(train.NewData(set.Train.N, set.Train.Samples))
	test := must(train.NewScored(must(train.NewData(set.Test.N, set.Test.Samples)), train.MeasureFunc("R² of pixels", explained)))
	trainer := must(train.New(cpu.New(cpu.Options{}), must(network()), data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.02, NoiseMultiplier: 0.8, ClippingNorm: 1, Steps: *steps, NominalSize: 60000},
		Optimizer: train.Adam(0.002), Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("R² %.3f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

// explained returns the share of the pixels' squared distance from their mean that reconstructions explain.
func explained(outputs []float32, labels train.Labels) float64 {
	var sum, squares, left float64
	for i, x := range labels.Columns[0].Floats {
		d := float64(x - outputs[i])
		sum, squares, left = sum+float64(x), squares+float64(x)*float64(x), left+d*d
	}
	return 1 - left/(squares-sum*sum/float64(len(outputs)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
