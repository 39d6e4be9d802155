package experiment

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/train"
)

// temper fits the temperatures of the models that plans came to. A lost device and a cancelled ctx stop all plans; of
// other errors each is in its part.
func (c *company) temper(ctx context.Context) error {
	for _, p := range c.parts {
		if p.err != nil {
			continue
		}
		p.trained.temperature, p.err = temperatureOf(ctx, c.engine, c.model, p.trained.parameters, c.data.test)
		if errors.Is(p.err, train.ErrLost) {
			return p.err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// temperatureOf returns the temperature of a model's probabilities on a public test set, or 0 if there is none: no test
// set, no classes, or outputs for which none is better than another.
//
// It post-processes the parameters, which the guarantee covers, and public samples, so it costs no privacy. It draws
// nothing: a run that goes on elsewhere, in the same arithmetic, has the same temperature.
func temperatureOf(ctx context.Context, e train.Engine, m train.Model, parameters []train.Parameter, test train.Labelled) (_ float64, err error) {
	public, ok := test.(*train.Classification)
	if !ok || public.Samples() == 0 {
		return 0, nil
	}
	values := make([][]float32, len(parameters))
	for i, p := range parameters {
		values[i] = p.Values
	}
	predictor, err := train.NewPredictor(e, m, values)
	if err != nil {
		return 0, fmt.Errorf("fit the temperature: %w", err)
	}
	defer func() { err = errors.Join(err, predictor.Close()) }()
	outputs, err := predictor.Predict(ctx, public.Inputs())
	if err != nil {
		return 0, fmt.Errorf("fit the temperature: %w", err)
	}
	t, ok, err := scores.Temperature(outputs, public.Labels(), public.Classes())
	if err != nil || !ok {
		return 0, err
	}
	return t, nil
}
