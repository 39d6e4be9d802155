package compile

import "gorgonia.org/gorgonia"

// rule lowers one operation, given its operands: it emits instructions and returns what the node is, or an error by
// noRule or mixes. Operands are floating-point numbers, but for those of
// reshape and lookup. No rule looks at a size to find out what is the batch.
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
