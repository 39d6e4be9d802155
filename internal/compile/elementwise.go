package compile

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
)

// unary lowers a function of one operand. A sample's values take an instruction and a number is computed at once; a sum
// over the batch allows the negative only.
func unary(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	f, ok := unaryFunc(n.Op())
	if !ok {
		return traced{}, noRule(n, "")
	}
	x := in[0]
	switch x.class {
	case scalar:
		if x.ofBatch {
			return traced{}, ofBatchSize(n)
		}
		return traced{class: scalar, number: f.Unary(x.number)}, nil
	case summed:
		switch {
		case f != Neg:
			return traced{}, mixes(n, "it is applied to a sum over the batch; only the final cost may be one")
		case x.partial:
			return traced{}, ofPartialSum(n)
		}
		return x.scaled(-1), nil
	case shared:
		return traced{}, noRule(n, "it transforms a parameter before use")
	}
	out := x
	out.divided = x.divided && f == Neg
	out.id = t.emit(n, x.shape, Instruction{Op: Unary, Func: f, In: []ID{x.id}})
	return out, nil
}

// scaled returns a sum over the batch multiplied by a constant.
func (v traced) scaled(by float64) traced {
	terms := make([]term, len(v.terms))
	for i, x := range v.terms {
		terms[i] = term{x.id, x.factor * by}
	}
	v.terms = terms
	return v
}

// binary lowers an elementwise function of two operands. At least one is batched; the other may be a number, a batched
// value of the same shape, or a parameter or constant that is broadcast to it. costArithmetic and scalarArithmetic
// lower functions of sums and of numbers.
func binary(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	f, ok := binaryFunc(n.Op())
	if !ok {
		return traced{}, noRule(n, "")
	}
	a, b := in[0], in[1]
	switch {
	case a.class == summed || b.class == summed:
		return costArithmetic(t, n, f, a, b)
	case a.class == scalar && b.class == scalar:
		return scalarArithmetic(n, f, a, b)
	case a.ofBatch || b.ofBatch:
		return traced{}, ofBatchSize(n)
	case a.class != batched && b.class != batched:
		return traced{}, noRule(n, "it combines parameters or constants before use")
	case a.class == scalar || b.class == scalar:
		x, s, swap := a, b, false
		if a.class == scalar {
			x, s, swap = b, a, true
		}
		out := x
		out.id = t.emit(n, x.shape, Instruction{Op: BinaryScalar, Func: f, In: []ID{x.id}, Scalar: float32(s.number), Swap: swap})
		out.divided = f == Div && !swap && t.isBatch(s) || f == Mul && t.perBatch(s)
		return out, nil
	}
	out := a
	if a.class != batched {
		out = b
	}
	ids := [2]ID{a.id, b.id}
	for i, v := range [2]traced{a, b} {
		switch {
		case v.class == shared:
			if !v.overBatch && len(v.shape) > 0 && !out.folded && t.batch == 1 && v.shape[0] == 1 {
				v.shape, v.view = v.shape[1:], v.view.without(0) // a batch of one needs no repeating
			} else if !v.overBatch && len(v.shape) > 0 && !(out.folded && t.batch == 1) {
				return traced{}, refuse(n, "it gives each place in the batch its own parameter", "a parameter that is broadcast along the batch axis")
			}
			view, ok := v.spreadOver(out.shape)
			if !ok {
				return traced{}, noRule(n, "its operands' shapes differ")
			}
			id := t.value(Value{Name: t.prog.Values[v.id].Name, Kind: Shared, Shape: view.Shape, Source: v.id, View: view})
			t.needs[id] = t.needs[v.id]
			ids[i] = id
		case !slices.Equal(v.shape, out.shape):
			return traced{}, noRule(n, "its operands' shapes differ")
		}
	}
	out.divided = false
	out.id = t.emit(n, out.shape, Instruction{Op: Binary, Func: f, In: ids[:]})
	return out, nil
}

// costArithmetic lowers negation, scaling and addition of sums over the batch.
func costArithmetic(t *tracer, n *gorgonia.Node, f Func, a, b traced) (traced, error) {
	// A linear function of sums over the batch is a sum over the batch.
	linear := f == Add || f == Sub || f == Mul && !(a.class == summed && b.class == summed) || f == Div && b.class != summed
	divided := f == Div && t.isBatch(b) || f == Mul && (t.perBatch(a) || t.perBatch(b))
	switch {
	case !linear || a.class == batched || b.class == batched:
		return traced{}, mixes(n, "it is applied to a sum over the batch; only the final cost may be one, and only be scaled or added to")
	case a.partial || b.partial:
		return traced{}, ofPartialSum(n)
	case divided && (a.class == scalar || b.class == scalar):
		return traced{}, t.dividedTwice(n)
	case a.class == summed && b.class == scalar && b.ofBatch, b.class == summed && a.class == scalar && a.ofBatch:
		return traced{}, refuse(n, "it computes the cost with the batch size; training divides by the expected batch size already", "Sum instead of Mean")
	case a.class == summed && b.class == summed && (f == Add || f == Sub):
		if f == Sub {
			b = b.scaled(-1)
		}
		a.terms = slices.Concat(a.terms, b.terms)
		return a, nil
	case b.class == scalar && f == Mul:
		return a.scaled(b.number), nil
	case b.class == scalar && f == Div:
		return a.scaled(1 / b.number), nil
	case a.class == scalar && f == Mul:
		return b.scaled(a.number), nil
	case b.class == scalar && (f == Add || f == Sub):
		return a, nil
	case a.class == scalar && f == Add:
		return b, nil
	case a.class == scalar && f == Sub:
		return b.scaled(-1), nil
	}
	return traced{}, refuse(n, "it combines a sum over the batch with a parameter, which has no share in any one sample's cost", "the parameter in the samples' own costs, before they are summed")
}

// ofPartialSum returns the error for arithmetic with a sum over the batch whose other axes aren't summed yet.
func ofPartialSum(n *gorgonia.Node) error {
	return refuse(n, "it is applied to a sum over the batch alone", "Sum over all axes at once before it")
}

// isBatch and perBatch report whether a number is the graph's batch size or its inverse, given as a literal rather than
// read off a shape. For a batch of 1 or 2 they return false: 1 changes nothing, and 1/2 is the usual factor of a
// square.
func (t *tracer) isBatch(v traced) bool {
	return v.class == scalar && v.constant && t.batch > 2 && v.number == float64(t.batch)
}

func (t *tracer) perBatch(v traced) bool {
	return v.class == scalar && v.constant && t.batch > 2 && float32(v.number) == 1/float32(t.batch)
}

// dividedTwice returns the error for a cost that takes its own mean. Training divides by the expected batch size, and
// gradients divided twice are far below the clipping norm and drown in its noise.
func (t *tracer) dividedTwice(n *gorgonia.Node) error {
	return fmt.Errorf("%w: node %q divides the cost by %d, the graph's batch size; training divides by the expected batch size already and would seem dead: use the sum alone, or build the graph for another batch size if the number means something else", ErrSource, label(n), t.batch)
}

// scalarArithmetic computes a function of two numbers. A number that counts samples may be multiplied by one that
// doesn't.
func scalarArithmetic(n *gorgonia.Node, f Func, a, b traced) (traced, error) {
	out := traced{
		class: scalar, number: f.Binary(a.number, b.number),
		ofBatch: a.ofBatch || b.ofBatch, constant: a.constant && b.constant,
	}
	if out.ofBatch && (f != Mul || a.ofBatch && b.ofBatch) {
		return traced{}, ofBatchSize(n)
	}
	return out, nil
}
