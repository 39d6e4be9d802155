package compile

import "slices"

// reverser emits the backward pass of a traced cost.
type reverser struct {
	*tracer
	grads map[ID]ID  // gradient buffer of a value, once something was added to it
	uses  map[ID]int // of a parameter, in the forward pass
	g     map[ID]ID  // materialised per-sample gradient of a parameter
	code  []Instruction
	sums  []Reduction
}

// source returns the parameter behind a value, or None.
func (r *reverser) source(id ID) ID {
	v := r.prog.Values[id]
	if v.Kind == Shared {
		return r.source(v.Source)
	}
	if v.Kind == Param {
		return id
	}
	return None
}

// nameOf returns the name of a value for names of values derived from it.
func (r *reverser) nameOf(id ID) string {
	if name := r.prog.Values[id].Name; name != "" {
		return name
	}
	return id.String()
}

// reverse emits the backward pass from the cost's terms, and the reductions of all parameters.
func (r *reverser) reverse(terms []term, forward []Instruction) {
	for _, in := range forward {
		for _, id := range in.In {
			if p := r.source(id); p != None {
				r.uses[p]++
			}
		}
	}
	for _, t := range merged(terms) {
		r.into(t.id, Instruction{Op: Fill, Scalar: float32(t.factor)})
	}
	for _, in := range slices.Backward(forward) {
		if dz, ok := r.grads[in.Out]; ok {
			r.back(in, dz)
		}
	}
}

// merged adds up the factors of equal terms, so that a value's first gradient is one Fill.
func merged(terms []term) []term {
	var out []term
	for _, t := range terms {
		if i := slices.IndexFunc(out, func(o term) bool { return o.id == t.id }); i >= 0 {
			out[i].factor += t.factor
		} else {
			out = append(out, t)
		}
	}
	return out
}

// into emits an instruction whose result is added to the gradient of value id.
func (r *reverser) into(id ID, in Instruction) {
	if !r.needs[id] {
		return
	}
	d, seen := r.grads[id]
	if !seen {
		d = r.buffer("∂"+r.nameOf(id), r.prog.Values[id].Shape)
		r.grads[id] = d
	}
	in.Out, in.Where, in.Accumulate = d, None, seen
	r.code = append(r.code, in)
}

// back emits the instructions for one forward instruction, given the gradient dz of its result.
func (r *reverser) back(in Instruction, dz ID) {
	x := in.In[0]
	b := in // keeps geometry and function
	switch in.Op {
	case Unary:
		b.Op, b.In = UnaryBack, []ID{dz, x, in.Out}
		r.into(x, b)
	case BinaryScalar:
		if in.Func.differentiable() {
			b.Op, b.In = ScalarBack, []ID{dz, x, in.Out}
			r.into(x, b)
		}
	case Binary:
		if in.Func.differentiable() {
			r.binaryBack(in, dz)
		}
	case MatMul:
		b.Op, b.In = MatMulBack, []ID{dz, in.In[1]}
		r.into(x, b)
		r.gradMatMul(in, dz)
	case Conv:
		b.Op, b.In = ConvBack, []ID{dz, in.In[1]}
		r.into(x, b)
		r.gradConv(in, dz)
	case Lookup:
		r.gradLookup(in, dz)
	case MaxPool:
		b.Op, b.In = MaxPoolBack, []ID{dz, in.Where}
		r.into(x, b)
	case Gather:
		b.Op, b.In = Scatter, []ID{dz}
		r.into(x, b)
	case Scatter:
		b.Op, b.In = Gather, []ID{dz}
		r.into(x, b)
	case Softmax, LogSoftmax:
		b.Op, b.In = in.Op-Softmax+SoftmaxBack, []ID{dz, in.Out}
		r.into(x, b)
	}
}

// binaryBack emits each operand's gradient. A parameter's is summed over the axes that it was broadcast along.
func (r *reverser) binaryBack(in Instruction, dz ID) {
	for side, id := range in.In {
		b := Instruction{Op: BinaryBack, Func: in.Func, In: []ID{dz, in.In[0], in.In[1], in.Out}, Side: side}
		if r.prog.Values[id].Kind != Shared {
			if _, seen := r.grads[id]; !seen && r.passes(in, side) {
				r.grads[id] = dz
			} else {
				r.into(id, b)
			}
			continue
		}
		p := r.source(id)
		if p == None {
			continue
		}
		from := dz
		if !in.Func.keeps(side) {
			b.Out, b.Where = r.buffer("∂"+r.nameOf(in.Out)+" by operand", r.prog.Values[in.Out].Shape), None
			r.code = append(r.code, b)
			from = b.Out
		}
		r.gradParam(p, Instruction{Op: GradSpread, In: []ID{from}, View: r.prog.Values[id].View})
	}
}

// passes reports whether an operand's gradient may be the result's gradient itself, in one buffer. It may not if the
// other operand needs a gradient too: a later addition to either would change both.
func (r *reverser) passes(in Instruction, side int) bool {
	other := in.In[1-side]
	return r.needs[in.In[side]] && in.Func.keeps(side) &&
		(r.prog.Values[other].Kind == Shared || !r.needs[other])
}

// gradMatMul emits the reduction of a product's parameter. It materializes the gradient only for several rows in a
// sample, or several uses of the parameter, where no product of norms gives its norm.
func (r *reverser) gradMatMul(in Instruction, dz ID) {
	w := r.source(in.In[1])
	if w == None {
		return
	}
	if r.uses[w] > 1 || in.Rows > 1 {
		r.gradParam(w, Instruction{Op: GradMatMul, In: []ID{dz, in.In[0]}, Rows: in.Rows, K: in.K, N: in.N, TransB: in.TransB})
		return
	}
	r.sums = append(r.sums, Reduction{
		Param: r.prog.Values[w].Index, Rule: RankOne, X: in.In[0], Delta: dz,
		K: in.K, N: in.N, TransB: in.TransB, G: None,
	})
}

// gradConv emits the reduction of a filter. It materializes the gradient only if the filter has several uses.
func (r *reverser) gradConv(in Instruction, dz ID) {
	w := r.source(in.In[1])
	switch {
	case w == None:
	case r.uses[w] > 1:
		r.gradParam(w, Instruction{Op: GradConv, In: []ID{dz, in.In[0]}, Window: in.Window})
	default:
		r.sums = append(r.sums, Reduction{
			Param: r.prog.Values[w].Index, Rule: OfConv, X: in.In[0], Delta: dz, Window: in.Window, G: None,
		})
	}
}

// gradLookup emits the reduction of a table. It materializes the gradient, with all rows, only if the table has several
// uses.
func (r *reverser) gradLookup(in Instruction, dz ID) {
	w := r.source(in.In[1])
	switch {
	case w == None:
	case r.uses[w] > 1:
		r.gradParam(w, Instruction{Op: GradLookup, In: []ID{dz, in.In[0]}, Rows: in.Rows, K: in.K, N: in.N})
	default:
		r.sums = append(r.sums, Reduction{
			Param: r.prog.Values[w].Index, Rule: OfRows, X: in.In[0], Delta: dz, Rows: in.Rows, K: in.K, N: in.N, G: None,
		})
	}
}

// gradParam emits an instruction that adds to a parameter's materialized per-sample gradient.
func (r *reverser) gradParam(id ID, in Instruction) {
	p := r.source(id)
	if p == None {
		return
	}
	v := r.prog.Values[p]
	g, seen := r.g[p]
	if !seen {
		g = r.buffer("per-sample ∂"+v.Name, v.Shape)
		r.g[p] = g
		r.sums = append(r.sums, Reduction{Param: v.Index, Rule: Materialised, X: None, Delta: None, G: g})
	}
	in.Out, in.Where, in.Accumulate = g, None, seen
	r.code = append(r.code, in)
}
