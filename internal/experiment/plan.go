package experiment

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// Settings say what to do: all that a run depends on.
type Settings struct {
	configs.Experiment
	Tune bool // tune, then train; or train once with the given hyperparameters
	// InsecureSeed, unless nil, makes all random draws, so that the run can be repeated. It voids the guarantee.
	InsecureSeed *uint64
}

// Plan is a run of an experiment: all that is public about it before it begins, and its data once they are loaded.
type Plan struct {
	Experiment configs.Experiment
	Samples    Samples
	Memory     float64 // bytes that the run takes at most, about

	privacy report.Privacy
	seed    *uint64
	work    work
	model   train.Model
	data    *loaded // nil until they are
}

// A work trains what a plan releases, by tuning or at once.
type work interface {
	run(context.Context, *Plan, engine.Engine, train.Key, Follower) (trained, error)
}

// Resolve makes the plan of settings: it finds out how many samples there are, settles noise and epsilon, and touches no
// private data but to count the rows of a file.
func Resolve(s Settings) (*Plan, error) {
	samples, err := describe(s.Experiment)
	if err != nil {
		return nil, err
	}
	p := &Plan{Experiment: s.Experiment, Samples: samples, seed: s.InsecureSeed}
	if s.Tune {
		settings, privacy, err := planTuning(s.Experiment, samples.Train)
		if err != nil {
			return nil, err
		}
		p.work, p.privacy = tuning{settings}, privacy
	} else {
		settings, privacy, err := planTraining(s.Experiment, samples.Train)
		if err != nil {
			return nil, err
		}
		p.work, p.privacy = training{settings}, privacy
	}
	p.privacy.Insecure = s.InsecureSeed != nil
	p.privacy = p.privacy.Warned()
	if p.Memory, err = memoryOf(p); err != nil {
		return nil, err
	}
	return p, nil
}

// Statement returns what the plan guarantees, and what that rests on.
func (p *Plan) Statement() report.Privacy { return p.privacy }

// Warnings says what is wrong with a plan that can be carried out: a guarantee that protects little, columns that aren't
// scaled, too little memory.
func (p *Plan) Warnings() []string {
	warnings := p.privacy.Warnings
	for _, w := range []string{p.Samples.warning(p.Experiment.Data.Test), memoryWarning(p.Memory)} {
		if w != "" {
			warnings = append(warnings[:len(warnings):len(warnings)], w)
		}
	}
	return warnings
}

// Load reads the data. Features of images are computed on the given engine, whatever trains afterwards.
func (p *Plan) Load(ctx context.Context, features engine.Engine, f Follower) error {
	data, err := load(ctx, p.Experiment, features, f)
	if err != nil {
		return err
	}
	data.model = describeModel(p.Experiment, data.model)
	if p.model, err = modelOf(data.model); err != nil {
		return err
	}
	if p.Experiment.Dataset == configs.Files {
		f.Note("a row is the unit of privacy: a person behind several rows of the training file is protected less")
	}
	if data.privateWarning != "" {
		f.Warn(data.privateWarning)
	}
	p.data = &data
	return nil
}

// Run carries out a plan whose data are loaded. It draws the key, so that each run has one of its own.
func (p *Plan) Run(ctx context.Context, e engine.Engine, f Follower) (Outcome, error) {
	if p.data == nil {
		return Outcome{}, errors.New("run a plan: its data aren't loaded")
	}
	key, err := p.key()
	if err != nil {
		return Outcome{}, err
	}
	result, err := p.work.run(ctx, p, e, key, f)
	if err != nil {
		return Outcome{}, err
	}
	release := report.Release{
		Parameters:      tensors(result.parameters),
		Model:           p.data.model,
		Score:           report.Score{Metric: string(p.data.test.Metric()), Value: result.score},
		Hyperparameters: result.hyperparameters,
		Privacy:         p.privacy.Of(result.hyperparameters),
	}
	return Outcome{release, p.judge(p.data.test, release.Score), result.private}, nil
}

func (p *Plan) key() (train.Key, error) {
	if p.seed != nil {
		return train.InsecureKey(*p.seed), nil
	}
	key, err := train.NewKey()
	if err != nil {
		err = fmt.Errorf("draw the random key: %w", err)
	}
	return key, err
}
