package compile

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// refusal describes an operation of Gorgonia's (v0.9.18) that has no rule, from its source and from the suite.
type refusal struct {
	kind     string // the name of its type
	operator string // if the type has several
	why      string
	instead  string
	mixes    bool // it mixes samples
}

// refusals lists the operations that dptrain knows and refuses. All others without a rule are refused too.
var refusals = []refusal{
	{kind: "linAlgBinOp", operator: "outer product",
		why: "Gorgonia's own gradient of it is wrong", instead: "Reshape to a column and a row and multiply them by Mul"},
	{kind: "tensordotOp",
		why: noRule, instead: "Reshape and Mul or BatchedMatMul"},
	{kind: "atOp", why: "it has no gradient", instead: "Slice"},
	{kind: "sparsemaxOp", why: noRule, instead: "SoftMax"},
	{kind: "avgPoolOp",
		why: "average pooling divides by the width of the image", instead: "Slice or Reshape, and Mean"},
	{kind: "dtConvOp", why: noRule, instead: "one type throughout the graph"},
	{kind: "diagFlatOp", why: "it has no gradient", instead: "BroadcastHadamardProd by a row, which is what a product by a diagonal matrix does"},
	{kind: "BatchNormOp", mixes: true,
		why: "it normalises by statistics of the batch, and keeps them", instead: normalise},
	{kind: "ctcLossOp", why: noRule, instead: "a cost of operations that dptrain knows"},
	{kind: "yoloOp", why: noRule, instead: "a cost of operations that dptrain knows"},
}

const noRule = "dptrain has no rule for it"

const normalise = "GroupNorm, or a sample's own values normalised by Mean, BroadcastSub, Square, Sqrt and BroadcastHadamardDiv"

// refused returns the error for a node whose operation has no rule.
func refused(n *gorgonia.Node) error {
	kind, operator := graph.Kind(n.Op()), graph.Operator(n.Op())
	if kind == "" {
		return refuse(n, "it isn't one of Gorgonia's own, so nothing is known of what it keeps, prints or mixes", "operations of package gorgonia")
	}
	for _, r := range refusals {
		switch {
		case r.kind != kind || r.operator != operator:
			continue
		case r.mixes:
			return mixes(n, fmt.Sprintf("%s; use %s", r.why, r.instead))
		}
		return refuse(n, r.why, r.instead)
	}
	return refuse(n, noRule, "operations that dptrain knows")
}
