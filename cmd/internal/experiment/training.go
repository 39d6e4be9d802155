package experiment

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/train"
)

// training is the [work] of a plan of one run. The settings lack a key.
type training struct {
	train.Settings
	rows int // of a unit
}

// planTraining returns the settings of one run on n samples that meets an experiment's budget, and their statement.
func planTraining(e settings.Experiment, n int) (train.Settings, release.Privacy, error) {
	steps, calibrate := 0, unitRun.calibrateSteps
	if e.Privacy.Fixed == settings.FixedEpochs {
		var err error
		if steps, err = Steps(e.Privacy); err != nil {
			return train.Settings{}, release.Privacy{}, err
		}
		calibrate = unitRun.calibrate
	}
	run, guarantee, err := settle(e.Privacy, Accounting(e.Privacy), unitRun{trainingPrivacy(e, n, steps), e.Data.RowsPerUnit}, calibrate)
	if err != nil {
		return train.Settings{}, release.Privacy{}, err
	}
	privacy := run.Privacy
	settings := train.Settings{Privacy: privacy, Optimizer: Optimizer(e.Training, e.Training.LearningRate)}
	return settings, stated(e.Privacy, e.Data, n, guarantee).Of(release.HyperparametersOf(privacy, settings.Optimizer)), privacy.Validate()
}

// calibrateSteps returns u with the maximum number of steps that its noise allows.
func (u unitRun) calibrateSteps(epsilon, delta float64, o accountant.Options) (unitRun, accountant.Guarantee, error) {
	steps, err := accountant.CalibrateSteps(epsilon, delta, o, func(steps int) accountant.Event {
		u.Steps = steps
		return u.event()
	})
	if err == nil && steps == 0 {
		err = fmt.Errorf("not one step: %w", accountant.ErrInfeasible)
	}
	if err != nil {
		return u, accountant.Guarantee{}, err
	}
	u.Steps = steps
	g, err := u.Guarantee(delta, o)
	return u, g, err
}

// trainingPrivacy returns the privacy settings of one run, with the given noise or, before calibration, with none.
func trainingPrivacy(e settings.Experiment, n, steps int) train.Privacy {
	return train.Privacy{
		SamplingRate:    e.Privacy.SamplingRate,
		NoiseMultiplier: value(e.Privacy.NoiseMultiplier),
		ClippingNorm:    e.Privacy.ClippingNorm,
		Clipping:        train.Clipping(e.Privacy.Clipping),
		Steps:           steps,
		NominalSize:     float64(n),
	}
}

// Steps returns the number of steps in the epochs of the settings. It returns an error if there isn't even one step.
func Steps(p settings.Privacy) (int, error) {
	steps, err := train.Steps(p.Epochs, p.SamplingRate)
	if err != nil {
		return 0, err
	}
	if steps == 0 {
		return 0, usagef("privacy.epochs: %v epochs at sampling rate %v are less than one step; give more epochs", p.Epochs, p.SamplingRate)
	}
	return steps, nil
}

// Optimizer returns the optimizer of valid settings, with a learning rate.
func Optimizer(t settings.Training, learningRate float64) train.Optimizer {
	var o train.Optimizer
	switch t.Optimizer {
	case settings.OptimizerMomentum:
		o = train.Momentum(learningRate, value(t.Momentum))
	case settings.OptimizerNesterov:
		o = train.Nesterov(learningRate, value(t.Momentum))
	case settings.OptimizerAdam:
		o = train.Adam(learningRate)
	case settings.OptimizerAdamW:
		o = train.AdamW(learningRate, 0)
	default:
		o = train.SGD(learningRate)
	}
	o.WeightDecay = value(t.WeightDecay)
	switch t.Schedule {
	case settings.ScheduleLinear:
		o.Schedule = train.Linear(0)
	case settings.ScheduleCosine:
		o.Schedule = train.Cosine(0)
	}
	if t.Warmup > 0 {
		o.Schedule = train.Warmup(t.Warmup, o.Schedule)
	}
	o.Accumulate, o.Average = t.Accumulate, t.Average
	return o
}

// value returns an optional setting, or 0 for none.
func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

func (t training) event() accountant.Event { return unitRun{t.Privacy, t.rows}.event() }

// train carries out single trainings that share their data, by the random streams of trial 0.
func (g *group) train(ctx context.Context, trainings []*member) (err error) {
	loaded, err := train.Load(g.engine, g.model, g.data.train)
	if err != nil {
		return err
	}
	defer func() {
		if unclosed := loaded.Close(); unclosed != nil {
			err = errors.Join(err, unclosed)
		}
	}()
	var ready []*member
	for _, m := range trainings {
		if m.err = m.check(loaded); m.err == nil {
			ready = append(ready, m)
		}
	}
	warnAll(ready, loaded.Fallback())
	for members := range slices.Chunk(ready, maxRunsHeld) {
		runs := make([]train.Run, len(members))
		for i, m := range members {
			runs[i] = m.run()
		}
		all, err := loaded.TrainAll(ctx, g.data.test, runs...)
		if err != nil {
			return ofRun(err, members)
		}
		for i, m := range members {
			m.finish(all[i])
		}
	}
	return nil
}

// settings returns the settings of a single training, with its key.
func (m *member) settings() train.Settings {
	s := m.Plan.work.(training).Settings
	s.Key = m.Options.Key
	return s
}

// check keeps the fingerprint of a run that begins. For a run that goes on it compares the fingerprint, and reads the
// state.
func (m *member) check(loaded *train.Loaded) error {
	fingerprint, err := loaded.Fingerprint(m.Plan.data.test)
	if err != nil {
		return err
	}
	s := m.settings()
	fingerprint["plan"] = fmt.Sprintf("%v, key %x", s, sha256.Sum256(s.Key[:]))
	keeper := m.Options.keeper(m.Plan)
	if err := keeper.Check(fingerprint); err != nil {
		return err
	}
	if _, err := keeper.State(s.Trial); err != nil {
		return &train.KeepError{Trial: s.Trial, Err: err}
	}
	return nil
}

// run returns the run of a single training, which reports to the member's follower.
func (m *member) run() train.Run {
	what := "training, epsilon " + release.Up(m.Plan.privacy.Epsilon)
	return train.Run{
		Settings: m.settings(),
		Keeper:   m.Options.keeper(m.Plan),
		Progress: func(done train.Progress) { m.Follower.Progress(float64(done.Step), float64(done.Steps), what) },
	}
}

// finish keeps the result of a single training.
func (m *member) finish(t train.Trained) {
	switch {
	case t.Err != nil:
		m.err = t.Err
	case t.Result.Diverged():
		m.err = train.ErrDiverged
	default:
		s := m.settings()
		m.trained = trained{t.Result.Parameters, t.Score, nil, release.HyperparametersOf(s.Privacy, s.Optimizer), privateTraining{warning, t.Trace, m.Plan.privateNotes()}, t.Curve, 0, nil}
	}
}

// warning is in every file with private numbers.
const warning = "not covered by the privacy guarantee: don't publish"

// privateTraining is private/run.json of a run without tuning.
type privateTraining struct {
	Warning string `json:"warning"`
	train.PrivateTrace
	Notes []string `json:"notes,omitempty"` // on the training rows
}
