package experiment

import (
	"slices"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/tuner"
)

// spaceOf returns the search space of trials on n samples, with the given noise or, before calibration, with none.
func spaceOf(e settings.Experiment, n int) (tuner.Space, error) {
	lists, err := listsOf(e, n)
	if err != nil {
		return nil, err
	}
	noise := value(e.Privacy.NoiseMultiplier)
	if e.Tuning.Search == settings.SearchRandom {
		if e.Privacy.Epsilon == nil {
			return nil, usagef("tuning.search: random fits candidates to an epsilon; give --epsilon")
		}
		return regionOf(e, lists, noise), nil
	}
	grid, err := lists.Grid()
	return grid.WithNoiseMultiplier(noise), err
}

// listsOf returns the values of each hyperparameter: one value if it isn't tuned, and no epochs where steps are
// calibrated.
func listsOf(e settings.Experiment, n int) (tuner.Lists, error) {
	lists := tuner.Lists{
		LearningRates: []float64{e.Training.LearningRate},
		SamplingRates: []float64{e.Privacy.SamplingRate},
		ClippingNorms: []float64{e.Privacy.ClippingNorm},
	}
	if e.Tunes(settings.TuneRate) {
		lists.LearningRates = e.Tuning.LearningRates
	}
	if e.Tunes(settings.TuneBatch) {
		rates, err := e.Tuning.Rates(e.Privacy.SubsetRate, n)
		if err != nil {
			return lists, &Error{Usage, err}
		}
		lists.SamplingRates = rates
	}
	if e.Tunes(settings.TuneClip) {
		lists.ClippingNorms = e.Tuning.ClippingNorms
	}
	if e.Privacy.Fixed == settings.FixedEpochs {
		lists.Epochs = []float64{e.Privacy.Epochs}
		if e.Tunes(settings.TuneEpochs) {
			lists.Epochs = e.Tuning.Epochs
		}
	}
	return lists, nil
}

func regionOf(e settings.Experiment, l tuner.Lists, noise float64) tuner.Region {
	values := func(parameter string, list []float64) tuner.Values {
		if e.Ranged(parameter) {
			return tuner.Between(slices.Min(list), slices.Max(list))
		}
		return tuner.Values{List: list}
	}
	return tuner.Region{
		LearningRate:    values(settings.TuneRate, l.LearningRates),
		SamplingRate:    values(settings.TuneBatch, l.SamplingRates),
		Epochs:          values(settings.TuneEpochs, l.Epochs),
		ClippingNorm:    values(settings.TuneClip, l.ClippingNorms),
		NoiseMultiplier: noise,
	}
}

// oneRun returns the grid of one candidate, for experiments that tune neither sampling rate nor steps.
func oneRun(e settings.Experiment, steps int) tuner.Grid {
	p := e.Privacy
	return tuner.Grid{{SamplingRate: p.SamplingRate, Steps: steps, NoiseMultiplier: value(p.NoiseMultiplier), ClippingNorm: p.ClippingNorm}}
}
