package experiment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/train"
)

// Samples describes an experiment's data. All of it is public.
type Samples struct {
	Train, Test int           // numbers of samples
	Features    string        // names the weights that make samples of images; empty for other data
	Schema      *table.Schema // of the user's own files; nil for named data sets

	large    []string // columns of such files: see largeColumns
	outliers bool     // all of these are scaled
	stable   float64  // largest learning rate of a squared error under DP-SGD: see stableRate; 0 where none is known
	notes    []string // on such files: see fileNotes
	left     release.LeftOut
}

// Describe describes the data of an experiment that tunes. It counts the rows of a private file and reads nothing else.
func Describe(e settings.Experiment) (Samples, error) {
	s, files, err := describe(e, true)
	return s, errors.Join(err, files.close())
}

// describe is [Describe]. It leaves a person's own files open for [Plan.Load].
func describe(e settings.Experiment, tune bool) (Samples, *ownFiles, error) {
	if e.Dataset == settings.Files {
		return describeFiles(e, tune)
	}
	info, err := datasets.Describe(e.Dataset)
	if err != nil {
		return Samples{}, nil, err
	}
	if e.TextLength != 0 && info.Vocabulary == 0 {
		return Samples{}, nil, usagef("text_length: samples of %s are no texts; leave it out", e.Dataset)
	}
	return Samples{Train: info.Train, Test: info.Test, Features: featured[e.Dataset]}, nil, nil
}

// testDigest returns a hash of the public rows, or the hash of nothing if there are none.
func (l *loaded) testDigest() [sha256.Size]byte {
	if l.test == nil {
		return (*train.Data)(nil).Digest()
	}
	return l.test.Inputs().Digest()
}

// scored returns the samples that models are scored on: the public rows or, if samples are held out, the private ones.
// It is nil if there are neither.
func (p *Plan) scored() train.Labelled {
	if p.holdsOut() {
		return p.data.whole
	}
	if !p.ranking() {
		return p.data.test
	}
	set, err := train.ScoredBy(p.data.test, train.MeasureFunc(string(p.metric()), p.measure))
	if err != nil { // New refuses labels that aren't classes
		return p.data.test
	}
	return set
}

// measure returns the score of outputs on public rows by a ranking plan's metric, at the temperature that they would be
// released with.
func (p *Plan) measure(outputs []float32, labels train.Labels) float64 {
	t, _, _ := scores.Temperature(outputs, labels.Class, labels.Classes) // 1 beside an error, which Classify has too
	c, err := scores.Classify(outputs, labels.Class, labels.Classes, t, nil)
	switch {
	case err != nil:
		return math.NaN()
	case p.metric() == release.AUC:
		return c.AUC
	}
	return -c.LogLoss
}

// metric returns the metric by which models are scored.
func (p *Plan) metric() train.Metric {
	switch {
	case !p.ranking():
		return p.scored().Metric()
	case p.Experiment.Tuning.Metric == settings.MetricAUC:
		return release.AUC
	}
	return train.NegativeLogLoss
}

// ranking reports whether trials are selected by their probabilities instead of their predicted classes.
func (p *Plan) ranking() bool { return p.tune && p.Experiment.Tuning.Metric != "" }

// privateNotes returns what the private page says of the user's own private file.
func (p *Plan) privateNotes() []string {
	if p.Experiment.Dataset != settings.Files {
		return nil
	}
	return append([]string{fmt.Sprintf("they are the %s rows of %s", release.Grouped(p.Samples.Train), p.DataName())}, p.data.oddities...)
}

// holdsOut reports whether the plan holds out private samples.
func (p *Plan) holdsOut() bool { return p.tune && p.Experiment.Privacy.Holdout > 0 }

// loaded is the data of a plan, ready to train on.
type loaded struct {
	train *train.Data
	test  train.Labelled // nil if there are no public rows
	whole train.Labelled // train with its labels
	model release.Model  // describes the data, without a network

	identity ledger.Data // of the training samples, for the ledger; private

	privateWarning string   // depends on private rows; empty for none
	oddities       []string // of the private rows: see [oddities]

	units *unitRows // nil if a row is the unit
}
