package compile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Compile turns a graph into a step program. The program shares nothing with the graph, which may change afterwards.
//
// Errors wrap [ErrSource]. An operation that mixes samples is a [*MixError], and one that can't be trained, or a use of
// one, is a [*RefusedError]. The graph must bind values to all parameters or to none.
func Compile(src Source) (p *Program, err error) {
	t := &tracer{
		prog:    &Program{Output: Tensor{Value: None}},
		memo:    map[*gorgonia.Node]traced{},
		needs:   map[ID]bool{},
		factors: map[ID]factored{},
	}
	// Gorgonia panics on many faults of a graph.
	defer func() {
		if r := recover(); r != nil {
			where := ""
			if t.at != nil {
				where = fmt.Sprintf(" at node %q", graph.Label(t.at))
			}
			p, err = nil, fmt.Errorf("%w: panic%s: %w", ErrSource, where, oneLine(fmt.Errorf("%v", r)))
		}
	}()
	if err := t.declare(src); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSource, err)
	}
	if err := t.compile(src); err != nil {
		return nil, err
	}
	if err := t.prog.Check(); err != nil {
		return nil, fmt.Errorf("%w: compiled to what isn't a %w", ErrSource, err)
	}
	return t.prog, nil
}

// declare checks the graph and adds its inputs and parameters to the program.
func (t *tracer) declare(src Source) error {
	if err := checkLists(src); err != nil {
		return err
	}
	switch {
	case len(src.Inputs) == 0:
		return errors.New("it lists no inputs")
	case len(src.Params) == 0:
		return errors.New("it lists no parameters")
	case !src.Cost.IsScalar():
		return fmt.Errorf("cost %q has shape %v; sum it to a scalar", graph.Label(src.Cost), src.Cost.Shape())
	}
	for i, n := range src.Inputs {
		if err := t.input(src, i, n); err != nil {
			return err
		}
	}
	names := map[string]bool{}
	for i, n := range src.Params {
		if err := t.param(i, n, names); err != nil {
			return err
		}
	}
	for i, n := range src.Constants {
		if err := t.declared(src, i, n); err != nil {
			return err
		}
	}
	if err := checkAllBound(src.Params); err != nil {
		return err
	}
	if err := checkGraph(src); err != nil {
		return err
	}
	t.prog.digest = digest(src)
	return nil
}

// input adds input i to the program. The batch is its first axis, of the same length in all inputs.
func (t *tracer) input(src Source, i int, n *gorgonia.Node) error {
	shape := graph.Shape(n)
	t.at = n
	switch {
	case n.Op() != nil:
		return fmt.Errorf("input %q is computed", graph.Label(n))
	case graph.Name(n) == "":
		return nameless("input", i)
	case len(shape) == 0:
		return fmt.Errorf("input %q is a scalar; its first axis must be the batch", graph.Label(n))
	case slices.Min(shape) < 1:
		return fmt.Errorf("input %q has shape %v", graph.Label(n), shape)
	case i > 0 && shape[0] != t.batch:
		return fmt.Errorf("input %q has a batch of %d, input %q one of %d", graph.Label(n), shape[0], graph.Label(src.Inputs[0]), t.batch)
	case slices.Index(src.Inputs, n) != i:
		return fmt.Errorf("input %q is listed twice", graph.Label(n))
	}
	elements := Float32
	switch d := n.Dtype(); d {
	case tensor.Float32, tensor.Float64:
	case tensor.Int, tensor.Int32, tensor.Int64:
		elements = Int32
	default:
		return fmt.Errorf("input %q is of type %v; floating-point numbers or integers are needed", graph.Label(n), d)
	}
	t.batch = shape[0]
	id := t.value(Value{Name: n.Name(), Kind: Input, Type: elements, Shape: shape[1:], Index: i})
	t.memo[n] = traced{class: batched, id: id, shape: shape[1:]}
	t.prog.Inputs = append(t.prog.Inputs, Tensor{Name: n.Name(), Type: elements, Shape: shape[1:], Size: product(shape[1:]), Value: id})
	return nil
}

// param adds parameter i, and its bound value if it has one, to the program. names holds the names of the parameters
// before it.
func (t *tracer) param(i int, n *gorgonia.Node, names map[string]bool) error {
	t.at = n
	switch {
	case n.Op() != nil:
		return fmt.Errorf("parameter %q is computed", graph.Label(n))
	case graph.Name(n) == "":
		return nameless("parameter", i)
	}
	if _, twice := t.memo[n]; twice || names[n.Name()] {
		return fmt.Errorf("parameter %q is listed twice, or as an input too", graph.Label(n))
	}
	names[n.Name()] = true
	shape := graph.Shape(n)
	if len(shape) > 0 && slices.Min(shape) < 1 {
		return fmt.Errorf("parameter %q has shape %v", graph.Label(n), shape)
	}
	if d := n.Dtype(); d != tensor.Float32 && d != tensor.Float64 {
		return fmt.Errorf("parameter %q is of type %v; floating-point numbers are needed", graph.Label(n), d)
	}
	if n.Value() != nil {
		data, err := graph.Floats(n)
		if err != nil {
			return fmt.Errorf("parameter: %w", err)
		}
		if product(shape) != len(data) {
			return fmt.Errorf("parameter %q has shape %v but is bound to %d values", graph.Label(n), shape, len(data))
		}
		t.prog.initial = append(t.prog.initial, data)
	}
	id := t.value(Value{Name: n.Name(), Kind: Param, Shape: shape, Index: i})
	t.needs[id] = true
	t.memo[n] = traced{class: shared, id: id, shape: shape, view: ViewOf(shape)}
	t.prog.Params = append(t.prog.Params, Tensor{Name: n.Name(), Shape: shape, Size: product(shape), Value: id})
	return nil
}

// declared checks constant i, which becomes a value of the program where it is used.
func (t *tracer) declared(src Source, i int, n *gorgonia.Node) error {
	_, listed := t.memo[n]
	switch {
	case listed:
		return fmt.Errorf("constant %q is listed as an input or a parameter too", graph.Label(n))
	case graph.Name(n) == "":
		return nameless("constant", i)
	case slices.Index(src.Constants, n) != i:
		return fmt.Errorf("constant %q is listed twice; give each constant a name of its own: Gorgonia takes two of one name and shape for one, with the value of the first", graph.Label(n))
	case n.Op() != nil || n.Value() == nil:
		return fmt.Errorf("constant %q is computed, or has no value bound; bind one by gorgonia.WithValue", graph.Label(n))
	}
	return nil
}

// checkAllBound reports parameters if some have bound values and others don't.
func checkAllBound(params gorgonia.Nodes) error {
	free := func(n *gorgonia.Node) bool { return n.Value() == nil }
	bound := func(n *gorgonia.Node) bool { return n.Value() != nil }
	if i, j := slices.IndexFunc(params, free), slices.IndexFunc(params, bound); i >= 0 && j >= 0 {
		return fmt.Errorf("parameter %q has no value bound and parameter %q has; bind all of them or none", graph.Label(params[i]), graph.Label(params[j]))
	}
	return nil
}

// nameless returns the error for a node without a name. Gorgonia takes two nameless nodes of one shape for the same
// node.
func nameless(what string, i int) error {
	return fmt.Errorf("%s %d has no name; give it one of its own by gorgonia.WithName", what, i)
}

// compile lowers the output to Predict and the cost to Forward, Backward and Reductions.
func (t *tracer) compile(src Source) error {
	p := t.prog
	if src.Output != nil {
		out, err := t.trace(src.Output)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		if out.class != batched {
			return fmt.Errorf("%w: output %q doesn't have the batch as its first axis", ErrSource, graph.Label(src.Output))
		}
		if t.integers(out) {
			return readsIntegers(src.Output)
		}
		code, id := t.undrawn(normalized(p, needed(t.code, []ID{out.id}), []ID{out.id}), out.id)
		p.Output = Tensor{Name: src.Output.Name(), Type: p.Values[id].Type, Shape: out.shape, Size: product(out.shape), Value: id}
		p.Predict = code
	}
	cost, err := t.trace(src.Cost)
	if err != nil {
		return fmt.Errorf("cost: %w", err)
	}
	if cost.class != summed || cost.partial {
		return fmt.Errorf("%w: cost %q isn't a sum over the samples of the batch", ErrSource, graph.Label(src.Cost))
	}
	var ends []ID
	for _, x := range cost.terms {
		if single := float64(float32(x.factor)); single-single != 0 {
			return fmt.Errorf("%w: cost %q has a factor of %v, which isn't finite in single precision", ErrSource, graph.Label(src.Cost), x.factor)
		}
		if t.needs[x.id] {
			ends = append(ends, x.id)
		}
	}
	if len(ends) == 0 {
		hint := ""
		if t.batch == 1 {
			hint = "; if it compares samples, make those that are compared one sample, in a graph for a batch of two or more"
		}
		return fmt.Errorf("%w: cost %q doesn't depend on any parameter%s", ErrSource, graph.Label(src.Cost), hint)
	}
	p.Forward = normalized(p, needed(t.code, ends), ends)
	r := &reverser{tracer: t, grads: map[ID]ID{}, uses: map[ID]int{}, g: map[ID]ID{}, held: map[ID]ID{}, stacks: map[use]*stack{}}
	r.reverse(cost.terms, p.Forward)
	p.Backward, p.Reductions = r.code, r.sums
	slices.SortFunc(p.Reductions, func(a, b Reduction) int { return a.Param - b.Param })
	p.Prepare = t.derived()
	t.compact()
	return t.decay(cost)
}

// derived returns the instructions of Prepare that compute the values read by the other lists.
func (t *tracer) derived() []Instruction {
	var ends []ID
	for _, list := range [][]Instruction{t.prog.Predict, t.prog.Forward, t.prog.Backward} {
		for _, in := range list {
			for _, id := range in.In {
				ends = append(ends, t.prog.stored(id))
			}
		}
	}
	return needed(t.prepare, ends)
}

// needed returns the instructions that compute the given values, in order.
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

// Source is a Gorgonia graph to be trained. All inputs and parameters have names, and either all parameters have
// initial values bound or none has.
type Source struct {
	Inputs    gorgonia.Nodes // at least one, with the batch as the first axis
	Params    gorgonia.Nodes // trained, in this order
	Constants gorgonia.Nodes // bound to values that stay as they are
	Output    *gorgonia.Node // the prediction, such as logits, of shape [batch, …] or [batch·T, …]; may be nil
	Cost      *gorgonia.Node // a scalar: a sum over the samples of the batch
}
