package train

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func regression(t testing.TB, targets ...float32) *Regression {
	t.Helper()
	r, err := NewRegression(make([]float32, len(targets)), targets)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestR2(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	r := regression(t, 1, 2, 3, 6) // mean 3, squared deviations 4 + 1 + 0 + 9
	for _, c := range []struct {
		outputs []float32
		want    float64
	}{
		{[]float32{1, 2, 3, 6}, 1},
		{[]float32{3, 3, 3, 3}, 0},
		{[]float32{1, 2, 3, 7}, 1 - 1.0/14},
		{[]float32{-6, 2, 3, 6}, -2.5},
		{[]float32{1, nan, 3, 6}, -math.MaxFloat64},
		{[]float32{1, 2, -inf, 6}, -math.MaxFloat64},
	} {
		if got := r.score(c.outputs); math.Abs(got-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%v: %v, want %v", c.outputs, got, c.want)
		}
	}
}

// R² doesn't change when labels and outputs are shifted and scaled together, here by powers of two and by shifts that
// round nothing.
func TestR2HasNoUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "n")
		whole := rapid.SliceOfN(rapid.IntRange(-100, 100), n, n)
		labels, outputs := whole.Draw(t, "labels"), whole.Draw(t, "outputs")
		shift, scale := rapid.IntRange(-1000, 1000).Draw(t, "shift"), rapid.SampledFrom([]float32{0.25, 2, 16}).Draw(t, "scale")
		score := func(shift int, scale float32) float64 {
			y, out := make([]float32, n), make([]float32, n)
			for i := range n {
				y[i], out[i] = float32(labels[i]+shift)*scale, float32(outputs[i]+shift)*scale
			}
			r, err := NewRegression(make([]float32, n), y)
			if err != nil {
				t.Fatal(err)
			}
			if r.scorable() != nil {
				t.Skip("labels that are all the same")
			}
			return r.score(out)
		}
		if a, b := score(0, 1), score(shift, scale); math.Abs(a-b) > 1e-9*(1+math.Abs(a)) {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

func TestNewRegressionRefuses(t *testing.T) {
	if _, err := NewRegression([]float32{1, 2}, []float32{1, float32(math.Inf(1))}); err == nil || err.Error() != "column 1: sample 1, value 0 is +Inf: want finite numbers" {
		t.Error(err)
	}
	if _, err := NewRegression([]float32{1, 2, 3}, []float32{1, 2}); err == nil {
		t.Error("three values for two samples were taken")
	}
	for _, targets := range [][]float32{nil, {3}, {3, 3, 3}} {
		if regression(t, targets...).scorable() == nil {
			t.Errorf("%v can be scored", targets)
		}
	}
}

// A test set that is invalid or doesn't fit the model's output is an error before any prediction.
func TestScoreChecksTheTestSet(t *testing.T) {
	trainer, _ := start(t, settings())
	number, err := NewRegression(make([]float32, 4), []float32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	var none *Classification
	for name, test := range map[string]Labelled{"a number": number, "nil": nil, "a nil pointer": none, "another": (*Regression)(nil), "empty": &Classification{}} {
		if _, err := trainer.Score(context.Background(), test); err == nil {
			t.Errorf("%s was scored", name)
		}
	}
}
