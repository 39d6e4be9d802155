package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// The commands of manifests.
const (
	tuneCommand  = "tune"
	trainCommand = "train"
)

// Manifest returns the public description of a settled plan, for the run's folder.
func (p *Plan) Manifest() (runs.Manifest, error) {
	event, err := accountant.MarshalEvent(p.Event())
	if err != nil {
		return runs.Manifest{}, err
	}
	m := runs.Manifest{
		Event:   event,
		Command: trainCommand, Dataset: p.Experiment.Dataset, Model: p.Experiment.Model, Samples: p.Samples.Train,
		Epsilon: p.privacy.Epsilon, Delta: p.privacy.Delta, Guarantee: p.guaranteed(),
	}
	if test := p.Experiment.Data.Test; test != "" {
		m.Test = filepath.Base(test)
	}
	if p.tune {
		m.Command, m.Method = tuneCommand, p.privacy.Tuning.Method
	}
	return m, nil
}

// Create makes the folder of a run of the plan by [runs.Create]. It completes the record.
func (p *Plan) Create(dir string, unique bool, r runs.Record, madeBy fmt.Stringer) (*runs.Run, error) {
	m, err := p.Manifest()
	if err != nil {
		return nil, err
	}
	settings, err := p.Experiment.YAML()
	if err != nil {
		return nil, err
	}
	m.MadeBy = madeBy
	r.Data, r.Seed, r.MadeBy = p.DataName(), p.Seed(), madeBy.String()
	return runs.Create(dir, unique, m, r, settings)
}

// guaranteed reports whether any guarantee holds: no seed is known, and there is noise.
func (p *Plan) guaranteed() bool { return !p.privacy.Insecure && !math.IsInf(p.privacy.Epsilon, 1) }

// Release returns the ledger's record of the release that a run makes. If the plan's data aren't loaded, it reads the
// private file for its sketch.
func (p *Plan) Release(run *runs.Run) (ledger.Release, error) {
	data, err := p.content()
	if err != nil {
		return ledger.Release{}, err
	}
	r := ledger.Release{
		Run: "planned", Data: data, Event: p.Event(), Epsilon: p.privacy.Epsilon, Delta: p.privacy.Delta, Void: !p.guaranteed(), Began: time.Now(),
		Unit: p.Experiment.Data.Unit, RowsPerUnit: p.Experiment.Data.RowsPerUnit,
	}
	if run != nil {
		r.Run, r.Path, r.Command, r.Version = run.Record.ID, run.Dir(), run.Manifest.Command, run.Record.MadeBy
	}
	return r, nil
}

// content returns the ledger's identity of the training samples.
func (p *Plan) content() (ledger.Data, error) {
	files := p.files.Load()
	switch {
	case p.data != nil:
		return p.data.identity, nil
	case p.Experiment.Dataset != settings.Files:
		return ledger.Named(p.Experiment.Dataset, p.Samples.Train), nil
	case files == nil:
		return ledger.Data{}, errClosed
	}
	content, err := files.private.Sketch()
	return ledger.OfFile(p.DataName(), p.Samples.Train, content), err
}

// Identity returns a hash of a loaded plan's settings, samples and seed, and of the program that carries it out. Runs
// with equal ones and a seed are the same run. It is private, like a hash of the samples.
func (p *Plan) Identity(program string) (string, error) {
	e := p.Experiment
	e.Performance, e.Data.Train, e.Data.Test = settings.Performance{}, "", ""
	settings, err := e.YAML()
	if err != nil {
		return "", err
	}
	training, test := p.data.train.Digest(), p.data.testDigest()
	text, err := json.Marshal([]any{settings, p.tune, training[:], test[:], p.seed, program})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Tuned reports whether a run tunes.
func Tuned(m runs.Manifest) bool { return m.Command == tuneCommand }

// DataName returns the name by which people know the plan's data: the name of the data set or of the training file.
func (p *Plan) DataName() string {
	if p.Experiment.Dataset == settings.Files {
		return filepath.Base(p.Experiment.Data.Train)
	}
	return p.Experiment.Dataset
}

// Seed returns Settings.InsecureSeed.
func (p *Plan) Seed() *uint64 { return p.seed }
