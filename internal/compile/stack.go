package compile

// A matrix that many products use, as in each step of a recurrent network, has a gradient of as many parts, each an
// outer product of one row or a few. Adding up the parts one by one would read and write the whole gradient each time.
// So their operands are stacked, and one product of the stacks is the gradient.

// mostRows bounds the rows of the uses of a matrix that are stacked: a product of more rows is as fast by itself.
const mostRows = 8

// use is the form in which products use a matrix: stored or transposed, and its shape, since a parameter may be
// reshaped.
type use struct {
	of     ID
	turned bool
	k, n   int
}

// stack is the uses of a matrix and the rows of their operands, one use after another.
type stack struct {
	uses, rows, most int
	x, delta         ID
	filled           int
}

// stackOf returns the stack of a matrix that a product uses. It may still be empty.
func (r *reverser) stackOf(w ID, in Instruction) (use, *stack) {
	u := use{w, in.TransB, in.K, in.N}
	if r.stacks[u] == nil {
		r.stacks[u] = &stack{x: None, delta: None}
		r.stackOrder = append(r.stackOrder, u)
	}
	return u, r.stacks[u]
}

// add counts a product.
func (s *stack) add(in Instruction) {
	s.uses++
	s.rows += in.Rows
	s.most = max(s.most, in.Rows)
}

// stacked copies the operands of a product's gradient to the matrix's stacks, and reports whether it has any.
func (r *reverser) stacked(w ID, in Instruction, dz ID) bool {
	u, s := r.stackOf(w, in)
	if s.uses < 2 || s.most >= mostRows || size(s.rows, u.k) == 0 || size(s.rows, u.n) == 0 {
		return false
	}
	first := s.x == None
	if first {
		s.x, s.delta = r.buffer("operands of "+r.nameOf(w), []int{s.rows, u.k}), r.buffer("gradients by "+r.nameOf(w), []int{s.rows, u.n})
	}
	for _, part := range []struct {
		from, to ID
		width    int
	}{{in.In[0], s.x, u.k}, {dz, s.delta, u.n}} {
		view := ViewOf([]int{s.rows, part.width}).sliced(0, s.filled, in.Rows, 1)
		r.code = append(r.code, Instruction{Op: Scatter, In: []ID{part.from}, Out: part.to, Where: None, View: view, Accumulate: !first})
	}
	s.filled += in.Rows
	return true
}

// unstack emits the gradients of all stacks.
func (r *reverser) unstack() {
	for _, u := range r.stackOrder {
		if s := r.stacks[u]; s.x != None {
			r.gradParam(u.of, Instruction{Op: GradMatMul, In: []ID{s.delta, s.x}, Rows: s.rows, K: u.k, N: u.n, TransB: u.turned})
		}
	}
}
