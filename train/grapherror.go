package train

import "github.com/dptrain/dptrain/internal/compile"

// ErrGraph is wrapped by every error about a graph that can't be trained privately, such as [MixError] and
// [RefusedError].
var ErrGraph = compile.ErrSource

// MixError reports an operation that mixes the samples of a batch, so that no per-sample gradient exists. No engine
// trains such a graph. Its field Op is the operation as Gorgonia prints it, Node the name of the node that it computes,
// and Why the reason.
type MixError = compile.MixError

// RefusedError reports an operation, or a use of one, that mixes no samples and still can't be trained. It has the
// fields of [MixError], and Instead, which names an alternative.
type RefusedError = compile.RefusedError
