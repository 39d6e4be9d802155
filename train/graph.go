package train

import "github.com/dptrain/dptrain/internal/compile"

// ErrGraph is wrapped by every error about a graph that can't be trained privately as it stands. A [MixError] and a
// [RefusedError] name the operation that is in the way; both are an ErrGraph.
var ErrGraph = compile.ErrSource

// MixError reports an operation that lets samples of a batch see one another, so that no per-sample gradient exists. Op
// is the operation as Gorgonia prints it, Node the node that it computes, and Why the reason. No engine trains such a
// graph.
type MixError = compile.MixError

// RefusedError reports an operation, or an operand of one, that can't be trained privately, not even one sample at a
// time, though it mixes no samples. Its fields are those of a [MixError], and Instead, which names an alternative.
type RefusedError = compile.RefusedError

// RuleError reports an operation without a rule for per-sample gradients. Its fields are those of a [MixError]. A graph
// that is built for a batch of one can be trained in spite of it, one sample at a time, by the engine that cpu.OneByOne
// makes.
type RuleError = compile.RuleError
