package compile

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// unary lowers a function of one operand. For a sample's values it emits an instruction, and it computes a number
// directly. A sum over the batch allows only the negative.
func unary(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	f, ok := funcOf(n, Abs, unaryEnd)
	if !ok {
		return traced{}, refused(n)
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
			return traced{}, mixes(n, ofSum)
		case x.partial:
			return traced{}, ofPartialSum(n)
		}
		return x.scaled(-1), nil
	case shared:
		out := t.deriveLike(n, x, Instruction{Op: Unary, Func: f, In: []ID{t.whole(n, x)}})
		switch {
		case f == SquareOf && t.prog.Values[x.id].Kind == Param && x.view.rearranges(t.prog.Values[x.id].Size):
			out.square = 1 + t.prog.Values[x.id].Index
		case f == Neg:
			out.norms = scaledNorms(x.norms, -1)
		}
		return out, nil
	}
	out := x
	out.divided = x.divided && f == Neg
	out.id = t.emit(n, x.shape, Instruction{Op: Unary, Func: f, In: []ID{x.id}})
	return out, nil
}

// funcOf returns the function of an elementwise operation if it is one of from, …, to-1, and whether it is.
func funcOf(n *gorgonia.Node, from, to Func) (Func, bool) {
	operator := graph.Operator(n.Op())
	for f := from; f < to; f++ {
		if f.String() == operator {
			return f, true
		}
	}
	return 0, false
}

// scaled returns a sum over the batch multiplied by a constant.
func (v traced) scaled(by float64) traced {
	terms := make([]term, len(v.terms))
	for i, x := range v.terms {
		terms[i] = term{x.id, x.factor * by}
	}
	v.terms, v.norms = terms, scaledNorms(v.norms, by)
	return v
}

// binary lowers an elementwise function of two operands.
func binary(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
	f, ok := funcOf(n, Add, Ne+1)
	if !ok {
		return traced{}, refused(n)
	}
	return t.elementwise(n, f, in[0], in[1])
}

// between returns the rule for the maximum or the minimum of two values.
func between(f Func) rule {
	return func(t *tracer, n *gorgonia.Node, in []traced) (traced, error) {
		return t.elementwise(n, f, in[0], in[1])
	}
}

// elementwise lowers a function of two operands, element by element. If one is batched, the other may be a number, a
// batched value of the same shape, or a shared value that is broadcast to it. costArithmetic, scalarArithmetic and
// sharedArithmetic lower functions of sums, of numbers and of shared values.
func (t *tracer) elementwise(n *gorgonia.Node, f Func, a, b traced) (traced, error) {
	switch {
	case a.class == summed || b.class == summed:
		return costArithmetic(t, n, f, a, b)
	case a.class == scalar && b.class == scalar:
		return scalarArithmetic(n, f, a, b)
	case a.ofBatch || b.ofBatch:
		return traced{}, ofBatchSize(n)
	case a.class != batched && b.class != batched:
		return t.sharedArithmetic(n, f, a, b)
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
			v, err := t.alongBatch(n, v, out.folded)
			if err != nil {
				return traced{}, err
			}
			view, ok := v.spreadOver(out.shape)
			if !ok {
				return traced{}, refuse(n, shapesDiffer, "operands of one shape")
			}
			id := t.value(Value{Name: t.prog.Values[v.id].Name, Kind: Shared, Shape: view.Shape, Source: v.id, View: view})
			t.needs[id] = t.needs[v.id]
			ids[i] = id
		case !slices.Equal(v.shape, out.shape):
			return traced{}, refuse(n, shapesDiffer, "operands of one shape")
		}
	}
	out.divided = false
	out.id = t.emit(n, out.shape, Instruction{Op: Binary, Func: f, In: ids[:]})
	if ids[0] == ids[1] && (f == Sub || f == Div) {
		delete(t.needs, out.id) // it is 0 or 1
	}
	return out, nil
}

// costArithmetic lowers negation, scaling and addition of sums over the batch.
func costArithmetic(t *tracer, n *gorgonia.Node, f Func, a, b traced) (traced, error) {
	// A linear function of sums over the batch is a sum over the batch.
	linear := f == Add || f == Sub || f == Mul && !(a.class == summed && b.class == summed) || f == Div && b.class != summed
	same := a.class == summed && b.class == summed
	divided := f == Div && t.isBatch(b) || f == Mul && (t.perBatch(a) || t.perBatch(b))
	switch {
	case !linear || a.class == batched || b.class == batched:
		return traced{}, mixes(n, "it is applied to a sum over the batch; only the final cost may be one, and only be scaled or added to")
	case a.partial || b.partial:
		return traced{}, ofPartialSum(n)
	case divided && (a.class == scalar || b.class == scalar):
		return traced{}, t.dividedTwice(n)
	case f == Div && b.class == scalar && b.ofBatch && !a.mean:
		return t.meanOf(a, b.number), nil
	case a.class == summed && b.class == scalar && b.ofBatch, b.class == summed && a.class == scalar && a.ofBatch:
		return traced{}, refuse(n, "it computes the cost with the batch size in another way than to take its mean", "Sum or Mean of the samples' costs")
	case same && a.mean != b.mean:
		return traced{}, refuse(n, "it adds a mean over the batch to a sum over it, so that their weights depend on the batch size", "Sum for both or Mean for both")
	case same && (f == Add || f == Sub):
		if f == Sub {
			b = b.scaled(-1)
		}
		a.terms, a.norms = addedTerms(a.terms, b.terms), addedNorms(a.norms, b.norms)
		return a, nil
	case (f == Add || f == Sub) && (a.norms != nil || a.class == summed) && (b.norms != nil || b.class == summed):
		return t.withDecay(f, a, b), nil
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
	return traced{}, refuse(n, "it combines a sum over the batch with a parameter, which has no share in any one sample's cost", "the parameter in the samples' own costs, before they are summed; or, for weight decay, one Sum of the Square of a whole parameter, times a number")
}

// ofPartialSum returns the error for a linear operation on a sum over the batch whose other axes aren't summed yet.
func ofPartialSum(n *gorgonia.Node) error {
	return refuse(n, "it is applied to a sum over the batch alone, which only a cost may be made of", "Sum over all axes at once before it")
}

// isBatch and perBatch report whether a number is the graph's batch size or its inverse, given as a literal rather than
// read from a shape. For a batch of 1 or 2 they return false: 1 changes nothing, and 1/2 is the usual factor of a
// square.
func (t *tracer) isBatch(v traced) bool {
	return v.class == scalar && v.constant && t.batch > 2 && v.number == float64(t.batch)
}

func (t *tracer) perBatch(v traced) bool {
	return v.class == scalar && v.constant && t.batch > 2 && float32(v.number) == 1/float32(t.batch)
}

// dividedTwice returns the error for a cost that takes its own mean. Training divides by the expected batch size, and
// gradients divided twice are far below the clipping norm and its noise.
func (t *tracer) dividedTwice(n *gorgonia.Node) error {
	return fmt.Errorf("%w: node %q divides the cost by %d, the graph's batch size; training divides by the expected batch size already and would seem dead: use the sum alone, or gorgonia.Mean, or build the graph for another batch size if the number means something else", ErrSource, graph.Label(n), t.batch)
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
