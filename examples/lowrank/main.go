// A network of public images, MNIST's, is fitted to private ones, FashionMNIST's, by updates of low rank: the public
// weights W are constants, and A and B in x·W + x·A·B are trained.

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

var steps = flag.Int("steps", 1500, "steps of training, on public images and on private ones")

func main() {
	flag.Parse()
	public, _ := fit("mnist", nil, 0, 0.001) // without noise: this isn't private
	result, accuracy := fit("fashion-mnist", public.Parameters, 0.8, 0.003)
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{}))
	fmt.Printf("accuracy %.3f, epsilon %.2f at delta %g\n", accuracy, guarantee.Epsilon, guarantee.Delta)
}

// fit trains a network on a data set, and returns its accuracy too.
func fit(set string, public []train.Parameter, noise, rate float64) (train.Result, float64) {
	data, test, err := must(datasets.Open(context.Background(), set, datasets.Options{})).Classification()
	if err != nil {
		panic(err)
	}
	trainer := must(train.New(cpu.New(cpu.Options{}), must(network(public)), data.Data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.02, NoiseMultiplier: noise, ClippingNorm: 1, Steps: *steps, NominalSize: 60000},
		Optimizer: train.Adam(rate), Key: train.NewKey(),
	}))
	defer trainer.Close()
	return must(trainer.Train(context.Background(), nil)), must(trainer.Score(context.Background(), test))
}
