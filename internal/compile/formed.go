package compile

import "slices"

// Formed returns the program's values, backward pass and reductions for an engine that keeps per-sample gradients of
// filters in memory. It turns each [OfConv] reduction into a [Materialised] one, and inserts an instruction that
// materializes the gradient. For short lifetimes the instruction is at the first position where x and δ are complete
// and no later instruction needs δ.
func (p *Program) Formed() (values []Value, backward []Instruction, reductions []Reduction) {
	values = slices.Clone(p.Values)
	after := map[int][]Instruction{}
	for _, r := range p.Reductions {
		if r.Rule == OfConv {
			param := p.Params[r.Param]
			g := ID(len(values))
			values = append(values, Value{Name: "per-sample ∂" + param.Name, Kind: Buffer, Shape: param.Shape, Size: param.Size})
			last := 0
			for i, in := range p.Backward {
				if slices.Contains(in.Reads(), r.Delta) || slices.Contains(in.Writes(), r.Delta) || slices.Contains(in.Writes(), r.X) {
					last = i
				}
			}
			after[last] = append(after[last], Instruction{Op: GradConv, In: []ID{r.Delta, r.X}, Out: g, Where: None, Window: r.Window})
			r = Reduction{Param: r.Param, Rule: Materialised, X: None, Delta: None, G: g}
		}
		reductions = append(reductions, r)
	}
	for i, in := range p.Backward {
		backward = append(append(backward, in), after[i]...)
	}
	return values, backward, reductions
}
