package compile

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math"

	"gorgonia.org/gorgonia"
)

// digest hashes what a graph computes: operations, constants, shapes of inputs and parameters without the batch, and
// which node is computed from which. Names don't count, nor the values of inputs and parameters.
func digest(src Source) [sha256.Size]byte {
	h := sha256.New()
	ends := append(append(gorgonia.Nodes{}, src.Inputs...), src.Params...)
	ends = append(ends, src.Cost, src.Output) // the last may be nil
	place := map[*gorgonia.Node]int{nil: -1}
	for i, n := range evaluationOrder(ends) {
		place[n] = i
		fmt.Fprintf(h, "\n%d", i)
		if n.Op() == nil {
			continue
		}
		writeOperation(h, n.Op())
		operands := children(n)
		if len(operands) == 0 && n.Value() != nil {
			writeConstant(h, n.Value().Data())
		}
		for _, c := range operands {
			fmt.Fprintf(h, " %d", place[c])
		}
	}
	for _, n := range src.Inputs {
		fmt.Fprintf(h, "\ninput %d %v", place[n], shapeOf(n)[1:])
	}
	for _, n := range src.Params {
		fmt.Fprintf(h, "\nparameter %d %v", place[n], shapeOf(n))
	}
	fmt.Fprintf(h, "\ncost %d output %d", place[src.Cost], place[src.Output])
	return [sha256.Size]byte(h.Sum(nil))
}

func writeOperation(h hash.Hash, op gorgonia.Op) {
	fmt.Fprintf(h, " %T %v ", op, op)
	defer func() { _ = recover() }() // some operations can't hash themselves; what is written then is their type and text
	op.WriteHash(h)
}

// writeConstant writes every bit of a constant; its text would round.
func writeConstant(h hash.Hash, data any) {
	switch d := data.(type) {
	case []float32:
		for _, v := range d {
			fmt.Fprintf(h, " %x", math.Float32bits(v))
		}
	case []float64:
		for _, v := range d {
			fmt.Fprintf(h, " %x", math.Float64bits(v))
		}
	default:
		fmt.Fprintf(h, " %T %v", d, d)
	}
}
