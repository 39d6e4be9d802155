package campaign

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// Noise returns the noise multipliers of tunings, which follow from the budget alone. It leaves out single runs, cells
// whose trials differ in noise, and cells whose budget no noise meets.
func (s *Store) Noise(ctx context.Context, cells []Cell, progress func(done, total int)) (map[Cell]float64, error) {
	noise, known := map[Cell]float64{}, s.noises
	for k, c := range cells {
		if c.Method == Single || c.Space == All {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress(k, len(cells))
		e, err := s.experiment(c)
		if err != nil {
			return nil, err
		}
		cost := e.Privacy // the noise depends on nothing else in this space
		cost.ClippingNorm = 0
		cost.Epsilon = nil
		key := fmt.Sprintf("%+v, epsilon %v", cost, c.Epsilon)
		if _, ok := known[key]; !ok {
			if known[key], err = noiseOf(e); infeasible(err) {
				known[key] = 0
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", c, err)
			}
		}
		if known[key] > 0 {
			noise[c] = known[key]
		}
	}
	return noise, nil
}

func noiseOf(e settings.Experiment) (_ float64, err error) {
	p, err := experiment.New(experiment.Settings{Experiment: e, Tune: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.Settle(); err != nil {
		return 0, err
	}
	return p.Statement().NoiseMultiplier, nil
}
