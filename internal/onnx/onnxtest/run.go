package onnxtest

import (
	"fmt"
	"slices"
)

// Run computes the outputs of a model. The operators' errors are those that the definitions demand of a runtime, such
// as a position that isn't in a list.
func (m *Model) Run(inputs map[string]Tensor) (outputs map[string]Tensor, err error) {
	defer func() {
		if r := recover(); r != nil {
			failed, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = failed
		}
	}()
	if m.Opset != 13 || m.Domain != "" || m.IR != 7 {
		return nil, fault(fmt.Sprintf("version %d of domain %q, format %d", m.Opset, m.Domain, m.IR))
	}
	values := map[string]Tensor{}
	define := func(name string, t Tensor) {
		if _, twice := values[name]; twice || name == "" {
			fail("%q is made twice, or has no name", name)
		}
		values[name] = t.rounded()
	}
	rows := -1
	check := func(v Value, t Tensor) {
		if len(t.Shape) == 0 || v.Type != t.Type || len(v.Shape) != len(t.Shape) || len(t.Values) != volume(t.Shape) {
			fail("%s is of type %d and shape %v, declared as %+v", v.Name, t.Type, t.Shape, v)
		}
		if rows < 0 {
			rows = t.Shape[0]
		}
		for axis, d := range v.Shape {
			if d >= 0 && d != t.Shape[axis] || d < 0 && (axis > 0 || t.Shape[0] != rows) {
				fail("%s has the shape %v, declared as %v, of %d rows", v.Name, t.Shape, v.Shape, rows)
			}
		}
	}
	for name, t := range m.constants {
		define(name, t)
	}
	if len(inputs) != len(m.Inputs) {
		return nil, fault(fmt.Sprintf("%d inputs, want %d", len(inputs), len(m.Inputs)))
	}
	for _, v := range m.Inputs {
		check(v, inputs[v.Name])
		define(v.Name, inputs[v.Name])
	}
	for _, n := range m.nodes {
		var operands []Tensor
		for _, name := range n.in {
			t, ok := values[name]
			if !ok {
				fail("%s takes %q, which isn't there yet", n.kind, name)
			}
			operands = append(operands, t)
		}
		if len(n.out) != 1 {
			fail("%s has %d results", n.kind, len(n.out))
		}
		define(n.out[0], n.compute(operands))
	}
	outputs = map[string]Tensor{}
	for _, v := range m.Outputs {
		t, ok := values[v.Name]
		if !ok {
			fail("output %q isn't there", v.Name)
		}
		check(v, t)
		outputs[v.Name] = t
	}
	return outputs, nil
}

// fault is an error of a file or of its inputs.
type fault string

func (f fault) Error() string { return string(f) }

func fail(format string, args ...any) { panic(fault(fmt.Sprintf(format, args...))) }

// rounded returns t in the precision of its type.
func (t Tensor) rounded() Tensor {
	t.Values = slices.Clone(t.Values)
	if t.Type == Float {
		for i, v := range t.Values {
			t.Values[i] = float64(float32(v))
		}
	}
	return t
}
