package compile

import "slices"

// normalized replaces a normalisation spelled out in the graph,
//
//	d = x − mean(x),  z = d / √(mean(d²) + ε),
//
// by one instruction. The means are over a sample's last axes. It drops instructions that become unused; ends are the
// results of code. Gorgonia has no operation for layer normalisation, and the spelled-out form reads and writes each
// row a dozen times.
func normalized(p *Program, code []Instruction, ends []ID) []Instruction {
	by := map[ID]*Instruction{}
	written := map[ID]int{}
	for i := range code {
		by[code[i].Out] = &code[i]
		written[code[i].Out]++
	}
	f := finder{p, func(id ID, op Op, fn Func) *Instruction {
		in := by[id]
		if in == nil || in.Op != op || in.Func != fn || written[id] > 1 {
			return nil
		}
		return in
	}}
	out, found := slices.Clone(code), false
	for i, in := range code {
		if n, ok := f.normalize(in); ok {
			out[i], found = n, true
		}
	}
	if !found {
		return code
	}
	return needed(out, ends)
}

// finder finds the instruction that writes a value, if it has the wanted form.
type finder struct {
	*Program
	find func(id ID, op Op, fn Func) *Instruction
}

// normalize returns the instruction that replaces the division, or the product with an inverse, that ends a
// normalisation.
func (f finder) normalize(in Instruction) (Instruction, bool) {
	if in.Op != Binary || len(in.In) != 2 {
		return in, false
	}
	d, by := in.In[0], in.In[1]
	if in.Func == Mul && f.centred(d) == nil {
		d, by = by, d
	}
	difference := f.centred(d)
	if difference == nil {
		return in, false
	}
	rows, k, spread := f.repeated(by)
	if rows == 0 {
		return in, false
	}
	var variance ID
	switch inverse := f.find(spread, Unary, Inverse); {
	case in.Func == Div:
		root := f.find(spread, Unary, Sqrt)
		if root == nil {
			return in, false
		}
		variance = root.In[0]
	case in.Func == Mul && inverse != nil && f.find(inverse.In[0], Unary, Sqrt) != nil:
		variance = f.find(inverse.In[0], Unary, Sqrt).In[0]
	case in.Func == Mul && f.find(spread, Unary, InverseSqrt) != nil:
		variance = f.find(spread, Unary, InverseSqrt).In[0]
	default:
		return in, false
	}
	epsilon := float32(0)
	if plus := f.find(variance, BinaryScalar, Add); plus != nil {
		epsilon, variance = plus.Scalar, plus.In[0]
	}
	squares := f.mean(variance, rows, k)
	square := f.find(squares, Unary, SquareOf)
	x := difference.In[0]
	if squares == None || square == nil || square.In[0] != d || epsilon < 0 {
		return in, false
	}
	if meanRows, meanK, of := f.repeated(difference.In[1]); meanRows != rows || meanK != k || f.mean(of, rows, k) != x {
		return in, false
	}
	return Instruction{Op: Normalize, In: []ID{x}, Out: in.Out, Where: None, Rows: rows, K: k, Scalar: epsilon}, true
}

// centred returns the subtraction that writes d, or nil.
func (f finder) centred(d ID) *Instruction {
	in := f.find(d, Binary, Sub)
	if in == nil || f.Values[in.In[0]].Kind == Shared || f.Values[in.In[1]].Kind == Shared {
		return nil
	}
	return in
}

// repeated returns, for a value that repeats one number along each row, the number of rows, their length, and the value
// with these numbers. It returns no rows for any other value.
func (f finder) repeated(id ID) (rows, k int, of ID) {
	in := f.find(id, Gather, 0)
	if in == nil {
		return 0, 0, None
	}
	rows = f.Values[in.In[0]].Size
	if total := in.View.Size(); total%rows == 0 && byRows(in.View, rows, total/rows) {
		return rows, total / rows, in.In[0]
	}
	return 0, 0, None
}

// mean returns the value whose rows' means id holds, or None.
func (f finder) mean(id ID, rows, k int) ID {
	var total ID
	switch div, mul := f.find(id, BinaryScalar, Div), f.find(id, BinaryScalar, Mul); {
	case div != nil && !div.Swap && div.Scalar == float32(k):
		total = div.In[0]
	case mul != nil && mul.Scalar == 1/float32(k):
		total = mul.In[0]
	default:
		return None
	}
	sum := f.find(total, Scatter, 0)
	if sum == nil || f.Values[total].Size != rows || !byRows(sum.View, rows, k) {
		return None
	}
	return sum.In[0]
}

// byRows reports whether element j of a view is at position j / k of rows.
func byRows(v View, rows, k int) bool {
	if v.Offset != 0 || v.Size() != rows*k {
		return false
	}
	inner, stride := 1, 0
	for d, s := range slices.Backward(v.Shape) {
		switch {
		case s == 1:
		case inner < k:
			if v.Strides[d] != 0 {
				return false
			}
			inner *= s
		default:
			if stride == 0 {
				stride = 1
			}
			if v.Strides[d] != stride {
				return false
			}
			stride *= s
		}
	}
	return inner == k
}
