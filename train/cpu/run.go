package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train/cpu/internal/kernel"
	"github.com/dptrain/dptrain/train/engine"
)

// chunk is the expected number of samples whose clipped gradients are added in float32 before the sum is
// put on the grid. A chunk is what was drawn from a fixed range of the data set's places: the workers
// don't matter to it, and a sample that comes or goes changes the rounding in its own chunk only.
const chunk = 32

// run is a job under way.
type run struct {
	job     engine.Job
	workers int
	members []int32
	program executable
	bound   binding

	done          int
	params        [][]float32
	first, second [][]float32

	broken *panicError

	std, grid, coarse float64

	places int // of the data set in a chunk
	batch  []int32
	cuts   []int     // where each chunk of the batch begins, and the batch's end
	norms  []float64 // squared, of the batch
	pool   []*worker
	pieces []piece
}

// worker is what one core needs for itself.
type worker struct {
	space workspace
	sum   [][]float32 // one chunk's clipped sum
	acc   [][]float64 // the sum of its chunks, on the grid
	err   error
}

// Steps takes n logical steps. After a panic it takes no more until it is restored: the
// update may have been under way, and to add the same noise to it again isn't what the guarantee is for.
func (r *run) Steps(ctx context.Context, n int) error {
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.broken == nil {
			err := r.step()
			if err != nil && !errors.As(err, &r.broken) {
				return fmt.Errorf("step %d: %w", r.done+1, err)
			}
		}
		if r.broken != nil {
			return fmt.Errorf("step %d: %w", r.done+1, r.broken)
		}
	}
	return nil
}

// step is Equation DP_SGD_update of the paper: sample, clip and sum, add noise, divide, update.
func (r *run) step() (err error) {
	defer guard(&err)
	m := r.job.Mechanism
	r.batch = r.stream(random.Minibatch).Bernoulli(m.SamplingProbability, r.members, r.batch[:0])
	if err := r.clippedSum(r.batch); err != nil {
		return err
	}
	if err := r.update(); err != nil {
		return err
	}
	r.done++
	return nil
}

func (r *run) stream(p random.Purpose) *random.Stream {
	return r.job.Key.Stream(random.ID{Purpose: p, Trial: r.job.Trial, Step: uint32(r.done)})
}

func (r *run) staff() []*worker {
	for len(r.pool) < r.workers {
		w := &worker{space: r.program.workspace(), sum: zerosLike(r.params)}
		for _, p := range r.params {
			w.acc = append(w.acc, make([]float64, len(p)))
		}
		r.pool = append(r.pool, w)
	}
	return r.pool
}

// clippedSum leaves the clipped sum over the samples, which are ascending, in the workers' accumulators,
// and the samples' squared norms in r.norms.
func (r *run) clippedSum(samples []int32) error {
	if err := r.bound.set(r.params); err != nil {
		return err
	}
	for _, w := range r.staff() {
		for _, a := range w.acc {
			clear(a)
		}
	}
	r.cut(samples)
	r.norms = slices.Grow(r.norms[:0], len(samples))[:len(samples)]
	return r.share(len(r.cuts)-1, func(w *worker, c int) error {
		from, to := r.cuts[c], r.cuts[c+1]
		for _, s := range w.sum {
			clear(s)
		}
		if err := w.space.clipped(r.bound, r.job.Data, samples[from:to], r.job.Mechanism.ClippingNorm, w.sum, r.norms[from:to]); err != nil {
			return err
		}
		for i, s := range w.sum {
			kernel.AccumulateGrid(w.acc[i], s, r.grid)
		}
		return nil
	})
}

// cut divides a batch into chunks by the samples' places in the data set.
func (r *run) cut(samples []int32) {
	r.cuts = append(r.cuts[:0], 0)
	for i := range samples {
		if i > 0 && int(samples[i])/r.places != int(samples[i-1])/r.places {
			r.cuts = append(r.cuts, i)
		}
	}
	r.cuts = append(r.cuts, len(samples))
}

// share runs f for every index below n on the run's workers.
func (r *run) share(n int, f func(*worker, int) error) error {
	staff := r.staff()
	var next atomic.Int64
	work := func(w *worker) {
		w.err = nil
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if w.err = guarded(w, i, f); w.err != nil {
				return
			}
		}
	}
	var wait sync.WaitGroup
	for _, w := range staff[1:min(len(staff), max(1, n))] {
		wait.Go(func() { work(w) })
	}
	work(staff[0])
	wait.Wait()
	for _, w := range staff {
		if err := w.err; err != nil {
			w.err = nil
			return err
		}
	}
	return nil
}

func guarded(w *worker, i int, f func(*worker, int) error) (err error) {
	defer guard(&err)
	return f(w, i)
}

// State returns a copy of the run's state.
func (r *run) State() engine.State {
	return engine.State{Step: r.done, Params: clone(r.params), First: clone(r.first), Second: clone(r.second)}
}

// Restore replaces the run's state.
func (r *run) Restore(s engine.State) error {
	if s.Step < 0 {
		return fmt.Errorf("restore state: step %d is negative", s.Step)
	}
	if err := checkShapes(r.job.Program, "restore state: parameters", s.Params); err != nil {
		return err
	}
	if r.job.Optimizer.Method == engine.Adam {
		if err := checkShapes(r.job.Program, "restore state: first moments", s.First); err != nil {
			return err
		}
		if err := checkShapes(r.job.Program, "restore state: second moments", s.Second); err != nil {
			return err
		}
		copyAll(r.first, s.First)
		copyAll(r.second, s.Second)
	}
	copyAll(r.params, s.Params)
	r.done, r.broken = s.Step, nil
	return nil
}

// Predict returns the program's output for every sample.
func (r *run) Predict(ctx context.Context, data *engine.Data) (out []float32, err error) {
	defer guard(&err)
	p := r.job.Program
	if data == nil {
		return nil, fmt.Errorf("predict: there is no data")
	}
	if p.Output.Name == "" {
		return nil, fmt.Errorf("predict: the graph names no output")
	}
	if err := checkData(p, data, true); err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	if err := r.bound.set(r.params); err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	size := p.Output.Size
	out = make([]float32, data.Samples*size)
	err = r.share((data.Samples+chunk-1)/chunk, func(w *worker, c int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, to := c*chunk, min((c+1)*chunk, data.Samples)
		return w.space.predict(r.bound, data, from, to, out[from*size:to*size])
	})
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	return out, nil
}

// PrivateClippedSum returns the clipped sum over the given samples and their squared gradient norms.
func (r *run) PrivateClippedSum(samples []int32) (sum [][]float32, squaredNorms []float64, err error) {
	defer guard(&err)
	for _, s := range samples {
		if s < 0 || int(s) >= r.job.Data.Samples {
			return nil, nil, fmt.Errorf("sample %d is outside the %d samples", s, r.job.Data.Samples)
		}
	}
	if err := r.clippedSum(samples); err != nil {
		return nil, nil, err
	}
	sum = zerosLike(r.params)
	for _, p := range r.pieces {
		total := make([]float64, p.to-p.from)
		r.total(p, total)
		for j, v := range total {
			sum[p.param][p.from+j] = float32(v)
		}
	}
	return sum, append([]float64(nil), r.norms...), nil
}

// Close lets the run's memory go.
func (r *run) Close() error {
	r.pool = nil
	return nil
}
