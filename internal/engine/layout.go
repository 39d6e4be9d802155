package engine

import "github.com/dptrain/dptrain/internal/compile"

// Layout lays the parameters of a program out in one vector. One offset serves everything: coordinate j of parameter i
// is element Offsets[i]+j of the state, of a step's sums and of device memory, and its noise is that word of the step's
// stream. Offsets are even because normals come in pairs; what is skipped is padding, holds 0 and means nothing.
type Layout struct {
	Offsets []int // where each parameter begins
	Lengths []int // its number of values
	Size    int   // of the whole vector
}

// LayoutOf returns the layout of a program's parameters, in their order.
func LayoutOf(p *compile.Program) Layout {
	var l Layout
	for _, t := range p.Params {
		l.Offsets = append(l.Offsets, l.Size)
		l.Lengths = append(l.Lengths, t.Size)
		l.Size += (t.Size + 1) / 2 * 2
	}
	return l
}

// Split returns each parameter's part of a vector, which it shares.
func (l Layout) Split(vector []float32) [][]float32 {
	if vector == nil {
		return nil
	}
	out := make([][]float32, len(l.Offsets))
	for i, at := range l.Offsets {
		out[i] = vector[at : at+l.Lengths[i] : at+l.Lengths[i]]
	}
	return out
}

// Join copies parameters of the layout's lengths into a vector; of nil it makes nil.
func (l Layout) Join(params [][]float32) []float32 {
	if params == nil {
		return nil
	}
	out := make([]float32, l.Size)
	for i, p := range params {
		copy(out[l.Offsets[i]:], p)
	}
	return out
}
