package experiment

import (
	"errors"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/train"
)

// Samples is what is public about an experiment's data: the numbers of samples, and how they are made.
type Samples struct {
	Train, Test int
	Features    string        // the public weights whose features of images they are, if any
	Schema      *table.Schema // of files of one's own; nil for data sets that are known by name

	large    []string // columns of such files with large values
	outliers bool     // all of these are scaled: single values are large
}

// Describe returns what is public about an experiment's data, without loading them.
func Describe(e configs.Experiment) (Samples, error) {
	s, files, err := describe(e)
	return s, errors.Join(err, files.close())
}

// describe is Describe that leaves files of one's own open for a plan.
func describe(e configs.Experiment) (Samples, *ownFiles, error) {
	if e.Dataset == configs.Files {
		return describeFiles(e)
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

// loaded is data that can be trained on.
type loaded struct {
	train *train.Data
	test  train.Labelled
	model report.Model // what the data say about a model of theirs

	privateWarning string // about private rows, for standard error and the private log; empty for none
}
