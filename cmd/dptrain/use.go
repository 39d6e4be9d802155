package main

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/internal/safetensors"
	"github.com/dptrain/dptrain/train"
)

// released is a released model that is ready to compute.
type released struct {
	report.Model
	predictor *train.Predictor
}

// openReleased reads a run's folder. Whatever was the run's engine, the CPU's computes: see predict.
func openReleased(run string) (*released, error) {
	model, parameters, err := report.ReadModel(run)
	if err != nil {
		return nil, err
	}
	network, err := modelOf(model)
	if err != nil {
		return nil, fmt.Errorf("%w in %s: %w", report.ErrNoModel, run, err)
	}
	values := make([][]float32, len(network.Parameters))
	for i, p := range network.Parameters {
		at := slices.IndexFunc(parameters, func(t safetensors.Tensor) bool { return t.Name == p.Name() })
		if at < 0 || !slices.Equal(parameters[at].Shape, []int(p.Shape())) || parameters[at].Ints != nil {
			return nil, fmt.Errorf("%w in %s: model %s takes a parameter %q of shape %v, which isn't there", report.ErrNoModel, run, model.Network, p.Name(), p.Shape())
		}
		values[i] = parameters[at].Data
	}
	if len(parameters) != len(values) {
		return nil, fmt.Errorf("%w in %s: %d parameters, and model %s takes %d", report.ErrNoModel, run, len(parameters), model.Network, len(values))
	}
	predictor, err := train.NewPredictor(newEngine(configs.Performance{}, nil), network, values)
	if err != nil {
		return nil, err
	}
	return &released{model, predictor}, nil
}

// class names an output.
func (r *released) class(i int) string {
	if len(r.Classes) > 0 {
		return r.Classes[i]
	}
	return fmt.Sprint(i)
}
