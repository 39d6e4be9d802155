package cpu

import (
	"errors"

	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// errOtherProgram is what a worker says of parameters that were bound to another program than its own.
var errOtherProgram = errors.New("the parameters are bound to another program")

// bound is one run's parameters, and what is derived from them.
type bound struct {
	*lowered
	params     [][]float32
	shared     [][]float32          // by Shared value: its source as a sample sees it
	transposed map[filter][]float32 // [patch, outputs], as its product reads it
}

// set lays the parameters out in the forms in which they are read. It keeps the slices.
func (b *bound) set(params [][]float32) error {
	b.params = params
	for _, f := range b.filters {
		kernel.Transpose(b.transposed[f], b.stored(f.id), f.outputs, f.patch)
	}
	for id, table := range b.tables {
		if table == nil {
			continue
		}
		dst, src := b.shared[id], b.stored(b.values[id].Source)
		for j, k := range table {
			dst[j] = src[k]
		}
	}
	return nil
}

// stored returns a parameter or constant as it is stored.
func (b *bound) stored(id compile.ID) []float32 {
	v := &b.values[id]
	if v.Kind == compile.Const {
		return v.Data
	}
	return b.params[v.Index]
}

// block is one worker's workspace: room for the samples that go through the program together. A value has a row for
// each of them.
type block struct {
	*lowered
	memory
	factors  []float32
	position []float32 // one sample's convolution, its positions as rows
	first    []int32   // by index: where a sample has it first, or anything

	bound *bound   // the run that is worked for now
	at    []buffer // gradient or prediction
	n     int      // samples in the block
}

// rows returns the rows of a value for the samples in the block; nil of one that is named, but that no instruction
// reads.
func (b *block) rows(id compile.ID) []float32 {
	if b.at[id].floats == nil {
		return nil
	}
	return b.at[id].floats[:b.values[id].Size*b.n]
}

// row returns the row of a value that belongs to sample s of the block; a shared value has one for all.
func (b *block) row(id compile.ID, s int) []float32 {
	v := &b.values[id]
	switch {
	case v.Kind == compile.Shared:
		return b.bound.shared[id]
	case b.at[id].floats == nil:
		return nil
	}
	return b.at[id].floats[s*v.Size : (s+1)*v.Size]
}

// indices returns the row of a value of places.
func (b *block) indices(id compile.ID, s int) []int32 {
	size := b.values[id].Size
	return b.at[id].indices[s*size : (s+1)*size]
}

// load copies the block's samples into the program's inputs.
func (b *block) load(data *engine.Data, sample func(int) int) {
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

// workFor makes a run's parameters those that are computed with.
func (b *block) workFor(run binding) error {
	p, ok := run.(*bound)
	if !ok || p.lowered != b.lowered {
		return errOtherProgram
	}
	b.bound = p
	return nil
}

// clipped takes the samples block by block: forward, backward, norms, then the sum of the clipped gradients.
func (b *block) clipped(run binding, data *engine.Data, samples []int32, clip float64, sum *chunkSum, squared []float64) error {
	if err := b.workFor(run); err != nil {
		return err
	}
	b.at = b.memory.gradient
	for from := 0; from < len(samples); from += b.samples {
		part := samples[from:min(from+b.samples, len(samples))]
		b.n = len(part)
		b.load(data, func(s int) int { return int(part[s]) })
		b.execute(b.forward)
		b.execute(b.backward)
		sq := squared[from : from+b.n]
		b.measure(sq)
		for s, v := range sq {
			b.factors[s] = engine.ClipFactor(v, clip)
			if b.factors[s] == 0 {
				b.silence(s)
			}
		}
		b.reduce(sum)
	}
	return nil
}

// predict takes the samples block by block through the instructions that compute the output.
func (b *block) predict(run binding, data *engine.Data, from, to int, out []float32) error {
	if err := b.workFor(run); err != nil {
		return err
	}
	b.at = b.memory.prediction
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
