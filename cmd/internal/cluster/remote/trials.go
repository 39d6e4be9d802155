package remote

import (
	"context"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/tuner"
)

// carryOutTrials carries out orders of trials of one run side by side.
func (m *Machine) carryOutTrials(ctx context.Context, orders []Order, f Follower) ([]Delivery, error) {
	var trials []int
	for _, o := range orders {
		if err := together(orders[0], o); err != nil {
			return nil, err
		}
		if o.Key != orders[0].Key {
			return nil, fmt.Errorf("%s: orders of trials of one run, and two keys", o.Name)
		}
		trials = append(trials, o.Trials...)
	}
	d, p, err := m.begin(ctx, orders[0], f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", orders[0].Name, err)
	}
	if p == nil { // the coordinator has calibrated the same noise
		return nil, fmt.Errorf("%s: %s", orders[0].Name, d.Failure)
	}
	follower := experiment.Shares(1, f.Warn, f.Working)[0]
	outcomes, err := p.PrivateTrials(ctx, m.Engine, orders[0].Key, trials, follower)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", orders[0].Name, err)
	}
	deliveries := make([]Delivery, len(orders))
	for k, o := range orders {
		deliveries[k] = d // of the same run: see [Order.Group]
		deliveries[k].Trials, err = tuner.MarshalOutcomes(slices.DeleteFunc(slices.Clone(outcomes), func(one tuner.PrivateOutcome) bool {
			return !slices.Contains(o.Trials, one.Trial)
		}))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	return deliveries, nil
}
