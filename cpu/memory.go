package cpu

import (
	"github.com/dptrain/dptrain/internal/arena"
	"github.com/dptrain/dptrain/internal/compile"
)

// buffer holds a value's rows, one for each sample of a microbatch, as floats or as indices.
type buffer struct {
	floats  []float32
	indices []int32
}

// memory is one worker's buffers for a microbatch. Gradients and predictions share them.
type memory struct {
	gradient, prediction []buffer // by value
}

// newMemory allocates the buffers of a full microbatch.
func newMemory(l *lowered) memory {
	floats := make([]float32, max(l.gradient.Floats, l.prediction.Floats)*l.samples)
	indices := make([]int32, max(l.gradient.Indices, l.prediction.Indices)*l.samples)
	buffersOf := func(by arena.Layout) []buffer {
		out := make([]buffer, len(l.values))
		for id, offset := range by.Offsets {
			v := l.values[id]
			from, to := offset*l.samples, (offset+v.Size)*l.samples
			switch {
			case offset < 0:
			case v.Type == compile.Int32:
				out[id].indices = indices[from:to]
			default:
				out[id].floats = floats[from:to]
			}
		}
		return out
	}
	return memory{buffersOf(l.gradient), buffersOf(l.prediction)}
}
