package models_test

import (
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
		n, err := models.New(name, rand.NewPCG(1, 2), models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := size(n); got != want {
			t.Errorf("%s has %d parameters, want %d", name, got, want)
		}
	}
	if _, err := models.New("cmn", rand.NewPCG(1, 2), models.Options{}); err == nil {
		t.Error("an unknown model was built")
	}
}

func TestInitialisationFollowsTheSource(t *testing.T) {
	build := func(seed uint64) []float32 {
		n, err := models.MLP(rand.NewPCG(seed, 0), models.Options{Batch: 3}, 7, 5, 2)
		if err != nil {
			t.Fatal(err)
		}
		return n.Params[0].Value().Data().([]float32)
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
