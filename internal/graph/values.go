package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Floats returns a node's bound value as float32 in row-major order.
func Floats(n *gorgonia.Node) ([]float32, error) {
	if n.Value() == nil {
		return nil, fmt.Errorf("node %q has no value bound", n.Name())
	}
	out, err := FloatsOf(n.Value())
	if err != nil {
		return nil, fmt.Errorf("node %q: %w", n.Name(), err)
	}
	return out, nil
}

// FloatsOf returns a value's numbers as float32 in row-major order. It copies them.
func FloatsOf(v gorgonia.Value) ([]float32, error) {
	if t, ok := v.(*tensor.Dense); ok && t.RequiresIterator() {
		v = t.Materialize().(*tensor.Dense)
	}
	switch d := v.Data().(type) {
	case []float32:
		return append([]float32(nil), d...), nil
	case []float64:
		out := make([]float32, len(d))
		for i, x := range d {
			out[i] = float32(x)
		}
		return out, nil
	case float32:
		return []float32{d}, nil
	case float64:
		return []float32{float32(d)}, nil
	}
	return nil, fmt.Errorf("it holds %T; floating-point numbers are needed", v.Data())
}

// Doubles returns a value's numbers in double precision and row-major order.
func Doubles(v gorgonia.Value) ([]float64, error) {
	if t, ok := v.(*tensor.Dense); ok && !t.RequiresIterator() {
		if d, ok := t.Data().([]float64); ok {
			return append([]float64(nil), d...), nil
		}
	}
	if d, ok := v.Data().(float64); ok {
		return []float64{d}, nil
	}
	narrow, err := FloatsOf(v)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(narrow))
	for i, x := range narrow {
		out[i] = float64(x)
	}
	return out, nil
}
