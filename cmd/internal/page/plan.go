package page

import (
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/models"
)

// planFacts describes the decisions made before the data were read.
func planFacts(p release.Privacy) []Fact {
	var facts []Fact
	if t := p.Tuning; t != nil {
		facts = append(facts,
			Fact{"method", methodText(t)},
			Fact{"trials", fmt.Sprintf("%s in expectation (%s)", exact(t.MeanRepetitions), t.Distribution())},
			Fact{"search", searchText(t.Space)})
		for _, v := range t.Space.Parameters {
			facts = append(facts, Fact{v.Name, shortened(fmt.Sprint(v), 400)})
		}
		facts = append(facts, Fact{"missed", missedText(t.Space)})
		if rates := t.Space.FinalLearningRates; rates[1] > 0 {
			text := fmt.Sprintf("%s to %s in the final run", short(rates[0]), short(rates[1]))
			if limit := t.Space.LargestFinalRate; limit > 0 {
				text += fmt.Sprintf("; larger ones than %s were left out before", short(limit))
			}
			facts = append(facts, Fact{"final learning rates", text})
		}
		if h := t.HeldOut; h != nil {
			facts = append(facts, Fact{"held out", fmt.Sprintf("a random %s %% of the samples, which no run trained on, scored the models with noise multiplier %s",
				short(100*h.Rate), release.RoundUp(h.NoiseMultiplier, 4))})
		}
	}
	return append(facts, costFacts(p)...)
}

// costFacts describes the settings that decide the cost of a run.
func costFacts(p release.Privacy) []Fact {
	var facts []Fact
	if t := p.Tuning; t != nil && len(t.Space.Runs) > 1 {
		facts = append(facts, Fact{"kinds of runs", fmt.Sprintf("%d, by sampling rate and steps, %s", len(t.Space.Runs), dividedText(t.Space))})
	} else if t != nil && t.Space.Line != nil {
		facts = append(facts, Fact{"noise", fmt.Sprintf("fitted to each candidate, so that its Rényi divergence is at most %s times the order, up to order %d",
			short(t.Space.Line.Slope), t.Space.Line.Order)})
	} else {
		facts = append(facts,
			Fact{"steps", fmt.Sprintf("%s at sampling rate %s", release.Grouped(p.Steps), exact(p.SamplingRate))},
			Fact{"noise multiplier", release.RoundUp(p.NoiseMultiplier, 6)})
	}
	bound := p.Bound
	if p.Order > 0 {
		bound += fmt.Sprintf(", order %d", p.Order)
	}
	return append(facts, Fact{"bound", fmt.Sprintf("%s (%s accounting)", bound, p.Accounting)})
}

func dividedText(s release.Space) string {
	if s.Division == "noise" {
		return "all with the same noise"
	}
	return "each with noise of its own"
}

func methodText(t *release.Tuning) string {
	switch t.Method {
	case "variant 1":
		return fmt.Sprintf("variant 1: tune on a random %s %% of the data, train on the rest", short(100*t.SubsetRate))
	case "variant 2":
		return fmt.Sprintf("variant 2: tune on a random %s %% of the data, train on all of it", short(100*t.SubsetRate))
	case "baseline":
		return "baseline: tune on all of the data, release the best trial"
	}
	return t.Method
}

func searchText(s release.Space) string {
	if s.Search == "grid" {
		return fmt.Sprintf("grid of %s candidates over %s", release.Grouped(s.Candidates), s.Tuned())
	}
	return fmt.Sprintf("%s search over %s", s.Search, s.Tuned())
}

func missedText(s release.Space) string {
	what := "a given candidate"
	if s.Search != "grid" {
		what = "a given tenth of the region"
	}
	return fmt.Sprintf("%s isn’t tried in %s %% of such runs", what, short(100*s.Missed))
}

// hyperparameterFacts describes the run that made the released parameters.
func hyperparameterFacts(h release.Hyperparameters) []Fact {
	if h == (release.Hyperparameters{}) {
		return nil
	}
	rate := short(h.LearningRate)
	if h.Scaled() {
		rate += fmt.Sprintf(", from %s found by tuning", short(*h.TunedLearningRate))
	} else if h.TunedLearningRate != nil {
		rate += ", found by tuning"
	}
	return []Fact{
		{"optimizer", h.Optimizer},
		{"learning rate", rate},
		{"steps", fmt.Sprintf("%s, which are %s epochs", release.Grouped(h.Steps), short(h.Epochs))},
		{"sampling rate", fmt.Sprintf("%s, which is %s samples a step in expectation", short(h.SamplingRate), short(h.ExpectedBatchSize))},
		{"clipping norm", short(h.ClippingNorm)},
		{"noise multiplier", release.RoundUp(h.NoiseMultiplier, 6)},
	}
}

// modelFacts describes the released model.
func modelFacts(r Run) []Fact {
	m := r.Model
	facts := []Fact{{"network", m.Network}}
	if r.Parameters > 0 {
		facts = append(facts, Fact{"parameters", release.Grouped(int(r.Parameters))})
	}
	if m.Task != "" {
		facts = append(facts, Fact{"task", m.Task})
	}
	if len(m.Shape) > 0 {
		facts = append(facts, Fact{"shape of a sample", shapeText(m.Shape)})
	}
	if m.Features != "" {
		facts = append(facts, Fact{"features of", m.Features})
	}
	if m.Vocabulary > 0 {
		facts = append(facts, Fact{"vocabulary", release.Grouped(m.Vocabulary) + " words"})
	}
	if m.Outputs > 0 {
		facts = append(facts, Fact{"outputs", release.Grouped(m.Outputs)})
	}
	if models.Activated(m.Network) {
		facts = append(facts, Fact{"activation", m.Activation.String()})
	}
	return facts
}
