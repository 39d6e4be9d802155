package release

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// Fact is a label and a text: one line that describes a plan or a release.
type Fact [2]string

// Facts are facts in the order in which they are shown.
type Facts []Fact

// Add adds a fact.
func (f *Facts) Add(label, text string) { *f = append(*f, Fact{label, text}) }

// Plan is a guarantee and the settings that decide it. Its facts are said here alone: the terminal shows them before a
// run, and the page afterwards.
type Plan struct {
	Privacy
	Optimizer string       // as [train.Optimizer.String] has it
	Metric    train.Metric // of held-out scores
	Asked     Asked
}

// Asked is what the user asked for. It is zero for a plan that is read from released files, which don't have it.
type Asked struct {
	Epsilon, NoiseMultiplier *float64
	FixedNoise               bool   // epsilon determines the steps, not the noise
	Division                 string // of the budget over kinds of runs
}

// PlanOf returns the plan of a release that is scored by a metric.
func PlanOf(p Privacy, h Hyperparameters, metric train.Metric) Plan {
	if t := p.Tuning; t != nil && (len(t.Space.Runs) > 1 || t.Space.Line != nil) { // these are the final run's
		p.SamplingRate, p.NoiseMultiplier, p.Steps = 0, 0, 0
	}
	if t := p.Tuning; t != nil && t.Space.Tunes("clipping norm") {
		p.ClippingNorm = 0
	}
	return Plan{Privacy: p, Optimizer: h.Optimizer, Metric: metric}
}

// Facts returns the plan's facts.
func (p Plan) Facts() Facts {
	var facts Facts
	if t := p.Tuning; t != nil {
		facts = Facts{{"method", t.method()}, {"trials", t.trials()}, {"missed", t.Space.missed()}}
		if t.Space.FinalLearningRates[1] > 0 {
			facts.Add("rates", t.rates())
		}
		if t.HeldOut != nil {
			facts.Add("held out", p.heldOut(t.HeldOut))
		}
	}
	facts.Add("run", p.run())
	facts = append(append(facts, p.noise()...), p.division()...)
	facts.Add("privacy", p.Budget())
	facts.Add("bound", fmt.Sprintf("%s (%s accounting)", p.Bound, p.Accounting))
	return facts
}

func (t *Tuning) method() string {
	switch t.Method {
	case "variant 1":
		return fmt.Sprintf("variant 1: tune on a random %.4g %% of the data, train on the rest", 100*t.SubsetRate)
	case "variant 2":
		return fmt.Sprintf("variant 2: tune on a random %.4g %% of the data, train on all of it", 100*t.SubsetRate)
	case "baseline":
		return "baseline: tune on all of the data, release the best trial"
	}
	return t.Method
}

func (t *Tuning) trials() string {
	if t.Repetitions == "fixed" {
		return fmt.Sprintf("%v, a fixed number, over %s", t.MeanRepetitions, t.Space.described())
	}
	return fmt.Sprintf("%v in expectation (%s), over %s", t.MeanRepetitions, t.Distribution(), t.Space.described())
}

// described returns a description of the search space in half a line.
func (s Space) described() string {
	var texts []string
	for _, p := range s.Parameters {
		switch name := p.Name; {
		case len(p.List) == 0:
			texts = append(texts, fmt.Sprintf("%s %s", name, p))
		case name == "epochs":
			texts = append(texts, fmt.Sprintf("%d numbers of epochs", len(p.List)))
		case len(p.List) == 1:
			texts = append(texts, "1 "+name)
		default:
			texts = append(texts, fmt.Sprintf("%d %ss", len(p.List), name))
		}
	}
	all := strings.Join(texts, ", ")
	switch {
	case s.random():
		return "a region: " + all
	case len(texts) == 1:
		return all
	}
	return fmt.Sprintf("%d candidates: %s", s.Candidates, all)
}

func (s Space) random() bool { return s.Search == "random" }

// missed states the probability that the best candidate isn't tried.
func (s Space) missed() string {
	what := "a given candidate isn't tried"
	if s.random() {
		what = "a given tenth of the region isn't tried"
	}
	return fmt.Sprintf("%s in %s %% of runs", what, RoundUp(100*s.Missed, 1))
}

// rates states the range of the final learning rate.
func (t *Tuning) rates() string {
	s := t.Space
	text := fmt.Sprintf("learning rate %.4g to %.4g", s.FinalLearningRates[0], s.FinalLearningRates[1])
	if s.FinalLearningRates[0] == s.FinalLearningRates[1] {
		text = fmt.Sprintf("learning rate %.4g", s.FinalLearningRates[0])
	}
	if t.Method != "baseline" {
		text += " in the final run"
	}
	if s.LargestFinalRate > 0 {
		text += fmt.Sprintf("; what would be above %.4g is left out", s.LargestFinalRate)
	}
	return text
}

// heldOut says which private samples score models, and how far noise moves a score: see train.HeldOut.
func (p Plan) heldOut(h *HeldOut) string {
	size := h.Rate * float64(p.Samples)
	off := h.NoiseMultiplier / 2 / size // of terms from -1/2 to 1/2
	score := fmt.Sprintf("an accuracy by about %.2g percentage points", 100*off)
	switch p.Metric {
	case train.R2:
		score = fmt.Sprintf("R² by about %.2g", 4*off)
	case train.NegativeLogLoss:
		score = fmt.Sprintf("a log loss by about %.2g", 8*off)
	}
	return fmt.Sprintf("about %s of the rows, private too, score the models with noise multiplier %s, which moves %s; no run trains on them",
		Grouped(int(size+0.5)), RoundUp(h.NoiseMultiplier, 4), score)
}

func (p Plan) run() string {
	texts := []string{p.Optimizer}
	switch {
	case p.Steps > 0:
		texts = append(texts, fmt.Sprintf("%s steps at sampling rate %v", Grouped(p.Steps), p.SamplingRate))
	case p.Tuning != nil && len(p.Tuning.Space.Runs) > 0:
		texts = append(texts, spread(p.Tuning.Space.Runs))
	}
	if p.ClippingNorm > 0 {
		texts = append(texts, fmt.Sprintf("clipping norm %v", p.ClippingNorm))
	}
	if p.Clipping != train.FixedClipping {
		texts = append(texts, p.Clipping.String()+" clipping")
	}
	return strings.TrimPrefix(strings.Join(texts, ", "), ", ")
}

// spread returns the ranges of the candidates' steps and sampling rates.
func spread(runs []tuner.Run) string {
	low, high := runs[0], runs[0]
	for _, r := range runs {
		low.Steps, high.Steps = min(low.Steps, r.Steps), max(high.Steps, r.Steps)
		low.SamplingRate, high.SamplingRate = min(low.SamplingRate, r.SamplingRate), max(high.SamplingRate, r.SamplingRate)
	}
	text := fmt.Sprintf("%s to %s steps at sampling rate %v", Grouped(low.Steps), Grouped(high.Steps), low.SamplingRate)
	if low.SamplingRate != high.SamplingRate {
		text += fmt.Sprintf(" to %v", high.SamplingRate)
	}
	return text
}

// noise describes the noise. Given noise is printed as it was given. Calibrated noise is rounded up, so that the
// printed noise meets the budget too.
func (p Plan) noise() []Fact {
	given, asGiven := p.Asked.NoiseMultiplier != nil, ""
	if given {
		asGiven = fmt.Sprintf("multiplier %s, as given", Exact(*p.Asked.NoiseMultiplier))
	}
	switch {
	case given && p.Asked.FixedNoise && p.Steps > 0:
		return []Fact{{"noise", asGiven + "; the steps are the most that meet epsilon " + Exact(*p.Asked.Epsilon)}}
	case given && !p.Asked.FixedNoise:
		return []Fact{{"noise", asGiven}}
	case p.NoiseMultiplier > 0 && !given:
		return []Fact{{"noise", "multiplier " + RoundUp(p.NoiseMultiplier, 8) + p.meets("meets")}}
	case p.Tuning == nil: // of released files that lack it
		return nil
	}
	if line := p.Tuning.Space.Line; line != nil {
		fitted := "multipliers"
		if given {
			fitted = asGiven + "; steps"
		}
		return []Fact{{"noise", fmt.Sprintf("%s as each candidate takes to keep its Rényi divergence below %.4g a, at orders a up to %d", fitted, line.Slope, line.Order)}}
	}
	text := "multipliers with which all kinds of runs cost the same alone" + p.meets("meet")
	switch {
	case given:
		text = asGiven + "; steps with which all kinds of runs cost the same alone, the most that meet epsilon " + Exact(*p.Asked.Epsilon)
	case p.Tuning.Space.Division == "noise":
		text = "one multiplier for all kinds of runs" + p.meets("meets")
	}
	return append([]Fact{{"noise", text}}, kinds(p.Tuning.Space.Runs)...)
}

// meets says how calibrated noise meets the budget that was asked for. It is the smallest that does, but where bounds
// jump: with little noise, epsilon can be well below the budget.
func (p Plan) meets(verb string) string {
	e := p.Asked.Epsilon
	switch {
	case e == nil:
		return ""
	case p.Epsilon >= 0.999**e:
		return ", the smallest that " + verb + " epsilon " + Exact(*e)
	}
	return ", which " + verb + " epsilon " + Exact(*e)
}

// kinds returns a fact for the noise of each kind of run.
func kinds(runs []tuner.Run) Facts {
	var facts Facts
	for _, r := range runs {
		facts.Add("", fmt.Sprintf("sampling rate %v, %s steps: %s", r.SamplingRate, Grouped(r.Steps), RoundUp(r.NoiseMultiplier, 8)))
	}
	return facts
}

// division returns a fact if the budget is to be divided in a way that has no effect.
func (p Plan) division() []Fact {
	if p.Asked.Division == "" || p.Tuning == nil || p.Tuning.Space.Division != "" {
		return nil
	}
	why := "all runs have the same sampling rate and steps"
	switch {
	case p.Asked.NoiseMultiplier != nil:
		why = "the noise is given"
	case p.Tuning.Space.Line != nil:
		why = "candidates are fitted below a line, each at the same cost"
	}
	return []Fact{{"division", fmt.Sprintf("by %s, which has no effect: %s", p.Asked.Division, why)}}
}

// Budget states the guarantee and what it covers.
func (p Privacy) Budget() string {
	covers := "for one training run; no tuning is covered"
	if p.ByRule {
		covers = "for one training run, with hyperparameters from public numbers"
	}
	if p.Tuning != nil {
		covers = "for tuning and final training together"
		if p.Tuning.Method == "baseline" {
			covers = "for tuning, which trains the released model"
		}
	}
	text := EpsilonAt(p.Epsilon, p.Delta) + ", " + covers
	if whose := p.Protects(); whose != "" {
		text += ", " + whose
	}
	if p.Insecure {
		text += "; VOID, the seed is insecure"
	}
	return text
}

// AddsUp states the cost of a second run, which most people forget.
func (p Privacy) AddsUp() string {
	if p.Insecure {
		return "no epsilon covers this release, nor what else is made from the same data together with it"
	}
	return "whatever else is made from the same data adds to this; two runs like this one: " + EpsilonAt(2*p.Epsilon, min(1, 2*p.Delta))
}

// Found returns the hyperparameters that tuning found, or the learning rate that was given.
func (r Release) Found() Facts {
	h, t := r.Hyperparameters, r.Privacy.Tuning
	facts := Facts{{"learning rate", h.Rate(t)}}
	if t == nil {
		return facts
	}
	for _, p := range []struct{ name, text string }{
		{"sampling rate", fmt.Sprintf("%v found by tuning, %.4g samples a batch in the released model's run", h.SamplingRate, h.ExpectedBatchSize)},
		{"epochs", fmt.Sprintf("%.3g found by tuning", h.Epochs)},
		{"clipping norm", fmt.Sprintf("%v found by tuning", h.ClippingNorm)},
	} {
		if t.Space.Tunes(p.name) {
			facts.Add(p.name, p.text)
		}
	}
	if len(t.Space.Runs) != 1 {
		facts.Add("run", fmt.Sprintf("%s steps with noise multiplier %s", Grouped(h.Steps), RoundUp(h.NoiseMultiplier, 8)))
	}
	return facts
}

// Rate says which learning rate the released model was trained with, and where it comes from. t is nil without tuning.
func (h Hyperparameters) Rate(t *Tuning) string {
	if h.TunedLearningRate == nil || t == nil {
		return fmt.Sprintf("%.4g", h.LearningRate)
	}
	text := fmt.Sprintf("%.4g in the trials", *h.TunedLearningRate)
	if t.Space.Tunes("learning rate") {
		text = fmt.Sprintf("%.4g found by tuning", *h.TunedLearningRate)
	}
	if t.Method != "baseline" {
		text += fmt.Sprintf(", %.4g in the final run", h.LearningRate)
	}
	return text
}
