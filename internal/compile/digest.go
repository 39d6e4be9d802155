package compile

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// digest returns a hash of the graph's computation: operations, constants, shapes without the batch, and the edges. It
// leaves out names and the values of inputs and parameters.
func digest(src Source) [sha256.Size]byte {
	h := sha256.New()
	ends := slices.Concat(src.Inputs, src.Params, src.Constants)
	ends = append(ends, src.Cost, src.Output) // the last may be nil
	index := map[*gorgonia.Node]int{nil: -1}
	for i, n := range graph.Order(ends) {
		index[n] = i
		fmt.Fprintf(h, "\n%d", i)
		if n.Op() == nil {
			continue
		}
		writeOperation(h, n.Op())
		operands := graph.Children(n)
		if len(operands) == 0 && n.Value() != nil {
			writeConstant(h, n.Value())
		}
		for _, c := range operands {
			fmt.Fprintf(h, " %d", index[c])
		}
	}
	for _, n := range src.Inputs {
		fmt.Fprintf(h, "\ninput %d %v %v", index[n], graph.Shape(n)[1:], n.Dtype())
	}
	for _, n := range src.Params {
		fmt.Fprintf(h, "\nparameter %d %v %v", index[n], graph.Shape(n), n.Dtype())
	}
	for _, n := range src.Constants {
		fmt.Fprintf(h, "\nconstant %d", index[n])
		writeConstant(h, n.Value())
	}
	fmt.Fprintf(h, "\ncost %d output %d", index[src.Cost], index[src.Output])
	return [sha256.Size]byte(h.Sum(nil))
}

func writeOperation(h hash.Hash, op gorgonia.Op) {
	fmt.Fprintf(h, " %T %v ", op, op)
	switch graph.Kind(op) { // text and hash of these kinds leave settings out
	case "dropoutOp":
		fmt.Fprintf(h, "%v ", graph.FieldsOf(op).Float("probability"))
	case "GroupNormOp":
		fmt.Fprintf(h, "%v ", graph.FieldsOf(op).Float("epsilon"))
	}
	// Some operations can't hash themselves: hash their type and text instead.
	defer func() { _ = recover() }()
	op.WriteHash(h)
}

// writeConstant writes all bits of a constant in row-major order. Its text would round them.
func writeConstant(h hash.Hash, v gorgonia.Value) {
	values, err := graph.Doubles(v)
	if err != nil {
		fmt.Fprintf(h, " %T %v", v.Data(), v.Data())
		return
	}
	fmt.Fprintf(h, " %v %v", v.Shape(), v.Dtype())
	for _, x := range values {
		fmt.Fprintf(h, " %x", math.Float64bits(x))
	}
}
