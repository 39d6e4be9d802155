// Private tuning of a model of your own by a metric of your own: the least recall of a class, one of which is rare.

package main

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func main() {
	data := points(6000, 1)
	test := must(train.ScoredBy(points(2000, 2), train.MeasureFunc("least recall of a class", leastRecall)))
	run := tuner.Candidate{SamplingRate: 0.05, Steps: 100, ClippingNorm: 1}
	settings, guarantee, err := tuner.Calibrate(tuner.Settings{
		Method: tuner.Variant1, SubsetRate: 0.2, Repetitions: accountant.Poisson{Mean: 10}, // trials, each on a fifth
		Space: tuner.LearningRates(run, 0.03, 0.1, 0.3, 1, 3), Optimizer: train.Momentum(0, 0.5), Samples: data.Samples(),
	}, 4, 1e-5, accountant.Options{})
	if err != nil {
		panic(err)
	}
	plan := must(tuner.NewPlan(settings, train.NewKey()))
	result := must(tuner.Executor{Engine: cpu.New(cpu.Options{}), Model: network(), Data: data.Data, Test: test}.Run(context.Background(), plan))
	o := result.Released.Hyperparameters.Optimizer
	fmt.Printf("least recall %.2f with %s at learning rate %.3g, epsilon %.2f at delta %g\n", result.Released.TestScore, o, o.LearningRate, guarantee.Epsilon, guarantee.Delta)
}

// leastRecall returns the share of right answers in the class that has the least.
func leastRecall(outputs []float32, labels train.Labels) float64 {
	var found, all [2]float64
	for i, class := range labels.Class {
		all[class]++
		if other := outputs[2*i+1-int(class)]; outputs[2*i+int(class)] > other {
			found[class]++
		}
	}
	return min(found[0]/all[0], found[1]/all[1])
}

// network returns logistic regression on the inputs and their squares, and the cross-entropy in which a sample of
// class 1 counts three times.
func network() train.Model {
	const batch, features = 8, 2 // any batch: training forms its own
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(batch, features), G.WithName("x"))
	y := G.NewMatrix(g, tensor.Float32, G.WithShape(batch, 2), G.WithName("y"))
	w := G.NewMatrix(g, tensor.Float32, G.WithShape(2*features, 2), G.WithName("w"), G.WithInit(G.Zeroes()))
	b := G.NewMatrix(g, tensor.Float32, G.WithShape(1, 2), G.WithName("b"), G.WithInit(G.Zeroes()))
	logits := G.Must(G.BroadcastAdd(G.Must(G.Mul(G.Must(G.Concat(1, x, G.Must(G.Square(x)))), w)), b, nil, []byte{0}))
	weights := G.NewConstant(tensor.New(tensor.WithShape(2, 1), tensor.WithBacking([]float32{1, 3})))
	each := G.Must(G.Mul(G.Must(G.HadamardProd(y, G.Must(G.LogSoftMax(logits)))), weights))
	return train.Model{Inputs: G.Nodes{x, y}, Parameters: G.Nodes{w, b}, Output: logits, Cost: G.Must(G.Neg(G.Must(G.Sum(each))))}
}
