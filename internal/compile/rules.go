package compile

import "gorgonia.org/gorgonia"

// rule lowers one operation, given its operands: it emits instructions and returns what the node is, or an error by
// noRule, refuse or mixes. The operands of all rules but reshape and lookup are floating-point numbers. No rule looks
// at a length to find the batch axis.
type rule func(t *tracer, n *gorgonia.Node, in []traced) (traced, error)

// rules holds the forward rule of each of Gorgonia's operations, by the name of its type within Gorgonia.
var rules map[string]rule

func init() {
	rules = map[string]rule{
		"elemUnaryOp": unary,
		"elemBinOp":   binary,
		"linAlgBinOp": matMul,
		"reshapeOp":   reshape,
		"transposeOp": transpose,
		"repeatOp":    repeat,
		"sizeOp":      sizeOf,
		"sumOp":       sum,
		"softmaxOp":   softmax,
		"maxPoolOp":   maxPool,
		"byIndicesOp": lookup,
		"sliceOp":     slice,
		"Iop":         func(_ *tracer, _ *gorgonia.Node, in []traced) (traced, error) { return in[0], nil },
	}
}
