package walk

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/arena"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Program is a program in the bytecode that kernels execute and cuda/kernels/program.cuh defines. It is immutable.
type Program struct {
	*compile.Program
	Gradient, Prediction List
	Sums                 []int32 // SumWords for each reduction
	Tile                 int     // maximum number of samples that go through the program together

	values []compile.Value // the program's, then the filters' gradients
	layout engine.Layout   // of the parameters

	output    []int32 // the operand that is the output
	tables    []int32
	constants []float32
	padding   map[compile.ID]image // by copy
	parts     map[compile.ID]int   // by value: the number of parts of its product
	turns     map[compile.ID]turn  // by copy
	digest    [sha256.Size]byte    // of all that decides a gradient's bits

	// Offsets, in elements of one sample or of a table.
	columns   []int                // by input: its column among the columns of its type
	equals    []int                // by input: the columns that list its equal integers; -1 if no kernel reads them
	floats    int                  // a sample's floats
	given     int                  // a sample's integers in the inputs
	integers  int                  // including the columns of equals
	constAt   map[compile.ID]int   // by constant
	viewTable map[compile.ID]int32 // by shared value: its table
}

// List is a list of instructions, of Words integers each, and the layout of their buffers. The first Prepared
// instructions compute derived values, which are the same for all samples.
type List struct {
	Code     []int32
	Prepared int
	Memory   arena.Layout
}

// The samples of a tile go through the program together. Its size is a compromise: few samples leave arithmetic units
// idle and make more additions to the sums; many need buffers that no cache holds. A tile's buffers have at most
// tileFloats, unless minTile samples need more.
const (
	minTile    = 8
	maxTile    = 32 // as in clip.cu
	tileFloats = 256 << 10
)

// Lower compiles a program that has been checked to bytecode. If kernels don't know an instruction, or a size is too
// large for their integers, the error is an [*engine.UnsupportedError].
func Lower(p *compile.Program) (*Program, error) {
	values, backward, reductions := p.Formed()
	l := &Program{
		Program: p, values: values, layout: engine.LayoutOf(p),
		constAt: map[compile.ID]int{}, viewTable: map[compile.ID]int32{}, padding: map[compile.ID]image{},
		parts: map[compile.ID]int{}, turns: map[compile.ID]turn{},
	}
	if err := l.shared(backward, reductions); err != nil {
		return nil, err
	}
	var err error
	if l.Gradient, err = l.list(l.parted(l.turned(l.padded(zeroed(slices.Concat(p.Forward, backward))))), compile.Kept(reductions), true); err != nil {
		return nil, err
	}
	if l.Prediction, err = l.list(l.parted(l.turned(l.padded(p.Predict))), []compile.ID{p.Output.Value}, false); err != nil {
		return nil, err
	}
	for _, r := range reductions {
		if r.Rule == compile.OfRows {
			l.Gradient.Code = append(l.Gradient.Code, l.merge(r)...)
		}
		l.Sums = append(l.Sums, l.reduction(r)...)
	}
	if p.Output.Value != compile.None {
		l.output = l.operand(&l.Prediction.Memory, p.Output.Value)
	}
	l.Tile = maxTile
	for l.Tile > minTile && l.Tile*l.Gradient.Memory.Floats > tileFloats {
		l.Tile /= 2
	}
	if size := max(l.Tile*max(l.Gradient.Memory.Floats, l.Gradient.Memory.Indices, l.Prediction.Memory.Floats, l.Prediction.Memory.Indices, l.Output.Size), l.layout.Size, len(l.tables), len(l.constants)); size > maxCount {
		return nil, &engine.UnsupportedError{Engine: "cuda", Operation: "program", Why: fmt.Sprintf("there would be %d numbers of one kind, kernels count to %d", size, maxCount)}
	}
	l.digest = l.digestOf()
	return l, nil
}

// maxCount is the largest size that kernels count to in an int32, in steps of a block's number of threads.
const maxCount = math.MaxInt32 - 1024

// digestOf hashes the words and numbers that decide a gradient's bits. Its result goes into the keys of random draws.
func (l *Program) digestOf() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, list := range [][]int32{l.Gradient.Code, l.Sums, l.tables} {
		binary.Write(h, binary.LittleEndian, int64(len(list)))
		binary.Write(h, binary.LittleEndian, list)
	}
	binary.Write(h, binary.LittleEndian, l.constants)
	if l.Gradient.Prepared > 0 {
		binary.Write(h, binary.LittleEndian, int64(l.Gradient.Prepared))
	}
	h.Sum(sum[:0])
	return sum
}

// shared lays out the parts common to all samples: columns, constants and the tables of views.
func (l *Program) shared(backward []compile.Instruction, reductions []compile.Reduction) error {
	for _, in := range l.Inputs {
		before := &l.floats
		if in.Type == compile.Int32 {
			before = &l.integers
		}
		l.columns, l.equals = append(l.columns, *before), append(l.equals, -1)
		*before += in.Size
	}
	l.given = l.integers
	compared := func(id compile.ID) {
		if i := l.values[id].Index; l.equals[i] < 0 {
			l.equals[i] = l.integers
			l.integers += 2 * l.Inputs[i].Size
		}
	}
	for _, in := range backward {
		if in.Op == compile.GradLookup {
			compared(in.In[1])
		}
	}
	for _, r := range reductions {
		if r.Rule == compile.OfRows {
			compared(r.X)
		}
	}
	for id, v := range l.values {
		switch v.Kind {
		case compile.Const:
			l.constAt[compile.ID(id)] = len(l.constants)
			l.constants = append(l.constants, v.Data...)
		case compile.Shared:
			l.viewTable[compile.ID(id)] = l.table(v.View.Elements())
		}
	}
	if before := max(l.floats, l.integers); before > maxCount {
		return &engine.UnsupportedError{Engine: "cuda", Operation: "input", Why: fmt.Sprintf("a sample has %d values, kernels count to %d", before, maxCount)}
	}
	return nil
}

func (l *Program) table(numbers []int32) int32 {
	at := len(l.tables)
	l.tables = append(l.tables, numbers...)
	return int32(at)
}

// zeroed fills a table's gradient with zeros before rows are added to it, since most rows get none.
func zeroed(code []compile.Instruction) []compile.Instruction {
	var out []compile.Instruction
	for _, in := range code {
		if in.Op == compile.GradLookup && !in.Accumulate {
			out = append(out, compile.Instruction{Op: compile.Fill, Out: in.Out, Where: compile.None})
			in.Accumulate = true
		}
		out = append(out, in)
	}
	return out
}

// list encodes instructions of gradients or of a prediction. The values in keep are read afterwards.
func (l *Program) list(code []compile.Instruction, keep []compile.ID, gradients bool) (List, error) {
	if slices.Contains(keep, compile.None) {
		keep = nil
	}
	prepare, derived := l.prepare(code)
	out := List{Prepared: len(prepare)}
	code = slices.Concat(prepare, code)
	out.Memory = arena.Of(l.laidOut(), code, slices.Concat(keep, derived), false)
	var since []access                        // the last barrier
	pooled := map[compile.ID]compile.Window{} // by positions: the window of the pooling that wrote them
	for i, in := range code {
		if why, ok := l.known(in, gradients, pooled); !ok {
			return List{}, &engine.UnsupportedError{Engine: "cuda", Operation: in.Op.String(), Why: why}
		}
		if in.Op == compile.MaxPool {
			pooled[in.Where] = *in.Window
		}
		preparing := i < out.Prepared
		now := l.access(&out.Memory, in, preparing)
		// Any thread reads any derived value.
		wait := i > 0 && i == out.Prepared || slices.ContainsFunc(since, now.meets)
		if wait {
			since = nil
		}
		since = append(since, now)
		out.Code = append(out.Code, l.instruction(&out.Memory, in, wait, preparing)...)
	}
	return out, nil
}

// known reports whether kernels know an instruction of gradients or of a prediction. why is the reason if not, or empty
// if they don't know its operation.
func (l *Program) known(in compile.Instruction, gradients bool, pooled map[compile.ID]compile.Window) (why string, ok bool) {
	number, ok := opcodes[in.Op]
	if !ok {
		return "", false
	}
	if !gradients && !predicts(number) {
		return "a prediction has no derivatives", false
	}
	switch in.Op {
	case compile.MaxPoolBack:
		if pooled[in.In[1]] != *in.Window {
			return "its window isn't that of the pooling that wrote its places", false
		}
	case compile.Gather:
		if x, ok := l.padding[in.Out]; ok && x.planes*x.padded[0]*x.padded[1] > maxCount {
			return fmt.Sprintf("an image has more than %d values with its padding", maxCount), false
		}
	}
	if w := in.Window; (in.Op == compile.MaxPool || in.Op == compile.MaxPoolBack) && max(w.KH, w.KW) > maxPooled {
		return fmt.Sprintf("a window has more than %d rows or columns", maxPooled), false
	}
	return "", true
}

// buffer adds a value that the program doesn't have.
func (l *Program) buffer(name string, shape ...int) compile.ID {
	l.values = append(slices.Clip(l.values), compile.Value{
		Name: name, Kind: compile.Buffer, Type: compile.Float32, Shape: shape, Size: compile.ViewOf(shape).Size(),
	})
	return compile.ID(len(l.values) - 1)
}

// instruction returns an instruction's words.
func (l *Program) instruction(m *arena.Layout, in compile.Instruction, wait, preparing bool) []int32 {
	operand := func(id compile.ID) []int32 {
		w := l.operand(m, id)
		if preparing && w[0] == InDerived { // it is the value of the tile's one sample
			w[0] = InBuffer
		}
		return w
	}
	w := make([]int32, Words)
	w[WordOp], w[WordWait], w[WordFunc], w[WordAdd] = opcodes[in.Op], bit(wait), int32(in.Func), bit(in.Accumulate)
	w[WordSide], w[WordScalar], w[WordSize] = int32(in.Side)|bit(in.Swap), floatBits(in.Scalar), int32(l.values[in.Out].Size)
	copy(w[WordOut:], operand(in.Out))
	reads := in.Reads()
	for k, id := range in.In {
		if v := l.values[id]; slices.Contains(reads, id) && (v.Type == compile.Float32 || v.Kind == compile.Input) {
			copy(w[WordIn0+3*k:], operand(id))
		} else {
			w[WordIn0+3*k+2] = -1
		}
	}
	w[WordRows], w[WordK], w[WordN], w[WordTransposed] = int32(in.Rows), int32(in.K), int32(in.N), bit(in.TransB)
	if in.Window != nil {
		setWindow(w, in.Window)
	}
	switch in.Op {
	case compile.MatMul, compile.MatMulBack:
		w[WordParts] = int32(max(1, l.parts[in.Out]))
	case compile.ConvBack:
		x := l.padding[in.In[0]]
		w[WordRows], w[WordN] = int32(x.padded[0]), int32(x.padded[1])
		w[WordTable] = l.table(slices.Concat(
			meetings(in.Window.KH, in.Window.PadH, int(w[WordStrideH]), int(w[WordDilationH]), in.Window.H, x.top),
			meetings(in.Window.KW, in.Window.PadW, int(w[WordStrideW]), int(w[WordDilationW]), in.Window.W, x.left),
		))
	case compile.Conv, compile.GradConv:
		w[WordTable] = l.table(offsets(in.Window))
	case compile.MaxPool:
		w[WordWhere], w[WordTable] = int32(m.Offsets[in.Where]), l.table(rectangles(in.Window, false))
	case compile.MaxPoolBack:
		w[WordWhere], w[WordTable] = int32(m.Offsets[in.In[1]]), l.table(rectangles(in.Window, true))
	case compile.Gather:
		w[WordK] = int32(l.values[in.In[0]].Size)
		if x, ok := l.padding[in.Out]; ok {
			w[WordTable] = l.table(x.elements())
		} else if x, ok := l.turns[in.Out]; ok {
			elements := x.elements()
			w[WordOnce], w[WordSize], w[WordTable] = 1, int32(len(elements)), l.table(elements)
		} else {
			w[WordTable] = l.table(in.View.Elements())
		}
	case compile.Scatter, compile.GradSpread:
		elements := in.View.Elements()
		w[WordK], w[WordTable] = int32(len(elements)), l.table(inverse(elements, l.values[in.Out].Size))
		w[WordWarp] = bit(len(elements) >= WarpSize*l.values[in.Out].Size)
	case compile.Product:
		w[WordGroups], w[WordTransposedLeft] = int32(in.Groups), bit(in.TransA)
	}
	if in.Drawn(1) > 0 {
		w[WordDraws], w[WordDraw] = int32(l.Draws/compile.DrawsMultiple), int32(in.Draw/compile.DrawsMultiple)
	}
	if in.Op == compile.Dropout {
		below := engine.KeepBelow(in.Scalar)
		w[WordBelow], w[WordBelowHigh] = int32(below), int32(below>>32)
	}
	return w
}

// merge returns the words of an instruction that adds up, in place, a table's gradient rows for the same row.
func (l *Program) merge(r compile.Reduction) []int32 {
	w := make([]int32, Words)
	w[WordOp], w[WordWait], w[WordSize] = OpMerge, 1, int32(l.values[r.Delta].Size)
	copy(w[WordOut:], l.operand(&l.Gradient.Memory, r.Delta))
	copy(w[WordIn0:], l.operand(&l.Gradient.Memory, r.X))
	w[WordRows], w[WordK], w[WordN] = int32(r.Rows), int32(r.K), int32(r.N)
	return w
}

// WarpSize is the number of threads of a warp.
const WarpSize = 32

// inverse inverts a table of the positions, below n, that elements go to. It returns n+1 indices into a list, and then
// the list: the elements that go to position 0, then to position 1, and so on.
func inverse(to []int32, n int) []int32 {
	out := make([]int32, n+1, n+1+len(to))
	for _, k := range to {
		out[k+1]++
	}
	for k := range n {
		out[k+1] += out[k]
	}
	list, next := make([]int32, len(to)), slices.Clone(out)
	for j, k := range to {
		list[next[k]] = int32(j)
		next[k]++
	}
	return append(out, list...)
}

// operand returns the three words of an operand: its space, its offset, and a table or -1.
func (l *Program) operand(m *arena.Layout, id compile.ID) []int32 {
	table := int32(-1)
	v := l.values[id]
	if v.Kind == compile.Shared {
		table = l.viewTable[id]
		id = v.Source
		v = l.values[id]
	}
	switch v.Kind {
	case compile.Input:
		if v.Type == compile.Int32 {
			return []int32{InIntegers, int32(l.columns[v.Index]), int32(l.equals[v.Index])}
		}
		return []int32{InData, int32(l.columns[v.Index]), table}
	case compile.Param:
		return []int32{InParams, int32(l.layout.Offsets[v.Index]), table}
	case compile.Const:
		return []int32{InConstants, int32(l.constAt[id]), table}
	case compile.Derived:
		return []int32{InDerived, int32(m.Offsets[id]), table}
	}
	return []int32{InBuffer, int32(m.Offsets[id]), table}
}

// reduction returns a reduction's words.
func (l *Program) reduction(r compile.Reduction) []int32 {
	w := make([]int32, SumWords)
	w[SumParam], w[SumSize] = int32(l.layout.Offsets[r.Param]), int32(l.layout.Lengths[r.Param])
	switch r.Rule {
	case compile.Materialised:
		w[SumRule] = OfGradient
		copy(w[SumX:], l.operand(&l.Gradient.Memory, r.G))
		return w
	case compile.OfRows:
		w[SumRule], w[SumSize], w[SumK], w[SumN] = OfRows, int32(l.values[r.Delta].Size), int32(r.K), int32(r.N)
		copy(w[SumX:], l.operand(&l.Gradient.Memory, r.Delta))
		copy(w[SumDelta:], l.operand(&l.Gradient.Memory, r.X))
		return w
	}
	w[SumRule], w[SumK], w[SumN], w[SumTransposed] = OfProduct, int32(r.K), int32(r.N), bit(r.TransB)
	copy(w[SumX:], l.operand(&l.Gradient.Memory, r.X))
	copy(w[SumDelta:], l.operand(&l.Gradient.Memory, r.Delta))
	return w
}
