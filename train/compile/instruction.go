package compile

import (
	"cmp"
	"slices"
)

// Instruction is one step of a program. It acts on each sample by itself: on its rows of the values it names. It replaces
// its result, or adds to it if Accumulate is set.
type Instruction struct {
	Op         Op
	Func       Func // of the elementwise operations
	In         []ID
	Out        ID
	Where      ID      // of MaxPool: where it found its maxima; else None
	Rows, K, N int     // of products and softmax
	TransB     bool    // of products: y is stored as [N, K]
	Window     *Window // of convolutions and pooling
	Scalar     float32 // of Fill, BinaryScalar and ScalarBack
	Swap       bool    // of BinaryScalar and ScalarBack: Scalar is the function's first operand
	Side       int     // of BinaryBack: the operand whose gradient it computes
	View       View    // of Gather, over x; of Scatter and GradSpread, over the result
	Accumulate bool
}

// Reads returns the values whose rows, or elements, an instruction reads. That is not all it names: the derivative of tanh
// is made of the function's value, so that its operand may be gone.
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

// Writes returns the values that an instruction writes.
func (in Instruction) Writes() []ID {
	ids := make([]ID, 0, 2)
	for _, id := range []ID{in.Out, in.Where} {
		if id != None {
			ids = append(ids, id)
		}
	}
	return ids
}

// InPlace tells whether an instruction's result may lie where its first operand does, if nobody reads that again: element
// j of the result then depends on elements j alone.
func (in Instruction) InPlace() bool {
	return in.Op.row().inPlace && !in.Accumulate && len(in.In) > 0 && !slices.Contains(in.In[1:], in.In[0])
}

// Life is how long a value takes up room.
type Life struct {
	Value ID
	From  int // the first instruction that writes it; -1 for what is there before the first
	To    int // the last instruction that reads or writes it; the number of instructions for what is kept
}

// Lifetimes returns the lives of all values that a list of instructions reads or writes, in the order of From and then
// of Value. keep names values that are read afterwards. It takes any list whose elements say what they read and write, so
// that an engine may ask it of its own form of a program. Values that are read but never written - inputs, parameters,
// constants - live from before the first instruction.
func Lifetimes[I interface {
	Reads() []ID
	Writes() []ID
}](code []I, keep []ID) []Life {
	lives := map[ID]*Life{}
	touch := func(id ID, from, at int) {
		if lives[id] == nil {
			lives[id] = &Life{Value: id, From: from}
		}
		lives[id].To = at
	}
	for at, in := range code {
		for _, id := range in.Reads() {
			touch(id, -1, at)
		}
		for _, id := range in.Writes() {
			touch(id, at, at)
		}
	}
	for _, id := range keep {
		touch(id, -1, len(code))
	}
	out := make([]Life, 0, len(lives))
	for _, l := range lives {
		out = append(out, *l)
	}
	slices.SortFunc(out, compareLives)
	return out
}

func compareLives(a, b Life) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Value, b.Value))
}
