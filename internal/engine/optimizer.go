package engine

import (
	"fmt"
	"math"
)

// Method names an optimizer.
type Method string

// The optimizers that engines implement.
const (
	SGD  Method = "dp-sgd"
	Adam Method = "dp-adam"
)

// Optimizer turns noisy mean gradients into updates of the parameters. Updates are post-processing, so they cost no
// privacy.
type Optimizer struct {
	Method       Method
	LearningRate float64
	Beta1, Beta2 float64 // Adam only
	Epsilon      float64 // Adam only
}

// Update moves parameters by a noisy mean gradient, and Adam's moments with them. Steps count from 1. All slices have
// the same length; SGD doesn't read first and second.
//
//	SGD:   θ ← θ − η g
//	Adam:  m ← β1 m + (1−β1) g,  v ← β2 v + (1−β2) g²,  θ ← θ − (η/(1−β1ᵗ)) m / (√((1/(1−β2ᵗ)) v) + ε)
//
// (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015). Arithmetic is in doubles, each operation rounded
// by itself, in the order written here. Parameters and moments are stored as floats; the step uses the moments before
// they are rounded for storage.
func (o Optimizer) Update(step int, params, first, second []float32, gradient []float64) {
	params = params[:len(gradient)]
	if o.Method == SGD {
		for j, g := range gradient {
			// The conversions keep compilers from fusing, so that every machine takes the same step.
			params[j] = float32(float64(params[j]) - float64(o.LearningRate*g))
		}
		return
	}
	rate, correction := o.Corrected(step)
	first, second = first[:len(gradient)], second[:len(gradient)]
	for j, g := range gradient {
		m := float64(o.Beta1*float64(first[j])) + float64((1-o.Beta1)*g)
		v := float64(o.Beta2*float64(second[j])) + float64(float64((1-o.Beta2)*g)*g)
		first[j], second[j] = float32(m), float32(v)
		params[j] = float32(float64(params[j]) - float64(float64(rate*m)/(math.Sqrt(correction*v)+o.Epsilon)))
	}
}

// Corrected returns Adam's factors η/(1−β1ᵗ) and 1/(1−β2ᵗ) of step t, counted from 1. They correct moments that began
// at 0.
func (o Optimizer) Corrected(t int) (rate, correction float64) {
	return o.LearningRate / (1 - power(o.Beta1, t)), 1 / (1 - power(o.Beta2, t))
}

// power returns bⁿ by squaring, from n's lowest bit up, so that every engine gets the same bits.
func power(b float64, n int) float64 {
	p := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= b
		}
		b *= b
	}
	return p
}

func (o Optimizer) check() error {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	within := func(v float64) bool { return v >= 0 && v < 1 }
	switch {
	case o.Method != SGD && o.Method != Adam:
		return &FieldError{"Optimizer.Method", fmt.Sprintf("%q is unknown; there are %q and %q", o.Method, SGD, Adam)}
	case !finite(o.LearningRate):
		return &FieldError{"Optimizer.LearningRate", fmt.Sprintf("%v isn't a number", o.LearningRate)}
	case o.Method == Adam && !within(o.Beta1):
		return &FieldError{"Optimizer.Beta1", fmt.Sprintf("%v is outside [0, 1)", o.Beta1)}
	case o.Method == Adam && !within(o.Beta2):
		return &FieldError{"Optimizer.Beta2", fmt.Sprintf("%v is outside [0, 1)", o.Beta2)}
	case o.Method == Adam && !(o.Epsilon > 0 && finite(o.Epsilon)):
		return &FieldError{"Optimizer.Epsilon", fmt.Sprintf("%v isn't a positive number", o.Epsilon)}
	}
	return nil
}
