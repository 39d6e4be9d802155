package experiment

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/train"
)

// Settings has all settings that a run depends on.
type Settings struct {
	settings.Experiment
	Tune bool // whether to tune hyperparameters; if not, train once with the given ones
	// If InsecureSeed isn't nil, it seeds all random draws, so that the run can be repeated. The guarantee is then
	// void.
	InsecureSeed *uint64
}

// Plan is a run that [New] describes and [Plan.Settle] plans. Its fields are public. Don't change them.
type Plan struct {
	Experiment settings.Experiment
	Samples    Samples
	Memory     float64 // bytes, an estimate of the maximum; 0 until Settle

	tune    bool
	choice  choice
	free    float64 // bytes of memory before data are read; +Inf if unknown
	privacy release.Privacy
	seed    *uint64
	work    work // nil until Settle
	model   train.Model
	files   atomic.Pointer[ownFiles] // nil once they are loaded or closed
	data    *loaded                  // nil until Load
}

// work is a [tuning] or a [training].
type work interface {
	event() accountant.Event
}

// New describes a run: it checks the settings of its data and counts samples. The caller must close the plan.
func New(s Settings) (*Plan, error) {
	if !s.Tune {
		s.Privacy.Holdout = 0 // a run without a search scores no trials
	}
	samples, files, err := describe(s.Experiment, s.Tune && needsScores(s.Experiment))
	if err != nil {
		return nil, err
	}
	if s.Tune && s.Tuning.Metric != "" && samples.Schema != nil && samples.Schema.Label.Task == table.Regression {
		return nil, errors.Join(usagef("tuning.metric: %s is of classes, and the label %s is a number, scored by R²; leave it out", s.Tuning.Metric, samples.Schema.Label.Name), files.close())
	}
	p := &Plan{Samples: samples, seed: s.InsecureSeed, free: freeMemory()}
	if err := p.choose(s.Experiment, s.Tune, files.publicRows()); err != nil {
		return nil, errors.Join(err, files.close())
	}
	p.files.Store(files)
	return p, nil
}

// Settle calibrates the noise, or computes epsilon. Call it once. It reads no data, and can run beside [Plan.Load].
func (p *Plan) Settle() error {
	w, privacy, err := p.planned()
	if err != nil {
		return err
	}
	p.work, p.privacy = w, privacy
	p.privacy.Insecure = p.seed != nil
	p.privacy = p.privacy.Warned()
	p.Memory, err = memoryOf(p.Experiment, p.Samples, p.tune)
	return err
}

func (p *Plan) planned() (work, release.Privacy, error) {
	if p.tune {
		settings, privacy, err := p.planBounded()
		return tuning{settings}, privacy, err
	}
	settings, privacy, err := planTraining(p.Experiment, p.Samples.Train)
	privacy.ByRule = p.choice.ruled
	if err == nil {
		err = p.choice.compare(p.Samples.Train)
	}
	return training{settings, p.Experiment.Data.RowsPerUnit}, privacy, err
}

// Close closes the private file of a plan that wasn't loaded.
func (p *Plan) Close() error { return p.files.Swap(nil).close() }

// Statement returns the settled plan's guarantee and the settings that determine it.
func (p *Plan) Statement() release.Privacy { return p.privacy }

// Event returns the privacy event of everything that a settled plan does.
func (p *Plan) Event() accountant.Event { return p.work.event() }

// Cautions returns reasons why a settled plan's model may be poor: learning rates that are too large, too few rows.
// They are public.
func (p *Plan) Cautions() []string {
	all := []string{p.rateWarning(), p.subsetWarning(), p.publicWarning(), p.heldOutWarning(), p.choice.warning()}
	return slices.DeleteFunc(all, func(w string) bool { return w == "" })
}

// Warnings returns the weaknesses of a settled plan, which can be carried out nevertheless: a guarantee that protects
// little, columns that aren't scaled, too little memory.
func (p *Plan) Warnings() []string {
	warnings := p.privacy.Warnings
	for _, w := range append([]string{p.Samples.warning(p.Experiment.Data.Test), memoryWarning(p.Memory, p.free)}, p.Samples.notes...) {
		if w != "" {
			warnings = append(warnings[:len(warnings):len(warnings)], w)
		}
	}
	return warnings
}

// Load reads the data; call it once. The given engine computes features of images. It should be the CPU engine, even if
// another engine trains afterwards, so that all engines train on the same features.
func (p *Plan) Load(ctx context.Context, features train.Engine, f Follower) error {
	data, err := p.load(ctx, features, f)
	if err != nil {
		return err
	}
	data.model = describeModel(p.Experiment, data.model)
	if p.model, err = modelOf(data.model); err != nil {
		return err
	}
	if data.model.Layers, err = data.model.Described(); err != nil {
		return err
	}
	if p.Experiment.Dataset == settings.Files {
		f.Note(unitNote(p.Experiment.Data))
	}
	if data.privateWarning != "" {
		f.Warn(data.privateWarning)
	}
	if follower, ok := f.(interface{ Private(facts []string) }); ok && len(data.oddities) > 0 {
		follower.Private(data.oddities)
	}
	data.train.Prepare() // it costs no time here if the accountant or a GPU's driver is still at work
	p.data = &data
	return nil
}

// errClosed reports a plan on the user's own files whose files are closed.
var errClosed = errors.New("the plan's files are closed: load it from another plan, or make it again")

func (p *Plan) load(ctx context.Context, features train.Engine, f Follower) (loaded, error) {
	e := p.Experiment
	if e.Dataset != settings.Files {
		data, err := loadSet(ctx, e.Dataset, e.TextLength, features, f)
		data.identity = ledger.Named(e.Dataset, p.Samples.Train)
		return data, err
	}
	files := p.files.Swap(nil)
	if files == nil {
		return loaded{}, errClosed
	}
	return files.load(ctx, e.Data, p.Samples, f)
}

// LoadFrom gives a plan the data and the model of another plan, which is loaded: [RunAll] carries out plans that share
// them. The settings of data and model must be equal: see [Plan.dataKey]. A private file that the plan has open is
// closed. If its number of rows or the schema differs from the other plan's, LoadFrom returns an error.
func (p *Plan) LoadFrom(other *Plan) error {
	switch {
	case other == nil || other.data == nil || p.data != nil:
		return errors.New("load a plan from another: want one that isn't loaded yet, from one that is")
	case p.dataKey() != other.dataKey():
		return errors.New("load a plan from another: its data or its model is another one; load it by itself")
	case p.Samples.Train != other.Samples.Train || p.Samples.Test != other.Samples.Test || !reflect.DeepEqual(p.Samples.Schema, other.Samples.Schema):
		return inputf("load a plan from another: the files have changed between the two; make both again")
	}
	p.data, p.model = other.data, other.model
	return p.Close()
}

// Again returns a plan of another run: it shares the settled settings and, if p is loaded, the data. seed becomes its
// Settings.InsecureSeed. If seed is nil, its guarantee holds, even if p has a seed. If p isn't loaded and trains on own
// files, which p alone has open, load the new plan by [Plan.LoadFrom].
func (p *Plan) Again(seed *uint64) *Plan {
	again := &Plan{
		Experiment: p.Experiment, Samples: p.Samples, Memory: p.Memory,
		tune: p.tune, choice: p.choice, free: p.free, privacy: p.privacy, work: p.work, model: p.model, data: p.data,
	}
	if seed != nil {
		again.seed = new(*seed)
	}
	again.privacy.Insecure = seed != nil
	again.privacy = again.privacy.Warned()
	return again
}
