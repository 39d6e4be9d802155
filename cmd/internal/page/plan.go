package page

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/internal/networks"
)

// planFacts describes what was decided before the data were read: what the terminal showed of it, and the values that
// were searched.
func planFacts(r Run) release.Facts {
	var score release.Score
	if r.Score != nil {
		score = *r.Score
	}
	facts := release.PlanOf(r.Privacy, r.Hyperparameters, score.Metric).Facts()
	if t := r.Privacy.Tuning; t != nil {
		for _, v := range t.Space.Parameters {
			facts.Add(v.Name, shortened(fmt.Sprint(v), 400))
		}
	}
	return facts
}

// hyperparameterFacts describes the run that made the released parameters.
func hyperparameterFacts(r Run) release.Facts {
	h := r.Hyperparameters
	if h == (release.Hyperparameters{}) {
		return nil
	}
	return release.Facts{
		{"optimizer", h.Optimizer},
		{"learning rate", h.Rate(r.Privacy.Tuning)},
		{"steps", fmt.Sprintf("%s, which are %s epochs", release.Grouped(h.Steps), short(h.Epochs))},
		{"sampling rate", fmt.Sprintf("%s, which is %s samples a step in expectation", short(h.SamplingRate), short(h.ExpectedBatchSize))},
		{"clipping norm", fmt.Sprintf("%s, %s", short(h.ClippingNorm), h.Clipping)},
		{"noise multiplier", release.RoundUp(h.NoiseMultiplier, 6)},
	}
}

// modelFacts describes the released model.
func modelFacts(r Run) release.Facts {
	m := r.Model
	facts := release.Facts{{"network", m.Network}}
	if f := r.Manifest; f != nil && f.Test != "" {
		facts.Add("public test file", f.Test)
	}
	var input struct {
		Table struct {
			Label   struct{ Name string }
			Columns []struct{ Name string }
		}
	}
	if json.Unmarshal(m.Input, &input) == nil && input.Table.Label.Name != "" {
		var names []string
		for _, c := range input.Table.Columns {
			names = append(names, c.Name)
		}
		facts.Add("label", input.Table.Label.Name)
		facts.Add("columns", shortened(release.Grouped(len(names))+": "+strings.Join(names, ", "), 400))
	}
	if r.Parameters > 0 {
		facts.Add("parameters", release.Grouped(int(r.Parameters)))
	}
	if m.Task != "" {
		facts.Add("task", m.Task)
	}
	if len(m.Shape) > 0 {
		facts.Add("shape of a sample", shapeText(m.Shape))
	}
	if m.Features != "" {
		facts.Add("features of", m.Features)
	}
	if m.Vocabulary > 0 {
		facts.Add("vocabulary", release.Grouped(m.Vocabulary)+" words")
	}
	if m.Outputs > 0 {
		facts.Add("outputs", release.Grouped(m.Outputs))
	}
	if networks.Activated(m.Network) {
		facts.Add("activation", m.Activation.String())
	}
	return facts
}
