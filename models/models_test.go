package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/models"
)

func size(n models.Network) int {
	total := 0
	for _, p := range n.Params {
		total += p.Shape().TotalSize()
	}
	return total
}

// The sizes are those of the paper's Table data_sets.
func TestSizes(t *testing.T) {
	for name, want := range map[string]int{"cnn": 26010, "mlp": 109930} {
		n, err := models.New(name, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := size(n); got != want {
			t.Errorf("%s has %d parameters, want %d", name, got, want)
		}
	}
	if _, err := models.New("cmn", models.Options{}); err == nil {
		t.Error("an unknown model was built")
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
}

// Every value is within its own layer's bound, and fills it: weights of a convolution by the size of its kernel, biases
// like their weights.
func TestInitialValuesFollowTheLayers(t *testing.T) {
	n, err := models.CNN(models.Options{})
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
		if len(values) != n.Params[i].Shape().TotalSize() || largest > bound || largest < bound/2 {
			t.Errorf("%s: %d values up to %v, want up to %v", n.Params[i].Name(), len(values), largest, bound)
		}
	}
}

func TestBind(t *testing.T) {
	for _, double := range []bool{false, true} {
		n, err := models.MLP(models.Options{Double: double}, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		if n.Params[0].Value() != nil {
			t.Error("a fresh graph has values")
		}
		if err := n.Bind([][]float32{{1, 2, 3, 4, 5, 6}, {7, 8}}); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(n.Params[0].Value().Data(), n.Params[1].Value().Data()); got != "[1 2 3 4 5 6] [7 8]" {
			t.Errorf("bound %s", got)
		}
	}
}
