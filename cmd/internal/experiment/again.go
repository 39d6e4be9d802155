package experiment

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// LoadFrom gives a plan the data and the model of another plan, which is loaded: [RunAll] carries out plans that share
// them. The error names a setting of data or model that differs. A plan that has a private file open reads it, and if
// its rows differ from the other plan's, LoadFrom returns an error and closes the plan. [Plan.Again] needs no reading.
func (p *Plan) LoadFrom(other *Plan) error {
	switch {
	case other == nil || other.data == nil:
		return errors.New("load a plan from another: the other isn't loaded; load it first")
	case p.data != nil:
		return errors.New("load a plan from another: it is loaded already")
	}
	for _, setting := range []struct {
		name      string
		mine, its any
	}{
		{"dataset", p.Experiment.Dataset, other.Experiment.Dataset},
		{"data", p.Experiment.Data, other.Experiment.Data},
		{"text_length", p.Experiment.TextLength, other.Experiment.TextLength},
		{"model", p.Experiment.Model, other.Experiment.Model},
		{"activation", p.Experiment.Activation, other.Experiment.Activation},
		{"number of training rows", p.Samples.Train, other.Samples.Train},
		{"number of test rows", p.Samples.Test, other.Samples.Test},
		{"schema", p.Samples.Schema, other.Samples.Schema},
	} {
		if !reflect.DeepEqual(setting.mine, setting.its) {
			return fmt.Errorf("load a plan from another: its %s is another one; load it by itself", setting.name)
		}
	}
	if err := p.checkRows(other.data); err != nil {
		return err
	}
	p.data, p.model = other.data, other.model
	return nil
}

// checkRows closes the plan's own files, if any are open, and checks that their rows equal the loaded ones: a file may
// have been replaced between the two plans.
func (p *Plan) checkRows(other *loaded) error {
	files := p.files.Swap(nil)
	if files == nil {
		return nil
	}
	mine, err := files.load(context.Background(), p.Experiment.Data, p.Samples, nil)
	if err != nil {
		return err
	}
	if mine.train.Digest() != other.train.Digest() || mine.testDigest() != other.testDigest() {
		return inputf("load a plan from another: the files have changed between the two; make both again")
	}
	return nil
}

// Again returns a plan of another run: it shares the settled settings and, if p is loaded, the data. seed becomes its
// Settings.InsecureSeed. If seed is nil, its guarantee holds, even if p has a seed. If p isn't loaded and trains on own
// files, which p alone has open, load the new plan by [Plan.LoadFrom].
func (p *Plan) Again(seed *uint64) *Plan {
	again := &Plan{
		Experiment: p.Experiment, Samples: p.Samples, Memory: p.Memory,
		tune: p.tune, free: p.free, privacy: p.privacy, work: p.work, model: p.model, data: p.data,
	}
	if seed != nil {
		again.seed = new(*seed)
	}
	again.privacy.Insecure = seed != nil
	again.privacy = again.privacy.Warned()
	return again
}
