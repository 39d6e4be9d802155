package cpu

import (
	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// bound is one run's parameters and the forms derived from them. Any number of workers may read it between two calls of
// set.
type bound struct {
	*lowered
	params     [][]float32
	shared     [][]float32          // by Shared value: in the instructions' form
	transposed map[filter][]float32 // [patch, outputs], for convolutions
	derived    [][]float32          // by Derived value
	preparer   *microbatch          // computes the derived values, as if stored values were one sample's

	coins     []uint32   // by sample, for rounding
	automatic bool       // clipping
	job       engine.Job // its key and trial: dropout uses their draws at step
	step      int
}

// set derives all forms from the parameters, whose slices it keeps.
func (b *bound) set(params [][]float32) {
	b.params = params
	b.preparer.execute(b.prepared)
	for _, f := range b.filters {
		kernel.Transpose(b.transposed[f], b.stored(f.id), f.outputs, f.patch)
	}
	for id, positions := range b.positions {
		if positions == nil {
			continue
		}
		dst, src := b.shared[id], b.stored(b.values[id].Source)
		for j, k := range positions {
			dst[j] = src[k]
		}
	}
}

// at sets the job and the step whose dropout draws the next gradients use.
func (b *bound) at(job *engine.Job, step int) {
	b.job, b.step = engine.Job{Key: job.Key, Trial: job.Trial}, step
}

// storedKind reports whether values of a kind are the same for all samples and are stored in memory as they are.
func storedKind(k compile.Kind) bool {
	return k == compile.Param || k == compile.Const || k == compile.Derived
}

// stored returns a parameter, constant or derived value as it is stored.
func (b *bound) stored(id compile.ID) []float32 {
	switch v := &b.values[id]; v.Kind {
	case compile.Const:
		return v.Data
	case compile.Derived:
		return b.derived[id]
	default:
		return b.params[v.Index]
	}
}

// microbatch is one worker's workspace: buffers for the samples that go through the program together.
type microbatch struct {
	*lowered
	memory
	factors  []float32
	squared  []float64
	position []float32   // one sample's convolution, [positions, outputs]
	first    []int32     // by row of a table: an index k where ids[k] may be that row's first occurrence
	into     []int32     // one sample's rows of δ: the first row with the same id
	firsts   [][][]int32 // by reduction and sample: the rows of δ that are the first with their id

	drawnWords []uint64 // each sample's draws of dropout
	blocks     []uint32 // the generator's blocks for them

	piece [512]float32 // of a derivative: small enough for the first-level cache

	samplesOf []int32 // the microbatch's samples, as they are arranged
	indexOf   []int   // their indices as they were given

	bound *bound   // the run whose parameters are read
	at    []buffer // the buffers of gradient or prediction
	n     int      // the number of samples
}

// rows returns a value's rows for all samples, or nil for a value without a buffer, which no instruction reads. A
// stored value has one row; instructions read it while values are prepared.
func (b *microbatch) rows(id compile.ID) []float32 {
	if v := &b.values[id]; storedKind(v.Kind) {
		return b.bound.stored(id)
	}
	if b.at[id].floats == nil {
		return nil
	}
	return b.at[id].floats[:b.values[id].Size*b.n]
}

// row returns a value's row for sample s. A shared or stored value has one row for all samples.
func (b *microbatch) row(id compile.ID, s int) []float32 {
	v := &b.values[id]
	switch {
	case v.Kind == compile.Shared:
		return b.bound.shared[id]
	case storedKind(v.Kind):
		return b.bound.stored(id)
	case b.at[id].floats == nil:
		return nil
	}
	return b.at[id].floats[s*v.Size : (s+1)*v.Size]
}

// indices returns sample s's row of a value of integers.
func (b *microbatch) indices(id compile.ID, s int) []int32 {
	size := b.values[id].Size
	return b.at[id].indices[s*size : (s+1)*size]
}

// load copies the samples into the program's inputs.
func (b *microbatch) load(data *engine.Data, sample func(int) int) {
	for i, in := range b.Inputs {
		dst, column := b.at[in.Value], data.Columns[i]
		for s := range b.n {
			at := sample(s) * in.Size
			switch {
			case dst.floats != nil:
				copy(dst.floats[s*in.Size:(s+1)*in.Size], column.Floats[at:at+in.Size])
			case dst.indices != nil:
				copy(dst.indices[s*in.Size:(s+1)*in.Size], column.Ints[at:at+in.Size])
			}
		}
	}
}

// clipped runs the samples, a microbatch at a time, forward and backward, measures their norms and adds their clipped
// gradients to sum.
func (b *microbatch) clipped(run *bound, data *engine.Data, samples []int32, clip float64, sum *sum, squared []float64) error {
	b.bound, b.at = run, b.memory.gradient
	for from := 0; from < len(samples); from += b.samples {
		part := samples[from:min(from+b.samples, len(samples))]
		b.n = len(part)
		down := b.arrange(part)
		b.load(data, func(s int) int { return int(b.samplesOf[s]) })
		b.draw(b.samplesOf)
		b.execute(b.forward)
		b.execute(b.backward)
		b.measure(b.squared[:b.n])
		for s, v := range b.squared[:b.n] {
			squared[from+b.indexOf[s]] = v
			b.factors[s] = engine.ClipFactor(v, clip, run.automatic)
			if b.factors[s] == 0 {
				b.silence(s)
			}
		}
		b.reduce(sum, down)
	}
	return nil
}

// predict runs the samples, a microbatch at a time, through the instructions that compute the output.
func (b *microbatch) predict(run *bound, data *engine.Data, from, to int, out []float32) error {
	b.bound, b.at = run, b.memory.prediction
	for ; from < to; from += b.samples {
		first := from
		b.n = min(b.samples, to-from)
		b.load(data, func(s int) int { return first + s })
		b.execute(b.predicted)
		n := copy(out, b.rows(b.Output.Value))
		out = out[n:]
	}
	return nil
}
