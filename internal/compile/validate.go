package compile

import (
	"errors"
	"fmt"
	"slices"
)

// Check reports the first fault of a program. A program without faults has inputs, parameters and output among its
// values, sizes that follow from the operations, no read before a write, views inside their values, and at most one
// reduction for each parameter. [Compile] checks its result, so engines, whose kernels check no index, needn't.
func (p *Program) Check() error {
	if p == nil {
		return errors.New("program: there is none")
	}
	c := &checker{Program: p}
	if err := c.program(); err != nil {
		return fmt.Errorf("program: %w", err)
	}
	return nil
}

// checker checks a program. It checks each index and factor before it uses it.
type checker struct {
	*Program
	written   map[ID]bool // by the instructions so far
	prepared  map[ID]bool // by Prepare
	preparing bool
	forward   map[ID]bool // by Forward
}

// program checks values and tensors first: the other checks index by them.
func (c *checker) program() error {
	if err := c.values(); err != nil {
		return err
	}
	if err := c.tensors(); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	c.written = map[ID]bool{}
	if err := c.list("predict", c.Predict); err != nil {
		return err
	}
	if i := slices.IndexFunc(c.Predict, func(in Instruction) bool { return in.Drawn(1) > 0 }); i >= 0 {
		return fmt.Errorf("predict, instruction %d: a prediction draws nothing", i)
	}
	switch id := c.Output.Value; {
	case id == None && c.Output.Name != "":
		return fmt.Errorf("output %q has no value", c.Output.Name)
	case id == None:
	case c.Values[id].Type != Float32:
		return fmt.Errorf("output is value %d, which holds integers", id)
	case !c.Values[id].perSample() || !c.ready(id):
		return fmt.Errorf("output is value %d, which predict doesn't write", id)
	}
	c.written = map[ID]bool{}
	if err := c.list("forward", c.Forward); err != nil {
		return err
	}
	c.forward = map[ID]bool{}
	for id := range c.written {
		c.forward[id] = true
	}
	if err := c.list("backward", c.Backward); err != nil {
		return err
	}
	return c.reductions()
}

// prepare checks the instructions that write the derived values, and that each derived value is written.
func (c *checker) prepare() error {
	c.written, c.preparing = map[ID]bool{}, true
	if err := c.list("prepare", c.Prepare); err != nil {
		return err
	}
	c.prepared, c.preparing = c.written, false
	for id, v := range c.Values {
		if v.Kind == Derived && !c.prepared[ID(id)] {
			return fmt.Errorf("value %d is derived, and prepare doesn't write it", id)
		}
	}
	if c.Draws < 0 || c.Draws > maxSize || c.Draws%DrawsMultiple != 0 {
		return fmt.Errorf("a sample has %d draws, want a multiple of %d up to %d", c.Draws, DrawsMultiple, maxSize)
	}
	return nil
}

func (c *checker) values() error {
	for id, v := range c.Values {
		if err := c.value(ID(id), v); err != nil {
			return fmt.Errorf("value %d (%s): %w", id, v.Name, err)
		}
	}
	return nil
}

// value checks one value, and a shared one against its source.
func (c *checker) value(id ID, v Value) error {
	switch {
	case v.Size == 0 || v.Size != size(v.Shape...):
		return fmt.Errorf("its shape %v doesn't have its size %d", v.Shape, v.Size)
	case v.Type > Int32:
		return fmt.Errorf("it is of an unknown type")
	case v.Type == Int32 && v.Kind != Buffer && v.Kind != Input:
		return fmt.Errorf("a value of kind %v holds integers", v.Kind)
	}
	switch v.Kind {
	case Buffer, Derived:
	case Input, Param:
		if tensors := c.tensorsOf(v.Kind); v.Index < 0 || v.Index >= len(tensors) || tensors[v.Index].Value != id {
			return fmt.Errorf("it isn't %v %d", v.Kind, v.Index)
		}
	case Const:
		if len(v.Data) != v.Size {
			return fmt.Errorf("it has %d values for a size of %d", len(v.Data), v.Size)
		}
	case Shared:
		if err := c.known(v.Source); err != nil {
			return fmt.Errorf("source: %w", err)
		}
		from := c.Values[v.Source]
		if !from.stored() {
			return fmt.Errorf("its source is of kind %v", from.Kind)
		}
		return c.view(v.View, from.Size, v.Size)
	default:
		return fmt.Errorf("it is of an unknown kind")
	}
	return nil
}

// view checks that a view has n elements and is inside a value of the given size.
func (c *checker) view(v View, whole, n int) error {
	switch {
	case !v.within(whole):
		return fmt.Errorf("%v isn't inside a value of size %d", v, whole)
	case v.Size() != n:
		return fmt.Errorf("%v has %d elements, not %d", v, v.Size(), n)
	}
	return nil
}

// tensorsOf returns the inputs or the parameters.
func (c *checker) tensorsOf(k Kind) []Tensor {
	if k == Param {
		return c.Params
	}
	return c.Inputs
}

// tensors checks inputs, parameters, output and initial values against the values that they name.
func (c *checker) tensors() error {
	for _, k := range []Kind{Input, Param} {
		for i, t := range c.tensorsOf(k) {
			if err := c.tensor(t); err != nil {
				return fmt.Errorf("%v %d: %w", k, i, err)
			}
			if v := c.Values[t.Value]; v.Kind != k || v.Index != i {
				return fmt.Errorf("%v %d is value %d, which is %v %d", k, i, t.Value, v.Kind, v.Index)
			}
		}
	}
	if c.Output.Value != None {
		if err := c.tensor(c.Output); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}

// tensor checks a tensor's size and type against its value's. Its shape may be another of the same size.
func (c *checker) tensor(t Tensor) error {
	if err := c.known(t.Value); err != nil {
		return err
	}
	if v := c.Values[t.Value]; v.Size != t.Size || v.Size != size(t.Shape...) || v.Type != t.Type {
		return fmt.Errorf("%v %v isn't value %d, %v %v", t.Type, t.Shape, t.Value, v.Type, v.Shape)
	}
	return nil
}

// perSample reports whether every sample has a row of its own.
func (v Value) perSample() bool { return v.Kind == Buffer || v.Kind == Input }

// stored reports whether a value is the same for all samples and stored in memory as it is.
func (v Value) stored() bool { return v.Kind == Param || v.Kind == Const || v.Kind == Derived }

// known returns an error if no value has the ID.
func (c *checker) known(id ID) error {
	if id < 0 || int(id) >= len(c.Values) {
		return fmt.Errorf("there is no value %d", id)
	}
	return nil
}

// ready reports whether a value can be read: earlier instructions have written it, or no instruction writes it.
func (c *checker) ready(id ID) bool {
	switch c.Values[id].Kind {
	case Buffer:
		return c.written[id]
	case Derived:
		return c.written[id] || c.prepared[id]
	}
	return true
}

// indexes reports whether a value is an input of n integers.
func (c *checker) indexes(id ID, n int) bool {
	return c.known(id) == nil && indices.takes(c.Values[id]) && c.Values[id].Size == n
}

// reductions checks that each parameter has at most one reduction, and that none reads what another may scale.
func (c *checker) reductions() error {
	seen, named := map[int]bool{}, map[ID]bool{}
	for _, r := range c.Reductions {
		if r.Param < 0 || r.Param >= len(c.Params) {
			return fmt.Errorf("reduction of parameter %d: there is none", r.Param)
		}
		if seen[r.Param] {
			return fmt.Errorf("reduction of parameter %q comes twice", c.Params[r.Param].Name)
		}
		seen[r.Param] = true
		if err := c.reduction(r, named); err != nil {
			return fmt.Errorf("reduction of parameter %q: %w", c.Params[r.Param].Name, err)
		}
	}
	for _, r := range c.Reductions {
		if named[r.X] {
			return fmt.Errorf("reduction of parameter %q: value %d has another use", c.Params[r.Param].Name, r.X)
		}
	}
	return nil
}

// reduction checks one reduction. named holds the gradients of the others, which an engine may scale in place.
func (c *checker) reduction(r Reduction, named map[ID]bool) error {
	want := map[ID]int{}
	of, scaled := 0, r.Delta
	switch r.Rule {
	case RankOne:
		of, want[r.X], want[r.Delta] = size(r.K, r.N), r.K, r.N
	case OfRows:
		if size(r.Rows, r.K) == 0 || !c.indexes(r.X, r.Rows) {
			return fmt.Errorf("value %d isn't an input of %d integers", r.X, r.Rows)
		}
		of, want[r.Delta] = size(r.N, r.K), size(r.Rows, r.K)
	case OfConv:
		w := r.Window
		if err := w.check(); err != nil {
			return err
		}
		of, want[r.X], want[r.Delta] = w.filterSize(), w.inSize(), w.outSize()
	case Materialised:
		of, scaled = c.Params[r.Param].Size, r.G
		want[r.G] = of
	default:
		return errors.New("its rule is unknown")
	}
	if of != c.Params[r.Param].Size {
		return fmt.Errorf("it makes %d values of %d", of, c.Params[r.Param].Size)
	}
	for id, n := range want {
		if err := c.known(id); err != nil {
			return err
		}
		if v := c.Values[id]; !v.perSample() || v.Kind == Input && id == scaled || v.Type != Float32 || v.Size != n || !c.ready(id) {
			return fmt.Errorf("value %d isn't a row of %d floats for each sample that has been written", id, n)
		}
	}
	if named[scaled] || c.forward[scaled] {
		return fmt.Errorf("value %d has another use", scaled)
	}
	named[scaled] = true
	return nil
}
