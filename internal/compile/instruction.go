package compile

import "slices"

// Instruction is one step of a program. It acts on each sample's rows by themselves, and replaces its result, or adds
// to it if Accumulate is set. Each field except Op, In and Out belongs to some operations only.
type Instruction struct {
	Op         Op
	Func       Func // elementwise operations
	In         []ID // in the order of Op's comment; the buffer of an operand that isn't in Reads may be reused already
	Out        ID
	Where      ID      // MaxPool: the positions of its maxima; else None
	Rows, K, N int     // products, softmax and lookups
	TransB     bool    // products: y is stored as [N, K]
	Groups     int     // Product: the number of matrices
	TransA     bool    // Product: x is stored as [K, Rows]
	Draw       int     // Dropout, Normals, Uniforms: the sample's draw that decides on element 0
	Window     *Window // convolutions and pooling
	Scalar     float32 // Fill, BinaryScalar, ScalarBack; Normalize: ε, added to the variance; Dropout: the share kept
	Swap       bool    // BinaryScalar and ScalarBack: Scalar is the function's first operand
	Side       int     // BinaryBack: the operand whose gradient it computes
	View       View    // Gather: a view of x; Scatter and GradSpread: a view of the result
	Accumulate bool    // Gather, Scatter, Product, Dropout, all …Back and all Grad…: add to the result
}

// Drawn returns the number of a sample's draws that the instruction uses for a result of the given size. A draw has 32
// bits; a normal takes the two of a word.
func (in Instruction) Drawn(size int) int {
	switch in.Op {
	case Dropout, Uniforms:
		return size
	case Normals:
		return 2 * size
	}
	return 0
}

// Reads returns the values that the instruction reads. It may leave out some operands of In: the derivative of tanh,
// for example, reads the function's value and not its operand, whose buffer may be gone.
func (in Instruction) Reads() []ID {
	row := in.Op.row()
	var ids []ID
	for k, id := range in.In {
		if row.reads == nil || row.reads(&in, k) {
			ids = append(ids, id)
		}
	}
	if in.Accumulate {
		ids = append(ids, in.Out)
	}
	return ids
}

// Writes returns the values that the instruction writes, its result first.
func (in Instruction) Writes() []ID {
	return slices.DeleteFunc([]ID{in.Out, in.Where}, none)
}

// InPlace returns the operand whose buffer the result may overwrite if no later instruction reads the operand, or None.
// Element j of the result then depends on elements j of the operands alone.
func (in Instruction) InPlace() ID {
	if in.Op.row().inPlace && !in.Accumulate && len(in.In) > 0 && !slices.Contains(in.In[1:], in.In[0]) {
		return in.In[0]
	}
	return None
}
