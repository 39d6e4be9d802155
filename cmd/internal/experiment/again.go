package experiment

import (
	"errors"
	"reflect"
)

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
		tune: p.tune, free: p.free, privacy: p.privacy, work: p.work, model: p.model, data: p.data,
	}
	if seed != nil {
		again.seed = new(*seed)
	}
	again.privacy.Insecure = seed != nil
	again.privacy = again.privacy.Warned()
	return again
}
