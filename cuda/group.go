package cuda

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/engine"
)

// group is runs that advance together, in parts: one for each device.
type group struct {
	*loaded
	parts []*part
}

// runs returns the number of runs.
func (g *group) runs() int {
	n := 0
	for _, p := range g.parts {
		n += len(p.jobs)
	}
	return n
}

// find returns a run's part, and its index there.
func (g *group) find(run int) (*part, int) {
	for _, p := range g.parts {
		if run >= p.first && run < p.first+len(p.jobs) {
			return p, run - p.first
		}
	}
	panic(fmt.Sprintf("cuda: run %d of %d", run, g.runs()))
}

// Steps lets all devices advance their runs at the same time.
func (g *group) Steps(ctx context.Context, steps ...int) error {
	if err := engine.CheckSteps(steps, g.Done()); err != nil {
		return err
	}
	failed := make(engine.RunErrors, len(steps))
	var wait sync.WaitGroup
	for _, p := range g.parts {
		wait.Go(func() {
			copy(failed[p.first:], p.advance(ctx, steps[p.first:p.first+len(p.jobs)]))
		})
	}
	wait.Wait()
	if err := failed.Or(); err != nil {
		return err
	}
	return ctx.Err()
}

// Done returns the number of steps that each run is known to have taken.
func (g *group) Done() []int {
	var out []int
	for _, p := range g.parts {
		for i := range p.done {
			out = append(out, int(p.done[i].Load()))
		}
	}
	return out
}

// State returns a copy of a run's state, or of the last one that was read if its device has failed.
func (g *group) State(run int) engine.State {
	p, i := g.find(run)
	return p.state(i)
}

// Restore replaces a run's state.
func (g *group) Restore(run int, s engine.State) error {
	p, i := g.find(run)
	return p.restore(i, s)
}

// predictedAtOnce is the number of samples that are uploaded and predicted together.
const predictedAtOnce = 16 << 10

// Predict returns the program's output for every sample, for each of the given runs.
func (g *group) Predict(ctx context.Context, data *engine.Data, runs ...int) ([][]float32, error) {
	if g.program.Output.Name == "" {
		return nil, errors.New("predict: the graph names no output")
	}
	if err := data.CheckPredict(g.program); err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	out := make([][]float32, len(runs))
	for k, run := range runs {
		g.find(run) // panics if there is none
		out[k] = make([]float32, data.Samples*g.program.Output.Size)
	}
	for _, p := range g.parts {
		var which []int32
		var to [][]float32
		for k, run := range runs {
			if in, i := g.find(run); in == p {
				which, to = append(which, int32(i)), append(to, out[k])
			}
		}
		for from := 0; from < data.Samples && len(which) > 0; {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n, err := driver.Halve(min(predictedAtOnce, data.Samples-from), func(n int) error { return p.predict(data, from, from+n, which, to) })
			if err != nil {
				return nil, fmt.Errorf("predict on %s: %w", p.device.Info().Name, err)
			}
			from += n
		}
	}
	return out, ctx.Err()
}

// Close frees the runs' memory on the devices.
func (g *group) Close() error {
	var errs []error
	for _, p := range g.parts {
		errs = append(errs, p.free())
	}
	g.parts = nil
	return errors.Join(errs...)
}
