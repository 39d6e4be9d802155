package compile

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"gorgonia.org/gorgonia"
)

// Compile turns a graph into a step program. Errors wrap [ErrSource]; those of an operation that mixes
// samples are a [*MixError]. A graph with an operation that has no rule compiles to a program with
// [Program.Fallback] set if it was built with a batch of one, and is an error otherwise.
func Compile(src Source) (*Program, error) {
	t, err := newTracer(src)
	if err != nil {
		return nil, err
	}
	err = t.compile(src)
	var rule *RuleError
	if errors.As(err, &rule) {
		if t.batch != 1 {
			return nil, fmt.Errorf("%w: %w; build the graph with a batch of one to train it one sample at a time", ErrSource, err)
		}
		return t.fallback(src, err)
	}
	if err != nil {
		return nil, err
	}
	return t.prog, nil
}

func newTracer(src Source) (*tracer, error) {
	fail := func(format string, args ...any) (*tracer, error) {
		return nil, fmt.Errorf("%w: %w", ErrSource, fmt.Errorf(format, args...))
	}
	switch {
	case len(src.Inputs) == 0:
		return fail("it lists no inputs")
	case len(src.Params) == 0:
		return fail("it lists no parameters")
	case src.Cost == nil:
		return fail("it has no cost")
	case !src.Cost.IsScalar():
		return fail("cost %q has shape %v; sum it to a scalar", src.Cost.Name(), src.Cost.Shape())
	}
	t := &tracer{
		prog:  &Program{Output: Tensor{Value: None}},
		memo:  map[*gorgonia.Node]traced{},
		needs: map[ID]bool{},
	}
	for i, n := range src.Inputs {
		shape := shapeOf(n)
		switch {
		case n.Op() != nil:
			return fail("input %q is computed", n.Name())
		case len(shape) == 0:
			return fail("input %q is a scalar; its first axis must be the batch", n.Name())
		case i > 0 && shape[0] != t.batch:
			return fail("input %q has a batch of %d, input %q one of %d", n.Name(), shape[0], src.Inputs[0].Name(), t.batch)
		}
		if t.batch = shape[0]; t.batch < 1 {
			return fail("input %q has a batch of %d", n.Name(), t.batch)
		}
		id := t.value(Value{Name: n.Name(), Kind: Input, Shape: shape[1:], Index: i})
		t.memo[n] = traced{class: batched, id: id, shape: shape[1:]}
		t.prog.Inputs = append(t.prog.Inputs, Tensor{Name: n.Name(), Shape: shape[1:], Size: product(shape[1:]), Value: id})
	}
	names := map[string]bool{}
	for i, n := range src.Params {
		if n.Op() != nil {
			return fail("parameter %q is computed", n.Name())
		}
		if _, twice := t.memo[n]; twice || names[n.Name()] {
			return fail("parameter %q is listed twice, or as an input too", n.Name())
		}
		names[n.Name()] = true
		data, err := floats(n)
		if err != nil {
			return fail("parameter: %w", err)
		}
		shape := shapeOf(n)
		id := t.value(Value{Name: n.Name(), Kind: Param, Shape: shape, Index: i})
		t.needs[id] = true
		t.memo[n] = traced{class: shared, id: id, shape: shape}
		t.prog.Params = append(t.prog.Params, Tensor{Name: n.Name(), Shape: shape, Size: product(shape), Value: id})
		t.prog.initial = append(t.prog.initial, data)
	}
	t.prog.digest = digest(src)
	return t, nil
}

func (t *tracer) compile(src Source) error {
	p := t.prog
	if src.Output != nil {
		out, err := t.trace(src.Output)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		if out.class != batched || out.folded {
			return fmt.Errorf("%w: output %q doesn't have the batch as its first axis", ErrSource, src.Output.Name())
		}
		p.Output = Tensor{Name: src.Output.Name(), Shape: out.shape, Size: product(out.shape), Value: out.id}
		p.Predict = needed(t.code, []ID{out.id})
	}
	cost, err := t.trace(src.Cost)
	if err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	if cost.class != summed || cost.partial {
		return fmt.Errorf("%w: cost %q isn't a sum over the samples of the batch", ErrSource, src.Cost.Name())
	}
	var ends []ID
	for _, x := range cost.terms {
		if t.needs[x.id] {
			ends = append(ends, x.id)
		}
	}
	if len(ends) == 0 {
		return fmt.Errorf("%w: cost %q doesn't depend on any parameter", ErrSource, src.Cost.Name())
	}
	p.Forward = needed(t.code, ends)
	r := &reverser{tracer: t, grads: map[ID]ID{}, uses: map[ID]int{}, g: map[ID]ID{}}
	r.reverse(cost.terms, p.Forward)
	p.Backward, p.Reductions = r.code, r.sums
	slices.SortFunc(p.Reductions, func(a, b Reduction) int { return a.Param - b.Param })

	var keep []ID
	for _, s := range p.Reductions {
		keep = append(keep, s.X, s.Delta, s.G)
	}
	p.GradientPlan = p.plan(slices.Concat(p.Forward, p.Backward), keep)
	p.PredictPlan = p.plan(p.Predict, []ID{p.Output.Value})
	return nil
}

// needed returns the instructions that the given values depend on, in order.
func needed(code []Instruction, ends []ID) []Instruction {
	want := map[ID]bool{}
	for _, id := range ends {
		want[id] = true
	}
	var out []Instruction
	for _, in := range slices.Backward(code) {
		if want[in.Out] {
			out = append(out, in)
			for _, id := range in.In {
				want[id] = true
			}
		}
	}
	slices.Reverse(out)
	return out
}

// fallback keeps what one sample at a time needs; the graph's own shapes have a batch of one.
func (t *tracer) fallback(src Source, reason error) (*Program, error) {
	for _, n := range evaluationOrder(gorgonia.Nodes{src.Cost}) {
		if f, ok := unaryFunc(n.Op()); ok && (f == Log2 || f == InverseSqrt) {
			return nil, fmt.Errorf("%w: %w, and Gorgonia's own gradient of %s is wrong", ErrSource, reason, f)
		}
		if err := refused(n); err != nil {
			return nil, err
		}
	}
	p := &Program{
		Inputs: t.prog.Inputs, Params: t.prog.Params, initial: t.prog.initial,
		Output:   Tensor{Value: None},
		Fallback: &Fallback{Source: src, Reason: reason, reference: sync.OnceValues(func() (*Reference, error) { return NewReference(src) })},
	}
	if src.Output != nil {
		shape := shapeOf(src.Output)
		if len(shape) == 0 || shape[0] != 1 {
			return nil, fmt.Errorf("%w: output %q doesn't have the batch as its first axis", ErrSource, src.Output.Name())
		}
		p.Output = Tensor{Name: src.Output.Name(), Shape: shape[1:], Size: product(shape[1:]), Value: None}
	}
	return p, nil
}
