package cpu

import (
	"slices"

	"github.com/dptrain/dptrain/train/compile"
)

// columnsOf returns where a convolution unrolls its images: one by the filter, or one by any filter if that is None. It
// returns None if there is no such convolution.
func (l *lowered) columnsOf(images compile.ID, w *compile.Window, filter compile.ID) compile.ID {
	for _, in := range l.forward {
		if in.Op == compile.Conv && in.In[0] == images && *in.Window == *w && (filter == compile.None || in.In[1] == filter) {
			return in.columns
		}
	}
	return compile.None
}

// gradConv reads the images as a convolution by the filter has unrolled them, or unrolls them itself.
func (l *lowered) gradConv(in compile.Instruction, filter compile.ID) instruction {
	out := instruction{Instruction: in, columns: l.columnsOf(in.In[1], in.Window, filter)}
	if out.columns == compile.None {
		out.unrolls, out.columns = true, l.value("im2col of "+l.values[in.In[1]].Name, in.Window.Positions(), in.Window.Patch())
	}
	return out
}

// formGradients adds the instructions that form the gradients of filters which the program doesn't form: each as soon as
// its δ is complete and nobody else needs it, so that their lives are short.
func (l *lowered) formGradients() {
	after := map[int][]instruction{}
	for _, r := range l.Reductions {
		if r.Rule == compile.OfConv {
			param := l.Params[r.Param]
			g := l.value("per-sample ∂"+param.Name, param.Shape...)
			form := compile.Instruction{Op: compile.GradConv, In: []compile.ID{r.Delta, r.X}, Out: g, Where: compile.None, Window: r.Window}
			last := max(lastUse(l.backward, r.Delta), lastWrite(l.backward, r.X))
			after[last] = append(after[last], l.gradConv(form, param.Value))
			r = compile.Reduction{Param: r.Param, Rule: compile.Materialised, X: compile.None, Delta: compile.None, G: g}
		}
		l.reductions = append(l.reductions, r)
	}
	var code []instruction
	for i, in := range l.backward {
		code = append(append(code, in), after[i]...)
	}
	l.backward = code
}

// lastUse returns the last instruction that reads or writes a value.
func lastUse(code []instruction, id compile.ID) int {
	last := 0
	for i, in := range code {
		if slices.Contains(in.Reads(), id) || slices.Contains(in.Writes(), id) {
			last = i
		}
	}
	return last
}

// lastWrite returns the last instruction that writes a value.
func lastWrite(code []instruction, id compile.ID) int {
	last := 0
	for i, in := range code {
		if slices.Contains(in.Writes(), id) {
			last = i
		}
	}
	return last
}
