package dptrain_test

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// plain returns a linear model of two features and some outputs, multiplied by a constant matrix if there is one.
func plain(outputs int, constant ...float32) train.Model {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, 2), gorgonia.WithName("x"))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, outputs), gorgonia.WithName("y"))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, outputs), gorgonia.WithName("w"),
		gorgonia.WithValue(tensor.New(tensor.WithShape(2, outputs), tensor.WithBacking(make([]float32, 2*outputs)))))
	out := gorgonia.Must(gorgonia.Mul(x, w))
	if constant != nil {
		c := gorgonia.NewConstant(tensor.New(tensor.WithShape(outputs, outputs), tensor.WithBacking(constant)))
		out = gorgonia.Must(gorgonia.Mul(out, c))
	}
	cost := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sub(out, y))))))
	return train.Model{Inputs: gorgonia.Nodes{x, y}, Parameters: gorgonia.Nodes{w}, Output: out, Cost: cost}
}

// texts returns a model of one id and one number, with a table of two rows.
func texts() train.Model {
	g := gorgonia.NewGraph()
	ids := gorgonia.NewMatrix(g, tensor.Int, gorgonia.WithShape(4, 1), gorgonia.WithName("ids"))
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, 1), gorgonia.WithName("x"))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, 2), gorgonia.WithName("y"))
	e := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, 2), gorgonia.WithName("e"), gorgonia.WithInit(gorgonia.Zeroes()))
	row := gorgonia.Must(gorgonia.ByIndices(e, gorgonia.Must(gorgonia.Reshape(ids, tensor.Shape{4})), 0))
	row = gorgonia.Must(gorgonia.BroadcastHadamardProd(row, x, nil, []byte{1}))
	cost := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sub(row, y))))))
	return train.Model{Inputs: gorgonia.Nodes{ids, x, y}, Parameters: gorgonia.Nodes{e}, Output: row, Cost: cost}
}

// ruleless returns a graph with an operation that has no rule, and a list that one of its operations was built with.
func ruleless() (train.Model, []int) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewTensor(g, tensor.Float32, 3, gorgonia.WithShape(1, 2, 3), gorgonia.WithName("x"))
	w := gorgonia.NewTensor(g, tensor.Float32, 3, gorgonia.WithShape(1, 3, 2), gorgonia.WithName("w"),
		gorgonia.WithValue(tensor.New(tensor.WithShape(1, 3, 2), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6}))))
	axes := []int{0, 2, 1}
	turned := gorgonia.Must(gorgonia.HadamardProd(gorgonia.Must(gorgonia.Transpose(x, axes...)), w))
	cost := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Max(turned, 1))))))
	return train.Model{Inputs: gorgonia.Nodes{x}, Parameters: gorgonia.Nodes{w}, Cost: cost}, axes
}

func samples() *train.Data {
	return must(train.NewData(2, []float32{1, 2, 3, 4}, []float32{1, 0, 0, 1}))
}

// private returns settings of the given steps on all samples, with a noise that hides two of them.
func private(steps int) train.Settings {
	return train.Settings{
		Privacy:   train.Privacy{SamplingRate: 1, NoiseMultiplier: 50, ClippingNorm: 1, Steps: steps, NominalSize: 1},
		Optimizer: train.SGD(1),
		Key:       train.InsecureKey(3),
	}
}

// released returns the parameters that training releases.
func released(src train.Model, data *train.Data, s train.Settings) any {
	return releasedBy(must(train.Load(cpu.New(cpu.Options{}), src, data)), s)
}

func releasedBy(l *train.Loaded, s train.Settings) any { return result(must(l.Start(s))) }

func result(g *train.Group) any {
	if err := g.Train(context.Background(), nil); err != nil {
		panic(err)
	}
	var out [][]float32
	for _, p := range must(g.Result(0)).Parameters {
		out = append(out, p.Values)
	}
	return out
}

// startedBy returns the release of a run whose settings are handed to Start, and the state that it can be
// restored to.
func startedBy(h handOver, change func(), with func(*train.Settings)) any {
	l := must(train.Load(cpu.New(cpu.Options{}), plain(2), samples()))
	s := private(1)
	with(&s)
	var g *train.Group
	h.over(change, func() { g = must(l.Start(s)) })
	state := must(must(g.State(0)).MarshalBinary())
	return []any{state, result(g)}
}

func candidates() tuner.Grid {
	return tuner.LearningRates(tuner.Candidate{SamplingRate: 0.5, Steps: 2, NoiseMultiplier: 3, ClippingNorm: 1}, 0.1, 1)
}

func settings(space tuner.Space) tuner.Settings {
	return tuner.Settings{
		Method: tuner.Variant1, SubsetRate: 0.5, Repetitions: accountant.Poisson{Mean: 3}, Space: space,
		Optimizer: train.Optimizer{Method: train.DPSGD}, Samples: 4,
	}
}

func executor() tuner.Executor {
	c := must(train.NewClassification([]float32{1, 2, 3, 4, 5, 6, 7, 8}, []int32{0, 1, 0, 1}, 2))
	return tuner.Executor{Engine: cpu.New(cpu.Options{}), Model: plain(2), Data: c.Data, Test: c}
}

// tuned returns a plan by what it releases and costs. Its space is handed to NewPlan.
func tuned(h handOver, space tuner.Space, change func()) any {
	var plan tuner.Plan
	h.over(change, func() { plan = must(tuner.NewPlan(settings(space), train.InsecureKey(4))) })
	return []any{plan.Private.Trials, plan.Settings.Event(), must(executor().Run(context.Background(), plan)).Released}
}

func calibrated() (tuner.Settings, tuner.Region) {
	r := tuner.Region{
		LearningRate: tuner.Values{List: []float64{0.1, 1}}, SamplingRate: tuner.Values{List: []float64{0.5}},
		ClippingNorm: tuner.Values{List: []float64{1}}, Epochs: tuner.Values{List: []float64{1}},
	}
	return settings(r), r
}

func calibrate(s tuner.Settings, _ accountant.Guarantee, err error) (tuner.Settings, error) {
	return s, err
}

// tensors returns weights of a residual network, by PyTorch's names.
func tensors() map[string]models.Tensor {
	out := map[string]models.Tensor{}
	add := func(name string, shape ...int) {
		values := make([]float32, tensor.Shape(shape).TotalSize())
		for i := range values {
			values[i] = 1
		}
		out[name] = models.Tensor{Shape: shape, Values: values}
	}
	norm := func(name string, n int) {
		for _, part := range []string{".weight", ".bias", ".running_mean", ".running_var"} {
			add(name+part, n)
		}
	}
	add("conv1.weight", 16, 3, 3, 3)
	norm("bn1", 16)
	in := 16
	for layer, width := range []int{16, 32, 64} {
		for block := range 3 {
			at := fmt.Sprintf("layer%d.%d", layer+1, block)
			add(at+".conv1.weight", width, in, 3, 3)
			norm(at+".bn1", width)
			add(at+".conv2.weight", width, width, 3, 3)
			norm(at+".bn2", width)
			if in != width {
				add(at+".downsample.0.weight", width, in, 1, 1)
				norm(at+".downsample.1", width)
			}
			in = width
		}
	}
	add("fc.weight", 10, 64)
	add("fc.bias", 10)
	return out
}
