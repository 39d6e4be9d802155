package train

import "github.com/dptrain/dptrain/internal/engine"

// Engine trains models on one kind of device. Make one by cpu.New or cuda.New. [FirstOf] combines several. All engines
// draw the same minibatches and noise and keep the same bound on the sensitivity of a step. They differ in speed, in
// the rounding of gradients, and in the operations that they support.
type Engine = engine.Engine

// FirstOf returns an engine that loads each model on the first of the given engines that supports it. [Loaded.Fallback]
// returns why the engines before it didn't. FirstOf copies the list.
func FirstOf(engines ...Engine) Engine { return engine.FirstOf(engines...) }

// UnsupportedError reports an operation of a model that an engine doesn't support; another engine may. Its field Engine
// is the name of the engine, Operation the name of the operation, and Why the reason, which may be empty.
type UnsupportedError = engine.UnsupportedError

// ErrLost is wrapped by the errors of runs whose device failed. Such a run can't continue, even from a restored state.
var ErrLost = engine.ErrLost

// RunErrors reports the runs of a group that failed: element i is the error of run i, or nil.
type RunErrors = engine.RunErrors
