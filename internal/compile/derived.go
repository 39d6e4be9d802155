package compile

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/graph"
)

// compact removes derived values that no instruction writes, and views of them, so that engines compute no unused
// value.
func (t *tracer) compact() {
	p := t.prog
	written := map[ID]bool{}
	for _, in := range p.Prepare {
		written[in.Out] = true
	}
	unread := func(id ID) bool {
		v := p.Values[id]
		if v.Kind == Shared {
			id = v.Source
		}
		return p.Values[id].Kind == Derived && !written[id]
	}
	moved := make([]ID, len(p.Values))
	var values []Value
	for id, v := range p.Values {
		if unread(ID(id)) {
			moved[id] = None
			continue
		}
		moved[id] = ID(len(values))
		values = append(values, v)
	}
	if len(values) == len(p.Values) {
		return
	}
	p.Values = values
	move := func(id *ID) {
		if *id != None {
			*id = moved[*id]
		}
	}
	for i := range values {
		if values[i].Kind == Shared {
			move(&values[i].Source)
		}
	}
	for _, list := range [][]Instruction{p.Prepare, p.Predict, p.Forward, p.Backward} {
		for i := range list {
			in := &list[i]
			operands := make([]ID, len(in.In))
			for k, id := range in.In {
				operands[k] = moved[id]
			}
			in.In = operands
			move(&in.Out)
			move(&in.Where)
		}
	}
	for i := range p.Reductions {
		r := &p.Reductions[i]
		move(&r.X)
		move(&r.Delta)
		move(&r.G)
	}
	for _, list := range [][]Tensor{p.Inputs, p.Params} {
		for i := range list {
			move(&list[i].Value)
		}
	}
	move(&p.Output.Value)
}

// decay sets the gradient of the cost's terms that belong to no sample, which isn't clipped. It depends on the
// parameters alone.
func (t *tracer) decay(cost traced) error {
	p := t.prog
	for i, norm := range cost.norms {
		ofMean := cost.mean && !norm.ofSum
		if i > 0 && ofMean != p.DecayOfMean {
			return fmt.Errorf("%w: cost %q adds weight decay both to the sum of the samples' costs and to their mean, so that its weight depends on the batch size: add all of it to one of them", ErrSource, graph.Label(t.at))
		}
		if p.Decay == nil {
			p.Decay = make([]float64, len(p.Params))
		}
		p.DecayOfMean = ofMean
		p.Decay[norm.param] += 2 * norm.by
	}
	for i, by := range p.Decay {
		if by-by != 0 {
			return fmt.Errorf("%w: cost %q decays parameter %q by a factor of %v, which isn't finite", ErrSource, graph.Label(t.at), p.Params[i].Name, by)
		}
	}
	return nil
}
