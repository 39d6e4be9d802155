package experiment

import (
	"errors"

	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/internal/safetensors"
	"github.com/dptrain/dptrain/train"
)

// Outcome is what a run gives.
type Outcome struct {
	Release report.Release
	Verdict Verdict // public, as it follows from the release and public labels
	Private any     // the content of private/run.json
}

// trained is what a work gives: what it releases, and a record for the private folder.
type trained struct {
	parameters      []train.Parameter
	score           float64 // on the public test set
	hyperparameters report.Hyperparameters
	private         any
}

// Write fills a run directory with an outcome of the plan.
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

func tensors(parameters []train.Parameter) []safetensors.Tensor {
	out := make([]safetensors.Tensor, len(parameters))
	for i, p := range parameters {
		out[i] = safetensors.Tensor{Name: p.Name, Shape: p.Shape, Data: p.Values}
	}
	return out
}
