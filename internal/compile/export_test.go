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
	out := slices.Concat(unaryOperations(), binaryOperations(), supported)
	for _, r := range refusals {
		out = append(out, Operation{Kind: r.kind, Operator: r.operator, Made: makers[r.kind], Refused: r.why, Instead: r.instead})
	}
	for i, o := range out {
		_, ruled := rules[o.Kind]
		constant := o.Kind == "constantScalar" || o.Kind == "constantTensor"
		out[i].Ruled = (ruled || constant) && o.Operator != graph.Outer
	}
	return out
}

var supported = []Operation{
	{Kind: "constantScalar", Made: "NewConstant"},
	{Kind: "constantTensor", Made: "NewConstant"},
	{Kind: "Iop", Made: "ApplyOp(Iop{}, …)"},
	{Kind: "linAlgBinOp", Operator: "matrix product", Made: "Mul, Conv2d"},
	{Kind: "linAlgBinOp", Operator: "matrix times vector", Made: "Mul"},
	{Kind: "linAlgBinOp", Operator: "dot product", Made: "Mul"},
	{Kind: "linAlgBinOp", Operator: "batched matrix product", Made: "BatchedMatMul"},
	{Kind: "sumOp", Made: "Sum, Mean, Norm"},
	{Kind: "maxOp", Made: "Max"},
	{Kind: "sizeOp", Made: "SizeOf, Mean, Broadcast…"},
	{Kind: "repeatOp", Made: "Broadcast…", Limits: "of an axis of length one"},
	{Kind: "reshapeOp", Made: "Reshape, Ravel"},
	{Kind: "transposeOp", Made: "Transpose, Conv2d"},
	{Kind: "sliceOp", Made: "Slice, Unconcat"},
	{Kind: "concatOp", Made: "Concat"},
	{Kind: "softmaxOp", Made: "SoftMax, LogSoftMax"},
	{Kind: "im2colOp", Made: "Im2Col, Conv2d"},
	{Kind: "maxPoolOp", Made: "MaxPool2D, MaxPool1D", Limits: "with the same padding on both sides"},
	{Kind: "globalAveragePoolOp", Made: "GlobalAveragePool2D"},
	{Kind: "upsampleOp", Made: "Upsample2D"},
	{Kind: "byIndicesOp", Made: "ByIndices", Limits: "by an input of integers, of the rows of a table that is the same for all samples"},
	{Kind: "minBetween", Made: "MinBetween"},
	{Kind: "maxBetween", Made: "MaxBetween"},
	{Kind: "dropoutOp", Made: "Dropout", Limits: "with draws from the run's key, and off in prediction"},
	{Kind: "GroupNormOp", Made: "GroupNorm"},
}

// makers has the functions of Gorgonia that make refused operations.
var makers = map[string]string{
	"linAlgBinOp": "OuterProd",
	"tensordotOp": "Tensordot",
	"atOp":        "At",
	"sparsemaxOp": "Sparsemax",
	"avgPoolOp":   "AveragePool2D, AveragePool1D",
	"dtConvOp":    "ConvType",
	"diagFlatOp":  "DiagFlat",
	"randomOp":    "UniformRandomNode, GaussianRandomNode, BinomialRandomNode",
	"BatchNormOp": "BatchNorm",
	"ctcLossOp":   "CTCLoss",
	"yoloOp":      "YOLOv3",
}

func unaryOperations() []Operation {
	made := map[Func]string{
		Abs: "Abs", Sign: "Sign", Ceil: "Ceil", Floor: "Floor", Sin: "Sin", Cos: "Cos", Exp: "Exp", Ln: "Log", Log2: "Log2",
		Neg: "Neg", SquareOf: "Square", Sqrt: "Sqrt", Inverse: "Inverse", InverseSqrt: "InverseSqrt", Cube: "Cube",
		Tanh: "Tanh", Sigmoid: "Sigmoid", Log1p: "Log1p", Expm1: "Expm1", Softplus: "Softplus",
	}
	var out []Operation
	for f := Abs; f < unaryEnd; f++ {
		out = append(out, Operation{Kind: "elemUnaryOp", Operator: f.String(), Made: made[f]})
	}
	return out
}

func binaryOperations() []Operation {
	made := map[Func]string{
		Add: "Add, BroadcastAdd", Sub: "Sub, BroadcastSub", Mul: "HadamardProd, Mul, BroadcastHadamardProd",
		Div: "HadamardDiv, Div, BroadcastHadamardDiv", Pow: "Pow, BroadcastPow", Lt: "Lt", Gt: "Gt", Lte: "Lte", Gte: "Gte", Eq: "Eq", Ne: "Ne",
	}
	var out []Operation
	for f := Add; f <= Ne; f++ {
		out = append(out, Operation{Kind: "elemBinOp", Operator: f.String(), Made: made[f]})
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
