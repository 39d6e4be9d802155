package arena

import (
	"cmp"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
)

// Layout is the position of each value in one arena of floats and one of indices. Offsets and sizes count elements of
// one sample; an engine multiplies them by the number of samples in a microbatch.
type Layout struct {
	Offsets         []int // by value; -1 for a value without a buffer
	Floats, Indices int   // the size of each arena
}

// Instruction is an instruction of a compile.Program, or of a program that an engine lowered.
type Instruction interface {
	Reads() []compile.ID
	Writes() []compile.ID // the result first
	InPlace() compile.ID  // the operand whose buffer the result may overwrite, or None
}

// align is the granularity of offsets, so that each buffer begins on a cache line for any number of samples.
const align = 16

// buffer is the size of a value's buffer and the value's lifetime.
type buffer struct {
	compile.Lifetime
	size int
}

// Of returns a layout for the buffers that a list of instructions reads or writes, and for its inputs too if inputs is
// set. keep names values that are read after the last instruction. Equal arguments give equal layouts.
func Of[I Instruction](values []compile.Value, code []I, keep []compile.ID, inputs bool) Layout {
	buffers := make([]*buffer, len(values))
	for _, l := range compile.Lifetimes(code, keep) {
		if l.Value == compile.None {
			continue
		}
		if v := values[l.Value]; v.Kind == compile.Buffer || inputs && v.Kind == compile.Input {
			buffers[l.Value] = &buffer{l, roundUp(v.Size)}
		}
	}
	owners := reused(values, code, buffers)
	out := Layout{Offsets: slices.Repeat([]int{-1}, len(values))}
	var order []*buffer
	for id, b := range buffers {
		switch {
		case b == nil || owners[id] != compile.None:
		case values[id].Type == compile.Int32:
			out.Offsets[id] = out.Indices
			out.Indices += b.size
		default:
			order = append(order, b)
		}
	}
	slices.SortFunc(order, func(a, b *buffer) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.size, a.size), cmp.Compare(a.Value, b.Value))
	})
	for i, b := range order {
		at := fit(order[:i], out.Offsets, b)
		out.Offsets[b.Value] = at
		out.Floats = max(out.Floats, at+b.size)
	}
	for id, owner := range owners {
		if owner != compile.None {
			out.Offsets[id] = out.Offsets[owner]
		}
	}
	return out
}

// reused returns, for each value, the operand whose buffer it overwrites, or None. The operand's lifetime is extended
// to the value's.
func reused[I Instruction](values []compile.Value, code []I, buffers []*buffer) []compile.ID {
	owners := slices.Repeat([]compile.ID{compile.None}, len(values))
	for at, in := range code {
		x := in.InPlace()
		if x == compile.None {
			continue
		}
		z := in.Writes()[0]
		if buffers[z].From != at {
			continue
		}
		if owners[x] != compile.None {
			x = owners[x]
		}
		b := buffers[x]
		if b == nil || values[x].Kind != compile.Buffer || b.size != buffers[z].size || b.To != at {
			continue
		}
		b.To = max(at, buffers[z].To)
		owners[z] = x
	}
	return owners
}

// fit returns the lowest offset at which b overlaps no placed buffer during its lifetime.
func fit(placed []*buffer, offset []int, b *buffer) int {
	var busy [][2]int
	for _, o := range placed {
		if o.From <= b.To && b.From <= o.To {
			busy = append(busy, [2]int{offset[o.Value], offset[o.Value] + o.size})
		}
	}
	slices.SortFunc(busy, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	at := 0
	for _, taken := range busy {
		if at+b.size <= taken[0] {
			break
		}
		at = max(at, taken[1])
	}
	return at
}

func roundUp(n int) int { return (n + align - 1) / align * align }
