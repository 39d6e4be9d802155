package compile

import (
	"fmt"

	"gorgonia.org/gorgonia"
)

// checkPure reports the first operation that isn't known to be right even one sample at a time.
func (t *tracer) checkPure(src Source) error {
	for _, n := range evaluationOrder(gorgonia.Nodes{src.Cost, src.Output}) {
		if t.at = n; n.Op() == nil {
			continue
		}
		if err := refused(n); err != nil {
			return err
		}
	}
	return nil
}

// opaque makes a program of one instruction, [Opaque]. The graph was built with a batch of one.
func (t *tracer) opaque(src Source, missing *RuleError) (*Program, error) {
	ref, err := NewReference(src)
	if err != nil {
		return nil, err
	}
	if err := ref.try(t.prog.initial); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSource, err)
	}
	p := &Program{
		Inputs: t.prog.Inputs, Params: t.prog.Params, initial: t.prog.initial, digest: t.prog.digest, limits: limitsOf(src),
		Output:  Tensor{Value: None},
		missing: missing, reference: ref,
	}
	whole := Instruction{Op: Opaque, Out: None, Where: None}
	for _, list := range [][]Tensor{p.Inputs, p.Params} {
		for _, v := range list {
			whole.In = append(whole.In, v.Value)
		}
	}
	// Inputs and parameters were declared first.
	p.Values, p.Forward = t.prog.Values[:len(whole.In)], []Instruction{whole}
	if src.Output != nil {
		shape := shapeOf(src.Output)
		if len(shape) == 0 || shape[0] != 1 {
			return nil, fmt.Errorf("%w: output %q doesn't have the batch as its first axis", ErrSource, label(src.Output))
		}
		p.Output = Tensor{Name: src.Output.Name(), Shape: shape[1:], Size: product(shape[1:]), Value: None}
	}
	return p, nil
}
