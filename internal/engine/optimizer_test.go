package engine

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// SGD's step is exact, with the product, the difference and the result each rounded once.
func TestSGD(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(-10, 10).Draw(t, "rate")
		theta, g := rapid.Float32Range(-100, 100).Draw(t, "parameter"), rapid.Float64Range(-100, 100).Draw(t, "gradient")
		params := []float32{theta, 7}
		Optimizer{Method: SGD, LearningRate: rate}.Update(3, params, nil, nil, []float64{g, 0})
		exact := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
		product, _ := exact(0).Mul(exact(rate), exact(g)).Float64()
		difference, _ := exact(0).Sub(exact(float64(theta)), exact(product)).Float64()
		if want := float32(difference); params[0] != want || params[1] != 7 {
			t.Fatalf("%v − %v·%v is %v, want %v", theta, rate, g, params, want)
		}
	})
}

// Adam agrees with Kingma and Ba's formulas, with powers by math.Pow, over many steps.
func TestAdam(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Optimizer{
			Method: Adam, LearningRate: rapid.Float64Range(1e-4, 1).Draw(t, "rate"), Epsilon: math.Exp(rapid.Float64Range(-20, 0).Draw(t, "log epsilon")),
			Beta1: rapid.Float64Range(0, 0.999).Draw(t, "beta1"), Beta2: rapid.Float64Range(0, 0.9999).Draw(t, "beta2"),
		}
		theta := rapid.Float32Range(-5, 5).Draw(t, "parameter")
		params, first, second := []float32{theta}, []float32{0}, []float32{0}
		want, m, v := float64(theta), 0.0, 0.0
		for step := 1; step <= 20; step++ {
			g := rapid.Float64Range(-3, 3).Draw(t, "gradient")
			o.Update(step, params, first, second, []float64{g})
			m = o.Beta1*m + (1-o.Beta1)*g
			v = o.Beta2*v + (1-o.Beta2)*g*g
			hatM, hatV := m/(1-math.Pow(o.Beta1, float64(step))), v/(1-math.Pow(o.Beta2, float64(step)))
			want -= o.LearningRate * hatM / (math.Sqrt(hatV) + o.Epsilon)
		}
		near := func(got float32, want, scale float64) bool {
			return math.Abs(float64(got)-want) <= 1e-4*(math.Abs(want)+scale)
		}
		if !near(first[0], m, 0.1) || !near(second[0], v, 0.1) || !near(params[0], want, 20*o.LearningRate) {
			t.Fatalf("%+v: ended at %v, %v, %v, want %v, %v, %v", o, params[0], first[0], second[0], want, m, v)
		}
	})
}

// Moments are stored as floats, but the step uses them before they are rounded.
func TestAdamUsesMomentsBeforeStorage(t *testing.T) {
	o := Optimizer{Method: Adam, LearningRate: 1, Beta1: 0.5, Beta2: 0.5, Epsilon: 1e-3}
	params, first, second := []float32{0}, []float32{0}, []float32{0}
	g := 1 + 0x1p-30 // not a float
	o.Update(1, params, first, second, []float64{g})
	if want := float32(-g / (g + 1e-3)); params[0] != want {
		t.Errorf("moved to %v, want %v", params[0], want)
	}
	if first[0] != 0.5 || second[0] != 0.5 {
		t.Errorf("moments are %v and %v, want 0.5 rounded", first[0], second[0])
	}
}

// Adam's corrections are quotients rounded once, as the contract writes them.
func TestCorrections(t *testing.T) {
	o := Optimizer{Method: Adam, LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.999}
	quotient := func(a, b float64) float64 {
		q, _ := new(big.Float).SetPrec(200).Quo(big.NewFloat(a), big.NewFloat(b)).Float64()
		return q
	}
	for step := 1; step <= 100; step++ {
		rate, correction := o.Corrected(step)
		if rate != quotient(1e-3, 1-power(0.9, step)) || correction != quotient(1, 1-power(0.999, step)) {
			t.Errorf("step %d is corrected by %v and %v", step, rate, correction)
		}
	}
}

func TestPower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, n := rapid.Float64Range(0, 1).Draw(t, "base"), rapid.IntRange(0, math.MaxInt32).Draw(t, "exponent")
		if rapid.Bool().Draw(t, "near 1") {
			b = 1 - b*1e-6
		}
		got, want := power(b, n), math.Pow(b, float64(n))
		if math.Abs(got-want) > 1e-6*want && want > 1e-300 || got < 0 || got > 1 {
			t.Fatalf("%v to the %d is %v, want %v", b, n, got, want)
		}
	})
	for n, want := range []float64{1, 0.9, 0.81, 0.729} {
		if got := power(0.9, n); math.Abs(got-want) > 1e-15 {
			t.Errorf("0.9 to the %d is %v", n, got)
		}
	}
	// The order of multiplications is part of the contract: b·b², then b⁴ times that.
	b := 0.9
	if square := b * b; power(b, 7) != square*square*(square*b) {
		t.Errorf("0.9 to the 7 is %v, multiplied in another order", power(b, 7))
	}
}
