package onnxtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Model is a file of ONNX.
type Model struct {
	IR, Opset  int64
	Domain     string // of the operators
	Producer   string
	Properties map[string]string
	Inputs     []Value
	Outputs    []Value
	nodes      []node
	constants  map[string]Tensor
}

// Value is a declared input or output. An axis of -1 has a name in place of a length.
type Value struct {
	Name, Doc string
	Type      int
	Shape     []int
}

// Tensor holds numbers of any type: TensorProto.DataType.
type Tensor struct {
	Type   int
	Shape  []int
	Values []float64
}

// The types.
const (
	Float  = 1
	Uint8  = 2
	Int64  = 7
	Bool   = 9
	Double = 11
)

type node struct {
	kind       string
	in, out    []string
	attributes map[string][]int64
}

// field is a field of an encoded message: a number, or bytes.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

// fields splits a message of Protocol Buffers.
func fields(b []byte) (out []field, err error) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errors.New("a tag is cut off")
		}
		b = b[n:]
		f := field{number: int(tag >> 3)}
		if tag&7 != 0 && tag&7 != 2 {
			return nil, fmt.Errorf("field %d has wire type %d", f.number, tag&7)
		}
		if f.value, n = binary.Uvarint(b); n <= 0 {
			return nil, fmt.Errorf("field %d is cut off", f.number)
		}
		b = b[n:]
		if tag&7 == 2 {
			if f.value > uint64(len(b)) {
				return nil, fmt.Errorf("field %d is longer than its message", f.number)
			}
			f.bytes, b = b[:f.value], b[f.value:]
		}
		out = append(out, f)
	}
	return out, nil
}

// each calls of for every field of a message.
func each(b []byte, of func(f field) error) error {
	all, err := fields(b)
	for _, f := range all {
		if err == nil {
			err = of(f)
		}
	}
	return err
}

// Read reads a ModelProto.
func Read(file []byte) (*Model, error) {
	m := &Model{Properties: map[string]string{}, constants: map[string]Tensor{}}
	return m, each(file, func(f field) error {
		switch f.number {
		case 1:
			m.IR = int64(f.value)
		case 2:
			m.Producer = string(f.bytes)
		case 3:
		case 7:
			return m.graph(f.bytes)
		case 8:
			return each(f.bytes, func(f field) error {
				if f.number == 1 {
					m.Domain = string(f.bytes)
				} else {
					m.Opset = int64(f.value)
				}
				return nil
			})
		case 14:
			var pair [3]string
			err := each(f.bytes, func(f field) error { pair[f.number] = string(f.bytes); return nil })
			m.Properties[pair[1]] = pair[2]
			return err
		default:
			return fmt.Errorf("field %d of the model", f.number)
		}
		return nil
	})
}

func (m *Model) graph(b []byte) error {
	return each(b, func(f field) (err error) {
		switch f.number {
		case 1:
			n := node{attributes: map[string][]int64{}}
			err = each(f.bytes, n.field)
			m.nodes = append(m.nodes, n)
		case 2:
		case 5:
			var name string
			var t Tensor
			if name, t, err = tensor(f.bytes); err == nil {
				m.constants[name] = t
			}
		case 11, 12:
			var v Value
			v, err = value(f.bytes)
			if f.number == 11 {
				m.Inputs = append(m.Inputs, v)
			} else {
				m.Outputs = append(m.Outputs, v)
			}
		default:
			err = fmt.Errorf("field %d of the graph", f.number)
		}
		return err
	})
}

func (n *node) field(f field) error {
	switch f.number {
	case 1:
		n.in = append(n.in, string(f.bytes))
	case 2:
		n.out = append(n.out, string(f.bytes))
	case 3:
	case 4:
		n.kind = string(f.bytes)
	case 5:
		name, kind, values := "", uint64(0), []int64{}
		err := each(f.bytes, func(f field) error {
			switch f.number {
			case 1:
				name = string(f.bytes)
			case 3, 8:
				values = append(values, int64(f.value))
			case 20:
				kind = f.value
			default:
				return fmt.Errorf("field %d of an attribute", f.number)
			}
			return nil
		})
		if kind != 2 && kind != 7 || kind == 2 && len(values) != 1 {
			return fmt.Errorf("attribute %s of type %d with %d numbers", name, kind, len(values))
		}
		n.attributes[name] = values
		return err
	default:
		return fmt.Errorf("field %d of an operator", f.number)
	}
	return nil
}

func tensor(b []byte) (name string, t Tensor, err error) {
	var raw []byte
	err = each(b, func(f field) error {
		switch f.number {
		case 1:
			t.Shape = append(t.Shape, int(f.value))
		case 2:
			t.Type = int(f.value)
		case 8:
			name = string(f.bytes)
		case 9:
			raw = f.bytes
		default:
			return fmt.Errorf("field %d of a tensor", f.number)
		}
		return nil
	})
	size := map[int]int{Float: 4, Int64: 8, Double: 8}[t.Type]
	if size == 0 || len(raw) != size*volume(t.Shape) {
		return name, t, fmt.Errorf("tensor %s of type %d and shape %v has %d bytes", name, t.Type, t.Shape, len(raw))
	}
	for ; len(raw) > 0 && err == nil; raw = raw[size:] {
		switch t.Type {
		case Float:
			t.Values = append(t.Values, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		case Double:
			t.Values = append(t.Values, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		default:
			t.Values = append(t.Values, float64(int64(binary.LittleEndian.Uint64(raw))))
		}
	}
	return name, t, err
}

func value(b []byte) (v Value, err error) {
	err = each(b, func(f field) error {
		switch f.number {
		case 1:
			v.Name = string(f.bytes)
		case 2:
			return each(f.bytes, func(f field) error { // TypeProto, whose field 1 is a tensor
				return each(f.bytes, func(f field) error {
					if f.number == 1 {
						v.Type = int(f.value)
						return nil
					}
					return each(f.bytes, func(f field) error { // dimensions
						return each(f.bytes, func(f field) error {
							if f.number == 1 {
								v.Shape = append(v.Shape, int(f.value))
							} else {
								v.Shape = append(v.Shape, -1)
							}
							return nil
						})
					})
				})
			})
		case 3:
			v.Doc = string(f.bytes)
		}
		return nil
	})
	return v, err
}

func volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
