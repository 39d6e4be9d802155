package train

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/internal/engine"
)

// predict computes outputs with the values that each run would release now: its parameters, or their average.
func (g *Group) predict(ctx context.Context, data *engine.Data, runs ...int) ([][]float32, error) {
	averaged := false
	for _, run := range runs {
		averaged = averaged || g.settings[run].mover.averages()
	}
	if !averaged {
		return g.runs.Predict(ctx, data, runs...)
	}
	out := make([][]float32, 0, len(runs))
	for _, run := range runs {
		by, number := g.runs, run
		if m := g.settings[run].mover; m.averages() {
			if err := g.show(m.average); err != nil {
				return nil, err
			}
			by, number = g.shown, 0
		}
		outputs, err := by.Predict(ctx, data, number)
		if err != nil {
			return nil, err
		}
		out = append(out, outputs[0])
	}
	return out, nil
}

// show puts an average on the engine, in a run that takes no step.
func (g *Group) show(average []float32) error {
	if g.shown == nil {
		shown, err := g.model.loaded.Start(engine.Job{
			Members:   []int32{},
			Mechanism: engine.Mechanism{ClippingNorm: 1, ExpectedBatchSize: 1},
			Optimizer: engine.Optimizer{Method: engine.SGD},
			Initial:   average,
		})
		if err != nil {
			return fmt.Errorf("predict by an average of parameters: %w", err)
		}
		g.shown = shown
	}
	if err := g.shown.Restore(0, engine.State{Params: average}); err != nil {
		return fmt.Errorf("predict by an average of parameters: %w", err)
	}
	return nil
}
