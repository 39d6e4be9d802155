package cuda

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

// lowered is a program as kernels read it: see cuda/kernels/program.cuh. It is immutable.
type lowered struct {
	*compile.Program
	values []compile.Value // the program's, then the filters' gradients
	layout engine.Layout   // of the parameters

	gradient, prediction list
	sums                 []int32 // the reductions' words
	output               []int32 // the operand that is the output
	tables               []int32
	constants            []float32
	chunk                int               // the most samples of a chunk, which go through the program together
	digest               [sha256.Size]byte // of all that kernels are told of how to compute a gradient

	columns   []int                // by input: values of the columns of its type before, for one sample
	equals    []int                // by input of integers: those before the columns that say which of them are equal; -1 where nobody asks
	floats    int                  // values of one sample
	integers  int                  // and integers, with those columns
	constAt   map[compile.ID]int   // where constants begin
	viewTable map[compile.ID]int32 // by Shared value: where its table begins
}

// list is instructions, and the memory that a sample needs for them.
type list struct {
	code   []int32
	memory arena.Layout
}

// A chunk takes all of its samples through the program together, so that its size is a balance: few samples leave arithmetic
// units idle and make more sums to round; many need memory that no cache holds, and make fewer chunks than a GPU has
// multiprocessors.
const (
	leastInChunk = 8
	mostInChunk  = 32
	chunkFloats  = 256 << 10
)

// lower makes a program that has been checked ready for kernels. Of an instruction that they don't know the error is an
// [*engine.UnsupportedError].
func lower(p *compile.Program) (*lowered, error) {
	values, backward, reductions := p.Formed()
	l := &lowered{
		Program: p, values: values, layout: engine.LayoutOf(p),
		constAt: map[compile.ID]int{}, viewTable: map[compile.ID]int32{},
	}
	if missing := p.Missing(); missing != nil {
		return nil, &engine.UnsupportedError{Engine: "cuda", Operation: missing.Op, Why: "it has no per-sample rule"}
	}
	if err := l.shared(backward, reductions); err != nil {
		return nil, err
	}
	var err error
	if l.gradient, err = l.list(zeroed(slices.Concat(p.Forward, backward)), compile.Kept(reductions)); err != nil {
		return nil, err
	}
	if l.prediction, err = l.list(p.Predict, []compile.ID{p.Output.Value}); err != nil {
		return nil, err
	}
	for _, r := range reductions {
		if r.Rule == compile.OfRows {
			l.gradient.code = append(l.gradient.code, l.merge(r)...)
		}
		l.sums = append(l.sums, l.reduction(r)...)
	}
	if p.Output.Value != compile.None {
		l.output = l.operand(&l.prediction.memory, p.Output.Value)
	}
	l.chunk = mostInChunk
	for l.chunk > leastInChunk && l.chunk*l.gradient.memory.Floats > chunkFloats {
		l.chunk /= 2
	}
	if most := max(l.chunk*max(l.gradient.memory.Floats, l.gradient.memory.Indices, l.prediction.memory.Floats, l.prediction.memory.Indices), l.layout.Size, len(l.tables), len(l.constants)); most > mostCounted {
		return nil, &engine.UnsupportedError{Engine: "cuda", Operation: "program", Why: fmt.Sprintf("there would be %d numbers of one kind, kernels count to %d", most, mostCounted)}
	}
	l.digest = l.digestOf()
	return l, nil
}

// mostCounted is what kernels count to: steps of as many threads as a block has go no further than an int32.
const mostCounted = math.MaxInt32 - 1024

// digestOf hashes the words and numbers that decide a gradient's bits.
func (l *lowered) digestOf() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, list := range [][]int32{l.gradient.code, l.sums, l.tables} {
		binary.Write(h, binary.LittleEndian, int64(len(list)))
		binary.Write(h, binary.LittleEndian, list)
	}
	binary.Write(h, binary.LittleEndian, l.constants)
	h.Sum(sum[:0])
	return sum
}

// shared lays out what is the same for all samples: columns, constants and the tables of views.
func (l *lowered) shared(backward []compile.Instruction, reductions []compile.Reduction) error {
	for _, in := range l.Inputs {
		before := &l.floats
		if in.Type == compile.Int32 {
			before = &l.integers
		}
		l.columns, l.equals = append(l.columns, *before), append(l.equals, -1)
		*before += in.Size
	}
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
	if before := max(l.floats, l.integers); before > mostCounted {
		return &engine.UnsupportedError{Engine: "cuda", Operation: "input", Why: fmt.Sprintf("a sample has %d values, kernels count to %d", before, mostCounted)}
	}
	return nil
}

func (l *lowered) table(numbers []int32) int32 {
	at := len(l.tables)
	l.tables = append(l.tables, numbers...)
	return int32(at)
}

// zeroed lets a table's gradient begin as zeros: few of its rows get anything.
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

// list writes instructions down.
func (l *lowered) list(code []compile.Instruction, keep []compile.ID) (list, error) {
	if slices.Contains(keep, compile.None) {
		keep = nil
	}
	out := list{memory: arena.Of(l.values, code, keep, false)}
	var since []access // the last wait
	for _, in := range code {
		number, ok := opcodes[in.Op]
		if !ok {
			return list{}, &engine.UnsupportedError{Engine: "cuda", Operation: in.Op.String()}
		}
		now := l.access(&out.memory, in)
		wait := slices.ContainsFunc(since, now.meets)
		if wait {
			since = nil
		}
		since = append(since, now)
		out.code = append(out.code, l.instruction(&out.memory, in, number, wait)...)
	}
	return out, nil
}

// instruction returns an instruction's words.
func (l *lowered) instruction(m *arena.Layout, in compile.Instruction, number int32, wait bool) []int32 {
	w := make([]int32, words)
	w[wordOp], w[wordWait], w[wordFunc], w[wordAdd] = number, bit(wait), int32(in.Func), bit(in.Accumulate)
	w[wordSide], w[wordScalar], w[wordSize] = int32(in.Side)|bit(in.Swap), floatBits(in.Scalar), int32(l.values[in.Out].Size)
	copy(w[wordOut:], l.operand(m, in.Out))
	reads := in.Reads()
	for k, id := range in.In {
		if v := l.values[id]; slices.Contains(reads, id) && (v.Type == compile.Float32 || v.Kind == compile.Input) {
			copy(w[wordIn0+3*k:], l.operand(m, id))
		} else {
			w[wordIn0+3*k+2] = -1
		}
	}
	w[wordRows], w[wordK], w[wordN], w[wordTransposed] = int32(in.Rows), int32(in.K), int32(in.N), bit(in.TransB)
	if in.Window != nil {
		copy(w[wordC:], windowWords(in.Window))
	}
	switch in.Op {
	case compile.MaxPool:
		w[wordWhere] = int32(m.Offsets[in.Where])
	case compile.MaxPoolBack:
		w[wordWhere] = int32(m.Offsets[in.In[1]])
	case compile.Gather:
		w[wordK], w[wordTable] = int32(l.values[in.In[0]].Size), l.table(in.View.Elements())
	case compile.Scatter, compile.GradSpread:
		elements := in.View.Elements()
		w[wordK], w[wordTable] = int32(len(elements)), l.table(inverse(elements, l.values[in.Out].Size))
		w[wordWarp] = bit(len(elements) >= warpSize*l.values[in.Out].Size)
	}
	return w
}

// merge returns the words that add those rows of a table's gradient up that go to the same row, where they are.
func (l *lowered) merge(r compile.Reduction) []int32 {
	w := make([]int32, words)
	w[wordOp], w[wordWait], w[wordSize] = opMerge, 1, int32(l.values[r.Delta].Size)
	copy(w[wordOut:], l.operand(&l.gradient.memory, r.Delta))
	copy(w[wordIn0:], l.operand(&l.gradient.memory, r.X))
	w[wordRows], w[wordK], w[wordN] = int32(r.Rows), int32(r.K), int32(r.N)
	return w
}

const warpSize = 32

// inverse turns a table of where elements go into one of what comes to each of n places: n+1 numbers that say where in
// the list after them each place's begin, and that list.
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

// operand returns the three words that say where a value is.
func (l *lowered) operand(m *arena.Layout, id compile.ID) []int32 {
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
			return []int32{inIntegers, int32(l.columns[v.Index]), int32(l.equals[v.Index])}
		}
		return []int32{inData, int32(l.columns[v.Index]), table}
	case compile.Param:
		return []int32{inParams, int32(l.layout.Offsets[v.Index]), table}
	case compile.Const:
		return []int32{inConstants, int32(l.constAt[id]), table}
	}
	return []int32{inBuffer, int32(m.Offsets[id]), table}
}

// reduction returns a reduction's words.
func (l *lowered) reduction(r compile.Reduction) []int32 {
	w := make([]int32, sumWords)
	w[sumParam], w[sumSize] = int32(l.layout.Offsets[r.Param]), int32(l.layout.Lengths[r.Param])
	switch r.Rule {
	case compile.Materialised:
		w[sumRule] = ofGradient
		copy(w[sumX:], l.operand(&l.gradient.memory, r.G))
		return w
	case compile.OfRows:
		w[sumRule], w[sumSize], w[sumK], w[sumN] = ofRows, int32(l.values[r.Delta].Size), int32(r.K), int32(r.N)
		copy(w[sumX:], l.operand(&l.gradient.memory, r.Delta))
		copy(w[sumDelta:], l.operand(&l.gradient.memory, r.X))
		return w
	}
	w[sumRule], w[sumK], w[sumN], w[sumTransposed] = ofProduct, int32(r.K), int32(r.N), bit(r.TransB)
	copy(w[sumX:], l.operand(&l.gradient.memory, r.X))
	copy(w[sumDelta:], l.operand(&l.gradient.memory, r.Delta))
	return w
}

// access is the memory that an instruction reads and writes.
type access struct {
	reads, writes []span
	elementwise   bool
}

// span is a part of one of the two arenas.
type span struct {
	indices    bool
	from, size int
}

func (l *lowered) access(m *arena.Layout, in compile.Instruction) access {
	spans := func(ids []compile.ID) []span {
		var out []span
		for _, id := range ids {
			if v := l.values[id]; v.Kind == compile.Buffer {
				out = append(out, span{v.Type == compile.Int32, m.Offsets[id], v.Size})
			}
		}
		return out
	}
	return access{spans(in.Reads()), spans(in.Writes()), elementwise(in.Op)}
}

// meets tells whether threads would have to wait between two instructions: whether one writes what the other touches. Between
// two that are elementwise on the very same elements each thread has its own.
func (a access) meets(b access) bool {
	meet := func(x, y []span) bool {
		return slices.ContainsFunc(x, func(s span) bool {
			return slices.ContainsFunc(y, func(t span) bool {
				overlap := s.indices == t.indices && s.from < t.from+t.size && t.from < s.from+s.size
				return overlap && !(a.elementwise && b.elementwise && s == t)
			})
		})
	}
	return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes)
}
