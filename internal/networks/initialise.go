package networks

import (
	"math"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
)

// Initialiser draws one initial value of a parameter.
type Initialiser func(draw *rand.Rand) float64

// Uniform draws from U(−bound, bound).
func Uniform(bound float64) Initialiser {
	return func(draw *rand.Rand) float64 { return (2*draw.Float64() - 1) * bound }
}

// Normal draws from N(0, deviation²).
func Normal(deviation float64) Initialiser {
	return func(draw *rand.Rand) float64 { return draw.NormFloat64() * deviation }
}

// Value is v without a draw.
func Value(v float64) Initialiser { return func(*rand.Rand) float64 { return v } }

// KaimingUniform draws from U(−1/√fan, 1/√fan), where fan is the number of inputs of one unit. That is PyTorch's
// default for weights and biases of linear and convolutional layers (Kaiming uniform with a = √5), from which the
// paper's models were trained.
func KaimingUniform(fan int) Initialiser { return Uniform(1 / math.Sqrt(float64(fan))) }

// initialValues returns a function that draws initial values for all parameters, each by its initialiser. It keeps
// initialisers, which must not change afterwards.
func initialValues(params gorgonia.Nodes, initialisers []Initialiser) func(rand.Source) [][]float32 {
	sizes := make([]int, len(params))
	for i, p := range params {
		sizes[i] = p.Shape().TotalSize()
	}
	return func(src rand.Source) [][]float32 {
		draw := rand.New(src)
		out := make([][]float32, len(sizes))
		for i, size := range sizes {
			out[i] = make([]float32, size)
			for k := range out[i] {
				out[i][k] = float32(initialisers[i](draw))
			}
		}
		return out
	}
}
