package compile

import (
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
)

// Operation describes one of Gorgonia's operations (v0.9.18). The suite checks each supported one against differences.
type Operation struct {
	Kind     string // the name of its type
	Operator string // if the type has several
	Made     string // the function of Gorgonia that makes it
	Refused  string // the reason why it has no rule; "" if it has one
	Instead  string
	Limits   string // the supported uses, if not all
	Ruled    bool   // has a rule, or is read with its users
}

// Operations returns the operations that dptrain has rules for, and those that it refuses.
func Operations() []Operation {
	out := slices.Concat(functionsOf("elemUnaryOp", Abs, unaryEnd), functionsOf("elemBinOp", Add, Ne+1), supported)
	for _, r := range refusals {
		out = append(out, Operation{Kind: r.kind, Operator: r.operator, Refused: r.why, Instead: r.instead})
	}
	for i, o := range out {
		_, ruled := rules[o.Kind]
		constant := o.Kind == "constantScalar" || o.Kind == "constantTensor"
		out[i].Made = graph.Calls(o.Kind, o.Operator)
		out[i].Ruled = (ruled || constant) && o.Operator != graph.Outer
	}
	return out
}

var supported = []Operation{
	{Kind: "constantScalar"},
	{Kind: "constantTensor"},
	{Kind: "Iop"},
	{Kind: "linAlgBinOp", Operator: "matrix product"},
	{Kind: "linAlgBinOp", Operator: "matrix times vector"},
	{Kind: "linAlgBinOp", Operator: "dot product"},
	{Kind: "linAlgBinOp", Operator: "batched matrix product"},
	{Kind: "sumOp"},
	{Kind: "maxOp"},
	{Kind: "sizeOp"},
	{Kind: "repeatOp", Limits: "of an axis of length one"},
	{Kind: "reshapeOp"},
	{Kind: "transposeOp"},
	{Kind: "sliceOp"},
	{Kind: "concatOp"},
	{Kind: "softmaxOp"},
	{Kind: "im2colOp"},
	{Kind: "maxPoolOp", Limits: "with the same padding on both sides"},
	{Kind: "globalAveragePoolOp"},
	{Kind: "upsampleOp"},
	{Kind: "byIndicesOp", Limits: "by an input of integers, of the rows of a table that is the same for all samples"},
	{Kind: "minBetween"},
	{Kind: "maxBetween"},
	{Kind: "dropoutOp", Limits: "with draws from the run's key, and off in prediction"},
	{Kind: "randomOp", Limits: "normal or uniform, with names ([models]), draws from the run's key, and their mean in prediction"},
	{Kind: "GroupNormOp"},
}

// functionsOf returns the operations of a kind with several functions, from, …, to-1.
func functionsOf(kind string, from, to Func) (out []Operation) {
	for f := from; f < to; f++ {
		out = append(out, Operation{Kind: kind, Operator: f.String()})
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
