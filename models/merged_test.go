package models_test

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"gorgonia.org/gorgonia"
)

// Gorgonia takes slices whose bounds differ by 256 for one. Each step's input reaches the last state in
// layers with more columns than that.
func TestWideLayersSliceApart(t *testing.T) {
	const steps, width = 20, 64
	layers := map[string]func(b *models.Builder, x *gorgonia.Node) *gorgonia.Node{
		"lstm": func(b *models.Builder, x *gorgonia.Node) *gorgonia.Node { return b.LSTM("l", x, width, nil) },
		"gru":  func(b *models.Builder, x *gorgonia.Node) *gorgonia.Node { return b.GRU("l", x, width, nil) },
	}
	for name, layer := range layers {
		model, err := models.Build(2, func(b *models.Builder) (output, cost *gorgonia.Node) {
			h := layer(b, b.Input("x", steps, 3))
			last := b.Do(gorgonia.Slice(h, nil, gorgonia.S(steps-1)))
			return last, b.Do(gorgonia.Sum(b.Do(gorgonia.Square(last))))
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		source := &counter{}
		predictor, err := train.NewPredictor(cpu.New(cpu.Options{}), model, model.Initial(source))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer predictor.Close()
		x := make([]float32, (steps+1)*steps*3) // sample i has another input at step i, and the last one has none
		for i := range steps {
			x[(i*steps+i)*3] = 4
		}
		data, err := train.NewData(steps+1, x)
		if err != nil {
			t.Fatal(err)
		}
		out, err := predictor.Predict(context.Background(), data)
		if err != nil {
			t.Fatal(err)
		}
		n := len(out) / (steps + 1)
		for i := range steps {
			change := 0.0
			for k := range n {
				change += math.Abs(float64(out[i*n+k] - out[steps*n+k]))
			}
			if change == 0 {
				t.Errorf("%s: the input of step %d changes nothing", name, i)
			}
		}
	}
}

type counter struct{ n uint64 }

func (c *counter) Uint64() uint64 { c.n += 0x9e3779b97f4a7c15; return c.n ^ c.n>>29 }
