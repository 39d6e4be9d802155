package train

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
)

// SettingError reports an invalid setting or argument. Setting is its name in words, Value its value and Want a
// description of valid ones.
type SettingError struct {
	Setting string
	Value   any
	Want    string
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s is %v: want %s", e.Setting, e.Value, e.Want)
}

// finite reports whether v is neither infinite nor NaN.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

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
