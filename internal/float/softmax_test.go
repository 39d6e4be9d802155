package float

import (
	"math"
	"testing"
)

// The odds of two classes are e to the difference of their logits over the temperature.
func TestSoftmax(t *testing.T) {
	for _, c := range []struct{ temperature, want float64 }{{1, 1 / (1 + math.Exp(-3))}, {3, 1 / (1 + math.Exp(-1))}, {0.5, 1 / (1 + math.Exp(-6))}} {
		p := Softmax([]float32{5, 2}, c.temperature)
		if math.Abs(p[0]-c.want) > 1e-15 || math.Abs(p[0]+p[1]-1) > 1e-15 {
			t.Errorf("at temperature %v: %v, want %v", c.temperature, p, c.want)
		}
	}
}
