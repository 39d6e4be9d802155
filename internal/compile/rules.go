package compile

import "gorgonia.org/gorgonia"

// rule lowers one operation, given its operands: it emits instructions and returns the traced node, or an error by
// refuse or mixes. The operands of all rules except reshape and lookup are floating-point numbers. No rule looks at a
// length to find the batch axis.
type rule func(t *tracer, n *gorgonia.Node, in []traced) (traced, error)

// rules holds the forward rule of each of Gorgonia's operations, by the name of its type within Gorgonia.
var rules map[string]rule

func init() {
	rules = map[string]rule{
		"elemUnaryOp":         unary,
		"elemBinOp":           binary,
		"linAlgBinOp":         multiply,
		"reshapeOp":           reshape,
		"transposeOp":         transpose,
		"repeatOp":            repeat,
		"sizeOp":              sizeOf,
		"sumOp":               sum,
		"maxOp":               maxAlong,
		"maxBetween":          between(Maximum),
		"minBetween":          between(Minimum),
		"softmaxOp":           softmax,
		"im2colOp":            unroll,
		"maxPoolOp":           maxPool,
		"byIndicesOp":         lookup,
		"sliceOp":             slice,
		"concatOp":            concat,
		"upsampleOp":          upsample,
		"dropoutOp":           dropout,
		"randomOp":            random,
		"GroupNormOp":         groupNorm,
		"globalAveragePoolOp": globalAverage,
		"Iop":                 func(_ *tracer, _ *gorgonia.Node, in []traced) (traced, error) { return in[0], nil },
	}
}
