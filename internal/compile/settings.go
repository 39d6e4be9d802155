package compile

import (
	"fmt"
	"math"
	"reflect"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Gorgonia's operations are unexported types. This package identifies them by type (kind.go) and reads their settings
// by reflection, for the version that go.mod pins. The tests run every operation against Gorgonia itself, so that a
// version with other names or numbers fails there.

// opFields reads an operation's settings.
type opFields struct{ v reflect.Value }

func fieldsOf(op gorgonia.Op) opFields {
	v := reflect.ValueOf(op)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return opFields{v}
}

// get follows a path of field names through interfaces and pointers. It returns the zero Value if there is no such
// field.
func (f opFields) get(path ...string) reflect.Value {
	v := f.v
	for _, name := range path {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		v = v.FieldByName(name)
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func (f opFields) int(path ...string) int {
	switch v := f.get(path...); v.Kind() {
	case reflect.Int, reflect.Int64:
		return int(v.Int())
	case reflect.Uint8:
		return int(v.Uint())
	}
	return -1
}

func (f opFields) float(path ...string) float64 {
	if v := f.get(path...); v.Kind() == reflect.Float64 || v.Kind() == reflect.Float32 {
		return v.Float()
	}
	return math.NaN()
}

func (f opFields) bool(path ...string) bool {
	v := f.get(path...)
	return v.Kind() == reflect.Bool && v.Bool()
}

func (f opFields) ints(path ...string) []int {
	v := f.get(path...)
	if v.Kind() != reflect.Slice {
		return nil
	}
	out := make([]int, v.Len())
	for i := range out {
		out[i] = int(v.Index(i).Int())
	}
	return out
}

// unaryFunc and binaryFunc return the function of an elementwise operation, and whether it is one.
func unaryFunc(op gorgonia.Op) (Func, bool) {
	// Each unary operator is a function type of its own, and shows nothing but its name.
	if s, ok := op.(fmt.Stringer); ok {
		for f := Abs; f < unaryEnd; f++ {
			if f.String() == s.String() {
				return f, true
			}
		}
	}
	return 0, false
}

func binaryFunc(op gorgonia.Op) (Func, bool) {
	i := fieldsOf(op).int("ʘBinaryOperator", "ʘBinaryOperatorType")
	f := Add + Func(i)
	return f, i >= 0 && f <= Ne
}

// sliceOf returns the range of a slice operation, or nil for the whole axis.
func sliceOf(op gorgonia.Op) tensor.Slice {
	if s, ok := op.(interface{ IsSlice() tensor.Slice }); ok {
		return s.IsSlice()
	}
	return nil
}

// softmaxAxis returns the axis that a softmax or log softmax normalises over.
func softmaxAxis(n *gorgonia.Node) int {
	axis, s := fieldsOf(n.Op()).int("axis"), n.Shape()
	if axis != -1 {
		return axis
	}
	if s.IsColVec() || s.IsVector() && !s.IsRowVec() {
		return 0
	}
	return len(s) - 1
}

// shapeOf returns a node's shape, empty for a scalar.
func shapeOf(n *gorgonia.Node) []int { return append([]int(nil), n.Shape()...) }

// floats returns a node's bound value as float32 in row-major order.
func floats(n *gorgonia.Node) ([]float32, error) {
	if n.Value() == nil {
		return nil, fmt.Errorf("node %q has no value bound", n.Name())
	}
	out, err := floatsOf(n.Value())
	if err != nil {
		return nil, fmt.Errorf("node %q: %w", n.Name(), err)
	}
	return out, nil
}

func floatsOf(v gorgonia.Value) ([]float32, error) {
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
