package main

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/tuner"
)

// spaceText returns a description of the search space in half a line.
func spaceText(s release.Space) string {
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
	case s.Search == settings.SearchRandom:
		return "a region: " + all
	case len(texts) == 1:
		return all
	}
	return fmt.Sprintf("%d candidates: %s", s.Candidates, all)
}

// missedText states the probability that the best candidate isn't tried.
func missedText(s release.Space) string {
	what := "a given candidate isn't tried"
	if s.Search == settings.SearchRandom {
		what = "a given tenth of the region isn't tried"
	}
	return fmt.Sprintf("%s in %s %% of runs", what, release.RoundUp(100*s.Missed, 1))
}

// ratesText returns the range of the final learning rate.
func ratesText(t *release.Tuning) string {
	s := t.Space
	text := fmt.Sprintf("%.4g to %.4g", s.FinalLearningRates[0], s.FinalLearningRates[1])
	if s.FinalLearningRates[0] == s.FinalLearningRates[1] {
		text = fmt.Sprintf("%.4g", s.FinalLearningRates[0])
	}
	if t.Method == "baseline" {
		text = "learning rate " + text
	} else {
		text = "learning rate " + text + " in the final run"
	}
	if s.LargestFinalRate > 0 {
		text += fmt.Sprintf("; what would be above %.4g is left out", s.LargestFinalRate)
	}
	return text
}

func runText(e settings.Experiment, p release.Privacy) string {
	text := experiment.Optimizer(e.Training, 0).String()
	switch {
	case p.Steps > 0:
		text += fmt.Sprintf(", %s steps at sampling rate %v", release.Grouped(p.Steps), p.SamplingRate)
	case len(p.Tuning.Space.Runs) > 0:
		text += spread(p.Tuning.Space.Runs)
	}
	if p.ClippingNorm > 0 {
		text += fmt.Sprintf(", clipping norm %v", p.ClippingNorm)
	}
	return text
}

// spread returns the ranges of the candidates' steps and sampling rates.
func spread(runs []tuner.Run) string {
	low, high := runs[0], runs[0]
	for _, r := range runs {
		low.Steps, high.Steps = min(low.Steps, r.Steps), max(high.Steps, r.Steps)
		low.SamplingRate, high.SamplingRate = min(low.SamplingRate, r.SamplingRate), max(high.SamplingRate, r.SamplingRate)
	}
	text := fmt.Sprintf(", %s to %s steps at sampling rate %v", release.Grouped(low.Steps), release.Grouped(high.Steps), low.SamplingRate)
	if low.SamplingRate != high.SamplingRate {
		text += fmt.Sprintf(" to %v", high.SamplingRate)
	}
	return text
}

// maxRuns is the maximum number of kinds of runs that are listed.
const maxRuns = 24

// noiseRows returns the rows of a plan that describe its noise. Given noise is printed as it was given. Calibrated
// noise is rounded up, so that the printed noise meets the budget too.
func noiseRows(p settings.Privacy, stated release.Privacy) [][2]string {
	row := func(text string) [2]string { return [2]string{"noise", text} }
	given := p.NoiseMultiplier != nil
	switch {
	case given && p.Fixed == settings.FixedNoise && stated.Steps > 0:
		return [][2]string{row(fmt.Sprintf("multiplier %s, as given; the steps are the most that meet epsilon %s", exact(*p.NoiseMultiplier), exact(*p.Epsilon)))}
	case given && p.Fixed == settings.FixedEpochs:
		return [][2]string{row(fmt.Sprintf("multiplier %s, as given", exact(*p.NoiseMultiplier)))}
	case stated.NoiseMultiplier > 0 && !given:
		return [][2]string{row(fmt.Sprintf("multiplier %s, %s epsilon %s", release.RoundUp(stated.NoiseMultiplier, 8), meets(p, stated, "the smallest that meets", "which meets"), exact(*p.Epsilon)))}
	}
	space := stated.Tuning.Space
	if line := space.Line; line != nil {
		fitted := "multipliers"
		if given {
			fitted = fmt.Sprintf("multiplier %s, as given; steps", exact(*p.NoiseMultiplier))
		}
		return [][2]string{row(fmt.Sprintf("%s as each candidate takes to keep its Rényi divergence below %.4g a, at orders a up to %d", fitted, line.Slope, line.Order))}
	}
	return runRows(p, stated)
}

// meets returns smallest if calibrated noise is the minimum that meets the budget, and else otherwise: bounds jump
// where there is little noise, and then epsilon is well below the budget.
func meets(p settings.Privacy, stated release.Privacy, smallest, otherwise string) string {
	if stated.Epsilon >= 0.999**p.Epsilon {
		return smallest
	}
	return otherwise
}

// runRows returns a row for the noise of each kind of run, up to maxRuns.
func runRows(p settings.Privacy, stated release.Privacy) [][2]string {
	runs := stated.Tuning.Space.Runs
	text := "multipliers with which all kinds of runs cost the same alone, " + meets(p, stated, "the smallest that meet", "which meet") + " epsilon " + exact(*p.Epsilon)
	if stated.Tuning.Space.Division == settings.DivisionNoise {
		text = "one multiplier for all kinds of runs, " + meets(p, stated, "the smallest that meets", "which meets") + " epsilon " + exact(*p.Epsilon)
	}
	if p.NoiseMultiplier != nil {
		text = fmt.Sprintf("multiplier %s, as given; steps with which all kinds of runs cost the same alone, the most that meet epsilon %s", exact(*p.NoiseMultiplier), exact(*p.Epsilon))
	}
	out := [][2]string{{"noise", text}}
	for i, r := range runs {
		if i == maxRuns {
			return append(out, [2]string{"", fmt.Sprintf("... and %d more; --json shows all", len(runs)-i)})
		}
		out = append(out, [2]string{"", fmt.Sprintf("sampling rate %v, %s steps: %s", r.SamplingRate, release.Grouped(r.Steps), release.RoundUp(r.NoiseMultiplier, 8))})
	}
	return out
}

// divisionRows returns a row if the budget is to be divided in a way that has no effect.
func divisionRows(e settings.Experiment, stated release.Privacy) [][2]string {
	if e.Tuning.Division == "" || stated.Tuning == nil || stated.Tuning.Space.Division != "" {
		return nil
	}
	why := "all runs have the same sampling rate and steps"
	switch {
	case e.Privacy.NoiseMultiplier != nil:
		why = "the noise is given"
	case stated.Tuning.Space.Line != nil:
		why = "candidates are fitted below a line, each at the same cost"
	}
	return [][2]string{{"division", fmt.Sprintf("by %s, which has no effect: %s", e.Tuning.Division, why)}}
}

// foundRows returns rows for the hyperparameters that tuning found, or for the learning rate that was given.
func foundRows(r release.Release) [][2]string {
	h := r.Hyperparameters
	if h.TunedLearningRate == nil {
		return [][2]string{{"learning rate", fmt.Sprintf("%.4g", h.LearningRate)}}
	}
	space := r.Privacy.Tuning.Space
	rate := fmt.Sprintf("%.4g in the trials", *h.TunedLearningRate)
	if space.Tunes("learning rate") {
		rate = fmt.Sprintf("%.4g found by tuning", *h.TunedLearningRate)
	}
	if r.Privacy.Tuning.Method != "baseline" {
		rate += fmt.Sprintf(", %.4g in the final run", h.LearningRate)
	}
	out := [][2]string{{"learning rate", rate}}
	for _, p := range []struct{ name, text string }{
		{"sampling rate", fmt.Sprintf("%v found by tuning, %.4g samples a batch in the released model's run", h.SamplingRate, h.ExpectedBatchSize)},
		{"epochs", fmt.Sprintf("%.3g found by tuning", h.Epochs)},
		{"clipping norm", fmt.Sprintf("%v found by tuning", h.ClippingNorm)},
	} {
		if space.Tunes(p.name) {
			out = append(out, [2]string{p.name, p.text})
		}
	}
	if len(space.Runs) != 1 {
		out = append(out, [2]string{"run", fmt.Sprintf("%s steps with noise multiplier %s", release.Grouped(h.Steps), release.RoundUp(h.NoiseMultiplier, 8))})
	}
	return out
}
