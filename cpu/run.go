package cpu

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/engine"
)

// mostInChunk is this engine's bound on the samples of a chunk: see package engine. With it a trial's batch of 128
// makes four chunks, mostly, which cores share evenly.
const mostInChunk = 48

// run is a job under way.
type run struct {
	*loaded
	job     engine.Job
	members []int32
	grid    engine.Grid
	binding binding

	done          atomic.Int64
	params        []float32
	tensors       [][]float32 // the parts of params, by parameter
	first, second []float32
	broken        error // what stopped it, until it is restored

	batch []int32
	cuts  []int
	norms []float64 // squared, of the batch
}

func newRun(l *loaded, job engine.Job) *run {
	job.Members = slices.Clone(job.Members) // of nil it is nil
	r := &run{
		loaded:  l,
		job:     job,
		members: job.Members,
		grid:    job.Mechanism.Grid(l.data.Samples),
		binding: l.code.bind(),
		params:  slices.Clone(job.Initial),
	}
	r.tensors = l.layout.Split(r.params)
	if job.Optimizer.Method == engine.Adam {
		r.first, r.second = make([]float32, l.layout.Size), make([]float32, l.layout.Size)
	}
	if r.members == nil {
		r.members = make([]int32, l.data.Samples)
		for i := range r.members {
			r.members[i] = int32(i)
		}
	}
	return r
}

// parallel returns how many workers a step of this run can keep busy: with the samples that it expects, twice over, or
// with the parameters.
func (r *run) parallel() int {
	expected := 2 * r.job.Mechanism.SamplingProbability * float64(len(r.members)) / (mostInChunk / 4)
	return max(len(r.updates), 1+int(expected))
}

// step takes one logical step. After one that failed it takes no more until it is restored: the update may have been
// under way, and to add the same noise to it again isn't what the guarantee is for.
func (r *run) step(c crew) error {
	if r.broken == nil {
		r.broken = r.trained(c)
	}
	return r.located(r.broken)
}

// located says at which step an error was.
func (r *run) located(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("step %d: %w", r.done.Load()+1, err)
}

// trained is Equation DP_SGD_update of the paper: sample, clip and sum, add noise, divide, update.
func (r *run) trained(c crew) (err error) {
	defer guard(&err)
	r.batch = r.job.Minibatch(int(r.done.Load()), r.members, r.batch[:0])
	if err := r.clippedSum(c, r.batch); err != nil {
		return err
	}
	if err := r.update(c); err != nil {
		return err
	}
	r.done.Add(1)
	return nil
}

// clippedSum leaves the clipped sum over the samples, which are ascending, with the crew, and the samples' squared
// norms in r.norms.
func (r *run) clippedSum(c crew, samples []int32) error {
	if err := r.binding.set(r.tensors); err != nil {
		return err
	}
	c.clear()
	r.cuts = engine.Chunks(samples, mostInChunk, r.cuts[:0])
	r.norms = slices.Grow(r.norms[:0], len(samples))[:len(samples)]
	return c.share(len(r.cuts)-1, func(w *worker, k int) error {
		from, to := r.cuts[k], r.cuts[k+1]
		w.sum.clear()
		if err := w.space.clipped(r.binding, r.data, samples[from:to], r.job.Mechanism.ClipTo(), w.sum, r.norms[from:to]); err != nil {
			return err
		}
		w.sum.addTo(w.acc, r.grid.Fine)
		return nil
	})
}

func (r *run) state() engine.State {
	return engine.State{Step: int(r.done.Load()), Params: slices.Clone(r.params), First: slices.Clone(r.first), Second: slices.Clone(r.second)}
}

func (r *run) restore(s engine.State) error {
	if err := r.job.CheckState(s, r.layout); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	copy(r.params, s.Params)
	copy(r.first, s.First)
	copy(r.second, s.Second)
	r.done.Store(int64(s.Step))
	r.broken = nil
	return nil
}
