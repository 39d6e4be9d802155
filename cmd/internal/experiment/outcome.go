package experiment

import (
	"encoding/json"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/train"
)

// Outcome is the result of a run.
type Outcome struct {
	Release release.Release
	Verdict Verdict // public: computed from the release and public labels
	Private any     // the content of private/run.json
	// Evaluation measures a classification on the public test set; nil without one. It is as public as the release.
	Evaluation *release.Evaluation
}

// trained is the result of a [work].
type trained struct {
	parameters      []train.Parameter
	score           float64             // on the public test set
	heldOut         *train.HeldOutScore // instead of it, if samples are held out
	hyperparameters release.Hyperparameters
	private         any           // for private/run.json
	curve           []train.Point // nil for none
	temperature     float64       // of probabilities; 0 for none: see temperatureOf
	measured        *scores.Classification
}

// PrivateJSON returns the content of private/run.json.
func (o Outcome) PrivateJSON() ([]byte, error) { return json.MarshalIndent(o.Private, "", "  ") }
