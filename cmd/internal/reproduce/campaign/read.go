package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/cmd/internal/page"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// read returns the result of a finished run with the given settings.
func read(j Job, e settings.Experiment, i runs.Info) (Result, error) {
	if i.Score == nil || i.Record == nil {
		return Result{}, fmt.Errorf("%s: no score or no record; bring back the whole folder of the run", i.Dir)
	}
	path := filepath.Join(i.Dir, "released", "hyperparameters.json")
	found, err := os.ReadFile(path)
	private, errPrivate := os.ReadFile(filepath.Join(i.Dir, "private", "run.json"))
	if err := errors.Join(err, errPrivate); err != nil {
		return Result{}, err
	}
	var h release.Hyperparameters
	if err := json.Unmarshal(found, &h); err != nil {
		return Result{}, fmt.Errorf("%s: %w", path, err)
	}
	return resultOf(j, e, i, i.Score.Value, h, private)
}

// resultOf returns the result of a run with the given settings, score, hyperparameters and content of private/run.json.
func resultOf(j Job, e settings.Experiment, i runs.Info, score float64, h release.Hyperparameters, private []byte) (Result, error) {
	var p page.PrivateRun
	if err := json.Unmarshal(private, &p); err != nil {
		return Result{}, fmt.Errorf("%s: %w", filepath.Join(i.Dir, "private", "run.json"), err)
	}
	r := Result{
		Job: j, Accuracy: score, Epsilon: i.Epsilon,
		NoiseMultiplier: h.NoiseMultiplier, LearningRate: h.LearningRate, TunedLearningRate: h.LearningRate,
		SamplingRate: h.SamplingRate, ClippingNorm: h.ClippingNorm, Steps: h.Steps,
		Trials: len(p.Trials),
		MadeBy: i.Record.MadeBy, Machine: i.Record.Machine, Day: i.Day,
	}
	if h.TunedLearningRate != nil {
		r.TunedLearningRate = *h.TunedLearningRate
	}
	r.Seconds = p.Seconds + p.FinalSeconds
	size := float64(i.Samples)
	if j.Method != Baseline {
		size *= e.Privacy.SubsetRate
	}
	for _, trial := range p.Trials {
		r.Seconds += trial.Seconds
		r.Gradients += float64(trial.Steps) * trial.SamplingRate * size
	}
	if j.Method != Baseline {
		r.Gradients += float64(h.Steps) * h.ExpectedBatchSize
	}
	if r.ProcessorSeconds = math.NaN(); i.Record.Processors > 0 {
		r.ProcessorSeconds = r.Seconds * i.Record.Processors
	}
	return r, nil
}

// readSettings returns the settings of a run's folder.
func readSettings(dir string) (settings.Experiment, error) {
	text, err := os.ReadFile(filepath.Join(dir, "private", "settings.yaml"))
	if err != nil {
		return settings.Experiment{}, err
	}
	return settings.Resolve(settings.File{Name: "settings.yaml", Text: text}, nil)
}
