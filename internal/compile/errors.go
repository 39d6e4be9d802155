package compile

import (
	"errors"
	"fmt"
	"strings"

	"gorgonia.org/gorgonia"
)

// ErrSource is wrapped by every error about a graph that can't be trained as it stands.
var ErrSource = errors.New("graph can't be trained privately")

// MixError says that an operation lets samples of a batch see one another, so that the cost isn't a sum of the
// samples' own and no per-sample gradient exists. It is never worked around.
type MixError struct {
	Op   string // the operation, as Gorgonia prints it
	Node string // the node it computes
	Why  string
}

// Error says which operation mixes samples and why.
func (e *MixError) Error() string {
	return fmt.Sprintf("operation %s (node %q) mixes the samples of a batch: %s", e.Op, e.Node, e.Why)
}

// Unwrap makes a MixError an [ErrSource].
func (e *MixError) Unwrap() error { return ErrSource }

// RuleError says that an operation has no per-sample rule; such a graph is trained one sample at a time.
type RuleError struct {
	Op   string
	Node string
	Why  string
}

// Error names the operation.
func (e *RuleError) Error() string {
	s := fmt.Sprintf("operation %s (node %q) has no per-sample rule", e.Op, e.Node)
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// RefusedError says that an operation, or what it is applied to, can't be trained privately, not even one sample at a
// time, for another reason than that it mixes samples.
type RefusedError struct {
	Op      string
	Node    string
	Why     string
	Instead string // what to use
}

// Error names the operation and what to use instead.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("operation %s (node %q) is refused: %s; use %s", e.Op, e.Node, e.Why, e.Instead)
}

// Unwrap makes a RefusedError an [ErrSource].
func (e *RefusedError) Unwrap() error { return ErrSource }

// mixes is the error of an operation that lets samples see one another: nothing can be done about it.
func mixes(n *gorgonia.Node, why string) error {
	return &MixError{Op: opName(n), Node: n.Name(), Why: why}
}

// refuse is the error of an operation that mixes no samples and still has no meaning for each sample by itself: it
// depends on how many there are in the graph's batch, or on a sample's place among them.
func refuse(n *gorgonia.Node, why, instead string) error {
	return &RefusedError{Op: opName(n), Node: label(n), Why: why, Instead: instead}
}

// ofBatchSize is the error of arithmetic with the batch size.
func ofBatchSize(n *gorgonia.Node) error {
	return refuse(n, "it computes with the batch size of the graph, which no sample has by itself", "numbers that don't come of the batch axis")
}

// noRule is the error of an operation, or of operands of it, that the compiler can't take; the graph may still be
// evaluated as it stands.
func noRule(n *gorgonia.Node, why string) error {
	return &RuleError{Op: opName(n), Node: n.Name(), Why: why}
}

// oneLine takes the line breaks out of what Gorgonia says, which may print whole tensors.
func oneLine(err error) error {
	if text := err.Error(); strings.ContainsAny(text, "\n\t") {
		return errors.New(strings.Join(strings.Fields(text), " "))
	}
	return err
}
