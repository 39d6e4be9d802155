package engine

import "github.com/dptrain/dptrain/internal/compile"

// Layout is the order of a program's parameters in one vector. Coordinate j of parameter i is element Offsets[i]+j of
// the state, of a step's sums and of device memory, and its noise is normal Offsets[i]+j of the step's stream. Offsets
// are even because normals come in pairs; the elements between parameters are padding and hold 0.
type Layout struct {
	Offsets []int // the first element of each parameter
	Lengths []int // the number of values of each parameter
	Size    int   // the length of the vector
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

// Split returns each parameter's part of a vector, without copying, or nil for nil.
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

// Join copies parameters into a new vector. It returns nil for nil.
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
