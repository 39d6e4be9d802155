package train

import "github.com/dptrain/dptrain/internal/compile"

// ErrGraph is wrapped by every error about a graph that can't be trained privately, such as [MixError] and
// [RefusedError].
var ErrGraph = compile.ErrSource

// MixError reports an operation that mixes the samples of a batch, so that no per-sample gradient exists. No engine
// trains such a graph. Its field Op is the operation as Gorgonia prints it, Node the name of the node that it computes,
// and Why the reason.
type MixError = compile.MixError

// RefusedError reports an operation that mixes no samples and still can't be trained privately, not even one sample at
// a time. Its fields are those of [MixError], and Instead, which names an alternative.
type RefusedError = compile.RefusedError

// RuleError reports an operation that has no rule for per-sample gradients. Its fields are those of [MixError]. The
// engine of cpu.OneByOne trains a graph with such an operation if the graph was built for a batch of one.
type RuleError = compile.RuleError
