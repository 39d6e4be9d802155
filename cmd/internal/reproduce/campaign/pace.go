package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/train"
)

// Pace has the times of steps on a machine, by data set and optimizer, such as "mnist dp-sgd".
type Pace map[string]Step

// Step says how long a step of one run takes beside other runs, in seconds: Fixed + Sample times the expected size of
// the minibatch.
type Step struct {
	Fixed  float64 `json:"fixed"`
	Sample float64 `json:"sample"`
}

func paceKey(c Cell) string { return c.Dataset + " " + c.Optimizer }

// Measure adds the steps that cells need and the pace lacks. It trains on random samples, for a second or two for each
// data set and optimizer.
func (p Pace) Measure(ctx context.Context, e train.Engine, cells []Cell, progress func(done, total int)) error {
	for k, c := range cells {
		key := paceKey(c)
		if _, ok := p[key]; ok {
			continue
		}
		progress(k, len(cells))
		step, err := measure(ctx, e, c)
		if err != nil {
			return fmt.Errorf("measure steps of %s: %w", key, err)
		}
		p[key] = step
	}
	return nil
}

// The measured sizes of minibatches are the paper's of a trial and of a final run. So many runs train side by side.
const (
	smallBatch, smallRuns = 64, 12
	largeBatch, largeRuns = 1152, 3
	rehearsed             = 4608 // samples
	measureFor            = 400 * time.Millisecond
)

func measure(ctx context.Context, e train.Engine, c Cell) (step Step, err error) {
	settings, err := settings.Preset(c.Preset())
	if err != nil {
		return step, err
	}
	model, data, err := experiment.Rehearsal(settings, rehearsed)
	if err != nil {
		return step, err
	}
	loaded, err := train.Load(e, model, data)
	if err != nil {
		return step, err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	small, err := stepTime(ctx, loaded, c.Optimizer, smallBatch, smallRuns)
	if err != nil {
		return step, err
	}
	large, err := stepTime(ctx, loaded, c.Optimizer, largeBatch, largeRuns)
	if err != nil {
		return step, err
	}
	sample := math.Max(0, (large-small)/(largeBatch-smallBatch))
	return Step{Fixed: math.Max(0, small-sample*smallBatch), Sample: sample}, nil
}

// stepTime returns the time of a step, in seconds, divided by the number of runs side by side.
func stepTime(ctx context.Context, loaded *train.Loaded, optimizer string, batch, runs int) (float64, error) {
	for steps := 2; ; {
		settings := make([]train.Settings, runs)
		for k := range settings {
			settings[k] = train.Settings{
				Privacy: train.Privacy{
					SamplingRate: float64(batch) / rehearsed, NoiseMultiplier: 1, ClippingNorm: 1, Steps: steps, NominalSize: rehearsed,
				},
				Optimizer: train.SGD(0.01), Key: train.NewKey(), Trial: uint32(k),
			}
			if optimizer == "dp-adam" {
				settings[k].Optimizer = train.Adam(0.001)
			}
		}
		took, err := timeOf(ctx, loaded, settings)
		if err != nil {
			return 0, err
		}
		if took >= measureFor/2 {
			return took.Seconds() / float64(steps*runs), nil
		}
		steps = int(math.Ceil(float64(steps) * min(20, measureFor.Seconds()/took.Seconds())))
	}
}

func timeOf(ctx context.Context, loaded *train.Loaded, settings []train.Settings) (took time.Duration, err error) {
	group, err := loaded.Start(settings...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	start := time.Now()
	err = group.Train(ctx, nil)
	return time.Since(start), err
}

// Work is what a cell's run is expected to take.
type Work struct {
	Models    float64 // trials and final runs
	Gradients float64 // of single samples
	Seconds   float64 // of training with all cores or the GPU; 0 if the pace is unknown
}

// Estimate returns what a cell's run is expected to take at a pace.
func (s *Store) Estimate(c Cell, p Pace) (w Work, err error) {
	e, err := s.experiment(c)
	if err != nil {
		return w, err
	}
	info, err := datasets.Describe(c.Dataset)
	if err != nil {
		return w, err
	}
	n := info.Train
	epochs, rates := []float64{e.Privacy.Epochs}, []float64{e.Privacy.SamplingRate}
	if c.Space == All {
		epochs = e.Tuning.Epochs
		if rates, err = e.Tuning.Rates(e.Privacy.SubsetRate, n); err != nil {
			return w, err
		}
	}
	q := e.Privacy.SubsetRate
	phases := map[Method][]phase{
		Variant1: {{e.Privacy.MeanRepetitions, q}, {1, 1 - q}},
		Variant2: {{e.Privacy.MeanRepetitions, q}, {1, 1}},
		Baseline: {{e.Privacy.MeanRepetitions, 1}},
		Single:   {{1, 1}},
	}[c.Method]
	step := p[paceKey(c)]
	candidates := float64(len(epochs) * len(rates))
	for _, rate := range rates {
		for _, epoch := range epochs {
			steps, err := train.Steps(epoch, rate)
			if err != nil {
				return w, err
			}
			for _, f := range phases {
				runs, batch := f.runs/candidates, rate*f.share*float64(n)
				w.Models += runs
				w.Gradients += runs * float64(steps) * batch
				w.Seconds += runs * float64(steps) * (step.Fixed + step.Sample*batch)
			}
		}
	}
	return w, nil
}

// phase is a number of runs on a share of the samples.
type phase struct{ runs, share float64 }
