package features_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/internal/safetensors"
)

const pixels = 3 * 32 * 32

func extractor(t *testing.T, w features.Weights) *features.Extractor {
	t.Helper()
	x, err := features.New(cpu.New(cpu.Options{}), w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// randomWeights draws a network whose activations keep about the same size from layer to layer, as in He, Zhang, Ren
// and Sun ("Delving Deep into Rectifiers", 2015), with arbitrary batch norms. Every machine draws the same.
func randomWeights(seed uint64) features.Weights {
	draw := rand.New(rand.NewPCG(seed, 0))
	w := features.Weights{}
	add := func(name string, value func() float64, shape ...int) {
		size := 1
		for _, d := range shape {
			size *= d
		}
		values := make([]float32, size)
		for i := range values {
			values[i] = float32(value())
		}
		w[name] = networks.Tensor{Shape: shape, Values: values}
	}
	around := func(mean, deviation float64) func() float64 {
		return func() float64 { return mean + float64(deviation*math.Sqrt(3)*(2*draw.Float64()-1)) }
	}
	conv := func(name, norm string, in, out, kernel int) {
		add(name+".weight", around(0, math.Sqrt(2/float64(in*kernel*kernel))), out, in, kernel, kernel)
		add(norm+".weight", around(0.5, 0.2), out)
		add(norm+".bias", around(0, 0.3), out)
		add(norm+".running_mean", around(0, 0.3), out)
		add(norm+".running_var", around(1, 0.5), out)
		w[norm+".num_batches_tracked"] = networks.Tensor{Shape: []int{}}
	}
	conv("conv1", "bn1", 3, 16, 3)
	in := 16
	for _, block := range []struct {
		name string
		out  int
	}{
		{"layer1.0", 16}, {"layer1.1", 16}, {"layer1.2", 16},
		{"layer2.0", 32}, {"layer2.1", 32}, {"layer2.2", 32},
		{"layer3.0", 64}, {"layer3.1", 64}, {"layer3.2", 64},
	} {
		conv(block.name+".conv1", block.name+".bn1", in, block.out, 3)
		conv(block.name+".conv2", block.name+".bn2", block.out, block.out, 3)
		if in != block.out {
			conv(block.name+".downsample.0", block.name+".downsample.1", in, block.out, 1)
		}
		in = block.out
	}
	add("fc.weight", around(0, 0.1), 100, 64)
	add("fc.bias", around(0, 0.1), 100)
	return w
}

func randomImages(seed uint64, n int) []float32 {
	draw := rand.New(rand.NewPCG(seed, 1))
	images := make([]float32, n*pixels)
	for i := range images {
		images[i] = float32(4*draw.Float64() - 2)
	}
	return images
}

func inMemory(values []float32) features.Images {
	return features.Images{N: len(values) / pixels, Read: func(dst []float32, first int) { copy(dst, values[first*pixels:]) }}
}

// difference returns the largest difference between features and the reference's, and the largest feature.
func difference(s state, images, got []float32) (furthest, largest float64) {
	for i := range len(images) / pixels {
		for j, want := range s.features(images[i*pixels : (i+1)*pixels]) {
			furthest = math.Max(furthest, math.Abs(float64(got[i*features.Size+j])-want))
			largest = math.Max(largest, want)
		}
	}
	return furthest, largest
}

// The engine's features are the reference's to 1e-4, for networks of random numbers. (Measured: 1e-6, for features up
// to 8.)
func TestFeaturesOfRandomNetworks(t *testing.T) {
	for seed := range uint64(2) {
		w, images := randomWeights(seed), randomImages(seed, 2)
		got, err := extractor(t, w).Of(t.Context(), inMemory(images), features.Options{Cache: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		furthest, largest := difference(stateOf(w), images, got)
		t.Logf("network %d: features up to %.3g, furthest from the reference by %.3g", seed, largest, furthest)
		if !(furthest <= 1e-4) || largest < 0.1 {
			t.Errorf("network %d: features up to %v, %v from the reference's", seed, largest, furthest)
		}
	}
}

// real opens a file of the real data, or skips the test.
func real(t *testing.T, name ...string) []byte {
	t.Helper()
	dir := os.Getenv("DPTRAIN_DATA")
	if dir == "" {
		t.Skip("DPTRAIN_DATA isn't set: no CIFAR-10")
	}
	content, err := os.ReadFile(filepath.Join(append([]string{dir}, name...)...))
	if os.IsNotExist(err) {
		t.Skip("no CIFAR-10 or no weights under DPTRAIN_DATA")
	}
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// realImages reads n images spread over the test set, normalised as for the network's training.
func realImages(t *testing.T, n int) []float32 {
	t.Helper()
	file := real(t, "cifar-10", "cifar-10-batches-bin", "test_batch.bin")
	mean, std := []float64{0.5070, 0.4865, 0.4409}, []float64{0.2673, 0.2564, 0.2761}
	var images []float32
	for i := range n {
		record := file[i*(10000/n)*(1+pixels):][1 : 1+pixels]
		for k, b := range record {
			images = append(images, float32((float64(b)/255-mean[k/1024])/std[k/1024]))
		}
	}
	return images
}

// The same holds for the public weights and images of CIFAR-10. (Measured: 5e-6, for features up to 9.)
func TestFeaturesOfTheRealNetwork(t *testing.T) {
	file := real(t, "resnet20", "resnet20-cifar100.safetensors")
	tensors, _, err := safetensors.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	w := features.WeightsOf(tensors)
	images := append(realImages(t, 20), randomImages(3, 2)...)
	got, err := extractor(t, w).Of(t.Context(), inMemory(images), features.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	furthest, largest := difference(readState(t, file), images, got)
	t.Logf("features up to %.3g, furthest from the reference by %.3g", largest, furthest)
	if !(furthest <= 1e-4) || largest < 1 {
		t.Errorf("features up to %v, %v from the reference's", largest, furthest)
	}
}
