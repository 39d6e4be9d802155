package compile

import (
	"slices"

	"gorgonia.org/gorgonia"
)

func reshape(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v := in[0]
	to := shapeOf(n)
	switch v.class {
	case shared:
		if v.overBatch {
			return traced{}, noRule(n, "the parameter is repeated along the batch")
		}
		v.shape = to
		return v, nil
	case batched:
		per, folded, err := t.perSample(n, to)
		if err != nil {
			return traced{}, err
		}
		v.shape, v.folded = per, folded
		return v, nil
	}
	return traced{}, noRule(n, "")
}

// perSample splits the batch axis off a batched node's shape. Values are stored row-major with the
// batch outermost, so a first axis that is a multiple of the batch holds whole samples.
func (t *tracer) perSample(n *gorgonia.Node, shape []int) (per []int, folded bool, err error) {
	if len(shape) == 0 || shape[0]%t.batch != 0 {
		return nil, false, mixes(n, "it moves the batch away from the first axis")
	}
	if shape[0] == t.batch {
		return shape[1:], false, nil
	}
	per = slices.Clone(shape)
	per[0] /= t.batch
	return per, true, nil
}

func transpose(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v := in[0]
	pattern := fieldsOf(n.Op()).ints("pattern")
	switch v.class {
	case shared:
		if v.overBatch {
			return traced{}, noRule(n, "the parameter is repeated along the batch")
		}
		m := v.mapping()
		from := permutation(v.shape, pattern)
		spread := make([]int32, len(m))
		for i, j := range from {
			spread[i] = m[j]
		}
		v.spread, v.shape = spread, permuted(v.shape, pattern)
		return v, nil
	case batched:
		if t.batch == 1 && len(pattern) > 0 && pattern[0] != 0 {
			return t.transposeOne(n, v, pattern)
		}
		if len(pattern) == 0 || pattern[0] != 0 {
			return traced{}, mixes(n, "it moves the batch away from the first axis")
		}
		axes := slices.Clone(pattern)
		if !v.folded {
			axes = axes[1:]
			for i := range axes {
				axes[i]--
			}
		}
		return t.permute(n, v, axes), nil
	}
	return traced{}, noRule(n, "")
}

func (t *tracer) permute(n *gorgonia.Node, v traced, axes []int) traced {
	shape := permuted(v.shape, axes)
	v.id = t.emit(n, shape, Instruction{Op: Permute, In: []ID{v.id}, Axes: axes, Map: permutation(v.shape, axes)})
	v.shape = shape
	return v
}

// transposeOne transposes a batch of one. All of it is one sample's, wherever the batch axis goes; the first axis
// then counts as rows of that sample, unless it is of length one and can be the batch's.
func (t *tracer) transposeOne(n *gorgonia.Node, v traced, pattern []int) (traced, error) {
	v.shape = shapeOf(children(n)[0])
	if moves(v.shape, pattern) {
		v = t.permute(n, v, pattern)
	}
	var err error
	v.shape, v.folded, err = t.perSample(n, shapeOf(n))
	return v, err
}

// moves tells whether a transposition changes the order of values: whether it does more than move axes of length
// one around.
func moves(shape, pattern []int) bool {
	return !isIdentity(permutation(shape, pattern))
}

func permuted(shape, axes []int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = shape[a]
	}
	return out
}

// permutation returns, for each element of a tensor with its axes in the given order, where it stood
// in the tensor of the given shape.
func permutation(shape, axes []int) []int32 {
	strides := stridesOf(shape)
	to := permuted(shape, axes)
	out := make([]int32, product(shape))
	index := make([]int, len(to))
	for i := range out {
		at := 0
		for d, a := range axes {
			at += index[d] * strides[a]
		}
		out[i] = int32(at)
		increment(index, to)
	}
	return out
}

func stridesOf(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// increment steps a row-major multi-index.
func increment(index, shape []int) {
	for d := len(shape) - 1; d >= 0; d-- {
		index[d]++
		if index[d] < shape[d] {
			return
		}
		index[d] = 0
	}
}

func sizeOf(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	f := fieldsOf(n.Op())
	size := float64(children(n)[0].Shape()[f.int("axis")])
	_, ofBatch := in[0].axis(f.int("axis"))
	// Of a batch of one, a first axis that holds more than the batch counts a sample's own rows.
	rows := t.batch == 1 && in[0].folded
	isBatch := ofBatch && !rows && (in[0].class == batched || in[0].overBatch)
	return traced{class: scalar, number: size, ofBatch: isBatch}, nil
}

// repeat spreads an axis of length one, which is how Gorgonia broadcasts.
func repeat(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v, count := in[0], in[1]
	along := fieldsOf(n.Op()).int("along")
	from, to := shapeOf(children(n)[0]), shapeOf(n)
	if count.class != scalar || along < 0 || along >= len(from) || from[along] != 1 || len(from) != len(to) {
		return traced{}, noRule(n, "only an axis of length one can be repeated")
	}
	switch {
	case v.class == shared && count.ofBatch:
		if along != 0 || v.overBatch {
			return traced{}, mixes(n, "it repeats along the batch on another axis than the first")
		}
		per, folded, err := t.perSample(n, to)
		if err != nil {
			return traced{}, err
		}
		rows := 1
		if folded {
			rows = per[0]
		}
		m := v.mapping()
		v.spread = nil
		for range rows {
			v.spread = append(v.spread, m...)
		}
		v.shape, v.folded, v.overBatch = per, folded, true
		return v, nil
	case count.ofBatch:
		return traced{}, mixes(n, "it repeats a sample's value along the batch")
	case v.class == shared:
		axis, _ := along, 0
		if v.overBatch && !v.folded {
			axis--
		}
		if axis < 0 {
			return traced{}, noRule(n, "")
		}
		m := v.mapping()
		shape := slices.Clone(v.shape)
		shape[axis] = to[along]
		spread := make([]int32, 0, product(shape))
		for _, j := range repeatMap(v.shape, axis, to[along]) {
			spread = append(spread, m[j])
		}
		v.shape, v.spread = shape, spread
		return v, nil
	case v.class == batched:
		axis, ofBatch := v.axis(along)
		if ofBatch {
			return traced{}, mixes(n, "it repeats along the batch")
		}
		out := v
		out.shape = slices.Clone(v.shape)
		out.shape[axis] = to[along]
		out.id = t.emit(n, out.shape, Instruction{Op: Gather, In: []ID{v.id}, Map: repeatMap(v.shape, axis, to[along])})
		return out, nil
	}
	return traced{}, noRule(n, "")
}

// repeatMap returns where each element comes from when an axis of length one is repeated.
func repeatMap(shape []int, axis, times int) []int32 {
	outer, inner := product(shape[:axis]), product(shape[axis+1:])
	out := make([]int32, 0, outer*times*inner)
	for o := range outer {
		for range times {
			for i := range inner {
				out = append(out, int32(o*inner+i))
			}
		}
	}
	return out
}

func slice(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	v := in[0]
	if v.class != batched || v.folded {
		return traced{}, noRule(n, "")
	}
	s := sliceOf(n.Op())
	axis, ofBatch := v.axis(fieldsOf(n.Op()).int("along"))
	if s == nil {
		return v, nil
	}
	step := max(s.Step(), 1)
	if ofBatch {
		switch {
		case t.batch == 1:
			return traced{}, noRule(n, "it takes the batch axis away")
		case s.Start() == 0 && s.End() == t.batch && step == 1:
			return v, nil
		}
		return traced{}, mixes(n, "it picks samples out of the batch")
	}
	var picks []int
	for i := s.Start(); i < min(s.End(), v.shape[axis]); i += step { // Gorgonia's slices end where the axis does
		picks = append(picks, i)
	}
	outer, inner := product(v.shape[:axis]), product(v.shape[axis+1:])
	var from []int32
	for o := range outer {
		for _, p := range picks {
			for i := range inner {
				from = append(from, int32((o*v.shape[axis]+p)*inner+i))
			}
		}
	}
	per, folded, err := t.perSample(n, shapeOf(n))
	if err != nil {
		return traced{}, err
	}
	out := traced{class: batched, shape: per, folded: folded}
	out.id = t.emit(n, per, Instruction{Op: Gather, In: []ID{v.id}, Map: from})
	return out, nil
}
