package compile

import "gorgonia.org/gorgonia"

// Source is a Gorgonia graph to be trained. All inputs and parameters have names, and either all parameters have
// initial values bound or none has.
type Source struct {
	Inputs gorgonia.Nodes // at least one, with the batch as the first axis
	Params gorgonia.Nodes // trained, in this order
	Output *gorgonia.Node // the prediction, such as logits, with the batch as the first axis; may be nil
	Cost   *gorgonia.Node // a scalar: a sum over the samples of the batch
}
