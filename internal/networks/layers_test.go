package networks_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// examples are networks of each kind, the convolutional one with several sizes of images: square and not, grey and not.
var examples = []struct {
	spec    string
	shape   []int
	outputs int
	options networks.Options
}{
	{"linear", []int{5}, 3, networks.Options{}},
	{"linear", []int{3}, 3, networks.Options{}}, // a square matrix: its shape shows no transposition
	{"linear", []int{1, 3, 2}, 2, networks.Options{}},
	{"linear", []int{64}, 10, networks.Options{}}, // features of CIFAR-10
	{"linear", []int{4}, 1, networks.Options{}},
	{"mlp:4", []int{4}, 4, networks.Options{}},
	{"mlp:7,3", []int{2, 2}, 2, networks.Options{Activation: networks.TemperedSigmoid{Scale: 1.5, Temperature: 2.5, Offset: 0.7}}},
	{"mlp", []int{6}, 1, networks.Options{}},
	{"cnn", []int{1, 28, 28}, 10, networks.Options{}},
	{"cnn", []int{14, 14}, 1, networks.Options{}},
	{"cnn", []int{3, 17, 32}, 4, networks.Options{Activation: networks.TemperedSigmoid{Scale: 1, Temperature: 1, Offset: 0.5}}},
	{"embedding", []int{6}, 2, networks.Options{Vocabulary: 9}},
	{"embedding", []int{4}, 3, networks.Options{Vocabulary: 16}}, // a square table
}

// The layers and the parameters in PyTorch's layouts, by the definitions in PyTorch's documentation, compute the same
// as the graph.
func TestLayersComputeTheNetwork(t *testing.T) {
	for _, c := range examples {
		name := fmt.Sprint(c.spec, c.shape, c.outputs)
		draw := rand.New(rand.NewPCG(1, 2))
		graph, err := networks.New(c.spec, c.shape, c.outputs, c.options)
		if err != nil {
			t.Fatal(err)
		}
		layers, err := networks.Layers(c.spec, c.shape, c.outputs, c.options)
		if err != nil {
			t.Fatal(err)
		}
		var parameters []train.Parameter
		var values [][]float32
		for _, p := range graph.Parameters {
			v := make([]float32, p.Shape().TotalSize())
			for i := range v {
				v[i] = float32(draw.NormFloat64()) / 4
			}
			values = append(values, v)
			parameters = append(parameters, train.Parameter{Name: p.Name(), Shape: p.Shape(), Values: v})
		}
		released, err := networks.ToPyTorch(layers, parameters)
		if err != nil {
			t.Fatal(name, err)
		}
		state := map[string]train.Parameter{}
		for _, p := range released {
			state[p.Name] = p
		}

		const n = 3
		size := 1
		for _, d := range c.shape {
			size *= d
		}
		samples := make([]float32, n*size)
		for i := range samples {
			if samples[i] = float32(draw.NormFloat64()); c.options.Vocabulary > 0 {
				samples[i] = float32(draw.IntN(c.options.Vocabulary))
			}
		}
		data, inputs := inputsOf(t, c.options.Vocabulary, c.outputs, samples, size)
		predictor, err := train.NewPredictor(cpu.New(cpu.Options{}), graph, values)
		if err != nil {
			t.Fatal(err)
		}
		defer predictor.Close()
		got, err := predictor.Predict(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			want := forward(t, layers, state, c.options.Activation, c.shape, inputs[i*size:(i+1)*size])
			for k, w := range want {
				if v := float64(got[i*c.outputs+k]); !(math.Abs(v-w) <= 2e-5*(1+math.Abs(w))) {
					t.Errorf("%s: output %d of sample %d is %v, and by the layers %v", name, k, i, v, w)
				}
			}
			if len(want) != c.outputs {
				t.Errorf("%s: the layers have %d outputs", name, len(want))
			}
		}
	}
}

// inputsOf returns samples as data. The last token of a text is padding.
func inputsOf(t *testing.T, vocabulary, outputs int, samples []float32, size int) (*train.Data, []float64) {
	t.Helper()
	inputs := make([]float64, len(samples))
	n := len(samples) / size
	ids, weights := make([]int32, len(samples)), make([]float32, len(samples))
	for i, v := range samples {
		inputs[i], ids[i], weights[i] = float64(v), int32(v), 1/float32(size-1)
		if vocabulary > 0 && i%size == size-1 {
			inputs[i], ids[i], weights[i] = -1, 0, 0
		}
	}
	var err error
	var data *train.Data
	if vocabulary > 0 {
		var texts *train.Classification
		if texts, err = train.NewTokenClassification(ids, make([]int32, n), outputs, weights); err == nil {
			data = texts.Data
		}
	} else {
		data, err = train.NewData(n, samples, make([]float32, n*outputs))
	}
	if err != nil {
		t.Fatal(err)
	}
	return data, inputs
}

// forward computes one sample's outputs in double precision, by the definitions of torch.nn. A token of -1 is padding.
func forward(t *testing.T, layers []networks.Layer, state map[string]train.Parameter, a networks.TemperedSigmoid, shape []int, x []float64) []float64 {
	t.Helper()
	if a == (networks.TemperedSigmoid{}) {
		a = networks.Tanh
	}
	image := slices.Clone(shape) // channels, height, width
	if len(image) == 2 {
		image = []int{1, shape[0], shape[1]}
	}
	rows := len(x)
	value := func(l networks.Layer, part string, index ...int) float64 {
		p := state[l.Name+"."+part]
		at := 0
		for axis, i := range index {
			at = at*p.Shape[axis] + i
		}
		if len(index) != len(p.Shape) {
			t.Fatalf("%s has the shape %v", p.Name, p.Shape)
		}
		return float64(p.Values[at])
	}
	window := func(l networks.Layer, channels int, of func(channel, top, left int) float64) []float64 {
		height, width := (image[1]+2*l.Padding-l.Kernel)/l.Stride+1, (image[2]+2*l.Padding-l.Kernel)/l.Stride+1
		var out []float64
		for c := range channels {
			for i := range height {
				for j := range width {
					out = append(out, of(c, i*l.Stride-l.Padding, j*l.Stride-l.Padding))
				}
			}
		}
		image = []int{channels, height, width}
		return out
	}
	for _, l := range layers {
		in := x
		pixel := func(channel, i, j int) float64 {
			if i < 0 || j < 0 || i >= image[1] || j >= image[2] {
				return 0
			}
			return in[(channel*image[1]+i)*image[2]+j]
		}
		switch l.Kind {
		case networks.KindFlatten:
		case networks.KindLinear:
			x = make([]float64, l.Out)
			for k := range x {
				x[k] = value(l, "bias", k)
				for j, v := range in {
					x[k] += value(l, "weight", k, j) * v
				}
			}
		case networks.KindConv2d:
			x = window(l, l.Out, func(c, top, left int) float64 {
				sum := value(l, "bias", c)
				for k := range l.In {
					for i := range l.Kernel {
						for j := range l.Kernel {
							sum += value(l, "weight", c, k, i, j) * pixel(k, top+i, left+j)
						}
					}
				}
				return sum
			})
		case networks.KindMaxPool2d:
			x = window(l, image[0], func(c, top, left int) float64 {
				largest := math.Inf(-1)
				for i := range l.Kernel {
					for j := range l.Kernel {
						largest = max(largest, pixel(c, top+i, left+j))
					}
				}
				return largest
			})
		case networks.KindEmbedding:
			x = nil
			for _, id := range in {
				for j := range l.Out {
					if id < 0 {
						x = append(x, math.NaN())
					} else {
						x = append(x, value(l, "weight", int(id), j))
					}
				}
			}
		case networks.KindMean:
			width, count := len(in)/rows, 0.0
			x = make([]float64, width)
			for i := range rows {
				if !math.IsNaN(in[i*width]) {
					count++
					for j := range x {
						x[j] += in[i*width+j]
					}
				}
			}
			for j := range x {
				x[j] /= count
			}
		case networks.KindActivation:
			x = make([]float64, len(in))
			for i, v := range in {
				x[i] = a.Scale/(1+math.Exp(-a.Temperature*v)) - a.Offset
			}
		case networks.KindReLU:
			x = make([]float64, len(in))
			for i, v := range in {
				x[i] = max(0, v)
			}
		default:
			t.Fatalf("layer %+v", l)
		}
	}
	return x
}

// The CNN's state has the names and shapes of torch.nn's modules in Opacus's MNIST example.
func TestPyTorchLayouts(t *testing.T) {
	layers, err := networks.Layers("cnn", []int{1, 28, 28}, 10, networks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []networks.Layer{
		{Kind: "conv2d", Name: "conv1", In: 1, Out: 16, Kernel: 8, Stride: 2, Padding: 3}, {Kind: "activation"},
		{Kind: "max_pool2d", Kernel: 2, Stride: 1},
		{Kind: "conv2d", Name: "conv2", In: 16, Out: 32, Kernel: 4, Stride: 2}, {Kind: "activation"},
		{Kind: "max_pool2d", Kernel: 2, Stride: 1}, {Kind: "flatten"},
		{Kind: "linear", Name: "fc1", In: 512, Out: 32}, {Kind: "activation"},
		{Kind: "linear", Name: "fc2", In: 32, Out: 10},
	}
	if diff := cmp.Diff(want, layers); diff != "" {
		t.Errorf("layers (-want +got)\n%s", diff)
	}
	graph, err := networks.CNN(networks.Options{}, []int{1, 28, 28}, 10)
	if err != nil {
		t.Fatal(err)
	}
	released, err := networks.ToPyTorch(layers, valued(graph))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range released {
		got = append(got, fmt.Sprint(p.Name, p.Shape))
	}
	if got, want := strings.Join(got, " "), "conv1.weight[16 1 8 8] conv1.bias[16] conv2.weight[32 16 4 4] conv2.bias[32] "+
		"fc1.weight[32 512] fc1.bias[32] fc2.weight[10 32] fc2.bias[10]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// By hand: outputs first.
	matrix, err := networks.ToPyTorch([]networks.Layer{{Kind: networks.KindLinear, Name: "a", In: 3, Out: 2}}, []train.Parameter{
		{Name: "a.weight", Shape: []int{3, 2}, Values: []float32{11, 12, 21, 22, 31, 32}}, {Name: "a.bias", Shape: []int{1, 2}, Values: []float32{1, 2}},
	})
	if err != nil || !slices.Equal(matrix[0].Values, []float32{11, 21, 31, 12, 22, 32}) || !slices.Equal(matrix[1].Values, []float32{1, 2}) {
		t.Errorf("%v, %v", matrix, err)
	}
}

// valued returns the graph's parameters, with all values different.
func valued(m train.Model) []train.Parameter {
	var out []train.Parameter
	count := float32(0)
	for _, p := range m.Parameters {
		values := make([]float32, p.Shape().TotalSize())
		for i := range values {
			count++
			values[i] = count
		}
		out = append(out, train.Parameter{Name: p.Name(), Shape: p.Shape(), Values: values})
	}
	return out
}

// The conversions are inverse to each other, in any order of the parameters, and don't change their arguments.
func TestLayoutsAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(examples).Draw(t, "network")
		graph, err := networks.New(c.spec, c.shape, c.outputs, c.options)
		if err != nil {
			t.Fatal(err)
		}
		layers, err := networks.Layers(c.spec, c.shape, c.outputs, c.options)
		if err != nil {
			t.Fatal(err)
		}
		want := valued(graph)
		released, err := networks.ToPyTorch(layers, rapid.Permutation(want).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := networks.FromPyTorch(layers, rapid.Permutation(released).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(fmt.Sprint(valued(graph)), fmt.Sprint(want)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestLayoutsRefuse(t *testing.T) {
	layers := []networks.Layer{{Kind: networks.KindLinear, Name: "a", In: 3, Out: 2}}
	weight := train.Parameter{Name: "a.weight", Shape: []int{2, 3}, Values: make([]float32, 6)}
	bias := train.Parameter{Name: "a.bias", Shape: []int{2}, Values: make([]float32, 2)}
	for name, parameters := range map[string][]train.Parameter{
		"missing":      {weight},
		"too many":     {weight, bias, {Name: "b", Shape: []int{1}, Values: []float32{1}}},
		"graph layout": {{Name: "a.weight", Shape: []int{3, 2}, Values: make([]float32, 6)}, bias},
		"few values":   {weight, {Name: "a.bias", Shape: []int{2}, Values: []float32{1}}},
	} {
		if _, err := networks.FromPyTorch(layers, parameters); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := networks.Layers("cnn", []int{3}, 2, networks.Options{}); err == nil {
		t.Error("layers of a cnn of rows")
	}
}
