// A siamese network: two images at a time pass through one network. Do they show the same digit?

package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

const side, width = 28, 16

var steps = flag.Int("steps", 1500, "steps of training")

func main() {
	flag.Parse()
	data, test := digits()
	trainer := must(train.New(cpu.New(cpu.Options{}), must(network()), data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.02, NoiseMultiplier: 0.8, ClippingNorm: 1, Steps: *steps, NominalSize: float64(data.Samples())},
		Optimizer: train.Adam(0.002), Key: train.NewKey(),
	}))
	defer trainer.Close()
	result := must(trainer.Train(context.Background(), nil))
	guarantee := must(accountant.Epsilon(result.Event, 1e-5, accountant.Options{})) // of a pair
	fmt.Printf("accuracy %.3f, epsilon %.2f at delta %g\n", must(trainer.Score(context.Background(), test)), guarantee.Epsilon, guarantee.Delta)
}

// network returns the distance of two images' embeddings, and the contrastive loss with the margin 2 (Hadsell, Chopra
// and LeCun, "Dimensionality reduction by learning an invariant mapping", 2006).
func network() (train.Model, error) {
	const batch = 2 // any: training forms its own batches
	return models.Build(batch, func(b *models.Builder) (output, cost *G.Node) {
		images, same := b.Input("images", 2, side, side), b.Input("same", 1)
		x := b.Do(G.Reshape(images, []int{2 * batch, 1, side, side})) // so both images have the same weights
		x = conv(b, "conv2", conv(b, "conv1", x, 16, 5), 32, 3)
		x = b.Linear("embedding", b.Do(G.Reshape(x, []int{batch, 2, x.Shape().TotalSize() / (2 * batch)})), width)
		d := b.Do(G.Square(b.Do(G.Sub(b.Do(G.Slice(x, nil, G.S(0))), b.Do(G.Slice(x, nil, G.S(1)))))))
		square := b.Do(G.Reshape(b.Do(G.Sum(d, 1)), []int{batch, 1}))
		output = b.Do(G.Sqrt(b.Do(G.Add(square, G.NewConstant(float32(1e-6)))))) // whose slope is finite at 0
		apart := b.Do(G.Square(b.Do(G.Rectify(b.Do(G.Sub(G.NewConstant(float32(2)), output))))))
		different := b.Do(G.Sub(G.NewConstant(float32(1)), same))
		return output, b.Do(G.Sum(b.Add(b.Multiply(same, square), b.Multiply(different, apart))))
	})
}

// conv adds a convolution with a stride of 2, and a rectifier.
func conv(b *models.Builder, name string, x *G.Node, channels, kernel int) *G.Node {
	w := b.Parameter(name+".weight", models.Normal(1/float64(kernel*kernel)), channels, x.Shape()[1], kernel, kernel)
	x = b.Do(G.Conv2d(x, w, tensor.Shape{kernel, kernel}, []int{kernel / 2, kernel / 2}, []int{2, 2}, []int{1, 1}))
	return b.Do(G.Rectify(b.Add(x, b.Parameter(name+".bias", models.Value(0), 1, channels, 1, 1))))
}
