package experiment

import (
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/tuner"
)

// MethodName returns the name of a variant in statements.
func MethodName(variant string) string {
	if variant == "baseline" {
		return variant
	}
	return "variant " + variant
}

// stated returns the statement of a guarantee, without the search and the runs.
func stated(p settings.Privacy, d settings.Data, n int, g accountant.Guarantee) release.Privacy {
	return release.Privacy{
		Unit: d.Unit, RowsPerUnit: d.RowsPerUnit,
		Epsilon:    g.Epsilon,
		Delta:      g.Delta,
		Samples:    n,
		Accounting: string(g.Mode),
		Bound:      g.Bound,
		Order:      g.Order,
	}
}

// statedTuning returns the statement of a search, without its space.
func statedTuning(e settings.Experiment) *release.Tuning {
	p := e.Privacy
	t := &release.Tuning{
		Method:          MethodName(p.Variant),
		Repetitions:     p.Repetitions,
		MeanRepetitions: p.MeanRepetitions,
	}
	if methods[p.Variant] != tuner.Baseline {
		t.SubsetRate = p.SubsetRate
	}
	if p.Repetitions == NegativeBinomial {
		t.Shape = &p.Shape
	}
	if p.Repetitions == settings.Binomial {
		t.MaxRepetitions = p.BinomialTrials()
	}
	return t
}

// tenths is the number of parts of a region. A region has no candidates to count, so the chance to miss one of its
// parts is stated.
const tenths = 10

// statedSpace returns the statement of the settled search space.
func statedSpace(e settings.Experiment, s tuner.Settings) release.Space {
	low, high := s.Space.LearningRates()
	out := release.Space{
		Search:             e.Tuning.Search,
		LargestFinalRate:   e.Tuning.LargestFinalRate,
		FinalLearningRates: [2]float64{s.FinalLearningRate(low), s.FinalLearningRate(high)},
	}
	switch space := s.Space.(type) {
	case tuner.Grid:
		out.Candidates = len(space)
		out.Missed = accountant.Missed(s.Repetitions, len(space))
		out.Runs, out.RunProbabilities = space.Runs(), space.Chances()
		out.Parameters = gridParameters(e, space)
	case tuner.Region:
		out.Missed = accountant.Missed(s.Repetitions, tenths)
		if len(space.Runs) == 0 {
			out.Line = &release.Line{Slope: space.Line.Slope, Order: space.Line.Orders.High}
		}
		out.Runs, out.RunProbabilities = space.Runs, space.Chances()
		for _, p := range space.Parameters() {
			if e.Tunes(settingOf[p.Name]) {
				out.Parameters = append(out.Parameters, p)
			}
		}
	}
	if len(out.Runs) == 1 {
		out.RunProbabilities = nil
	}
	if calibrated := e.Privacy.NoiseMultiplier == nil; calibrated && len(out.Runs) > 1 {
		out.Division = e.Tuning.Division
	}
	return out
}

// settingOf has the name in settings of each hyperparameter.
var settingOf = map[string]string{
	"learning rate": settings.TuneRate,
	"sampling rate": settings.TuneBatch,
	"epochs":        settings.TuneEpochs,
	"clipping norm": settings.TuneClip,
}

// gridParameters returns the tuned hyperparameters of a grid, with their values.
func gridParameters(e settings.Experiment, g tuner.Grid) []tuner.Parameter {
	var rates, batches, norms []float64
	for _, c := range g {
		rates = with(rates, c.LearningRate)
		batches = with(batches, c.SamplingRate)
		norms = with(norms, c.ClippingNorm)
	}
	var tuned []tuner.Parameter
	for _, p := range []tuner.Parameter{
		{Name: "learning rate", Values: tuner.Values{List: rates}},
		{Name: "sampling rate", Values: tuner.Values{List: batches}},
		{Name: "epochs", Values: tuner.Values{List: e.Tuning.Epochs}},
		{Name: "clipping norm", Values: tuner.Values{List: norms}},
	} {
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

// inCommon adds the settings that all runs of the space have in common.
func inCommon(p release.Privacy, space tuner.Space) release.Privacy {
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
