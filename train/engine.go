package train

import "github.com/dptrain/dptrain/internal/engine"

// Engine runs training on one kind of device: make one by cpu.New or cuda.New, or a choice of several by [FirstOf].
// Every engine draws the same minibatches and the same noise and keeps the same bound on the sensitivity of a step;
// they differ in the rounding of gradients, and in which operations of a graph they have.
type Engine = engine.Engine

// FirstOf returns an engine that loads each model on the first of the given engines that can run it.
// [Loaded.Fallback] reports why those before it couldn't. FirstOf copies the list.
func FirstOf(engines ...Engine) Engine { return engine.FirstOf(engines...) }

// UnsupportedError reports an operation that keeps an engine from running a model: the engine's name is in Engine, the
// operation's in Operation, and the reason in Why, which may be empty. Another engine may have the operation.
type UnsupportedError = engine.UnsupportedError

// ErrLost is wrapped by the errors of runs whose device failed. None of them goes on, whatever they are restored to.
var ErrLost = engine.ErrLost

// RunErrors reports which runs of a group failed: element i is run i's error, or nil.
type RunErrors = engine.RunErrors
