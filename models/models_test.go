package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// source returns a model in the compiler's form.
func source(m train.Model) compile.Source {
	return compile.Source{Inputs: m.Inputs, Params: m.Parameters, Constants: m.Constants, Output: m.Output, Cost: m.Cost}
}

func size(n train.Model) int {
	total := 0
	for _, p := range n.Parameters {
		total += p.Shape().TotalSize()
	}
	return total
}

// The sizes come from the paper's Table data_sets, or are sums of products by hand.
func TestSizes(t *testing.T) {
	image := []int{1, 28, 28}
	for _, c := range []struct {
		spec    string
		shape   []int
		outputs int
		want    int
	}{
		{"cnn", image, 10, 26010},
		{"mlp", image, 10, 109930},
		{"mlp:120,120", []int{784}, 10, 109930},
		{"mlp: 3", []int{2}, 1, 2*3 + 3 + 3 + 1},
		{"linear", []int{4, 5}, 3, 20*3 + 3},
		{"linear", []int{7}, 1, 8},
		{"cnn", []int{28, 28}, 10, 26010},
		// 14 → 7 → 6 → 2 → 1
		{"cnn", []int{14, 14}, 1, 16*64 + 16 + 32*16*16 + 32 + 32*32 + 32 + 32 + 1},
		// 17 → 8 → 7 → 2 → 1, 32 → 16 → 15 → 6 → 5
		{"cnn", []int{3, 17, 32}, 4, 16*3*64 + 16 + 32*16*16 + 32 + 5*32*32 + 32 + 4*32 + 4},
	} {
		n, err := models.New(c.spec, c.shape, c.outputs, models.Options{})
		if err != nil {
			t.Fatalf("%s of %v: %v", c.spec, c.shape, err)
		}
		if got := size(n); got != c.want {
			t.Errorf("%s of %v has %d parameters, want %d", c.spec, c.shape, got, c.want)
		}
		if got := n.Inputs[1].Shape(); got[0] != 1 || got[1] != c.outputs {
			t.Errorf("%s of %v: labels of shape %v for %d outputs", c.spec, c.shape, got, c.outputs)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		spec    string
		shape   []int
		outputs int
		want    string
	}{
		{"cmn", []int{4}, 2, `unknown model "cmn"; there are cnn, embedding, linear, mlp`},
		{"", []int{4}, 2, `unknown model ""; there are cnn, embedding, linear, mlp`},
		{"cnn:3", []int{1, 28, 28}, 2, `model "cnn:3": cnn takes nothing after its name`},
		{"mlp:", []int{4}, 2, `model "mlp:": "" is no width of a hidden layer; give numbers from 1 to 65536, as in mlp:120,120`},
		{"mlp:3,-1", []int{4}, 2, `model "mlp:3,-1": "-1" is no width of a hidden layer; give numbers from 1 to 65536, as in mlp:120,120`},
		{"mlp:1" + strings.Repeat(",1", 16), []int{4}, 2, `model "mlp:1` + strings.Repeat(",1", 16) + `": 17 hidden layers; give at most 16`},
		{"cnn", []int{784}, 2, `cnn takes images of shape [channels height width] or [height width], and a sample has the shape [784]; take linear or mlp`},
		{"cnn", []int{13, 28}, 2, `cnn needs images of 14 by 14 or more, channels first, and a sample has the shape [13 28]; take linear or mlp`},
		{"cnn", []int{32, 32, 3}, 2, `cnn needs images of 14 by 14 or more, channels first, and a sample has the shape [32 32 3]; take linear or mlp`},
		{"linear", []int{0}, 2, `samples of shape [0]: a sample has 1 to 16777216 values`},
		{"linear", []int{1 << 40, 1 << 40}, 2, `samples of shape [1099511627776 1099511627776]: a sample has 1 to 16777216 values`},
		{"linear", []int{3}, 0, `0 outputs: a model has one for each class, or 1 to regress on`},
	} {
		if _, err := models.New(c.spec, c.shape, c.outputs, models.Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%q of %v: %v, want %s", c.spec, c.shape, err, c.want)
		}
	}
}

func TestInitialisationFollowsTheSource(t *testing.T) {
	build := func(seed uint64) []float32 {
		n, err := models.MLP(models.Options{Batch: 3}, 7, 5, 2)
		if err != nil {
			t.Fatal(err)
		}
		return n.Initial(rand.NewPCG(seed, 0))[0]
	}
	a, b, c := build(1), build(1), build(2)
	differ := false
	for i := range a {
		if a[i] != b[i] {
			t.Fatal("the same seed gave two models")
		}
		differ = differ || a[i] != c[i]
		if a[i] < -0.378 || a[i] > 0.378 { // 1/√7
			t.Errorf("weight %d is %v, outside ±1/√fan", i, a[i])
		}
	}
	if !differ {
		t.Error("two seeds gave the same model")
	}
	linear, err := models.MLP(models.Options{}, 7, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range linear.Initial(rand.NewPCG(1, 0)) {
		if slices.ContainsFunc(values, func(v float32) bool { return v != 0 }) || len(values) == 0 {
			t.Errorf("a linear model, which is convex, begins at %v", values)
		}
	}
}

// All values are within their layer's bound and come near it: a convolution's weights have the bound of its kernel's
// size, biases the bound of their weights.
func TestInitialValuesFollowTheLayers(t *testing.T) {
	n, err := models.CNN(models.Options{}, []int{1, 28, 28}, 10)
	if err != nil {
		t.Fatal(err)
	}
	fans := []int{64, 64, 256, 256, 512, 512, 32, 32}
	for i, values := range n.Initial(rand.NewPCG(1, 2)) {
		bound, largest := 1/math.Sqrt(float64(fans[i])), 0.0
		for _, v := range values {
			largest = math.Max(largest, math.Abs(float64(v)))
		}
		// Of ten values, the fewest here, all are below half the bound with probability 1e-3; the seed is fixed.
		if len(values) != n.Parameters[i].Shape().TotalSize() || largest > bound || largest < bound/2 {
			t.Errorf("%s: %d values up to %v, want up to %v", n.Parameters[i].Name(), len(values), largest, bound)
		}
	}
}

// A fresh graph has no values, so that one graph serves any number of runs; [enginetest.Bound] binds values in the
// graph's precision.
func TestGraphsHaveNoValues(t *testing.T) {
	for _, double := range []bool{false, true} {
		n, err := models.MLP(models.Options{Double: double}, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		if n.Parameters[0].Value() != nil {
			t.Error("a fresh graph has values")
		}
		if _, err := enginetest.Bound(source(n), [][]float32{{1, 2, 3, 4, 5, 6}, {7, 8}}); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(n.Parameters[0].Value().Data(), n.Parameters[1].Value().Data()); got != "[1 2 3 4 5 6] [7 8]" {
			t.Errorf("bound %s", got)
		}
	}
}
