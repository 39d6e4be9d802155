package experiment

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// training is the [work] of a plan of one run. The settings lack a key.
type training struct{ train.Settings }

// planTraining returns the settings of one run on n samples that meets an experiment's budget, and their statement.
func planTraining(e configs.Experiment, n int) (train.Settings, report.Privacy, error) {
	steps, calibrate := 0, calibrateSteps
	if e.Privacy.Fixed == configs.FixedEpochs {
		var err error
		if steps, err = Steps(e.Privacy); err != nil {
			return train.Settings{}, report.Privacy{}, err
		}
		calibrate = train.Calibrate
	}
	privacy, guarantee, err := settle(e.Privacy, trainingPrivacy(e, n, steps), calibrate)
	if err != nil {
		return train.Settings{}, report.Privacy{}, err
	}
	settings := train.Settings{Privacy: privacy, Optimizer: optimizer(e.Training.Optimizer, e.Training.LearningRate)}
	return settings, stated(e.Privacy, n, guarantee).Of(report.HyperparametersOf(privacy, settings.Optimizer)), privacy.Validate()
}

// calibrateSteps returns p with the maximum number of steps that its noise allows.
func calibrateSteps(p train.Privacy, epsilon, delta float64, o accountant.Options) (train.Privacy, accountant.Guarantee, error) {
	steps, err := accountant.CalibrateSteps(epsilon, delta, o, func(steps int) accountant.Event {
		p.Steps = steps
		return p.Event()
	})
	if err == nil && steps == 0 {
		err = fmt.Errorf("not one step: %w", accountant.ErrInfeasible)
	}
	if err != nil {
		return p, accountant.Guarantee{}, err
	}
	p.Steps = steps
	g, err := p.Guarantee(delta, o)
	return p, g, err
}

// trainingPrivacy returns the privacy settings of one run, with the given noise or, before calibration, with none.
func trainingPrivacy(e configs.Experiment, n, steps int) train.Privacy {
	p := train.Privacy{
		SamplingRate: e.Privacy.SamplingRate,
		ClippingNorm: e.Privacy.ClippingNorm,
		Steps:        steps,
		NominalSize:  float64(n),
	}
	if noise := e.Privacy.NoiseMultiplier; noise != nil {
		p.NoiseMultiplier = *noise
	}
	return p
}

// Steps returns the number of steps in the epochs of the settings. It returns an error if there isn't even one step.
func Steps(p configs.Privacy) (int, error) {
	steps, err := train.Steps(p.Epochs, p.SamplingRate)
	if err != nil {
		return 0, err
	}
	if steps == 0 {
		return 0, usagef("privacy.epochs: %v epochs at sampling rate %v are less than one step; give more epochs", p.Epochs, p.SamplingRate)
	}
	return steps, nil
}

func optimizer(name string, learningRate float64) train.Optimizer {
	if name == "dp-adam" {
		return train.Adam(learningRate)
	}
	return train.SGD(learningRate)
}

func (t training) event() accountant.Event { return t.Privacy.Event() }

// run trains once, by the random streams of trial 0.
func (t training) run(ctx context.Context, p *Plan, e train.Engine, j Job, f Follower) (out trained, err error) {
	s := t.Settings
	s.Key = j.Key
	loaded, err := train.Load(e, p.model, p.data.train)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	group, err := loaded.Start(s)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	keeper := j.keeper(p)
	if err := t.check(loaded, keeper, s, p); err != nil {
		return out, err
	}
	warnOfFallback(f, loaded.Fallback())
	what := "training, epsilon " + report.Up(p.privacy.Epsilon)
	traces, err := group.TrainKept(ctx, keeper, func(runs []train.Progress) {
		f.Progress(float64(runs[0].Step), float64(runs[0].Steps), what)
	})
	var failed train.RunErrors
	if errors.As(err, &failed) {
		return out, failed[0]
	}
	if err != nil {
		return out, err
	}
	result, err := group.Result(0)
	if err != nil {
		return out, err
	}
	if result.Diverged() {
		return out, train.ErrDiverged
	}
	score, err := group.Score(ctx, p.data.test, 0)
	if err != nil {
		return out, err
	}
	return trained{result.Parameters, score[0], report.HyperparametersOf(s.Privacy, s.Optimizer), privateTraining{warning, traces[0]}}, nil
}

// check keeps the fingerprint of a run that begins, and compares that of one that goes on.
func (t training) check(loaded *train.Loaded, k train.Keeper, s train.Settings, p *Plan) error {
	fingerprint, err := loaded.Fingerprint(p.data.test)
	if err != nil {
		return err
	}
	fingerprint["plan"] = fmt.Sprintf("%v, key %x", s, sha256.Sum256(s.Key[:]))
	return k.Check(fingerprint)
}

// warning is in every file with private numbers.
const warning = "not covered by the privacy guarantee: don't publish"

// privateTraining is private/run.json of a run without tuning.
type privateTraining struct {
	Warning string `json:"warning"`
	train.PrivateTrace
}
