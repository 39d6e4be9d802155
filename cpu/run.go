package cpu

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/engine"
)

// maxShare bounds the samples that a worker takes at a time, if its microbatches aren't larger.
const maxShare = 48

// run is a job that takes steps.
type run struct {
	*loaded
	job     engine.Job
	members []int32
	grid    engine.Grid
	clip    float64 // the norm that gradients are clipped to
	bound   *bound

	done          atomic.Int64
	params        []float32
	tensors       [][]float32 // params by parameter, shared
	first, second []float32
	mean          []float32 // the noisy mean gradient of a step, for the job's Move; nil without one
	broken        error     // the error that stopped it, until it is restored

	batch []int32
	norms []float64 // the batch's squared norms

	// Of the step that is being taken:
	crew    crew
	samples []int32
	shares  int
	release release
	summed  func(*worker, int) error // sumShare, and updateSpan: method values, which are allocated
	updated func(*worker, int) error
}

func newRun(l *loaded, job engine.Job) *run {
	job.Members = slices.Clone(job.Members) // nil stays nil
	r := &run{
		loaded:  l,
		job:     job,
		members: job.Members,
		grid:    job.Mechanism.Grid(l.data.Samples),
		bound:   l.code.bind(),
		params:  slices.Clone(job.Initial),
	}
	r.bound.coins, r.bound.automatic = l.coins, job.Mechanism.Automatic
	r.summed, r.updated = r.sumShare, r.updateSpan
	r.clip = job.Mechanism.ClipTo(r.grid, l.layout.Size)
	r.tensors = l.layout.Split(r.params)
	if job.Optimizer.Method == engine.Adam {
		r.first, r.second = make([]float32, l.layout.Size), make([]float32, l.layout.Size)
	}
	if job.Move != nil {
		r.mean = make([]float32, l.layout.Size)
	}
	if r.members == nil {
		r.members = make([]int32, l.data.Samples)
		for i := range r.members {
			r.members[i] = int32(i)
		}
	}
	return r
}

// Schedules marks engines whose runs take the rates of their jobs: see [engine.Schedules].
func (l *loaded) Schedules() {}

// leastWork is the least nanoseconds of work that a worker gets in a step, since handing it over takes some ten
// thousand. Tests set it to 1.
var leastWork = 40_000.0

// parallel returns the number of workers that a step of this run can keep busy, with twice the expected samples or with
// the parameters to update.
func (r *run) parallel() int {
	expected := r.job.Mechanism.SamplingProbability * float64(len(r.members))
	work := expected*r.code.work + 3*float64(r.layout.Size)
	return max(1, min(int(work/leastWork), max(len(r.updates), 1+int(2*expected/(maxShare/4)))))
}

// step takes one logical step. A run that failed takes no further step until it is restored: it may have stopped during
// the update, and the guarantee doesn't cover adding the same noise again.
func (r *run) step(c crew) error {
	if r.broken == nil {
		r.broken = r.train(c)
	}
	if r.broken != nil {
		return fmt.Errorf("step %d: %w", r.done.Load()+1, r.broken)
	}
	return nil
}

// train takes one step as in Equation DP_SGD_update of the paper: sample, clip and sum, add noise, divide, update.
func (r *run) train(c crew) (err error) {
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

// clippedSum leaves the clipped sum over the samples, which ascend, with the crew, and their squared norms in r.norms.
func (r *run) clippedSum(c crew, samples []int32) error {
	r.bound.at(&r.job, int(r.done.Load()))
	r.bound.set(r.tensors)
	for _, w := range c {
		w.sum.begin(r.grid.Fine, r.clip)
	}
	n := len(samples)
	r.norms = slices.Grow(r.norms[:0], n)[:n]
	r.samples, r.shares = samples, r.sharesOf(n, len(c))
	return c.share(r.shares, r.summed)
}

// sumShare is a worker's share of clippedSum.
func (r *run) sumShare(w *worker, k int) error {
	n := len(r.samples)
	from, to := k*n/r.shares, (k+1)*n/r.shares
	return w.space.clipped(r.bound, r.data, r.samples[from:to], r.clip, w.sum, r.norms[from:to])
}

// sharesOf returns the number of even shares of n samples. Unless they are small, each worker gets at least four, so
// that all end at about the same time; or one of large microbatches, each of which reads all parameters from memory.
func (r *run) sharesOf(n, workers int) int {
	most, each := maxShare, 4
	if r.code.samples > maxShare {
		most, each = r.code.samples, 1
	}
	return max((n+most-1)/most, min(each*workers, n/(maxShare/4)))
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
