package experiment

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/float"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// stableRate returns the learning rate above which gradient descent on half the squared error of a linear model
// diverges: 2/L, where L is the largest eigenvalue of the mean of x xᵀ over public rows x, each with a 1 for the bias.
// Clipping gradients only scales them down, so below the rate it can't make them diverge either; above it, steps whose
// gradients are clipped go back and forth over the minimum by up to the rate times the clipping norm, which grows with
// the rate. It is rounded to two digits: tables of the same kind differ by more. Without rows it is +Inf.
func stableRate(s *table.Schema, public *table.Samples) float64 {
	if public.N == 0 {
		return math.Inf(1)
	}
	width := len(public.Values) / public.N
	rows := min(public.N, max(1, maxCurvatureCells/width))
	// Power iteration, from a vector that no symmetry of columns makes orthogonal to the result.
	v := make([]float64, width+1)
	for j := range v {
		_, v[j] = math.Modf(float64(j+1) * math.Phi)
	}
	largest := 0.0
	for range 50 {
		next := make([]float64, width+1)
		for i := range rows {
			row := public.Values[i*width : (i+1)*width]
			dot := v[width]
			for j, x := range row {
				dot += float64(x) * v[j]
			}
			for j, x := range row {
				next[j] += dot * float64(x) / float64(rows)
			}
			next[width] += dot / float64(rows)
		}
		if largest = floats.Norm(next, 2); !(largest > 0) || math.IsInf(largest, 1) {
			return math.Inf(1) // rows whose squares overflow have warnings of their own
		}
		for j := range v {
			v[j] = next[j] / largest
		}
	}
	return float.Rounded(2/largest, 2)
}

// maxCurvatureCells bounds the values that are read of public rows, so that a plan of a wide table stays fast.
const maxCurvatureCells = 1 << 22

// squaredError reports whether an experiment trains a dense model by DP-SGD and fixed clipping on the squared error of
// own files. Its large learning rates spoil the model. Automatic clipping bounds every step, as the bounded gradients
// of a cross-entropy do, and large rates only slow it down.
func squaredError(e settings.Experiment, s *table.Schema) bool {
	network, _, _ := strings.Cut(e.Model, ":")
	dense := network == "linear" || network == "mlp"
	return dense && e.Training.Optimizer == string(train.DPSGD) && e.Privacy.Clipping != settings.ClippingAutomatic && s.Label.Task == table.Regression
}

// bounded returns the plan's experiment with the largest final rate that a squared error bears, unless its settings
// have one. The rate comes from public rows and costs no privacy.
func (p *Plan) bounded() settings.Experiment {
	e := p.Experiment
	if p.tune && e.Tuning.LargestFinalRate == 0 && p.Samples.stable > 0 && !math.IsInf(p.Samples.stable, 1) {
		e.Tuning.LargestFinalRate = p.Samples.stable
	}
	return e
}

// planBounded plans a tuning within the largest final rate of [Plan.bounded]. If no rate is left, it plans with all
// rates, and a warning says so.
func (p *Plan) planBounded() (tuner.Settings, release.Privacy, error) {
	settings, privacy, err := planTuning(p.bounded(), p.Samples.Train)
	if errors.As(err, new(*train.SettingError)) && p.Experiment.Tuning.LargestFinalRate == 0 && p.Samples.stable > 0 {
		return planTuning(p.Experiment, p.Samples.Train)
	}
	return settings, privacy, err
}

// rateWarning warns of a final learning rate that a squared error can't bear.
func (p *Plan) rateWarning() string {
	limit := p.Samples.stable
	if limit == 0 || p.work == nil {
		return ""
	}
	rate, remedy := 0.0, "--learning-rate"
	switch w := p.work.(type) {
	case training:
		rate = w.Optimizer.LearningRate
	case tuning:
		_, rate = w.Space.LearningRates()
		rate, remedy = w.FinalLearningRate(rate), "--largest-final-rate"
	}
	if rate <= limit*(1+1e-9) {
		return ""
	}
	return fmt.Sprintf("learning rates of up to %.3g in the final run: a squared error on rows like the public ones makes dp-sgd diverge above about %.2g; try %s %.2g, or --optimizer dp-adam, whose rates don't depend on the data",
		rate, limit, remedy, limit)
}
