package walk

import (
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
)

// turn is a convolution's filters in another order.
type turn struct {
	of                       compile.ID
	back                     bool // for the way back to the image
	filters, channels, patch int  // patch: the elements of a window over one channel
}

// turned lets an instruction copy the filters of each convolution, once for a tile, so that what the rows of a product
// read at a step lies side by side: filters for the convolution, channels for its way back.
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
			// A buffer has as many elements for each sample of a tile: together enough.
			size := (len(x.elements()) + minTile - 1) / minTile
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
// copy: [channels, patch, filters], or [filters, patch, channels] for the way back.
func (x turn) elements() []int32 {
	var out []int32
	outer, inner := x.channels, x.filters
	if x.back {
		outer, inner = inner, outer
	}
	for a := range outer {
		for e := range x.patch {
			for b := range inner {
				filter, channel := b, a
				if x.back {
					filter, channel = a, b
				}
				out = append(out, int32((filter*x.channels+channel)*x.patch+e))
			}
		}
	}
	return out
}
