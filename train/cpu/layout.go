package cpu

import (
	"cmp"
	"slices"

	"github.com/dptrain/dptrain/train/compile"
)

// layout says where values lie in one arena of floats and one of indices. Offsets and sizes count elements of
// one sample and are multiplied by the samples of a block. Values whose lives don't overlap share space, and an
// elementwise instruction writes over its first operand where nobody reads that again.
type layout struct {
	offset          []int // by value; -1 where it has no place
	floats, indices int
}

// align keeps every buffer on a cache line whatever the number of samples.
const align = 16

// room is what a value takes up and how long.
type room struct {
	compile.Life
	size int
}

// layOut lays out what a list of instructions reads and writes. The same instructions get the same layout.
func layOut(values []compile.Value, code []instruction, keep []compile.ID) layout {
	rooms := make([]*room, len(values))
	for _, l := range compile.Lifetimes(code, keep) {
		if l.Value == compile.None {
			continue
		}
		if v := values[l.Value]; v.Kind == compile.Buffer || v.Kind == compile.Input {
			rooms[l.Value] = &room{l, roundUp(v.Size)}
		}
	}
	homes := overwritten(values, code, rooms)
	out := layout{offset: slices.Repeat([]int{-1}, len(values))}
	var order []*room
	for id, s := range rooms {
		switch {
		case s == nil || homes[id] != compile.None:
		case values[id].Type == compile.Int32:
			out.offset[id] = out.indices
			out.indices += s.size
		default:
			order = append(order, s)
		}
	}
	slices.SortFunc(order, func(a, b *room) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.size, a.size), cmp.Compare(a.Value, b.Value))
	})
	for i, s := range order {
		at := fit(order[:i], out.offset, s)
		out.offset[s.Value] = at
		out.floats = max(out.floats, at+s.size)
	}
	for id, home := range homes {
		if home != compile.None {
			out.offset[id] = out.offset[home]
		}
	}
	return out
}

// overwritten returns, for each value, whose room it takes over, or None: that of an operand whose last reader writes it.
// The room's room then lasts as long as both.
func overwritten(values []compile.Value, code []instruction, rooms []*room) []compile.ID {
	homes := slices.Repeat([]compile.ID{compile.None}, len(values))
	for at, in := range code {
		if !in.InPlace() || rooms[in.Out].From != at {
			continue
		}
		x := in.In[0]
		if homes[x] != compile.None {
			x = homes[x]
		}
		s := rooms[x]
		if s == nil || values[x].Kind != compile.Buffer || s.size != rooms[in.Out].size || s.To != at {
			continue
		}
		s.To = max(at, rooms[in.Out].To)
		homes[in.Out] = x
	}
	return homes
}

// fit returns the lowest offset at which s overlaps nothing that is there at the same time.
func fit(placed []*room, offset []int, s *room) int {
	var busy [][2]int
	for _, o := range placed {
		if o.From <= s.To && s.From <= o.To {
			busy = append(busy, [2]int{offset[o.Value], offset[o.Value] + o.size})
		}
	}
	slices.SortFunc(busy, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	at := 0
	for _, b := range busy {
		if at+s.size <= b[0] {
			break
		}
		at = max(at, b[1])
	}
	return at
}

func roundUp(n int) int { return (n + align - 1) / align * align }

// buffer is where a value's rows lie, one for each sample of a block.
type buffer struct {
	floats  []float32
	indices []int32
}

// memory is one worker's room for a block, which gradients and predictions take in turn.
type memory struct {
	gradient, prediction []buffer // by value
}

// newMemory makes room for a whole block of samples.
func newMemory(l *lowered) memory {
	floats := make([]float32, max(l.gradient.floats, l.prediction.floats)*l.samples)
	indices := make([]int32, max(l.gradient.indices, l.prediction.indices)*l.samples)
	place := func(by layout) []buffer {
		out := make([]buffer, len(l.values))
		for id, offset := range by.offset {
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
	return memory{place(l.gradient), place(l.prediction)}
}
