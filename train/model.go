package train

import (
	"math/rand/v2"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
)

// Model is a Gorgonia graph to train, and how its parameters begin. Package models builds some; any other graph will do
// whose inputs have the batch as their first axis and whose cost is a sum over the samples of the batch, with no
// operation that lets one sample see another: errors that wrap [ErrGraph] report what is in the way. Inputs and
// parameters have names of their own.
type Model struct {
	Inputs     gorgonia.Nodes // [batch, …] each, one for each column of [Data]
	Parameters gorgonia.Nodes // trained, in this order
	Output     *gorgonia.Node // [batch, …], what prediction returns: logits, or a number; nil for a model that isn't asked
	Cost       *gorgonia.Node // a scalar, summed over the batch and not divided by its size
	// Initial draws the values that a run's parameters begin with, in the order of Parameters, where the run's
	// [Settings] give none. They depend on the seed alone, and on nothing private. A call comes after the one before
	// has returned, and what it returns is copied: it may return the same memory each time. Where Initial is nil, every
	// run begins with the values that are bound in the graph.
	Initial func(seed rand.Source) [][]float32
}

// source returns the graph as the compiler takes it.
func (m Model) source() compile.Source {
	return compile.Source{Inputs: m.Inputs, Params: m.Parameters, Output: m.Output, Cost: m.Cost}
}
