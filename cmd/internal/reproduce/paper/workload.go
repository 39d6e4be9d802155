package paper

import (
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/datasets"
)

// workload is a data set with the settings of a tuning on it.
type workload struct {
	settings.Experiment
	info datasets.Info
}

// workload returns the workload of the campaign's runs, which may be smaller than the paper's.
func (r *results) workload(dataset string, tuned tuning) (workload, error) {
	e, err := settings.Preset(tuned.cell(dataset, campaign.Baseline, "", 0).Preset())
	if err != nil {
		return workload{}, err
	}
	e.Privacy.MeanRepetitions *= r.trials
	e.Privacy.Epochs *= r.epochs
	for i := range e.Tuning.Epochs {
		e.Tuning.Epochs[i] *= r.epochs
	}
	info, err := datasets.Describe(e.Dataset)
	return workload{e, info}, err
}

// meanEpochs returns the mean epochs of a trial, whose candidate is drawn evenly from the grid.
func (w workload) meanEpochs() float64 {
	if w.Tunes(settings.TuneEpochs) {
		return sample(w.Tuning.Epochs).mean()
	}
	return w.Privacy.Epochs
}

// expected returns how many gradients of single samples a method computes in expectation. E are the epochs, mu the mean
// number of trials, n the samples and q the subset rate:
//
//	variant 1     E (mu q n + (1-q) n)
//	variant 2     E (mu q n + n)
//	baseline      E mu n
//	single run    E n
//
// If epochs are tuned, E is the mean of the grid, in the final run too: it has the best trial's epochs, which depend on
// the data.
func (w workload) expected(m campaign.Method) float64 {
	p, n, epochs := w.Privacy, float64(w.info.Train), w.meanEpochs()
	trials := p.MeanRepetitions * n
	switch m {
	case campaign.Variant1:
		return epochs * (trials*p.SubsetRate + (1-p.SubsetRate)*n)
	case campaign.Variant2:
		return epochs * (trials*p.SubsetRate + n)
	case campaign.Baseline:
		return epochs * trials
	}
	return epochs * n
}
