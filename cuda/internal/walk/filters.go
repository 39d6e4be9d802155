package walk

import (
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
)

// rowsOfProduct is the number of a product's rows that a warp takes: see product.cuh.
const rowsOfProduct = 8

// turn is a convolution's filters in another order.
type turn struct {
	of                       compile.ID
	back                     bool // for the gradient of the image
	filters, channels, patch int  // patch: the elements of a window over one channel
}

// turned adds an instruction that copies the filters of each convolution, once for a tile, so that the elements that a
// product's rows read at one step are adjacent: filters for the convolution, channels for its backward pass. Each
// step's elements begin at a multiple of eight, with zeros between.
func (l *Program) turned(code []compile.Instruction) []compile.Instruction {
	copies := map[turn]compile.ID{}
	var out []compile.Instruction
	for _, in := range code {
		if in.Op != compile.Conv && in.Op != compile.ConvBack {
			out = append(out, in)
			continue
		}
		w := in.Window
		x := turn{of: in.In[1], back: in.Op == compile.ConvBack, filters: w.OutC, channels: w.C, patch: w.KH * w.KW}
		id, done := copies[x]
		if !done {
			size := forTile(len(x.elements()))
			id = l.buffer("turned "+l.values[x.of].Name, size)
			l.turns[id] = x
			copies[x] = id
			out = append(out, compile.Instruction{Op: compile.Gather, In: []compile.ID{x.of}, Out: id, Where: compile.None})
		}
		in.In = slices.Clone(in.In)
		in.In[1] = id
		out = append(out, in)
	}
	return out
}

// elements returns the index among the filters as they are stored, [filters, channels, patch], of each element of the
// copy: [channels, patch, filters], or [patch, filters, channels] for the backward pass. Zeros between have -1.
func (x turn) elements() []int32 {
	sizes := [3]int{x.channels, x.patch, x.filters}
	if x.back {
		sizes = [3]int{x.patch, x.filters, x.channels}
	}
	var out []int32
	for a := range sizes[0] {
		for b := range sizes[1] {
			for c := range sizes[2] {
				channel, element, filter := a, b, c
				if x.back {
					element, filter, channel = a, b, c
				}
				out = append(out, int32((filter*x.channels+channel)*x.patch+element))
			}
			for len(out)%rowsOfProduct != 0 {
				out = append(out, -1)
			}
		}
	}
	return out
}
