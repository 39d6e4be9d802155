package networks

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gorgonia.org/tensor"
)

// Tensor is an array in row-major order.
type Tensor struct {
	Shape  []int
	Values []float32
}

// WeightsError reports tensors that aren't a network's weights. Each problem names a tensor.
type WeightsError struct {
	Problems []string
}

func (e *WeightsError) Error() string {
	const shown = 3
	text := strings.Join(e.Problems[:min(shown, len(e.Problems))], "; ")
	if more := len(e.Problems) - shown; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return "weights: " + text
}

// epsilon is the number that PyTorch's batch norm adds to a variance.
const epsilon = 1e-5

// Fold returns the values of Parameters for the tensors of a trained network, which have torchvision's names:
// conv1.weight, bn1.running_var, layer2.0.downsample.0.weight, fc.bias. It folds each batch norm into the convolution
// before it; those convolutions have no bias:
//
//	y = γ (w∗x − μ)/√(σ² + ε) + β = (s w)∗x + (β − s μ),   s = γ/√(σ² + ε),  ε = 10⁻⁵,
//
// computed in float64 and rounded once. tensors must hold every tensor of the network, in its shape and with finite
// numbers. It may also hold the batch norms' num_batches_tracked, which Fold ignores, but no other tensor. The result
// shares no memory with them. The error is a [*WeightsError].
func (n ResNet) Fold(tensors map[string]Tensor) ([][]float32, error) {
	w := weights{left: maps.Clone(tensors)}
	var out [][]float32
	for _, c := range n.convs {
		filters := w.take(c.conv+".weight", c.out, c.in, c.kernel, c.kernel)
		gain, bias := w.take(c.norm+".weight", c.out), w.take(c.norm+".bias", c.out)
		mean, variance := w.take(c.norm+".running_mean", c.out), w.take(c.norm+".running_var", c.out)
		w.ignore(c.norm + ".num_batches_tracked")
		if len(w.problems) > 0 {
			continue
		}
		if k := slices.IndexFunc(variance, func(v float32) bool { return v < 0 }); k >= 0 {
			w.problem("%s.running_var: value %d is %v; a variance is at least 0", c.norm, k, variance[k])
			continue
		}
		filters, bias = fold(filters, gain, bias, mean, variance)
		if infinite(filters) >= 0 || infinite(bias) >= 0 {
			w.problem("%s scales %s beyond float32", c.norm, c.conv)
		}
		out = append(out, filters, bias)
	}
	fc, bias := w.take("fc.weight", n.classes, Features), w.take("fc.bias", n.classes)
	for _, name := range slices.Sorted(maps.Keys(w.left)) {
		w.problem("%s is no tensor of this network", name)
	}
	if len(w.problems) > 0 {
		return nil, &WeightsError{w.problems}
	}
	return append(out, transposed(fc, n.classes, Features), slices.Clone(bias)), nil
}

// fold returns the filters and biases of a convolution with its batch norm folded in. They share no memory with the
// arguments.
func fold(filters, gain, bias, mean, variance []float32) (w, b []float32) {
	w, b = make([]float32, len(filters)), make([]float32, len(bias))
	patch := len(filters) / len(bias)
	for k := range bias {
		scale := float64(gain[k]) / math.Sqrt(float64(variance[k])+epsilon)
		for j := k * patch; j < (k+1)*patch; j++ {
			w[j] = float32(scale * float64(filters[j]))
		}
		b[k] = float32(float64(bias[k]) - float64(scale*float64(mean[k])))
	}
	return w, b
}

// transposed returns the transpose of x [rows, cols].
func transposed(x []float32, rows, cols int) []float32 {
	out := make([]float32, len(x))
	for i := range rows {
		for j := range cols {
			out[j*rows+i] = x[i*cols+j]
		}
	}
	return out
}

// weights holds the tensors not taken yet, and the problems of the tensors taken.
type weights struct {
	left     map[string]Tensor
	problems []string
}

func (w *weights) problem(format string, args ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// take removes a tensor and returns its values. After a problem the values are meaningless.
func (w *weights) take(name string, shape ...int) []float32 {
	t, ok := w.left[name]
	delete(w.left, name)
	switch {
	case !ok:
		w.problem("%s is missing", name)
	case !slices.Equal(t.Shape, shape):
		w.problem("%s has shape %v, want %v", name, t.Shape, shape)
	case len(t.Values) != tensor.ProdInts(shape):
		w.problem("%s has %d values of shape %v", name, len(t.Values), shape)
	default:
		if i := infinite(t.Values); i >= 0 {
			w.problem("%s: value %d is %v", name, i, t.Values[i])
		}
	}
	return t.Values
}

// infinite returns the index of the first value that isn't finite, or -1.
func infinite(values []float32) int {
	return slices.IndexFunc(values, func(v float32) bool { return v-v != 0 })
}

// ignore removes a scalar, if it is there.
func (w *weights) ignore(name string) {
	if t, ok := w.left[name]; ok && len(t.Shape) == 0 {
		delete(w.left, name)
	}
}
