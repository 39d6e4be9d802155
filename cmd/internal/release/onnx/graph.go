package onnx

import "fmt"

// The versions of the format and of the operators.
const (
	irVersion    = 7
	opsetVersion = 13
)

// graph is a graph under construction. Names identify its values.
type graph struct {
	nodes, constants []message
	inputs, outputs  []Value
	used             map[string]bool
	texts            func(categories []string) map[string]int // see Options
}

// labelEncoder is the only operator of the domain learning.
const (
	labelEncoder    = "LabelEncoder"
	learning        = "ai.onnx.ml"
	learningVersion = 2
)

// unique returns an unused name, made from the wanted one.
func (g *graph) unique(wanted string) string {
	name := wanted
	for i := 1; g.used[name]; i++ {
		name = fmt.Sprintf("%s_%d", wanted, i)
	}
	g.used[name] = true
	return name
}

func (g *graph) input(name string, of dtype, meaning string, shape ...int) string {
	g.inputs = append(g.inputs, Value{name, of.String(), append([]int{}, shape...), meaning, of})
	return name
}

// op adds an operator and returns its result.
func (g *graph) op(kind string, operands []string, attributes ...attribute) string {
	name := g.unique("/" + kind)
	g.node(kind, operands, name, attributes...)
	return name
}

func (g *graph) node(kind string, operands []string, result string, attributes ...attribute) {
	var m message
	for _, o := range operands {
		m.text(1, o)
	}
	m.text(2, result)
	m.text(3, result)
	m.text(4, kind)
	for _, a := range attributes {
		m.bytes(5, a)
	}
	if kind == labelEncoder {
		m.text(7, learning)
	}
	g.nodes = append(g.nodes, m)
}

// output adds an operator whose result is an output of the graph.
func (g *graph) output(v Value, kind string, operands []string, attributes ...attribute) {
	if v.Type = v.of.String(); g.used[v.Name] {
		v.Name = g.unique(v.Name + "_output")
	}
	g.used[v.Name], v.Shape = true, append([]int{}, v.Shape...) // JSON has [], not null
	g.node(kind, operands, v.Name, attributes...)
	g.outputs = append(g.outputs, v)
}

func (g *graph) constant(wanted string, of dtype, shape []int, raw []byte) string {
	name := g.unique(wanted)
	g.constants = append(g.constants, tensor(name, of, shape, raw))
	return name
}

func (g *graph) floats(shape []int, values ...float32) string {
	return g.constant("/float", float, shape, little(values))
}

// double adds a single number in double precision.
func (g *graph) double(v float64) string {
	return g.constant("/double", double, nil, little(v))
}

func (g *graph) ints(values ...int64) string {
	return g.constant("/int64", int64s, []int{len(values)}, little(values))
}

func (g *graph) cast(x string, to dtype) string {
	return g.op("Cast", []string{x}, intOf("to", int(to)))
}

func (g *graph) unsqueeze(x string, axis int64) string {
	return g.op("Unsqueeze", []string{x, g.ints(axis)})
}

// reshape gives a value the shape of samples.
func (g *graph) reshape(x string, shape []int) string {
	axes := []int64{-1}
	for _, d := range shape {
		axes = append(axes, int64(d))
	}
	return g.op("Reshape", []string{x, g.ints(axes...)})
}

// model returns the ModelProto. properties are its metadata, in pairs.
func (g *graph) model(version string, properties ...[2]string) []byte {
	var body message
	for _, n := range g.nodes {
		body.bytes(1, n)
	}
	body.text(2, "dptrain")
	for _, c := range g.constants {
		body.bytes(5, c)
	}
	for _, v := range g.inputs {
		body.bytes(11, value(v))
	}
	for _, v := range g.outputs {
		body.bytes(12, value(v))
	}
	var operators, m message
	operators.text(1, "")
	operators.integer(2, opsetVersion)
	m.integer(1, irVersion)
	m.text(2, "dptrain")
	m.text(3, version)
	m.bytes(7, body)
	m.bytes(8, operators)
	if g.texts != nil {
		var more message
		more.text(1, learning)
		more.integer(2, learningVersion)
		m.bytes(8, more)
	}
	for _, p := range properties {
		var entry message
		entry.text(1, p[0])
		entry.text(2, p[1])
		m.bytes(14, entry)
	}
	return m
}
