package compile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// ErrSource is wrapped by every error about a graph that can't be trained privately.
var ErrSource = errors.New("graph can't be trained privately")

// MixError reports an operation that lets samples of a batch see one another. The cost then isn't a sum over samples,
// and no per-sample gradient exists: the graph must change.
type MixError struct {
	Op   string // the operation, as Gorgonia prints it
	Node string // the node it computes
	Why  string
}

// Error names the operation and says how it mixes samples.
func (e *MixError) Error() string {
	return fmt.Sprintf("operation %s (node %q) mixes the samples of a batch: %s", e.Op, e.Node, e.Why)
}

// Unwrap returns [ErrSource].
func (e *MixError) Unwrap() error { return ErrSource }

// RefusedError reports an operation, or a use of one, that mixes no samples but can't be trained privately.
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

// Unwrap returns [ErrSource].
func (e *RefusedError) Unwrap() error { return ErrSource }

// mixes returns a [*MixError].
func mixes(n *gorgonia.Node, why string) error {
	return &MixError{Op: graph.Operation(n), Node: graph.Label(n), Why: why}
}

// refuse returns a [*RefusedError].
func refuse(n *gorgonia.Node, why, instead string) error {
	return &RefusedError{Op: graph.Operation(n), Node: graph.Label(n), Why: why, Instead: instead}
}

// ofBatchSize returns the error for arithmetic with the batch size.
func ofBatchSize(n *gorgonia.Node) error {
	return refuse(n, "it computes with the batch size of the graph, which no sample has by itself", "numbers that don't come of the batch axis")
}

// readsIntegers returns the error for an operation on integers other than indexing.
func readsIntegers(n *gorgonia.Node) error {
	return refuse(n, "it reads integers", "integers as indices of ByIndices only, and floating-point numbers elsewhere")
}

// oneLine replaces an error's line breaks: Gorgonia's may print whole tensors.
func oneLine(err error) error {
	if text := err.Error(); strings.ContainsAny(text, "\n\t") {
		return errors.New(strings.Join(strings.Fields(text), " "))
	}
	return err
}
