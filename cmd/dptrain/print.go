package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// planResult is what --dry-run prints as JSON.
type planResult struct {
	Dataset string          `json:"dataset"`
	Model   string          `json:"model"`
	Privacy release.Privacy `json:"privacy"`
	Memory  float64         `json:"memory_bytes"` // an estimate of the maximum
	// Warnings are the weaknesses of the plan, among them those of its privacy, and why its model may be a poor one.
	Warnings []string `json:"warnings,omitempty"`
}

func newPlanResult(p *experiment.Plan) planResult {
	return planResult{p.Experiment.Dataset, p.Experiment.Model, p.Statement(), p.Memory, slices.Concat(p.Warnings(), p.Cautions())}
}

// runResult is what a training prints as JSON. It holds nothing private.
type runResult struct {
	Dataset         string                  `json:"dataset"`
	Model           string                  `json:"model"`
	TestAccuracy    *float64                `json:"test_accuracy,omitempty"`  // of a classification
	TestR2          *float64                `json:"test_r2,omitempty"`        // of a regression
	HeldOut         *heldOutResult          `json:"held_out,omitempty"`       // instead of a test score
	Constant        float64                 `json:"test_score_of_a_constant"` // of the best constant answer
	Warning         string                  `json:"warning,omitempty"`        // about the model
	Cautions        []string                `json:"plan_warnings,omitempty"`  // why the plan's model may be a poor one
	Hyperparameters release.Hyperparameters `json:"hyperparameters"`
	Privacy         release.Privacy         `json:"privacy"`
	Directory       string                  `json:"directory"`
	AddsUp          string                  `json:"adds_up"` // the cost of another run on the same data
	Curve           []train.Point           `json:"learning_curve,omitempty"`
}

// heldOutResult is a score that was estimated on held-out samples.
type heldOutResult struct {
	Metric   string     `json:"metric"`
	Score    float64    `json:"score"`
	Interval [2]float64 `json:"interval_95"`
}

func newRunResult(p *experiment.Plan, o experiment.Outcome, directory string) runResult {
	r := o.Release
	out := runResult{
		Dataset: r.Model.Dataset, Model: r.Model.Network, Hyperparameters: r.Hyperparameters, Privacy: r.Privacy, Directory: directory,
		Constant: o.Verdict.Constant.Value, Warning: o.Verdict.Warning, Cautions: p.Cautions(), AddsUp: addsUp(r.Privacy),
	}
	if r.Curve != nil {
		out.Curve = r.Curve.Points
	}
	if i := r.Score.HeldOut; i != nil {
		out.HeldOut = &heldOutResult{string(r.Score.Metric), r.Score.Value, *i}
		return out
	}
	if r.Model.Task == release.Regression {
		out.TestR2 = &r.Score.Value
	} else {
		out.TestAccuracy = &r.Score.Value
	}
	return out
}

// printPlan prints a plan.
func printPlan(w io.Writer, plan *experiment.Plan) {
	e, p := plan.Experiment, plan.Statement()
	pairs := append(dataRows(e, plan.Samples), [2]string{"model", modelText(e)})
	if t := p.Tuning; t != nil {
		pairs = append(pairs,
			[2]string{"method", methodText(t)},
			[2]string{"trials", trialsText(t)},
			[2]string{"missed", missedText(t.Space)},
			[2]string{"rates", ratesText(t)})
		if t.HeldOut != nil {
			pairs = append(pairs, [2]string{"held out", heldOutText(t.HeldOut, plan.Samples)})
		}
	}
	pairs = append(pairs, [2]string{"run", runText(e, p)})
	pairs = append(pairs, noiseRows(e.Privacy, p)...)
	pairs = append(pairs, divisionRows(e, p)...)
	pairs = append(pairs,
		[2]string{"privacy", budgetText(p)},
		[2]string{"bound", fmt.Sprintf("%s (%s accounting)", p.Bound, p.Accounting)},
		[2]string{"memory", "up to about " + experiment.MemoryText(plan.Memory)},
	)
	for _, caution := range plan.Cautions() {
		pairs = append(pairs, [2]string{"warning", caution})
	}
	rows(w, pairs...)
}

func modelText(e settings.Experiment) string {
	if !models.Activated(e.Model) {
		return e.Model
	}
	return e.Model + ", activation " + release.Activation(e.Activation).String()
}

func trialsText(t *release.Tuning) string {
	if t.Repetitions == settings.Fixed {
		return fmt.Sprintf("%v, a fixed number, over %s", t.MeanRepetitions, spaceText(t.Space))
	}
	return fmt.Sprintf("%v in expectation (%s), over %s", t.MeanRepetitions, t.Distribution(), spaceText(t.Space))
}

// heldOutText says which private samples score models, and how far noise moves a score: see train.HeldOut.
func heldOutText(h *release.HeldOut, s experiment.Samples) string {
	size := h.Rate * float64(s.Train)
	off, score := h.NoiseMultiplier/2/size, "an accuracy by about %.2g percentage points"
	if s.Schema != nil && s.Schema.Label.Task == table.Regression {
		off, score = 4*off/100, "R² by about %.2g"
	}
	return fmt.Sprintf("about %s of the rows, private too, score the models with noise multiplier %s, which moves "+score+"; no run trains on them",
		release.Grouped(int(size+0.5)), release.RoundUp(h.NoiseMultiplier, 4), 100*off)
}

func methodText(t *release.Tuning) string {
	switch t.Method {
	case "variant 1":
		return fmt.Sprintf("variant 1: tune on a random %.4g %% of the data, train on the rest", 100*t.SubsetRate)
	case "variant 2":
		return fmt.Sprintf("variant 2: tune on a random %.4g %% of the data, train on all of it", 100*t.SubsetRate)
	}
	return "baseline: tune on all of the data, release the best trial"
}

func budgetText(p release.Privacy) string {
	covers := "for one training run; no tuning is covered"
	if p.Tuning != nil {
		covers = "for tuning and final training together"
		if p.Tuning.Method == "baseline" {
			covers = "for tuning, which trains the released model"
		}
	}
	text := fmt.Sprintf("epsilon %s at delta %s, %s", release.Up(p.Epsilon), exact(p.Delta), covers)
	if whose := p.Protects(); whose != "" {
		text += ", " + whose
	}
	if p.Insecure {
		text += "; VOID, the seed is insecure"
	}
	return text
}

// addsUp states the cost of a second run, which most people forget.
func addsUp(p release.Privacy) string {
	if p.Insecure {
		return "no epsilon covers this release, nor what else is made from the same data together with it"
	}
	return fmt.Sprintf("whatever else is made from the same data adds to this; two runs like this one: epsilon %s at delta %s",
		release.Up(2*p.Epsilon), exact(min(1, 2*p.Delta)))
}

// printResult prints the outcome of a run, and its directory.
func printResult(w io.Writer, p *experiment.Plan, o experiment.Outcome, directory string) {
	directory = relative(directory)
	r, v := o.Release, o.Verdict
	score := fmt.Sprintf("%s on the public test set of %s; %s has %s", r.Score, release.Grouped(p.Samples.Test), v.Answer, v.Constant)
	if i := r.Score.HeldOut; i != nil {
		low, high := r.Score, r.Score
		low.Value, high.Value = i[0], i[1]
		score = fmt.Sprintf("%s, estimated on held-out rows with noise, 95 %% interval %s to %s; %s has about %s", r.Score, low, high, v.Answer, v.Constant)
	}
	pairs := [][2]string{{string(r.Score.Metric), score}}
	if v.Warning != "" {
		pairs = append(pairs, [2]string{"warning", v.Warning})
	}
	pairs = append(pairs, foundRows(r)...)
	published := "model, hyperparameters, privacy statement"
	if r.Curve != nil {
		published += ", learning curve"
	}
	pairs = append(pairs,
		[2]string{"privacy", budgetText(r.Privacy)},
		[2]string{"adds up", addsUp(r.Privacy)},
		[2]string{"publish", filepath.Join(directory, "released") + "  " + published},
		[2]string{"keep private", filepath.Join(directory, "private") + "  what the guarantee doesn't cover"},
	)
	fmt.Fprintln(w)
	rows(w, pairs...)
}

// relative shortens a path below the working directory.
func relative(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	short, err := filepath.Rel(wd, path)
	if err != nil || strings.HasPrefix(short, "..") {
		return path
	}
	return short
}
