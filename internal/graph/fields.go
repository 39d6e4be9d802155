package graph

import (
	"math"
	"reflect"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Fields reads an operation's settings, which are unexported fields, by their names. Each method takes the path of
// names that leads to a setting.
type Fields struct{ v reflect.Value }

// FieldsOf returns the settings of an operation.
func FieldsOf(op gorgonia.Op) Fields {
	v := reflect.ValueOf(op)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return Fields{v}
}

// get follows a path of field names through interfaces and pointers. It returns the zero Value if there is no such
// field.
func (f Fields) get(path ...string) reflect.Value {
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

// Int returns an integer, or -1 if the operation has none of that name.
func (f Fields) Int(path ...string) int {
	switch v := f.get(path...); v.Kind() {
	case reflect.Int, reflect.Int64:
		return int(v.Int())
	case reflect.Uint8:
		return int(v.Uint())
	}
	return -1
}

// Float returns a floating-point number, or NaN if the operation has none of that name.
func (f Fields) Float(path ...string) float64 {
	if v := f.get(path...); v.Kind() == reflect.Float64 || v.Kind() == reflect.Float32 {
		return v.Float()
	}
	return math.NaN()
}

// Bool reports whether a flag is set. It is false if the operation has none of that name.
func (f Fields) Bool(path ...string) bool {
	v := f.get(path...)
	return v.Kind() == reflect.Bool && v.Bool()
}

// Ints returns a list of integers, which the caller may change, or nil if the operation has none of that name.
func (f Fields) Ints(path ...string) []int {
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

// SliceOf returns the range of a slice operation, or nil for the whole axis.
func SliceOf(op gorgonia.Op) tensor.Slice {
	if s, ok := op.(interface{ IsSlice() tensor.Slice }); ok {
		return s.IsSlice()
	}
	return nil
}

// SoftmaxAxis returns the axis that a softmax or log softmax normalises over.
func SoftmaxAxis(n *gorgonia.Node) int {
	axis, s := FieldsOf(n.Op()).Int("axis"), n.Shape()
	if axis != -1 {
		return axis
	}
	if s.IsColVec() || s.IsVector() && !s.IsRowVec() {
		return 0
	}
	return len(s) - 1
}

// Shape returns a node's shape, empty for a scalar.
func Shape(n *gorgonia.Node) []int { return append([]int(nil), n.Shape()...) }
