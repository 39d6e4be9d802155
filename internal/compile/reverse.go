package compile

import (
	"fmt"
	"slices"
)

// reverser emits the backward pass of a traced cost.
type reverser struct {
	*tracer
	grads      map[ID]ID  // gradient buffer of a value, after the first addition
	uses       map[ID]int // of a parameter, in the forward pass and in the needed part of Prepare
	g          map[ID]ID  // materialised per-sample gradient of a parameter
	stacks     map[use]*stack
	stackOrder []use
	held       map[ID]ID // of a value common to all samples: its copy for each
	code       []Instruction
	sums       []Reduction
}

// source returns the parameter, or derived value, that a value is or is a view of, or None.
func (r *reverser) source(id ID) ID {
	v := r.prog.Values[id]
	if v.Kind == Shared {
		return r.source(v.Source)
	}
	if v.Kind == Param || v.Kind == Derived && r.needs[id] {
		return id
	}
	return None
}

// several reports whether the per-sample gradient of a parameter or derived value is always materialized: because it
// has several uses, or because it leads back to further parameters.
func (r *reverser) several(id ID) bool { return r.uses[id] > 1 || r.prog.Values[id].Kind == Derived }

// nameOf returns the name of a value for names of values derived from it.
func (r *reverser) nameOf(id ID) string {
	if name := r.prog.Values[id].Name; name != "" {
		return name
	}
	return fmt.Sprintf("%%%d", int(id))
}

// reverse emits the backward pass from the cost's terms, and the reductions of all parameters.
func (r *reverser) reverse(terms []term, forward []Instruction) {
	var ends []ID
	for _, in := range forward {
		for _, id := range in.In {
			ends = append(ends, r.prog.stored(id))
		}
	}
	before := needed(r.prepare, ends)
	for _, in := range slices.Concat(before, forward) {
		for _, id := range in.In {
			if p := r.source(id); p != None {
				r.uses[p]++
			}
		}
		if in.Op == MatMul {
			if w := r.source(in.In[1]); w != None {
				_, s := r.stackOf(w, in)
				s.add(in)
			}
		}
	}
	for _, t := range terms {
		r.into(t.id, Instruction{Op: Fill, Scalar: float32(t.factor)})
	}
	for _, in := range slices.Backward(forward) {
		if dz, ok := r.grads[in.Out]; ok {
			r.back(in, dz)
		}
	}
	r.unstack()
	for _, in := range slices.Backward(before) {
		if dz, ok := r.grads[in.Out]; ok {
			r.backOnce(in, dz)
		}
	}
}

// stored returns the source of a shared value, and any other value itself.
func (p *Program) stored(id ID) ID {
	if v := p.Values[id]; v.Kind == Shared {
		return v.Source
	}
	return id
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
		r.gradOnce(in.In[1], Instruction{Op: GradConv, In: []ID{dz, x}, Window: in.Window},
			Reduction{Rule: OfConv, X: x, Delta: dz, Window: in.Window})
	case Lookup:
		r.gradOnce(in.In[1], Instruction{Op: GradLookup, In: []ID{dz, x}, Rows: in.Rows, K: in.K, N: in.N},
			Reduction{Rule: OfRows, X: x, Delta: dz, Rows: in.Rows, K: in.K, N: in.N})
	case MaxPool:
		b.Op, b.In = MaxPoolBack, []ID{dz, in.Where}
		r.into(x, b)
	case Gather:
		if b.In = []ID{dz}; r.prog.Values[x].stored() {
			b.Op = GradSpread
			r.gradParam(x, b)
			return
		}
		b.Op = Scatter
		r.into(x, b)
	case Scatter:
		b.Op, b.In = Gather, []ID{dz}
		r.into(x, b)
	case Softmax, LogSoftmax:
		b.Op, b.In = in.Op-Softmax+SoftmaxBack, []ID{dz, in.Out}
		r.into(x, b)
	case Normalize:
		b.Op, b.In = NormalizeBack, []ID{dz, x}
		r.into(x, b)
	case Dropout:
		b.In = []ID{dz}
		r.into(x, b)
	case Product:
		for side, id := range in.In {
			r.into(id, productBack(in, side, dz, x, in.In[1]))
		}
	}
}

// productBack returns the gradient of one operand of a product, which is a product too.
func productBack(in Instruction, side int, dz, x, y ID) Instruction {
	b := Instruction{Op: Product, Groups: in.Groups}
	switch {
	case side == 0 && !in.TransA: // dz·yᵀ
		b.In, b.Rows, b.K, b.N, b.TransB = []ID{dz, y}, in.Rows, in.N, in.K, !in.TransB
	case side == 0: // y·dzᵀ
		b.In, b.Rows, b.K, b.N, b.TransA, b.TransB = []ID{y, dz}, in.K, in.N, in.Rows, in.TransB, true
	case !in.TransB: // xᵀ·dz
		b.In, b.Rows, b.K, b.N, b.TransA = []ID{x, dz}, in.K, in.Rows, in.N, !in.TransA
	default: // dzᵀ·x
		b.In, b.Rows, b.K, b.N, b.TransA, b.TransB = []ID{dz, x}, in.N, in.Rows, in.K, true, in.TransA
	}
	return b
}

// backOnce emits the instructions for one instruction of Prepare, given each sample's gradient of its result. The
// instruction's operands are the same for all samples, so each operand that the backward pass reads is copied for each
// sample.
func (r *reverser) backOnce(in Instruction, dz ID) {
	b := in
	b.Out, b.Accumulate = None, false
	switch in.Op {
	case Unary:
		b.Op, b.In = UnaryBack, []ID{dz, in.In[0], in.Out}
	case BinaryScalar:
		b.Op, b.In = ScalarBack, []ID{dz, in.In[0], in.Out}
	case Binary:
		b.Op, b.In = BinaryBack, []ID{dz, in.In[0], in.In[1], in.Out}
	case Gather:
		b.Op, b.In = Scatter, []ID{dz}
	case Scatter:
		b.Op, b.In = Gather, []ID{dz}
	case Softmax, LogSoftmax:
		b.Op, b.In = in.Op-Softmax+SoftmaxBack, []ID{dz, in.Out}
	}
	if (in.Op == Binary || in.Op == BinaryScalar) && !in.Func.differentiable() {
		return
	}
	for side, id := range in.In {
		if !r.needs[id] {
			continue
		}
		one := b
		switch in.Op {
		case Binary:
			one.Side = side
		case Product:
			one = productBack(in, side, dz, in.In[0], in.In[1])
		}
		reads := one.Reads()
		one.In = slices.Clone(one.In)
		for k, x := range one.In {
			switch {
			case x == dz:
			case slices.Contains(reads, x):
				one.In[k] = r.copyOf(x)
			default:
				one.In[k] = dz
			}
		}
		r.gradParam(id, one)
	}
}

// copyOf returns a copy, for each sample, of a value that is the same for all.
func (r *reverser) copyOf(id ID) ID {
	if held, ok := r.held[id]; ok {
		return held
	}
	v := r.prog.Values[id]
	held := r.buffer(r.nameOf(id)+" of a sample", v.Shape)
	r.held[id] = held
	r.code = append(r.code, Instruction{Op: Gather, In: []ID{id}, Out: held, Where: None, View: ViewOf(v.Shape)})
	return held
}

// binaryBack emits each operand's gradient. A parameter's gradient is summed over its broadcast axes.
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

// passes reports whether an operand's gradient may be the result's gradient itself, in one buffer. It must not if the
// other operand needs a gradient too: a later addition to either would change both.
func (r *reverser) passes(in Instruction, side int) bool {
	other := in.In[1-side]
	return r.needs[in.In[side]] && in.Func.keeps(side) &&
		(r.prog.Values[other].Kind == Shared || !r.needs[other])
}

// gradMatMul emits the reduction of a product's parameter. It materializes the gradient of several rows too: then no
// product of norms gives the gradient's norm.
func (r *reverser) gradMatMul(in Instruction, dz ID) {
	w := r.source(in.In[1])
	if w == None || r.stacked(w, in, dz) {
		return
	}
	grad := Instruction{Op: GradMatMul, In: []ID{dz, in.In[0]}, Rows: in.Rows, K: in.K, N: in.N, TransB: in.TransB}
	if in.Rows > 1 {
		r.gradParam(w, grad)
		return
	}
	r.gradOnce(w, grad, Reduction{Rule: RankOne, X: in.In[0], Delta: dz, K: in.K, N: in.N, TransB: in.TransB})
}

// gradOnce emits the reduction of a parameter. It materializes the gradient, by grad, only if the parameter has several
// uses.
func (r *reverser) gradOnce(id ID, grad Instruction, sum Reduction) {
	w := r.source(id)
	switch {
	case w == None:
	case r.several(w):
		r.gradParam(w, grad)
	default:
		sum.Param, sum.G = r.prog.Values[w].Index, None
		r.sums = append(r.sums, sum)
	}
}

// gradParam emits an instruction that adds to the materialized per-sample gradient of a parameter or derived value.
func (r *reverser) gradParam(id ID, in Instruction) {
	p := r.source(id)
	if p == None {
		return
	}
	v := r.prog.Values[p]
	if v.Kind == Derived {
		r.into(p, in)
		return
	}
	g, seen := r.g[p]
	if !seen {
		g = r.buffer("per-sample ∂"+v.Name, v.Shape)
		r.g[p] = g
		r.sums = append(r.sums, Reduction{Param: v.Index, Rule: Materialised, X: None, Delta: None, G: g})
	}
	in.Out, in.Where, in.Accumulate = g, None, seen
	r.code = append(r.code, in)
}
