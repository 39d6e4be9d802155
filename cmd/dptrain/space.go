package main

import (
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/tuner"
)

// spaceOf returns what trials on n samples draw from, with the noise that is given, or none yet.
func spaceOf(e configs.Experiment, n int) (tuner.Space, error) {
	lists, err := listsOf(e, n)
	if err != nil {
		return nil, err
	}
	noise := 0.0
	if given := e.Privacy.NoiseMultiplier; given != nil {
		noise = *given
	}
	if e.Tuning.Search == configs.SearchRandom {
		if e.Privacy.Epsilon == nil {
			return nil, usagef("tuning.search: random fits candidates to an epsilon; give --epsilon")
		}
		return regionOf(e, lists, noise), nil
	}
	grid, err := lists.Grid()
	return grid.WithNoiseMultiplier(noise), err
}

// listsOf returns the values of each hyperparameter: one of what isn't tuned, and of epochs none where they follow.
func listsOf(e configs.Experiment, n int) (tuner.Lists, error) {
	lists := tuner.Lists{
		LearningRates: []float64{e.Training.LearningRate},
		SamplingRates: []float64{e.Privacy.SamplingRate},
		ClippingNorms: []float64{e.Privacy.ClippingNorm},
	}
	if e.Tunes(configs.TuneRate) {
		lists.LearningRates = e.Tuning.LearningRates
	}
	if e.Tunes(configs.TuneBatch) {
		rates, err := e.Tuning.Rates(e.Privacy.SubsetRate, n)
		if err != nil {
			return lists, coded(codeUsage, err)
		}
		lists.SamplingRates = rates
	}
	if e.Tunes(configs.TuneClip) {
		lists.ClippingNorms = e.Tuning.ClippingNorms
	}
	if e.Privacy.Fixed == configs.FixedEpochs {
		lists.Epochs = []float64{e.Privacy.Epochs}
		if e.Tunes(configs.TuneEpochs) {
			lists.Epochs = e.Tuning.Epochs
		}
	}
	return lists, nil
}

func regionOf(e configs.Experiment, l tuner.Lists, noise float64) tuner.Region {
	values := func(parameter string, list []float64) tuner.Values {
		if e.Ranged(parameter) {
			return tuner.Between(slices.Min(list), slices.Max(list))
		}
		return tuner.Values{List: list}
	}
	return tuner.Region{
		LearningRate:    values(configs.TuneRate, l.LearningRates),
		SamplingRate:    values(configs.TuneBatch, l.SamplingRates),
		Epochs:          values(configs.TuneEpochs, l.Epochs),
		ClippingNorm:    values(configs.TuneClip, l.ClippingNorms),
		NoiseMultiplier: noise,
	}
}

// oneRun is the space of the one kind of run that an experiment has which tunes neither sampling rate nor steps.
func oneRun(e configs.Experiment, steps int) tuner.Grid {
	c := tuner.Candidate{SamplingRate: e.Privacy.SamplingRate, Steps: steps, ClippingNorm: e.Privacy.ClippingNorm}
	if noise := e.Privacy.NoiseMultiplier; noise != nil {
		c.NoiseMultiplier = *noise
	}
	return tuner.Grid{c}
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
