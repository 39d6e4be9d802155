package train

import (
	"math/rand/v2"

	"github.com/dptrain/dptrain/internal/compile"
	"gorgonia.org/gorgonia"
)

// Model is a Gorgonia graph to train, and a function that draws its initial parameters. Package models builds some. Any
// other graph can be trained too if its inputs have the batch as their first axis, its cost is a sum, or a mean, over
// the samples of the batch, and no operation mixes samples. The error about any other graph wraps [ErrGraph]. Every
// input and parameter must have a name, and no two parameters the same.
type Model struct {
	Inputs     gorgonia.Nodes // [batch, …], one for each column of [Data]
	Parameters gorgonia.Nodes // trained, in this order
	// Constants are nodes with names and bound values that stay as they are: frozen weights, or masks, in which -Inf
	// counts as −2¹⁰⁰. They are public. gorgonia.NewConstant makes small constants, which aren't listed.
	Constants gorgonia.Nodes
	Output    *gorgonia.Node // [batch, …] or [batch·T, …]: logits or numbers, for predictions and scores; may be nil
	Cost      *gorgonia.Node // a scalar: a sum over the batch, or its mean by gorgonia.Mean; and perhaps weight decay
	// Initial draws the initial values of a run's parameters, in the order of Parameters, for settings without
	// [Settings.Initial]. The values must depend on seed alone. They are copied before the next call, so Initial may
	// return the same slices each time. If Initial is nil, a run begins with the values bound in the graph.
	Initial func(seed rand.Source) [][]float32
}

// source returns the graph as the compiler takes it.
func (m Model) source() compile.Source {
	return compile.Source{Inputs: m.Inputs, Params: m.Parameters, Constants: m.Constants, Output: m.Output, Cost: m.Cost}
}
