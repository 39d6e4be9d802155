package train_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Logistic regression as a plain Gorgonia graph: inputs with the batch as their first axis, a cost that
// sums over the batch. Real runs draw their key with NewKey.
func Example() {
	const batch, features, classes = 16, 2, 2
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(batch, features), gorgonia.WithName("x"))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(batch, classes), gorgonia.WithName("y"))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(features, classes), gorgonia.WithName("w"), gorgonia.WithInit(gorgonia.Zeroes()))
	logits := gorgonia.Must(gorgonia.Mul(x, w))
	cost := gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Sum(
		gorgonia.Must(gorgonia.HadamardProd(y, gorgonia.Must(gorgonia.LogSoftMax(logits))))))))
	model := train.Model{Inputs: gorgonia.Nodes{x, y}, Parameters: gorgonia.Nodes{w}, Output: logits, Cost: cost}

	data, test := points(2000), points(500)
	trainer, err := train.New(cpu.New(cpu.Options{}), model, data.Data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.05, NoiseMultiplier: 2, ClippingNorm: 1, Steps: 200, NominalSize: 2000},
		Optimizer: train.SGD(1),
		Key:       train.InsecureKey(1),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer trainer.Close()
	result, err := trainer.Train(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	accuracy, err := trainer.Score(context.Background(), test)
	if err != nil {
		log.Fatal(err)
	}
	guarantee, err := accountant.Epsilon(result.Event, 1e-5, accountant.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("accuracy above 0.9: %v, epsilon %.2f at delta %g\n", accuracy > 0.9, guarantee.Epsilon, guarantee.Delta)
	// Output: accuracy above 0.9: true, epsilon 1.56 at delta 1e-05
}

// A run that stops and goes on in another process, which has its key and its state as bytes and makes all else again.
func ExampleTrainer_Restore() {
	model, err := models.New("linear", []int{2}, 2, models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	data, engine := points(2000), cpu.New(cpu.Options{})
	settings := train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.05, NoiseMultiplier: 2, ClippingNorm: 1, Steps: 4000, NominalSize: 2000},
		Optimizer: train.SGD(1),
		Key:       train.NewKey(),
	}
	first, err := train.New(engine, model, data.Data, settings)
	if err != nil {
		log.Fatal(err)
	}
	defer first.Close()
	ctx, stop := context.WithCancel(context.Background())
	// A signal would stop it; here the first report of progress does.
	if _, err := first.Train(ctx, func(train.Progress) { stop() }); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
	state, err := first.State()
	if err != nil {
		log.Fatal(err)
	}
	saved, err := state.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	secret := slices.Clone(settings.Key[:]) // both are as private as the data

	again := settings
	again.Key = train.Key(secret)
	second, err := train.New(engine, model, data.Data, again)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Close()
	var read train.State
	if err := read.UnmarshalBinary(saved); err != nil {
		log.Fatal(err)
	}
	if err := second.Restore(read); err != nil {
		log.Fatal(err)
	}
	result, err := second.Train(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	whole, err := first.Train(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same model:", slices.Equal(result.Parameters[0].Values, whole.Parameters[0].Values))
	// Output: the same model: true
}

// A model that tags each token of a text, scored by the share of right tags. Its output has a row of logits for each
// token, and the tags are a column of the samples, one-hot.
func ExampleNewScored() {
	const batch, tokens, features, tags = 8, 5, 3, 3
	g := gorgonia.NewGraph()
	x := gorgonia.NewTensor(g, tensor.Float32, 3, gorgonia.WithShape(batch, tokens, features), gorgonia.WithName("x"))
	y := gorgonia.NewTensor(g, tensor.Float32, 3, gorgonia.WithShape(batch, tokens, tags), gorgonia.WithName("y"))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(features, tags), gorgonia.WithName("w"), gorgonia.WithInit(gorgonia.Zeroes()))
	rows := func(n *gorgonia.Node, each int) *gorgonia.Node {
		return gorgonia.Must(gorgonia.Reshape(n, tensor.Shape{batch * tokens, each}))
	}
	logits := gorgonia.Must(gorgonia.Mul(rows(x, features), w))
	cost := gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Sum(
		gorgonia.Must(gorgonia.HadamardProd(rows(y, tags), gorgonia.Must(gorgonia.LogSoftMax(logits))))))))
	model := train.Model{Inputs: gorgonia.Nodes{x, y}, Parameters: gorgonia.Nodes{w}, Output: logits, Cost: cost}

	// texts returns n texts, in which the tag of a token is the index of its largest feature.
	texts := func(n int) *train.Data {
		draw := rand.New(rand.NewPCG(1, uint64(n)))
		x, y := make([]float32, n*tokens*features), make([]float32, n*tokens*tags)
		for i := range x {
			x[i] = float32(draw.NormFloat64())
		}
		for i := 0; i < len(x); i += features {
			y[i+train.Predicted(x[i:i+features])] = 1
		}
		data, err := train.NewData(n, x, y)
		if err != nil {
			log.Fatal(err)
		}
		return data
	}
	test, err := train.NewScored(texts(500), train.MeasureFunc("accuracy of tokens", func(outputs []float32, labels train.Labels) float64 {
		right, tagged := float32(0), labels.Columns[1].Floats
		for i := 0; i < len(outputs); i += tags {
			right += tagged[i+train.Predicted(outputs[i:i+tags])]
		}
		return float64(right) / float64(labels.Samples*tokens)
	}))
	if err != nil {
		log.Fatal(err)
	}
	trainer, err := train.New(cpu.New(cpu.Options{}), model, texts(2000), train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.05, NoiseMultiplier: 2, ClippingNorm: 1, Steps: 200, NominalSize: 2000},
		Optimizer: train.SGD(1),
		Key:       train.InsecureKey(1),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer trainer.Close()
	if _, err := trainer.Train(context.Background(), nil); err != nil {
		log.Fatal(err)
	}
	accuracy, err := trainer.Score(context.Background(), test)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("accuracy of tokens above 0.9:", accuracy > 0.9)
	// Output: accuracy of tokens above 0.9: true
}

// points returns n points of the plane; those above the diagonal are class 1.
func points(n int) *train.Classification {
	draw := rand.New(rand.NewPCG(1, uint64(n)))
	samples, labels := make([]float32, 2*n), make([]int32, n)
	for i := range labels {
		samples[2*i], samples[2*i+1] = float32(draw.NormFloat64()), float32(draw.NormFloat64())
		if samples[2*i+1] > samples[2*i] {
			labels[i] = 1
		}
	}
	data, err := train.NewClassification(samples, labels, 2)
	if err != nil {
		log.Fatal(err)
	}
	return data
}
