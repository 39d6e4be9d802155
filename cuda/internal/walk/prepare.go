package walk

import (
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
)

// Derived values are stored among the buffers of a tile, and each block computes them, once for each run that it meets:
// they are few and small beside the samples' buffers, and another launch would take longer. Each is kept to the end of
// the list, for the next tile of the same run.

// prepare returns the instructions of the program's Prepare that a list of instructions needs, and the derived values
// that the list reads.
func (l *Program) prepare(code []compile.Instruction) (prepare []compile.Instruction, derived []compile.ID) {
	needed := map[compile.ID]bool{}
	for _, in := range code {
		for _, id := range in.Reads() {
			if l.values[id].Kind == compile.Shared {
				id = l.values[id].Source
			}
			if l.values[id].Kind == compile.Derived && !needed[id] {
				needed[id] = true
				derived = append(derived, id)
			}
		}
	}
	for _, in := range slices.Backward(l.Prepare) {
		if !needed[in.Out] {
			continue
		}
		prepare = append(prepare, in)
		for _, id := range in.Reads() {
			needed[id] = true
		}
	}
	slices.Reverse(prepare)
	return prepare, derived
}

// forTile returns the size, for each sample of a tile, of a buffer that holds n elements in total.
func forTile(n int) int { return (n + minTile - 1) / minTile }

// laidOut returns the values for the layout: derived values are buffers, too.
func (l *Program) laidOut() []compile.Value {
	if len(l.Prepare) == 0 {
		return l.values
	}
	out := slices.Clone(l.values)
	for id, v := range out {
		if v.Kind == compile.Derived {
			out[id].Kind, out[id].Size = compile.Buffer, forTile(v.Size)
		}
	}
	return out
}
