package cpu

import (
	"slices"

	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/cpu/internal/kernel"
	"github.com/dptrain/dptrain/train/engine"
)

// cacheFloats is the size that a block's buffers should stay below: three quarters of the 1 MB of second
// level cache that a current core has.
const cacheFloats = 192 << 10

// lowered is a program made ready for this machine: blockSize samples go through it at a time.
type lowered struct {
	*compile.Program
	blockSize int
}

// bound is what one run derives from its parameters.
type bound struct {
	*lowered
	params  [][]float32
	shared  map[compile.ID][]float32 // by Shared value: its source spread over a sample
	filters map[compile.ID]filter    // by convolution filter
}

// filter is a convolution's parameter as its product reads it: [C·KH·KW, OutC].
type filter struct {
	outputs   int // OutC
	transpose []float32
}

func lower(p *compile.Program) (*lowered, error) {
	if p.Fallback != nil {
		return nil, &engine.UnsupportedError{Operation: "opaque", Why: p.Fallback.Reason.Error()}
	}
	return &lowered{Program: p, blockSize: min(32, max(1, cacheFloats/max(1, p.GradientPlan.Floats)))}, nil
}

func (p *lowered) bind() binding {
	q := &bound{lowered: p, shared: map[compile.ID][]float32{}, filters: map[compile.ID]filter{}}
	for id, v := range p.Values {
		if v.Kind == compile.Shared {
			q.shared[compile.ID(id)] = make([]float32, v.Size)
		}
	}
	for _, in := range slices.Concat(p.Forward, p.Predict) {
		if in.Op == compile.Conv {
			q.filters[in.In[1]] = filter{in.Rows, make([]float32, in.Rows*in.K)}
		}
	}
	return q
}

// set lays the parameters out in the forms in which they are read.
func (p *bound) set(params [][]float32) error {
	p.params = params
	for id, f := range p.filters {
		kernel.Transpose(f.transpose, p.source(id), f.outputs, len(f.transpose)/f.outputs)
	}
	for id, dst := range p.shared {
		v := p.Values[id]
		src := p.source(v.Source)
		for j, k := range v.Spread {
			dst[j] = src[k]
		}
	}
	return nil
}

func (p *bound) source(id compile.ID) []float32 {
	if v := p.Values[id]; v.Kind == compile.Const {
		return v.Data
	} else {
		return p.params[v.Index]
	}
}

func (p *lowered) workspace() workspace {
	floats := max(p.GradientPlan.Floats, p.PredictPlan.Floats)
	indices := max(p.GradientPlan.Indices, p.PredictPlan.Indices)
	b := &block{
		lowered:  p,
		floats:   make([]float32, floats*p.blockSize),
		indices:  make([]int32, indices*p.blockSize),
		gradient: make([]place, len(p.Values)),
		predicts: make([]place, len(p.Values)),
		factors:  make([]float32, p.blockSize),
	}
	b.layOut(b.gradient, p.GradientPlan)
	b.layOut(b.predicts, p.PredictPlan)
	return b
}

// place is where a buffer lies, for a whole block.
type place struct {
	floats  []float32
	indices []int32
}

// block is one worker's workspace: room for blockSize samples.
type block struct {
	*lowered
	bound              *bound
	floats             []float32
	indices            []int32
	gradient, predicts []place
	at                 []place // the plan in force
	n                  int     // samples in the block now
	factors            []float32
	scratch            []float32
}

func (b *block) layOut(places []place, plan compile.Plan) {
	for id, offset := range plan.Offset {
		v := b.Values[id]
		from, to := offset*b.blockSize, offset*b.blockSize+v.Size*b.blockSize
		if v.Kind == compile.Indices {
			places[id].indices = b.indices[from:to]
		} else {
			places[id].floats = b.floats[from:to]
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
			copy(dst[s*in.Size:(s+1)*in.Size], data.Columns[i].Floats[at:at+in.Size])
		}
	}
}

func (b *block) clipped(on binding, data *engine.Data, samples []int32, clip float64, sum [][]float32, squared []float64) error {
	b.at, b.bound = b.gradient, on.(*bound)
	for from := 0; from < len(samples); from += b.blockSize {
		part := samples[from:min(from+b.blockSize, len(samples))]
		b.n = len(part)
		b.load(data, func(s int) int { return int(part[s]) })
		b.execute(b.Forward)
		b.execute(b.Backward)
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

func (b *block) predict(on binding, data *engine.Data, from, to int, out []float32) error {
	b.at, b.bound = b.predicts, on.(*bound)
	size := b.Output.Size
	for ; from < to; from += b.blockSize {
		first := from
		b.n = min(b.blockSize, to-from)
		b.load(data, func(s int) int { return first + s })
		b.execute(b.Predict)
		n := copy(out, b.buf(b.Output.Value)[:b.n*size])
		out = out[n:]
	}
	return nil
}
