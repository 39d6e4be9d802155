package walk

import (
	"slices"

	"github.com/dptrain/dptrain/internal/arena"
	"github.com/dptrain/dptrain/internal/compile"
)

// access is the memory that an instruction reads and writes.
type access struct {
	reads, writes []span
	elementwise   bool
}

// span is a range of one of the two arenas, in elements of one sample.
type span struct {
	indices    bool
	from, size int
}

// access returns the memory of a layout that an instruction reads and writes. Derived values count only during their
// preparation: afterwards they are only read.
func (l *Program) access(m *arena.Layout, in compile.Instruction, preparing bool) access {
	spans := func(ids []compile.ID) []span {
		var out []span
		for _, id := range ids {
			switch v := l.values[id]; {
			case v.Kind == compile.Buffer:
				out = append(out, span{v.Type == compile.Int32, m.Offsets[id], v.Size})
			case v.Kind == compile.Derived && preparing:
				out = append(out, span{false, m.Offsets[id], forTile(v.Size)})
			}
		}
		return out
	}
	return access{spans(in.Reads()), spans(in.Writes()), elementwise(in.Op)}
}

// meets reports whether two instructions need a barrier between them: whether one writes what the other reads or
// writes. Two elementwise instructions on the same elements don't, since each thread has its own elements.
func (a access) meets(b access) bool {
	meet := func(x, y []span) bool {
		return slices.ContainsFunc(x, func(s span) bool {
			return slices.ContainsFunc(y, func(t span) bool {
				overlap := s.indices == t.indices && s.from < t.from+t.size && t.from < s.from+s.size
				return overlap && !(a.elementwise && b.elementwise && s == t)
			})
		})
	}
	return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes)
}
