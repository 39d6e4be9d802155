package tuner

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// line returns a model from one feature to a number.
func line() train.Model {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("x"), gorgonia.WithShape(4, 1))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("y"), gorgonia.WithShape(4, 1))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("w"), gorgonia.WithShape(1, 1), gorgonia.WithInit(gorgonia.Zeroes()))
	output := gorgonia.Must(gorgonia.Mul(x, w))
	cost := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sub(output, y))))))
	return train.Model{Inputs: gorgonia.Nodes{x, y}, Parameters: gorgonia.Nodes{w}, Output: output, Cost: cost}
}

// Equal private labels are no error. R² of public samples refuses them, and here the refusal would distinguish two
// neighbours with certainty.
func TestPrivateLabelsMayBeTheSame(t *testing.T) {
	const n = 120
	samples, targets := make([]float32, n), make([]float32, n)
	for i := range samples {
		samples[i] = float32(i%7) - 3
	}
	same, err := train.NewRegression(samples, targets)
	if err != nil {
		t.Fatal(err)
	}
	s := settings(Variant1, 3)
	s.Samples, s.HoldOut = n, train.HeldOutSettings{Rate: 0.3, NoiseMultiplier: 2}
	e := Executor{Engine: cpu.New(cpu.Options{Workers: 1}), Model: line(), Data: same.Data, Test: same}
	if _, err := e.Run(context.Background(), planWith(t, s, 2)); err != nil {
		t.Errorf("held-out samples of equal labels: %v", err)
	}
	s.HoldOut = train.HeldOutSettings{}
	if _, err := e.Run(context.Background(), planWith(t, s, 2)); err == nil {
		t.Error("public samples of equal labels have an R²")
	}
}
