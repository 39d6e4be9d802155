package train

import "github.com/dptrain/dptrain/internal/engine"

// Method is the name of an optimizer's algorithm.
type Method = engine.Method

// The methods.
const (
	DPSGD  = engine.SGD
	DPAdam = engine.Adam
)

// Optimizer turns noisy mean gradients into parameter updates. Make one by [SGD] or [Adam]. Its fields are Method,
// LearningRate and, for DP-Adam alone, Beta1, Beta2 and Epsilon. Updates are post-processing, so an optimizer costs no
// privacy.
type Optimizer = engine.Optimizer

// SGD returns the DP-SGD optimizer: θ ← θ − η G for the noisy mean gradient G.
func SGD(learningRate float64) Optimizer {
	return Optimizer{Method: DPSGD, LearningRate: learningRate}
}

// Adam returns the DP-Adam optimizer with the defaults of Kingma and Ba (2015): β1 = 0.9, β2 = 0.999,
// ε = 1e-8.
func Adam(learningRate float64) Optimizer {
	return Optimizer{Method: DPAdam, LearningRate: learningRate, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
}

// ValidateOptimizer returns a [*SettingError] for the first invalid field, or nil.
func ValidateOptimizer(o Optimizer) error {
	if !(o.LearningRate > 0 && finite(o.LearningRate)) {
		return &SettingError{"learning rate", o.LearningRate, "a finite number above 0"}
	}
	switch o.Method {
	case DPSGD:
		if !finite(o.Beta1) || !finite(o.Beta2) || !finite(o.Epsilon) { // unused, but part of a run's identity
			return &SettingError{"optimizer", o, "finite numbers"}
		}
		return nil
	case DPAdam:
		return validateAdam(o)
	}
	return &SettingError{"optimizer", string(o.Method), string(DPSGD) + " or " + string(DPAdam)}
}

func validateAdam(o Optimizer) error {
	switch {
	case !(o.Beta1 >= 0 && o.Beta1 < 1):
		return &SettingError{"beta1", o.Beta1, "a number in [0, 1)"}
	case !(o.Beta2 >= 0 && o.Beta2 < 1):
		return &SettingError{"beta2", o.Beta2, "a number in [0, 1)"}
	case !(o.Epsilon > 0 && finite(o.Epsilon)):
		return &SettingError{"epsilon of Adam", o.Epsilon, "a finite number above 0"}
	}
	return nil
}
