package train

import "github.com/dptrain/dptrain/internal/compile"

// decayOf returns, for each parameter, the coefficient of its decay in the model's cost, or nil for none: a graph whose
// cost has a term d/2·‖θ‖² per update has the coefficient d. It is the only place that knows; nil until the compiler
// finds such terms.
func decayOf(*compile.Program) []float64 { return nil }

// withDecay adds d·θ to the gradient of each parameter, for the coefficients d by parameter: the gradient of a decay
// that is part of the cost. It depends on parameters alone, which are released, and so it is added to the noisy mean,
// without clipping and without noise. Nil coefficients add nothing.
func withDecay(coefficients []float64, parameters, gradient [][]float32) {
	for i, d := range coefficients {
		if d == 0 {
			continue
		}
		for j, v := range parameters[i] {
			gradient[i][j] = float32(float64(gradient[i][j]) + float64(d*float64(v)))
		}
	}
}
