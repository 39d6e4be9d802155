package cuda

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/engine"
)

// group is runs side by side, in parts: one for each device.
type group struct {
	*loaded
	parts []*part
}

// runs returns their number.
func (g *group) runs() int {
	n := 0
	for _, p := range g.parts {
		n += len(p.jobs)
	}
	return n
}

// find returns the part that a run is in, and its number there.
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
			err := p.advance(ctx, steps[p.first:p.first+len(p.jobs)])
			for i := range p.jobs {
				failed[p.first+i] = err
			}
		})
	}
	wait.Wait()
	if err := failed.Or(); err != nil {
		return err
	}
	return ctx.Err()
}

// Done tells how far the runs are known to be.
func (g *group) Done() []int {
	var out []int
	for _, p := range g.parts {
		for i := range p.done {
			out = append(out, int(p.done[i].Load()))
		}
	}
	return out
}

// State returns a copy of a run's state: of the last that its device gave, should that have failed.
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
	if g.code.Output.Name == "" {
		return nil, errors.New("predict: the graph names no output")
	}
	if err := data.CheckPredict(g.code.Program); err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	out := make([][]float32, len(runs))
	for k, run := range runs {
		g.find(run) // or nobody would fill in what is no run's
		out[k] = make([]float32, data.Samples*g.code.Output.Size)
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
			n, err := lessOf(min(predictedAtOnce, data.Samples-from), func(n int) error { return p.predict(data, from, from+n, which, to) })
			if err != nil {
				return nil, fmt.Errorf("predict on %s: %w", p.device.Info().Name, err)
			}
			from += n
		}
	}
	return out, ctx.Err()
}

// predict computes the outputs for samples [from, to) by some of the part's runs.
func (p *part) predict(data *engine.Data, from, to int, runs []int32, out [][]float32) (err error) {
	if err := p.usable(); err != nil {
		return err
	}
	h := holding{device: p.device}
	defer func() {
		err = errors.Join(lost(p.device, err), h.free())
	}()
	c, n := p.code, to-from
	at, err := uploadData(&h, c, data, from, to, false)
	if err != nil {
		return err
	}
	which, err := put(&h, runs)
	if err != nil {
		return err
	}
	results, err := h.alloc(4 * n * c.Output.Size * len(runs))
	if err != nil {
		return err
	}
	if err := p.device.Launch("predict", p.scratch.blocks, p.engine.threads,
		p.prediction, int32(len(c.prediction.code)/words), p.output, p.tables, p.constants, at.floats, at.integers, int32(n),
		int32(len(runs)), which, int32(c.layout.Size), p.params, int32(c.chunk), int32(c.prediction.memory.Floats), p.scratch.floats,
		int32(c.prediction.memory.Indices), p.scratch.indices, int32(c.Output.Size), results); err != nil {
		return err
	}
	for k := range runs {
		if err := driver.Download(p.device, out[k][from*c.Output.Size:to*c.Output.Size], results, k*n*c.Output.Size); err != nil {
			return err
		}
	}
	return nil
}

// Close frees what the runs hold on the devices.
func (g *group) Close() error {
	var errs []error
	for _, p := range g.parts {
		errs = append(errs, p.memory.free())
	}
	g.parts = nil
	return errors.Join(errs...)
}
