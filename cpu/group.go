package cpu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/engine"
)

// group is runs that advance side by side, as many at once as there are workers.
type group struct {
	*loaded
	runs []*run
}

// Steps takes each run's steps. A worker that has finished one run takes the next.
func (g *group) Steps(ctx context.Context, steps ...int) error {
	if err := engine.CheckSteps(steps, g.Done()); err != nil {
		return err
	}
	failed := make(engine.RunErrors, len(g.runs))
	var next atomic.Int64
	advance := func() {
		g.team.join()
		defer g.team.leave()
		for i := int(next.Add(1)) - 1; i < len(g.runs); i = int(next.Add(1)) - 1 {
			failed[i] = g.advance(ctx, g.runs[i], steps[i])
		}
	}
	var wait sync.WaitGroup
	for range min(g.team.size, len(g.runs)) - 1 {
		wait.Go(advance)
	}
	defer wait.Wait() // also if a job's function ends the goroutine
	advance()         // here, since another goroutine may begin on another core
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return failed.Or()
}

func (g *group) advance(ctx context.Context, r *run, steps int) error {
	if steps == 0 {
		return nil
	}
	c, changes := g.team.borrow(r.parallel(), 0)
	defer func() { g.team.giveBack(c) }()
	for range steps {
		if ctx.Err() != nil {
			return nil // Steps returns the context's error
		}
		if g.team.waiting() > 0 || g.team.changes.Load() != changes {
			g.team.giveBack(c)
			c, changes = g.team.borrow(r.parallel(), len(c))
		}
		if err := r.step(c); err != nil {
			return err
		}
	}
	return nil
}

// Done returns the number of steps that each run has taken.
func (g *group) Done() []int {
	out := make([]int, len(g.runs))
	for i, r := range g.runs {
		out[i] = int(r.done.Load())
	}
	return out
}

// State returns a copy of a run's state.
func (g *group) State(run int) engine.State { return g.runs[run].state() }

// Restore sets a run's state to a copy of s.
func (g *group) Restore(run int, s engine.State) error { return g.runs[run].restore(s) }

// predictedAtOnce is the number of samples that a worker predicts between two checks of the context.
const predictedAtOnce = 64

// Predict returns the program's output for every sample, for each of the given runs.
func (g *group) Predict(ctx context.Context, data *engine.Data, runs ...int) (out [][]float32, err error) {
	defer guard(&err)
	if g.program.Output.Name == "" {
		return nil, errors.New("predict: the graph names no output")
	}
	if err := data.CheckPredict(g.program); err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	g.team.join()
	defer g.team.leave()
	c, _ := g.team.borrow((data.Samples+predictedAtOnce-1)/predictedAtOnce, 0)
	defer g.team.giveBack(c)
	for _, i := range runs {
		predicted, err := g.runs[i].predict(ctx, c, data)
		if err != nil {
			return nil, fmt.Errorf("predict by run %d: %w", i, err)
		}
		out = append(out, predicted)
	}
	return out, nil
}

func (r *run) predict(ctx context.Context, c crew, data *engine.Data) ([]float32, error) {
	r.bound.set(r.tensors)
	size := r.program.Output.Size
	out := make([]float32, data.Samples*size)
	return out, c.share((data.Samples+predictedAtOnce-1)/predictedAtOnce, func(w *worker, k int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, to := k*predictedAtOnce, min((k+1)*predictedAtOnce, data.Samples)
		return w.space.predict(r.bound, data, from, to, out[from*size:to*size])
	})
}

// Close frees the runs' memory.
func (g *group) Close() error {
	g.runs = nil
	return nil
}
