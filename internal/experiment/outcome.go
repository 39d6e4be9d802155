package experiment

import (
	"errors"

	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// Outcome is the result of a run.
type Outcome struct {
	Release report.Release
	Verdict Verdict // public: computed from the release and public labels
	Private any     // the content of private/run.json
}

// trained is the result of a [work].
type trained struct {
	parameters      []train.Parameter
	score           float64 // on the public test set
	hyperparameters report.Hyperparameters
	private         any // for private/run.json
}

// Write writes the files of an outcome of the plan into a run's directory.
func (p *Plan) Write(dir *report.Dir, o Outcome) error {
	settings, err := p.Experiment.YAML()
	if err != nil {
		return err
	}
	return errors.Join(
		dir.WriteRelease(o.Release),
		dir.WritePrivateJSON("run.json", o.Private),
		dir.WritePrivate("settings.yaml", settings),
	)
}
