package compile

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// operation describes one of Gorgonia's operations (v0.9.18), from its source and from the suite, which checks each
// supported operation against differences.
type operation struct {
	kind     string // the name of its type
	operator string // if the type has several
	made     string // the function of Gorgonia that makes it
	refused  string // the reason why it has no rule; "" if it has one
	instead  string
	limits   string // the supported uses, if not all
	mixes    bool   // refused because it mixes samples
}

// operations lists the operations that dptrain knows; all others are refused.
var operations = slices.Concat(unaryOperations(), binaryOperations(), []operation{
	{kind: "constantScalar", made: "NewConstant"},
	{kind: "constantTensor", made: "NewConstant"},
	{kind: "Iop", made: "ApplyOp(Iop{}, …)"},
	{kind: "linAlgBinOp", operator: "matrix product", made: "Mul, Conv2d"},
	{kind: "linAlgBinOp", operator: "matrix times vector", made: "Mul"},
	{kind: "linAlgBinOp", operator: "dot product", made: "Mul"},
	{kind: "linAlgBinOp", operator: "batched matrix product", made: "BatchedMatMul"},
	{kind: "linAlgBinOp", operator: "outer product", made: "OuterProd",
		refused: "Gorgonia's own gradient of it is wrong", instead: "Reshape to a column and a row and multiply them by Mul"},
	{kind: "tensordotOp", made: "Tensordot",
		refused: noRule, instead: "Reshape and Mul or BatchedMatMul"},
	{kind: "sumOp", made: "Sum, Mean, Norm"},
	{kind: "maxOp", made: "Max"},
	{kind: "sizeOp", made: "SizeOf, Mean, Broadcast…"},
	{kind: "repeatOp", made: "Broadcast…", limits: "of an axis of length one"},
	{kind: "reshapeOp", made: "Reshape, Ravel"},
	{kind: "transposeOp", made: "Transpose, Conv2d"},
	{kind: "sliceOp", made: "Slice, Unconcat"},
	{kind: "concatOp", made: "Concat"},
	{kind: "atOp", made: "At", refused: "it has no gradient", instead: "Slice"},
	{kind: "softmaxOp", made: "SoftMax, LogSoftMax"},
	{kind: "sparsemaxOp", made: "Sparsemax", refused: noRule, instead: "SoftMax"},
	{kind: "im2colOp", made: "Im2Col, Conv2d"},
	{kind: "maxPoolOp", made: "MaxPool2D, MaxPool1D", limits: "with the same padding on both sides"},
	{kind: "avgPoolOp", made: "AveragePool2D, AveragePool1D",
		refused: "average pooling divides by the width of the image", instead: "Slice or Reshape, and Mean"},
	{kind: "globalAveragePoolOp", made: "GlobalAveragePool2D"},
	{kind: "upsampleOp", made: "Upsample2D"},
	{kind: "byIndicesOp", made: "ByIndices", limits: "by an input of integers, of the rows of a table that is the same for all samples"},
	{kind: "minBetween", made: "MinBetween"},
	{kind: "maxBetween", made: "MaxBetween"},
	{kind: "dtConvOp", made: "ConvType", refused: noRule, instead: "one type throughout the graph"},
	{kind: "diagFlatOp", made: "DiagFlat", refused: "it has no gradient", instead: "BroadcastHadamardProd by a row, which is what a product by a diagonal matrix does"},
	{kind: "dropoutOp", made: "Dropout", limits: "with draws from the run's key, and off in prediction"},
	{kind: "randomOp", made: "UniformRandomNode, GaussianRandomNode, BinomialRandomNode",
		refused: "it draws from a generator of its own, so that equal keys give unequal models", instead: "an input with one column of numbers drawn beforehand"},
	{kind: "BatchNormOp", made: "BatchNorm", mixes: true,
		refused: "it normalises by statistics of the batch, and keeps them", instead: normalise},
	{kind: "GroupNormOp", made: "GroupNorm"},
	{kind: "ctcLossOp", made: "CTCLoss", refused: noRule, instead: "a cost of operations that dptrain knows"},
	{kind: "yoloOp", made: "YOLOv3", refused: noRule, instead: "a cost of operations that dptrain knows"},
})

const noRule = "dptrain has no rule for it"

const normalise = "GroupNorm, or a sample's own values normalised by Mean, BroadcastSub, Square, Sqrt and BroadcastHadamardDiv"

func unaryOperations() []operation {
	made := map[Func]string{
		Abs: "Abs", Sign: "Sign", Ceil: "Ceil", Floor: "Floor", Sin: "Sin", Cos: "Cos", Exp: "Exp", Ln: "Log", Log2: "Log2",
		Neg: "Neg", SquareOf: "Square", Sqrt: "Sqrt", Inverse: "Inverse", InverseSqrt: "InverseSqrt", Cube: "Cube",
		Tanh: "Tanh", Sigmoid: "Sigmoid", Log1p: "Log1p", Expm1: "Expm1", Softplus: "Softplus",
	}
	var out []operation
	for f := Abs; f < unaryEnd; f++ {
		out = append(out, operation{kind: "elemUnaryOp", operator: f.String(), made: made[f]})
	}
	return out
}

func binaryOperations() []operation {
	made := map[Func]string{
		Add: "Add, BroadcastAdd", Sub: "Sub, BroadcastSub", Mul: "HadamardProd, Mul, BroadcastHadamardProd",
		Div: "HadamardDiv, Div, BroadcastHadamardDiv", Pow: "Pow, BroadcastPow", Lt: "Lt", Gt: "Gt", Lte: "Lte", Gte: "Gte", Eq: "Eq", Ne: "Ne",
	}
	var out []operation
	for f := Add; f <= Ne; f++ {
		out = append(out, operation{kind: "elemBinOp", operator: f.String(), made: made[f]})
	}
	return out
}

// known returns the entry of an operation, and whether there is one.
func known(op gorgonia.Op) (operation, bool) {
	kind, operator := graph.Kind(op), graph.Operator(op)
	i := slices.IndexFunc(operations, func(o operation) bool { return o.kind == kind && o.operator == operator })
	if kind == "" || i < 0 {
		return operation{}, false
	}
	return operations[i], true
}

// refused returns the error for a node whose operation has no rule.
func refused(n *gorgonia.Node) error {
	o, _ := known(n.Op())
	switch {
	case graph.Kind(n.Op()) == "":
		return refuse(n, "it isn't one of Gorgonia's own, so nothing is known of what it keeps, prints or mixes", "operations of package gorgonia")
	case o.mixes:
		return mixes(n, fmt.Sprintf("%s; use %s", o.refused, o.instead))
	case o.refused != "":
		return refuse(n, o.refused, o.instead)
	}
	return refuse(n, noRule, "operations that dptrain knows")
}
