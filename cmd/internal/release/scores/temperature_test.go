package scores

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// smoothedLoss is the loss that a temperature minimizes, by its definition.
func smoothedLoss(logits []float32, labels []int32, classes int, temperature float64) float64 {
	n := float64(len(labels))
	loss := 0.0
	for i, label := range labels {
		sum := 0.0
		for k := range classes {
			sum += math.Exp(float64(logits[i*classes+k]) / temperature)
		}
		for k := range classes {
			target := 1 / (n + 2) / float64(classes-1)
			if k == int(label) {
				target = (n + 1) / (n + 2)
			}
			loss -= target * (float64(logits[i*classes+k])/temperature - math.Log(sum))
		}
	}
	return loss
}

// No temperature of a fine grid has a smaller loss.
func TestTemperatureMinimizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logits, labels, classes := drawn(t, 1)
		got, ok, err := Temperature(logits, labels, classes)
		if err != nil || !(got >= 0.05 && got <= 1000) || !ok && got != 1 {
			t.Fatalf("%v, %t, %v", got, ok, err)
		}
		best := smoothedLoss(logits, labels, classes, got)
		for logT := math.Log(0.05); logT <= math.Log(1000); logT += 0.05 {
			// Four digits of T cost at most a millionth of the loss, and rounding less.
			if other := smoothedLoss(logits, labels, classes, math.Exp(logT)); other < best-1e-5*(1+math.Abs(best)) {
				t.Fatalf("%v has loss %v, and %v has %v", got, best, math.Exp(logT), other)
			}
		}
	})
}

// By hand: n samples whose two logits differ by d, the larger one always right, are as certain as the targets:
// 1/(1+e^(-d/T)) = (n+1)/(n+2), so T = d/ln(n+1). Without smoothing T would go to 0.
func TestTemperatureOfPerfectSeparation(t *testing.T) {
	for _, c := range []struct {
		n int
		d float64
	}{{20, 5}, {20, 40}, {1, 3}, {500, 1}} {
		logits, labels := make([]float32, 2*c.n), make([]int32, c.n)
		for i := range labels {
			labels[i] = int32(i % 2)
			logits[2*i+i%2] = float32(c.d)
		}
		want := c.d / math.Log(float64(c.n+1))
		if got, ok, err := Temperature(logits, labels, 2); !ok || err != nil || math.Abs(got-want) > 1e-3*want {
			t.Errorf("%d samples, %v apart: %v, %t, %v, want %v", c.n, c.d, got, ok, err, want)
		}
	}
}

// Labels drawn from softmax(logits/T) have temperature T, for any T. Seed 1; the standard error of ln T is below 0.02
// with these logits and 20,000 samples.
func TestTemperatureIsFound(t *testing.T) {
	for _, want := range []float64{0.2, 1, 3, 30} {
		r := rand.New(rand.NewPCG(1, 2))
		const n, classes = 20_000, 3
		logits, labels := make([]float32, n*classes), make([]int32, n)
		for i := range labels {
			total, p := 0.0, [classes]float64{}
			for k := range p {
				z := want * 2 * r.NormFloat64()
				logits[i*classes+k] = float32(z)
				p[k] = math.Exp(z / want)
				total += p[k]
			}
			for u := r.Float64() * total; u > p[labels[i]] && labels[i] < classes-1; labels[i]++ {
				u -= p[labels[i]]
			}
		}
		if got, ok, err := Temperature(logits, labels, classes); !ok || err != nil || math.Abs(math.Log(got/want)) > 0.1 {
			t.Errorf("%v, %t, %v; want about %v", got, ok, err, want)
		}
	}
}

// Constant outputs, and outputs that aren't finite, have no temperature; outputs that are always wrong are at the upper
// bound, and outputs too small to be certain at the lower one.
func TestTemperatureAtTheEdges(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range map[string]struct {
		logits []float32
		want   float64
		ok     bool
	}{
		"equal":        {[]float32{0.3, 0.3, -7, -7}, 1, false},
		"NaN":          {[]float32{1, 0, nan, 0}, 1, false},
		"infinite":     {[]float32{1, 0, -inf, 0}, 1, false},
		"always wrong": {[]float32{0, 1, 1, 0}, 1000, true},
		"tiny":         {[]float32{1e-20, 0, 0, 1e-20}, 0.05, true},
		"huge":         {[]float32{3e38, 0, 0, 3e38}, 1000, true},
	} {
		if got, ok, err := Temperature(c.logits, []int32{0, 1}, 2); got != c.want || ok != c.ok || err != nil {
			t.Errorf("%s: %v, %t, %v; want %v, %t", name, got, ok, err, c.want, c.ok)
		}
	}
	if _, _, err := Temperature(nil, nil, 2); err == nil {
		t.Error("no samples have a temperature")
	}
}
