package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// Facts returns what a settled plan is, in the order in which it is shown. All of it is public.
func (p *Plan) Facts() release.Facts {
	e := p.Experiment
	model := e.Model
	if networks.Activated(e.Model) {
		model += ", activation " + release.Activation(e.Activation).String()
	}
	metric := train.Accuracy
	switch s := p.Samples.Schema; { // the data aren't loaded yet
	case p.ranking():
		metric = p.metric()
	case s != nil && s.Label.Task == table.Regression:
		metric = train.R2
	}
	plan := release.Plan{
		Privacy: p.privacy, Optimizer: Optimizer(e.Training, 0).String(),
		Metric: metric,
		Asked: release.Asked{
			Epsilon: e.Privacy.Epsilon, NoiseMultiplier: e.Privacy.NoiseMultiplier, FixedNoise: e.Privacy.Fixed == settings.FixedNoise, Division: e.Tuning.Division,
		},
	}
	facts := p.Samples.facts(e)
	facts.Add("model", model)
	facts = append(facts, p.choice.facts(p.tune)...)
	facts = append(facts, plan.Facts()...)
	if p.ranking() {
		facts.Add("select by", strings.ReplaceAll(e.Tuning.Metric, "-", " "))
	}
	facts.Add("memory", "up to about "+memoryText(p.Memory))
	for _, caution := range p.Cautions() {
		facts.Add("warning", caution)
	}
	return facts
}

// facts describes the data of an experiment.
func (s Samples) facts(e settings.Experiment) release.Facts {
	private := filepath.Base(e.Data.Train)
	switch {
	case s.Schema == nil && s.Features == "":
		return release.Facts{{"data", s.named(e)}}
	case s.Schema == nil:
		return release.Facts{{"data", s.named(e)}, {"features", fmt.Sprintf("%d for each image, of %s with its public weights", features.Size, s.Features)}}
	}
	data := fmt.Sprintf("%s, %s rows; ", private, release.Grouped(s.Train))
	switch test := e.Data.Test; {
	case test != "":
		data += fmt.Sprintf("%s, %s rows, which are public", filepath.Base(test), release.Grouped(s.Test))
	case e.Privacy.Holdout == 0:
		data += "no public rows, so the model isn't scored"
	default:
		data += "no public rows"
	}
	facts := release.Facts{{"data", data}, {"columns", columnsText(s.Schema)}}
	if left := s.left.Text(len(s.Schema.Columns)); left != "" {
		facts.Add("left out", left)
	}
	return facts
}

func (s Samples) named(e settings.Experiment) string {
	return fmt.Sprintf("%s, %s training samples; %s test samples, which are public", e.Dataset, release.Grouped(s.Train), release.Grouped(s.Test))
}

func columnsText(s *table.Schema) string {
	const most = 5
	text := fmt.Sprintf("%d, which make samples of shape %v; ", len(s.Columns), s.Shape)
	if s.Label.Task == table.Regression {
		return text + fmt.Sprintf("regression on %s", s.Label.Name)
	}
	classes := slices.Clone(s.Label.Classes)
	if len(classes) > most {
		classes = append(classes[:most], "…")
	}
	return text + fmt.Sprintf("%s in %d classes: %s", s.Label.Name, len(s.Label.Classes), strings.Join(classes, ", "))
}
