package walk

import "github.com/dptrain/dptrain/internal/compile"

// A product of a tile's samples with a matrix of few columns has fewer units of work than a block has warps. Then its
// terms are added up in parts, of at least minTerms each, and another instruction adds up the parts in order. The
// number of parts depends on the matrix alone, so a sample's results don't depend on the tile.
const (
	wantUnits = 8 // the warps of a block of a GPU's threads
	minTerms  = 32
)

// partsOf returns the number of parts of a product's terms.
func partsOf(terms, columns int) int {
	parts := wantUnits / ((columns + WarpSize - 1) / WarpSize)
	for parts > 1 && (terms%parts != 0 || terms/parts < minTerms) {
		parts--
	}
	return max(1, parts)
}

// parted divides the terms of products that have few units of work. It leaves products that add to their result.
func (l *Program) parted(code []compile.Instruction) []compile.Instruction {
	var out []compile.Instruction
	for _, in := range code {
		parts := 1
		terms, columns := in.K, in.N
		if in.Op == compile.MatMulBack {
			terms, columns = columns, terms
		}
		if (in.Op == compile.MatMul || in.Op == compile.MatMulBack) && in.Rows == 1 && !in.Accumulate {
			parts = partsOf(terms, columns)
		}
		if parts == 1 {
			out = append(out, in)
			continue
		}
		id := l.buffer("parts of "+l.values[in.Out].Name, parts, columns)
		l.parts[id] = parts
		sum := compile.Instruction{
			Op: compile.Scatter, In: []compile.ID{id}, Out: in.Out, Where: compile.None,
			View: compile.View{Shape: []int{parts, columns}, Strides: []int{0, 1}},
		}
		in.Out = id
		out = append(out, in, sum)
	}
	return out
}
