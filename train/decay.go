package train

import "github.com/dptrain/dptrain/internal/compile"

// decayOf returns, for each parameter, the coefficient of its decay in the model's cost, or nil for none. A term
// d/2·‖θ‖² beside the mean of the samples' costs has the coefficient d. A term beside their sum is divided, like the
// sum, by the expected batch size.
func decayOf(p *compile.Program, expectedBatch float64) []float64 {
	if p.Decay == nil || p.DecayOfMean {
		return p.Decay
	}
	out := make([]float64, len(p.Decay))
	for i, d := range p.Decay {
		out[i] = d / expectedBatch
	}
	return out
}

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
