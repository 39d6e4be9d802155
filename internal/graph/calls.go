package graph

import (
	"fmt"
	"strings"

	"gorgonia.org/gorgonia"
)

// calls has the functions of Gorgonia that make an operation, by its kind or, if the kind has several, by its operator.
// Unary operators that are missing are made by a function of the same name.
var calls = map[string]string{
	"constantScalar": "NewConstant", "constantTensor": "NewConstant", "Iop": "ApplyOp(Iop{}, …)",
	MatMul: "Mul, Conv2d", MatVec: "Mul", Dot: "Mul", Outer: "OuterProd", Batched: "BatchedMatMul",
	"sumOp": "Sum, Mean, Norm", "maxOp": "Max", "sizeOp": "SizeOf, Mean, Broadcast…", "repeatOp": "Broadcast…",
	"reshapeOp": "Reshape, Ravel", "transposeOp": "Transpose, Conv2d", "sliceOp": "Slice, Unconcat", "concatOp": "Concat",
	"softmaxOp": "SoftMax, LogSoftMax", "sparsemaxOp": "Sparsemax", "im2colOp": "Im2Col, Conv2d",
	"maxPoolOp": "MaxPool2D, MaxPool1D", "avgPoolOp": "AveragePool2D, AveragePool1D", "globalAveragePoolOp": "GlobalAveragePool2D",
	"upsampleOp": "Upsample2D", "byIndicesOp": "ByIndices", "minBetween": "MinBetween", "maxBetween": "MaxBetween",
	"dropoutOp": "Dropout", "GroupNormOp": "GroupNorm", "BatchNormOp": "BatchNorm", "tensordotOp": "Tensordot", "atOp": "At",
	"dtConvOp": "ConvType", "diagFlatOp": "DiagFlat", "randomOp": "UniformRandomNode, GaussianRandomNode, BinomialRandomNode",
	"ctcLossOp": "CTCLoss", "yoloOp": "YOLOv3",
	"add": "Add, BroadcastAdd", "sub": "Sub, BroadcastSub", "mul": "HadamardProd, Mul, BroadcastHadamardProd",
	"div": "HadamardDiv, Div, BroadcastHadamardDiv", "pow": "Pow, BroadcastPow",
	"ln": "Log", "inv": "Inverse", "invSqrt": "InverseSqrt",
}

// Calls returns the functions of Gorgonia that make operations of a kind and operator, separated by commas, or "".
func Calls(kind, operator string) string {
	if made := calls[operator]; made != "" {
		return made
	}
	if operator != "" {
		return strings.ToUpper(operator[:1]) + operator[1:]
	}
	return calls[kind]
}

// Operation names a node's operation in an error by the functions that make it, or by its type if another package
// defines it.
func Operation(n *gorgonia.Node) string {
	if n.Op() == nil {
		return "input"
	}
	if made := Calls(Kind(n.Op()), Operator(n.Op())); made != "" {
		return made
	}
	return fmt.Sprintf("%v [%s]", n.Op(), typeName(n.Op()))
}

// Label names a node in an error, in a few words of one line: by its name, or by the call that makes it, as in
// "Add(Mul(x, w), …)". Gorgonia's own name of a constant lists all of its values.
func Label(n *gorgonia.Node) string { return label(n, 2) }

func label(n *gorgonia.Node, depth int) string {
	const maxLabel = 60
	s := Name(n)
	switch {
	case s != "":
	case n.Op() == nil:
		s = "without a name"
	default:
		made, _, _ := strings.Cut(Operation(n), ", ")
		s = strings.TrimSuffix(made, "…") + "(…)"
		if depth > 0 {
			var of []string
			for _, c := range Children(n) {
				of = append(of, label(c, depth-1))
			}
			s = strings.TrimSuffix(s, "…)") + strings.Join(of, ", ") + ")"
		}
	}
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxLabel {
		s = string(r[:maxLabel]) + "…"
	}
	return s
}
