package experiment

import (
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// MethodName returns a variant of the settings in words.
func MethodName(variant string) string {
	if variant == "baseline" {
		return variant
	}
	return "variant " + variant
}

// stated returns what the statement says about a plan and its guarantee, without the search and the runs.
func stated(p configs.Privacy, n int, g accountant.Guarantee) report.Privacy {
	return report.Privacy{
		Epsilon:    g.Epsilon,
		Delta:      g.Delta,
		Samples:    n,
		Accounting: string(g.Mode),
		Bound:      g.Bound,
		Order:      g.Order,
	}
}

// statedTuning returns what the statement says about a search, without its space.
func statedTuning(e configs.Experiment) *report.Tuning {
	p := e.Privacy
	t := &report.Tuning{
		Method:          MethodName(p.Variant),
		Repetitions:     p.Repetitions,
		MeanRepetitions: p.MeanRepetitions,
		WarmStart:       e.Tuning.WarmStart,
	}
	if methods[p.Variant] != tuner.Baseline {
		t.SubsetRate = p.SubsetRate
	}
	if p.Repetitions == NegativeBinomial {
		t.Shape = &p.Shape
	}
	return t
}

// tenths are the parts of a region whose chance to be missed is shown: its candidates are too many.
const tenths = 10

// statedSpace is what the statement says about the search space, as it is after all rules.
func statedSpace(e configs.Experiment, s tuner.Settings) report.Space {
	low, high := s.Space.LearningRates()
	out := report.Space{
		Search:             e.Tuning.Search,
		LargestFinalRate:   e.Tuning.LargestFinalRate,
		FinalLearningRates: [2]float64{s.FinalLearningRate(low), s.FinalLearningRate(high)},
	}
	switch space := s.Space.(type) {
	case tuner.Grid:
		out.Candidates = len(space)
		out.Missed = accountant.Missed(s.Repetitions, len(space))
		out.Runs = runsOf(space.Runs())
		out.Parameters = gridParameters(e, space)
	case tuner.Region:
		out.Missed = accountant.Missed(s.Repetitions, tenths)
		if len(space.Runs) == 0 {
			out.Line = &report.Line{Slope: space.Line.Slope, Order: space.Line.Orders.High}
		}
		out.Runs = runsOf(space.Runs)
		for _, p := range space.Parameters() {
			if e.Tunes(settingOf[p.Name]) {
				out.Parameters = append(out.Parameters, report.Parameter{Name: p.Name, Values: p.Values.List, Low: p.Values.Low, High: p.Values.High})
			}
		}
	}
	return out
}

func runsOf(runs []tuner.Run) []report.Run {
	var out []report.Run
	for _, r := range runs {
		out = append(out, report.Run(r))
	}
	return out
}

// settingOf has the name in settings of each hyperparameter that can be tuned.
var settingOf = map[string]string{
	"learning rate": configs.TuneRate,
	"sampling rate": configs.TuneBatch,
	"epochs":        configs.TuneEpochs,
	"clipping norm": configs.TuneClip,
}

// gridParameters lists the values that a grid has of what is tuned.
func gridParameters(e configs.Experiment, g tuner.Grid) []report.Parameter {
	rate := report.Parameter{Name: "learning rate"}
	batch := report.Parameter{Name: "sampling rate"}
	clip := report.Parameter{Name: "clipping norm"}
	for _, c := range g {
		rate.Values = with(rate.Values, c.LearningRate)
		batch.Values = with(batch.Values, c.SamplingRate)
		clip.Values = with(clip.Values, c.ClippingNorm)
	}
	var tuned []report.Parameter
	for _, p := range []report.Parameter{rate, batch, {Name: "epochs", Values: e.Tuning.Epochs}, clip} {
		if e.Tunes(settingOf[p.Name]) {
			tuned = append(tuned, p)
		}
	}
	return tuned
}

func with(values []float64, v float64) []float64 {
	if slices.Contains(values, v) {
		return values
	}
	return append(values, v)
}

// inCommon adds what all runs have.
func inCommon(p report.Privacy, space tuner.Space) report.Privacy {
	var norms []float64
	switch space := space.(type) {
	case tuner.Grid:
		for _, c := range space {
			norms = with(norms, c.ClippingNorm)
		}
	case tuner.Region:
		norms = space.ClippingNorm.List
	}
	if len(norms) == 1 {
		p.ClippingNorm = norms[0]
	}
	if runs := p.Tuning.Space.Runs; len(runs) == 1 {
		p.SamplingRate, p.Steps, p.NoiseMultiplier = runs[0].SamplingRate, runs[0].Steps, runs[0].NoiseMultiplier
	}
	return p
}

func hyperparameters(p train.Privacy, o train.Optimizer) report.Hyperparameters {
	return report.Hyperparameters{
		Optimizer:         string(o.Method),
		LearningRate:      o.LearningRate,
		SamplingRate:      p.SamplingRate,
		ExpectedBatchSize: p.ExpectedBatchSize(),
		Steps:             p.Steps,
		Epochs:            float64(p.Steps) * p.SamplingRate,
		ClippingNorm:      p.ClippingNorm,
		NoiseMultiplier:   p.NoiseMultiplier,
	}
}
