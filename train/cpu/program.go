package cpu

import (
	"errors"

	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/cpu/internal/kernel"
	"github.com/dptrain/dptrain/train/engine"
)

// errOtherProgram is what a worker says of parameters that were bound to another program than its own.
var errOtherProgram = errors.New("the parameters are bound to another program")

// bound is one run's parameters, and what is derived from them.
type bound struct {
	*lowered
	params     [][]float32
	shared     map[compile.ID][]float32 // by Shared value: its source spread over a sample
	transposed map[compile.ID][]float32 // by convolution filter: [C·KH·KW, OutC], as its product reads it
}

// set lays the parameters out in the forms in which they are read. It keeps the slices.
func (b *bound) set(params [][]float32) error {
	b.params = params
	for id, f := range b.filters {
		kernel.Transpose(b.transposed[id], b.source(id), f.outputs, f.patch)
	}
	for id, dst := range b.shared {
		v := b.Values[id]
		src := b.source(v.Source)
		for j, k := range v.Spread {
			dst[j] = src[k]
		}
	}
	return nil
}

// source returns a parameter or constant as it is stored.
func (b *bound) source(id compile.ID) []float32 {
	if v := b.Values[id]; v.Kind == compile.Const {
		return v.Data
	} else {
		return b.params[v.Index]
	}
}

// buffer is where a value's rows lie, one for each sample of a block.
type buffer struct {
	floats  []float32
	indices []int32
}

// block is one worker's workspace: room for the samples that go through the program together. A value has a row for
// each of them.
type block struct {
	*lowered
	floats             []float32
	indices            []int32
	gradient, predicts []buffer
	factors            []float32
	scratch            []float32

	bound *bound   // the run that is worked for now
	at    []buffer // gradient or predicts
	n     int      // samples in the block
}

func (b *block) layOut(buffers []buffer, plan compile.Plan) {
	for id, offset := range plan.Offset {
		v := b.Values[id]
		from, to := offset*b.samples, (offset+v.Size)*b.samples
		if v.Kind == compile.Indices {
			buffers[id].indices = b.indices[from:to]
		} else {
			buffers[id].floats = b.floats[from:to]
		}
	}
}

// buf returns the rows of a value for the samples in the block; a shared value has one row.
func (b *block) buf(id compile.ID) []float32 {
	v := &b.Values[id]
	switch v.Kind {
	case compile.Param, compile.Const:
		return b.bound.source(id)
	case compile.Shared:
		return b.bound.shared[id]
	}
	return b.at[id].floats[:v.Size*b.n]
}

// row returns the part of a buffer that belongs to sample s of the block.
func (b *block) row(id compile.ID, s int) []float32 {
	size := b.Values[id].Size
	if b.Values[id].Kind == compile.Shared {
		return b.bound.shared[id]
	}
	return b.at[id].floats[s*size : (s+1)*size]
}

// room returns scratch space of n floats, good until the next call.
func (b *block) room(n int) []float32 {
	if cap(b.scratch) < n {
		b.scratch = make([]float32, n)
	}
	return b.scratch[:n]
}

// load copies the block's samples into the program's inputs.
func (b *block) load(data *engine.Data, sample func(int) int) {
	for i, in := range b.Inputs {
		dst := b.at[in.Value].floats
		if dst == nil {
			continue
		}
		for s := range b.n {
			at := sample(s) * in.Size
			copy(dst[s*in.Size:(s+1)*in.Size], data.Columns[i][at:at+in.Size])
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

func (b *block) clipped(run binding, data *engine.Data, samples []int32, clip float64, sum [][]float32, squared []float64) error {
	if err := b.workFor(run); err != nil {
		return err
	}
	b.at = b.gradient
	for from := 0; from < len(samples); from += b.samples {
		part := samples[from:min(from+b.samples, len(samples))]
		b.n = len(part)
		b.load(data, func(s int) int { return int(part[s]) })
		b.execute(b.Forward)
		b.execute(b.Backward)
		sq := squared[from : from+b.n]
		b.measure(sq)
		for s, v := range sq {
			c := compile.Clip(v, clip)
			b.factors[s] = float32(c)
			if c == 0 {
				b.silence(s)
			}
		}
		b.reduce(sum)
	}
	return nil
}

func (b *block) predict(run binding, data *engine.Data, from, to int, out []float32) error {
	if err := b.workFor(run); err != nil {
		return err
	}
	b.at = b.predicts
	size := b.Output.Size
	for ; from < to; from += b.samples {
		first := from
		b.n = min(b.samples, to-from)
		b.load(data, func(s int) int { return first + s })
		b.execute(b.Predict)
		n := copy(out, b.buf(b.Output.Value)[:b.n*size])
		out = out[n:]
	}
	return nil
}
