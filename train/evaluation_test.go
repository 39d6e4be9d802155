package train

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestEvaluateNumbers(t *testing.T) {
	r := regression(t, 1, 2, 3, 6)
	got, err := r.Evaluate([]float32{2, 2, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Errors{math.Sqrt(10.0 / 4), 1, 1 - 10.0/14}); math.Abs(got.RootMeanSquare-want.RootMeanSquare) > 1e-12 || got.MeanAbsolute != 1 || math.Abs(got.R2-want.R2) > 1e-12 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, err := regression(t, 2, 2).Evaluate([]float32{1, 3}); err != nil || !math.IsNaN(got.R2) || got.RootMeanSquare != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := r.Evaluate(nil); err == nil {
		t.Error("no outputs were taken")
	}
}

func TestProbabilities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logits := rapid.SliceOfN(rapid.Float32Range(-200, 200), 1, 6).Draw(t, "logits")
		p, sum := Probabilities(logits), 0.0
		for i := range p {
			sum += p[i]
			// The odds of two classes are e to the difference of their logits.
			if want := float64(logits[i]) - float64(logits[0]); p[i] > 1e-300 && p[0] > 1e-300 && math.Abs(math.Log(p[i]/p[0])-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("%v of %v: odds %v, want %v", p, logits, math.Log(p[i]/p[0]), want)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("%v add up to %v", p, sum)
		}
	})
	inf := float32(math.Inf(1))
	for _, c := range []struct{ logits, want []float64 }{
		{[]float64{float64(inf), 0}, []float64{1, 0}},
		{[]float64{0, float64(-inf)}, []float64{1, 0}},
	} {
		got := Probabilities([]float32{float32(c.logits[0]), float32(c.logits[1])})
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.logits, got, c.want)
		}
	}
}

// The best constant answer: by hand.
func TestConstant(t *testing.T) {
	for _, c := range []struct {
		labels []int32
		want   float64
	}{{[]int32{0, 1, 1, 2, 1}, 0.6}, {[]int32{2, 2}, 1}, {[]int32{0, 1, 2, 3}, 0.25}, {nil, 0}} {
		set, err := NewClassification(make([]float32, len(c.labels)), c.labels, 4)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Constant(); got != c.want {
			t.Errorf("%v: %v, want %v", c.labels, got, c.want)
		}
	}
	r, err := NewRegression([]float32{0, 0, 0, 0}, []float32{1, 5, -3, 9})
	if err != nil {
		t.Fatal(err)
	}
	if got, mean := r.Constant(), r.score([]float32{3, 3, 3, 3}); got != mean {
		t.Errorf("R² %v, and of the mean %v", got, mean)
	}
}
