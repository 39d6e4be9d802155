package compile

import "slices"

// Instruction is one step of a program. It acts on each sample by itself: on its rows of the values it names. It
// replaces its result, or adds to it if Accumulate is set.
type Instruction struct {
	Op         Op
	Func       Func // of the elementwise operations
	In         []ID // in the order of the Op's comment; what Reads leaves out is named, but may be gone
	Out        ID
	Where      ID      // of MaxPool: where it found its maxima; else None
	Rows, K, N int     // of products, softmax and lookups
	TransB     bool    // of products: y is stored as [N, K]
	Window     *Window // of convolutions and pooling
	Scalar     float32 // of Fill, BinaryScalar and ScalarBack
	Swap       bool    // of BinaryScalar and ScalarBack: Scalar is the function's first operand
	Side       int     // of BinaryBack: the operand whose gradient it computes
	View       View    // of Gather, over x; of Scatter and GradSpread, over the result
	Accumulate bool    // of Gather, Scatter, all …Back and all Grad…: add to the result
}

// Reads returns the values whose rows, or elements, an instruction reads. That is not all it names: the derivative of
// tanh is made of the function's value, so that its operand may be gone.
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

// Writes returns the values that an instruction writes, its result first.
func (in Instruction) Writes() []ID {
	ids := make([]ID, 0, 2)
	for _, id := range []ID{in.Out, in.Where} {
		if id != None {
			ids = append(ids, id)
		}
	}
	return ids
}

// InPlace returns the operand in whose place an instruction's result may lie, if nobody reads that again, or None:
// element j of the result then depends on elements j alone.
func (in Instruction) InPlace() ID {
	if in.Op.row().inPlace && !in.Accumulate && len(in.In) > 0 && !slices.Contains(in.In[1:], in.In[0]) {
		return in.In[0]
	}
	return None
}
