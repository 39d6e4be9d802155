package experiment

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/train"
)

// temper fits the temperatures of the trained models. A lost device and a cancelled ctx stop all plans. A member keeps
// any other error.
func (g *group) temper(ctx context.Context) error {
	for _, m := range g.members {
		if m.err != nil {
			continue
		}
		m.trained.temperature, m.trained.measured, m.err = temperatureOf(ctx, g.engine, g.model, m.trained.parameters, g.data.test)
		if errors.Is(m.err, train.ErrLost) {
			return m.err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// temperatureOf returns the temperature of a model's probabilities on a public test set, and the measures of its
// outputs there. The temperature is 0 if all fit equally well; both are zero without a test set or without classes.
//
// It post-processes the parameters, which the guarantee covers, and public samples, so it costs no privacy. It draws
// nothing: a run that goes on elsewhere, in the same arithmetic, has the same temperature.
func temperatureOf(ctx context.Context, e train.Engine, m train.Model, parameters []train.Parameter, test train.Labelled) (_ float64, _ *scores.Classification, err error) {
	public, ok := test.(*train.Classification)
	if !ok || public.Samples() == 0 {
		return 0, nil, nil
	}
	values := make([][]float32, len(parameters))
	for i, p := range parameters {
		values[i] = p.Values
	}
	predictor, err := train.NewPredictor(e, m, values)
	if err != nil {
		return 0, nil, fmt.Errorf("fit the temperature: %w", err)
	}
	defer func() { err = errors.Join(err, predictor.Close()) }()
	outputs, err := predictor.Predict(ctx, public.Inputs())
	if err != nil {
		return 0, nil, fmt.Errorf("fit the temperature: %w", err)
	}
	t, ok, err := scores.Temperature(outputs, public.Labels(), public.Classes())
	if err != nil {
		return 0, nil, err
	}
	measured, err := scores.Classify(outputs, public.Labels(), public.Classes(), t, nil)
	if !ok {
		t = 0
	}
	return t, &measured, err
}
