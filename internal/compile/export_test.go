package compile

import (
	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// Operands and the functions below show tests how the package reads nodes and what it knows of operations.
var Operands = graph.Operands

func KindAndOperator(op gorgonia.Op) (kind, operator string) {
	return graph.Kind(op), graph.Operator(op)
}

func GradientKinds() []string { return append([]string(nil), gradientKinds...) }

type Operation struct {
	Kind, Operator, Made, Refused, Instead, Limits string
	Compiled                                       bool
}

func Operations() []Operation {
	var out []Operation
	for _, o := range operations {
		_, compiled := rules[o.kind]
		switch o.kind {
		case "constantScalar", "constantTensor", "im2colOp": // have no rule of their own; Conv2d makes windows
			compiled = true
		}
		switch o.operator {
		case graph.Dot, graph.Outer, graph.Batched:
			compiled = false
		}
		out = append(out, Operation{o.kind, o.operator, o.made, o.refused, o.instead, o.limits, compiled})
	}
	return out
}

func Reshaped(v View, shape []int) (View, bool) { return v.reshaped(shape) }

func Contiguous(v View) bool { return v.contiguous() }

func Within(v View, size int) bool { return v.within(size) }

// Operated returns all operations but opEnd, and those that may add to their results.
func Operated() (all, adding []Op) {
	for op := range opEnd {
		all = append(all, op)
		if op.row().adds {
			adding = append(adding, op)
		}
	}
	return all, adding
}
