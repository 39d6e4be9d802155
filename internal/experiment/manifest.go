package experiment

import (
	"path/filepath"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/runs"
)

// The commands of manifests.
const (
	tuneCommand  = "tune"
	trainCommand = "train"
)

// Manifest returns the public description of a settled plan, for the run's folder.
func (p *Plan) Manifest() (runs.Manifest, error) {
	m := runs.Manifest{
		Command: trainCommand, Dataset: p.Experiment.Dataset, Model: p.Experiment.Model, Samples: p.Samples.Train,
		Epsilon: p.privacy.Epsilon, Delta: p.privacy.Delta, Guarantee: !p.privacy.Insecure,
	}
	if p.tune {
		m.Command, m.Method = tuneCommand, p.privacy.Tuning.Method
	}
	return m, nil
}

// Tuned reports whether a run tunes.
func Tuned(m runs.Manifest) bool { return m.Command == tuneCommand }

// DataName returns the name by which people know the plan's data: the name of the data set or of the training file.
func (p *Plan) DataName() string {
	if p.Experiment.Dataset == configs.Files {
		return filepath.Base(p.Experiment.Data.Train)
	}
	return p.Experiment.Dataset
}

// Seed returns Settings.InsecureSeed.
func (p *Plan) Seed() *uint64 { return p.seed }
