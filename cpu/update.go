package cpu

// spanSize is the number of coordinates that get noise and move at once. It is even, since normals come in pairs.
const spanSize = 4096

// span is a range of the layout's coordinates, within one parameter.
type span struct{ from, to int }

// spans divides the parameters into spans. None reaches beyond its parameter, so that padding stays 0.
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

// update adds noise to the clipped sum, divides by the expected batch size and lets the optimizer move the parameters.
// Nothing else ever reads the sum.
func (r *run) update(c crew) error {
	return c.share(len(r.updates), func(_ *worker, k int) error {
		var sum, mean [spanSize]float64
		s := r.updates[k]
		n := s.to - s.from
		c.total(s.from, sum[:n])
		r.noisyMean(s.from, sum[:n], mean[:n])
		r.job.Optimizer.Update(int(r.done.Load())+1, r.params[s.from:s.to], part(r.first, s), part(r.second, s), mean[:n])
		return nil
	})
}

// part returns a span of a moment, or nil if the optimizer has none.
func part(moment []float32, s span) []float32 {
	if moment == nil {
		return nil
	}
	return moment[s.from:s.to]
}

// noisyMean writes (sum + noise) / expected batch size to mean, for coordinates from, from+1, ….
func (r *run) noisyMean(from int, sum, mean []float64) {
	deviation := r.job.Mechanism.NoiseDeviation()
	if deviation > 0 {
		r.job.Normals(int(r.done.Load()), from, mean)
	}
	r.grid.Release(sum, mean, deviation, r.job.Mechanism.ExpectedBatchSize)
}
