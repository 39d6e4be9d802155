package cpu

import (
	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
)

// spanSize is the number of coordinates that a worker takes at a time. It is a multiple of blockSize.
const spanSize = 4096

// blockSize is the number of coordinates that get noise and move at once: so few that all their values stay in a core's
// first-level cache. It is a multiple of the number of words that package random makes at once.
const blockSize = 1024

// span is a range of the layout's coordinates, within one parameter.
type span struct{ from, to int }

// spans divides the parameters into spans. No span reaches beyond its parameter, so padding stays 0.
func (l *loaded) spans() []span {
	var out []span
	for i, begin := range l.layout.Offsets {
		end := begin + l.layout.Lengths[i]
		for from := begin; from < end; from += spanSize {
			out = append(out, span{from, min(from+spanSize, end)})
		}
	}
	return out
}

// release is a step's noise and update, as engine.Grid.Release and engine.Optimizer.Update define them, with kernels.
type release struct {
	noisy kernel.NoisyMean
	rate  float64 // the learning rate of the step
	adam  kernel.AdamStep
}

func (r *run) nextRelease() release {
	g, m, o, step := r.grid, r.job.Mechanism, r.job.Optimizer, int(r.done.Load())+1
	if r.job.Rate != nil {
		o.LearningRate = r.job.Rate(step)
	}
	rate, correction := o.Corrected(step)
	return release{
		noisy: kernel.NoisyMean{Deviation: m.NoiseDeviation() / g.Fine, Coarsen: g.Fine / g.Coarse, Mean: g.Coarse / m.ExpectedBatchSize},
		rate:  o.LearningRate,
		adam: kernel.AdamStep{Rate: rate, Correction: correction, Epsilon: o.Epsilon,
			Beta1: o.Beta1, Rest1: 1 - o.Beta1, Beta2: o.Beta2, Rest2: 1 - o.Beta2},
	}
}

// update adds noise to the clipped sum, divides by the expected batch size and lets the optimizer, or the job's Move,
// move the parameters. Nothing else ever reads the sum.
func (r *run) update(c crew) error {
	step := int(r.done.Load())
	r.crew, r.release = c, r.nextRelease()
	for _, w := range c {
		w.noise = r.job.Noise(step)
	}
	if err := c.share(len(r.updates), r.updated); err != nil {
		return err
	}
	c.forget()
	if r.mean == nil {
		return nil
	}
	return r.job.Move(step+1, r.params, r.mean)
}

// updateSpan is a worker's share of update.
func (r *run) updateSpan(w *worker, k int) error {
	whole := r.updates[k]
	w.noise.Seek(uint64(whole.from))
	for from := whole.from; from < whole.to; from += blockSize {
		s := span{from, min(from+blockSize, whole.to)}
		mean := w.mean[:s.to-s.from]
		if r.release.noisy.Deviation > 0 {
			w.noise.Normals(mean)
		} else {
			clear(mean)
		}
		if units := r.crew.only(s); units != nil {
			kernel.ReleaseUnits(mean, units, &r.release.noisy)
		} else {
			sum := w.sums[:len(mean)]
			clear(sum)
			r.crew.total(s.from, sum)
			kernel.Release(mean, sum, &r.release.noisy)
		}
		if r.mean != nil {
			for j, v := range mean {
				r.mean[s.from+j] = float32(v)
			}
		} else if params := r.params[s.from:s.to]; r.job.Optimizer.Method == engine.Adam {
			kernel.Adam(params, r.first[s.from:s.to], r.second[s.from:s.to], mean, &r.release.adam)
		} else {
			kernel.SGD(params, mean, r.release.rate)
		}
	}
	return nil
}
