package cuda

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// A ResNet-20, the deepest of the models, has the features that it has on the CPU engine, to 1e-4 of the largest.
func TestFeaturesOfAResNet(t *testing.T) {
	network, err := networks.ResNet20(networks.Options{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	parameters := network.Initial(rand.NewPCG(1, 2))
	const images = 2
	draw, x := rand.New(rand.NewPCG(3, 4)), make([]float32, images*3*32*32)
	for i := range x {
		x[i] = float32(draw.NormFloat64())
	}
	data, err := train.NewData(images, x, make([]float32, images*100))
	if err != nil {
		t.Fatal(err)
	}
	features := func(e engine.Engine) []float32 {
		p, err := train.NewPredictor(e, network.Extractor(), parameters)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		out, err := p.Predict(context.Background(), data)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	got, want := features(emulated(t, kernelsOrSkip(t), 1)()), features(cpu.New(cpu.Options{}))
	furthest, largest := 0.0, 0.0
	for i, v := range want {
		furthest = math.Max(furthest, math.Abs(float64(got[i]-v)))
		largest = math.Max(largest, math.Abs(float64(v)))
	}
	if len(got) != images*networks.Features || largest == 0 || !(furthest <= 1e-4*largest) {
		t.Errorf("%d features up to %v, %v apart", len(got), largest, furthest)
	}
	t.Logf("features up to %.3g, %.3g apart", largest, furthest)
}
