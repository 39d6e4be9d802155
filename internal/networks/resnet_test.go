package networks_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/networks"
)

// resnetShapes are the tensors of the public file of weights, as its header lists them.
func resnetShapes() map[string][]int {
	shapes := map[string][]int{"fc.weight": {100, 64}, "fc.bias": {100}}
	add := func(conv, norm string, filters ...int) {
		shapes[conv+".weight"] = filters
		for _, part := range []string{"weight", "bias", "running_mean", "running_var"} {
			shapes[norm+"."+part] = filters[:1]
		}
	}
	add("conv1", "bn1", 16, 3, 3, 3)
	for layer, out := range []int{16, 32, 64} {
		for block := range 3 {
			name, in := fmt.Sprintf("layer%d.%d.", layer+1, block), out
			if layer > 0 && block == 0 {
				in = out / 2
				add(name+"downsample.0", name+"downsample.1", out, in, 1, 1)
			}
			add(name+"conv1", name+"bn1", out, in, 3, 3)
			add(name+"conv2", name+"bn2", out, out, 3, 3)
		}
	}
	return shapes
}

// resnetWeights are tensors of those shapes, all of whose values are 1.
func resnetWeights() map[string]networks.Tensor {
	w := map[string]networks.Tensor{}
	for name, shape := range resnetShapes() {
		size := 1
		for _, d := range shape {
			size *= d
		}
		w[name] = networks.Tensor{Shape: shape, Values: slices.Repeat([]float32{1}, size)}
	}
	return w
}

func resnet(t *testing.T) networks.ResNet {
	t.Helper()
	n, err := networks.ResNet20(networks.Options{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// 19 convolutions 3×3 and two 1×1 of shortcuts, each with a bias in place of a batch norm, and the fully connected
// layer: He et al. count 20 layers and 0.27 M parameters with ten classes.
func TestResNetSize(t *testing.T) {
	n := resnet(t)
	filters := 9 * (3*16 + 6*16*16 + 16*32 + 5*32*32 + 32*64 + 5*64*64)
	want := filters + 16*32 + 32*64 + 7*16 + 7*32 + 7*64 + 64*100 + 100
	got := 0
	for _, p := range n.Parameters {
		got += p.Shape().TotalSize()
	}
	if got != want {
		t.Errorf("%d parameters, want %d", got, want)
	}
	p, err := compile.Compile(source(n.Extractor()))
	if err != nil {
		t.Fatal(err)
	}
	if p.Output.Size != networks.Features || p.PredictReads(1) {
		t.Errorf("the extractor: output of %d, reads labels: %v", p.Output.Size, p.PredictReads(1))
	}
	if logits, err := compile.Compile(source(n.Model)); err != nil || logits.Output.Size != 100 {
		t.Errorf("the whole network: output of %d, %v", logits.Output.Size, err)
	}
}

// One batch norm, by hand: γ 3, β 5, μ 7, σ² 4 − 10⁻⁵, so that s is 3/2.
func TestFold(t *testing.T) {
	w := resnetWeights()
	w["conv1.weight"].Values[27] = 2 // the second filter's first
	for name, value := range map[string]float32{"weight": 3, "bias": 5, "running_mean": 7, "running_var": 4 - 1e-5} {
		w["bn1."+name].Values[1] = value
	}
	w["fc.weight"].Values[1] = 9 // from the second feature to the first class
	w["bn1.num_batches_tracked"] = networks.Tensor{}
	values, err := resnet(t).Fold(w)
	if err != nil {
		t.Fatal(err)
	}
	one := 1 / math.Sqrt(1+1e-5) // all others' scale
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"a first filter", float64(values[0][0]), one},
		{"the second filter's first", float64(values[0][27]), 3},
		{"the second filter's second", float64(values[0][28]), 1.5},
		{"the first bias", float64(values[1][0]), 1 - one},
		{"the second bias", float64(values[1][1]), 5 - 1.5*7},
		{"the fully connected layer", float64(values[len(values)-2][100]), 9},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
	for i, p := range resnet(t).Parameters {
		if len(values[i]) != p.Shape().TotalSize() {
			t.Errorf("%s: %d values for shape %v", p.Name(), len(values[i]), p.Shape())
		}
	}
}

// The error names each tensor that is missing.
func TestFoldMissesEveryTensor(t *testing.T) {
	n := resnet(t)
	for name := range resnetShapes() {
		w := resnetWeights()
		delete(w, name)
		var wrong *networks.WeightsError
		if _, err := n.Fold(w); !errors.As(err, &wrong) || !slices.Equal(wrong.Problems, []string{name + " is missing"}) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestFoldRefuses(t *testing.T) {
	n, inf := resnet(t), float32(math.Inf(1))
	vector := func(n int, last float32) networks.Tensor {
		values := make([]float32, n)
		values[n-1] = last
		return networks.Tensor{Shape: []int{n}, Values: values}
	}
	for _, c := range []struct {
		want string
		add  map[string]networks.Tensor
	}{
		{"conv1.bias is no tensor of this network", map[string]networks.Tensor{"conv1.bias": vector(16, 0)}},
		{"conv1.num_batches_tracked is no tensor of this network", map[string]networks.Tensor{"conv1.num_batches_tracked": {}}},
		{"bn1.num_batches_tracked is no tensor of this network", map[string]networks.Tensor{"bn1.num_batches_tracked": vector(1, 0)}},
		{"bn1.bias has shape [17], want [16]", map[string]networks.Tensor{"bn1.bias": vector(17, 0)}},
		{"bn1.bias has 2 values of shape [16]", map[string]networks.Tensor{"bn1.bias": {Shape: []int{16}, Values: []float32{1, 2}}}},
		{"fc.weight has shape [64 100], want [100 64]", map[string]networks.Tensor{"fc.weight": {Shape: []int{64, 100}, Values: make([]float32, 6400)}}},
		{"bn1.bias: value 15 is +Inf", map[string]networks.Tensor{"bn1.bias": vector(16, inf)}},
		{"bn1.running_var: value 15 is -1; a variance is at least 0", map[string]networks.Tensor{"bn1.running_var": vector(16, -1)}},
		{"bn1 scales conv1 beyond float32", map[string]networks.Tensor{"bn1.weight": vector(16, 3e38), "bn1.running_var": vector(16, 0)}},
		{"a is no tensor of this network; b is no tensor of this network; c is no tensor of this network; and 1 more",
			map[string]networks.Tensor{"d": {}, "c": {}, "b": {}, "a": {}}},
	} {
		w := resnetWeights()
		maps.Copy(w, c.add)
		var wrong *networks.WeightsError
		if _, err := n.Fold(w); !errors.As(err, &wrong) || err.Error() != "weights: "+c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if _, err := n.Fold(nil); err == nil || !strings.HasPrefix(err.Error(), "weights: conv1.weight is missing; bn1.weight is missing; ") {
		t.Errorf("no tensors: %v", err)
	}
}

// source returns a model in the compiler's form.
func source(m networks.Model) compile.Source {
	return compile.Source{Inputs: m.Inputs, Params: m.Parameters, Output: m.Output, Cost: m.Cost}
}
