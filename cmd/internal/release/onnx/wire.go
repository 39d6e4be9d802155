package onnx

import "encoding/binary"

// message is an encoded message of Protocol Buffers. onnx.proto has the numbers of fields.
type message []byte

// The types of fields that this package writes: a number, and a length followed by that many bytes.
const (
	varintField = 0
	bytesField  = 2
)

func (m *message) integer(field int, v int64) {
	*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field<<3|varintField)), uint64(v))
}

func (m *message) text(field int, s string) { m.bytes(field, []byte(s)) }

func (m *message) bytes(field int, b []byte) {
	*m = append(binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field<<3|bytesField)), uint64(len(b))), b...)
}

// dtype is the type of a tensor's elements: TensorProto.DataType.
type dtype int64

const (
	float  dtype = 1
	uint8s dtype = 2
	int64s dtype = 7
	texts  dtype = 8
	double dtype = 11
)

// String returns the name that ONNX gives the type.
func (d dtype) String() string {
	return map[dtype]string{float: "float", uint8s: "uint8", int64s: "int64", texts: "string", double: "double"}[d]
}

// tensor returns a TensorProto. raw has the elements, little-endian.
func tensor(name string, of dtype, shape []int, raw []byte) message {
	var m message
	for _, d := range shape {
		m.integer(1, int64(d))
	}
	m.integer(2, int64(of))
	m.text(8, name)
	m.bytes(9, raw)
	return m
}

// little returns numbers as little-endian bytes.
func little(values any) []byte {
	raw, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic(err) // for values without a fixed size, which no caller has
	}
	return raw
}

// attribute is an AttributeProto.
type attribute message

// The types of attributes: AttributeProto.AttributeType.
const (
	intAttribute     = 2
	intsAttribute    = 7
	stringsAttribute = 8
)

func intOf(name string, v int) attribute {
	var m message
	m.text(1, name)
	m.integer(3, int64(v))
	m.integer(20, intAttribute)
	return attribute(m)
}

func intsOf(name string, values ...int) attribute {
	var m message
	m.text(1, name)
	for _, v := range values {
		m.integer(8, int64(v))
	}
	m.integer(20, intsAttribute)
	return attribute(m)
}

func textsOf(name string, values ...string) attribute {
	var m message
	m.text(1, name)
	for _, v := range values {
		m.text(9, v)
	}
	m.integer(20, stringsAttribute)
	return attribute(m)
}

// value returns the ValueInfoProto of an input or output. Its first axis is the number of rows.
func value(v Value) message {
	var shape message
	for i, d := range append([]int{0}, v.Shape...) {
		var axis message
		if i == 0 {
			axis.text(2, rows)
		} else {
			axis.integer(1, int64(d))
		}
		shape.bytes(1, axis)
	}
	var of, kind, m message
	of.integer(1, int64(v.of))
	of.bytes(2, shape)
	kind.bytes(1, of)
	m.text(1, v.Name)
	m.bytes(2, kind)
	if v.Meaning != "" {
		m.text(3, v.Meaning)
	}
	return m
}

// rows is the name of the first axis of all inputs and outputs.
const rows = "N"
