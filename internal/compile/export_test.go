package compile

import "github.com/dptrain/dptrain/internal/graph"

// Operation and the functions below give tests access to the package's lists of operations.
type Operation struct {
	Kind, Operator, Made, Refused, Instead, Limits string
	Ruled                                          bool // has a rule, or is read with its users
}

func Operations() []Operation {
	var out []Operation
	for _, o := range operations {
		_, ruled := rules[o.kind]
		switch o.kind {
		case "constantScalar", "constantTensor":
			ruled = true
		}
		out = append(out, Operation{o.kind, o.operator, o.made, o.refused, o.instead, o.limits, ruled && o.operator != graph.Outer})
	}
	return out
}

func Reshaped(v View, shape []int) (View, bool) { return v.reshaped(shape) }

func Contiguous(v View) bool { return v.contiguous() }

func Within(v View, size int) bool { return v.within(size) }

// Operated returns all operations except opEnd, the ones that may add to their results, and the ones that may be in
// Prepare.
func Operated() (all, adding, once []Op) {
	for op := range opEnd {
		all = append(all, op)
		if op.row().adds {
			adding = append(adding, op)
		}
		if op.row().once {
			once = append(once, op)
		}
	}
	return all, adding, once
}

// Functions returns all elementwise functions.
func Functions() []Func {
	var out []Func
	for f := range Func(binaryEnd) {
		if f.String() != "" {
			out = append(out, f)
		}
	}
	return out
}
