package compile

import "gorgonia.org/gorgonia"

// Source is a Gorgonia graph to be trained. Every input has the batch as its first axis, the cost is a
// sum over the samples of the batch, and all Params have their initial values bound or none has. All have names.
type Source struct {
	Inputs gorgonia.Nodes // batch-first, at least one
	Params gorgonia.Nodes // trained, in this order
	Output *gorgonia.Node // what prediction returns (logits, say), batch-first; may be nil
	Cost   *gorgonia.Node // scalar, summed over the batch
}
