package cpu

import "github.com/dptrain/dptrain/internal/compile"

// columnsOf returns the buffer into which a convolution by filter, or by any filter if filter is None, unrolls the
// images. It returns None if there is no such convolution.
func (l *lowered) columnsOf(images compile.ID, w *compile.Window, filter compile.ID) compile.ID {
	for _, in := range l.forward {
		if in.Op == compile.Conv && in.In[0] == images && *in.Window == *w && (filter == compile.None || in.In[1] == filter) {
			return in.columns
		}
	}
	return compile.None
}

// gradConv lowers the gradient of a filter. It reads the images as a convolution has unrolled them, or unrolls them
// itself.
func (l *lowered) gradConv(in compile.Instruction) instruction {
	out := instruction{Instruction: in, columns: l.columnsOf(in.In[1], in.Window, compile.None)}
	if out.columns == compile.None {
		out.unrolls, out.columns = true, l.value("im2col of "+l.values[in.In[1]].Name, in.Window.Positions(), in.Window.Patch())
	}
	return out
}
