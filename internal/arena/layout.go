package arena

import (
	"cmp"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
)

// Layout says where values lie in one arena of floats and one of indices. Offsets and sizes count elements of
// one sample; an engine multiplies them by the samples that it takes through a program together.
type Layout struct {
	Offsets         []int // by value; -1 where it has no place
	Floats, Indices int   // the size of each arena
}

// Instruction is one of a program, or of what an engine has made of it.
type Instruction interface {
	Reads() []compile.ID
	Writes() []compile.ID // the result first
	InPlace() compile.ID  // the operand whose room the result may take over, or None
}

// align keeps every buffer on a cache line whatever the number of samples.
const align = 16

// room is what a value takes up and how long.
type room struct {
	compile.Life
	size int
}

// Of lays out what a list of instructions reads and writes: buffers, and inputs too if an engine copies them. The same
// instructions get the same layout. keep names values that are read afterwards.
func Of[I Instruction](values []compile.Value, code []I, keep []compile.ID, inputs bool) Layout {
	rooms := make([]*room, len(values))
	for _, l := range compile.Lifetimes(code, keep) {
		if l.Value == compile.None {
			continue
		}
		if v := values[l.Value]; v.Kind == compile.Buffer || inputs && v.Kind == compile.Input {
			rooms[l.Value] = &room{l, roundUp(v.Size)}
		}
	}
	homes := overwritten(values, code, rooms)
	out := Layout{Offsets: slices.Repeat([]int{-1}, len(values))}
	var order []*room
	for id, s := range rooms {
		switch {
		case s == nil || homes[id] != compile.None:
		case values[id].Type == compile.Int32:
			out.Offsets[id] = out.Indices
			out.Indices += s.size
		default:
			order = append(order, s)
		}
	}
	slices.SortFunc(order, func(a, b *room) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.size, a.size), cmp.Compare(a.Value, b.Value))
	})
	for i, s := range order {
		at := fit(order[:i], out.Offsets, s)
		out.Offsets[s.Value] = at
		out.Floats = max(out.Floats, at+s.size)
	}
	for id, home := range homes {
		if home != compile.None {
			out.Offsets[id] = out.Offsets[home]
		}
	}
	return out
}

// overwritten returns, for each value, whose room it takes over, or None: that of an operand whose last reader writes
// it. The room's room then lasts as long as both.
func overwritten[I Instruction](values []compile.Value, code []I, rooms []*room) []compile.ID {
	homes := slices.Repeat([]compile.ID{compile.None}, len(values))
	for at, in := range code {
		x := in.InPlace()
		if x == compile.None {
			continue
		}
		z := in.Writes()[0]
		if rooms[z].From != at {
			continue
		}
		if homes[x] != compile.None {
			x = homes[x]
		}
		s := rooms[x]
		if s == nil || values[x].Kind != compile.Buffer || s.size != rooms[z].size || s.To != at {
			continue
		}
		s.To = max(at, rooms[z].To)
		homes[z] = x
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
