package cpu

import (
	"slices"

	"github.com/dptrain/dptrain/internal/arena"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// executable is a program made ready for this machine. It is immutable: all runs of a program, and all of their
// workers, may share one.
type executable interface {
	// bind makes room for one run's parameters in the forms in which they are read.
	bind() binding
	// workspace makes room for one worker, which may work for one run after another.
	workspace() workspace
	// widths returns, by parameter, the row length of a table of which a sample's gradient touches few rows; 0, or
	// nothing, of all others.
	widths() []int
}

// binding is one run's parameters. Between two calls of set any number of workers may read it.
type binding interface {
	set(params [][]float32) error
}

// workspace computes gradients and outputs of a few samples at a time. One worker holds it.
type workspace interface {
	// clipped adds to sum the clipped gradients of the given samples and writes their squared norms.
	clipped(b binding, data *engine.Data, samples []int32, clip float64, sum *chunkSum, squared []float64) error
	// predict writes the outputs of samples [from, to).
	predict(b binding, data *engine.Data, from, to int, out []float32) error
}

// cacheFloats is the size that a block's buffers should stay below: three quarters of the 1 MB of second
// level cache that a current core has.
const cacheFloats = 192 << 10

// mostSamples is the most samples that go through the program together: a chunk's, where its buffers fit.
const mostSamples = mostInChunk

// lowered is a step program as this machine's cores run it: convolutions unroll their images, a filter's gradient is
// formed where the program only says what it is made of, and values have places in memory.
type lowered struct {
	*compile.Program
	values             []compile.Value // the program's, then this machine's own
	forward, predicted []instruction
	backward           []instruction
	reductions         []compile.Reduction // RankOne, Materialised or OfRows
	rows               int                 // of the largest table that has a reduction OfRows
	tables             [][]int32           // by Shared value: which element of its source is where
	filters            []filter
	scratch            int // floats that one sample's convolution needs

	gradient, prediction arena.Layout
	samples              int // that go through the program together: a block
}

// instruction is one of a program's, with what this machine makes of its geometry.
type instruction struct {
	compile.Instruction
	columns compile.ID // of convolutions: the unrolled images, [positions, patch]
	unrolls bool       // it writes columns, for itself or for the gradient of its filter
	table   []int32    // of views: where each element is
	run     int        // of GradSpread and Gather: if not 0, the view repeats each element of a whole value run times
	whole   int        // of Gather and Scatter: the view is of the whole value, of that size, again and again, if not 0
}

// Reads returns what the instruction reads on this machine.
func (in instruction) Reads() []compile.ID {
	ids := in.Instruction.Reads()
	if in.Op == compile.GradConv && !in.unrolls {
		ids[1] = in.columns // which stand for the images
	}
	return ids
}

// Writes returns what the instruction writes on this machine.
func (in instruction) Writes() []compile.ID {
	ids := in.Instruction.Writes()
	if in.unrolls {
		ids = append(ids, in.columns)
	}
	return ids
}

// filter is a convolution's parameter, [outputs, patch]. Another may read the same parameter in another shape.
type filter struct {
	id             compile.ID
	outputs, patch int
}

func filterOf(in *compile.Instruction) filter {
	return filter{in.In[1], in.Window.OutC, in.Window.Patch()}
}

// lower makes a program that has been checked ready for this machine. Of an instruction that this machine doesn't know
// the error is an [*engine.UnsupportedError].
func lower(p *compile.Program) (*lowered, error) {
	values, backward, reductions := p.Formed()
	l := &lowered{Program: p, values: values, reductions: reductions, tables: make([][]int32, len(p.Values))}
	for id, v := range p.Values {
		if v.Kind == compile.Shared {
			l.tables[id] = v.View.Elements()
		}
	}
	for _, list := range []struct {
		from []compile.Instruction
		to   *[]instruction
	}{{p.Forward, &l.forward}, {backward, &l.backward}, {p.Predict, &l.predicted}} {
		for _, in := range list.from {
			out, err := l.instruction(in)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, out)
		}
	}
	for _, r := range reductions {
		if r.Rule == compile.OfRows {
			l.rows = max(l.rows, r.N)
		}
	}
	l.gradient = arena.Of(l.values, slices.Concat(l.forward, l.backward), compile.Kept(l.reductions), true)
	l.prediction = arena.Of(l.values, l.predicted, []compile.ID{p.Output.Value}, true)
	l.samples = min(mostSamples, max(1, cacheFloats/max(1, l.gradient.Floats)))
	return l, nil
}

// instruction lowers one instruction.
func (l *lowered) instruction(in compile.Instruction) (instruction, error) {
	out := instruction{Instruction: in, columns: compile.None}
	switch in.Op {
	case compile.Fill, compile.Unary, compile.Binary, compile.BinaryScalar, compile.MatMul, compile.MaxPool,
		compile.Softmax, compile.LogSoftmax, compile.UnaryBack, compile.BinaryBack, compile.ScalarBack, compile.MatMulBack,
		compile.MaxPoolBack, compile.SoftmaxBack, compile.LogSoftmaxBack, compile.GradMatMul, compile.Lookup, compile.GradLookup:
	case compile.Gather, compile.Scatter:
		viewed := in.In[0]
		if in.Op == compile.Scatter {
			viewed = in.Out
		}
		out.table = in.View.Elements()
		out.run, out.whole = runOf(out.table, l.values[viewed].Size), wholeOf(out.table, l.values[viewed].Size)
	case compile.GradSpread:
		out.table = in.View.Elements()
		out.run = runOf(out.table, l.values[in.Out].Size)
	case compile.Conv:
		w := in.Window
		out.unrolls, out.columns = true, l.columnsOf(in.In[0], w, in.In[1])
		if out.columns == compile.None {
			out.columns = l.value("im2col of "+l.values[in.In[0]].Name, w.Positions(), w.Patch())
		}
		if f := filterOf(&in); !slices.Contains(l.filters, f) {
			l.filters = append(l.filters, f)
		}
		l.scratch = max(l.scratch, w.Positions()*w.OutC)
	case compile.ConvBack:
		out.unrolls, out.columns = true, l.value("im2col of "+l.values[in.Out].Name, in.Window.Positions(), in.Window.Patch())
	case compile.GradConv:
		return l.gradConv(in), nil
	case compile.Opaque:
		missing := l.Missing()
		return out, &engine.UnsupportedError{Operation: missing.Op, Why: "it has no per-sample rule; engine.FirstOf(cpu.New(o), cpu.OneByOne(o)) trains it one sample at a time"}
	default:
		return out, &engine.UnsupportedError{Operation: in.Op.String()}
	}
	return out, nil
}

// value makes room for a value of this machine's own.
func (l *lowered) value(name string, shape ...int) compile.ID {
	v := compile.Value{Name: name, Kind: compile.Buffer, Shape: shape, Size: compile.ViewOf(shape).Size()}
	l.values = append(l.values, v)
	return compile.ID(len(l.values) - 1)
}

// runOf returns r if the elements of a view are those of a whole value of the given size, each r times in a row, else
// 0. It is 1 for a bias over a vector, the number of positions for one over an image.
func runOf(table []int32, size int) int {
	run := len(table) / size
	if run*size != len(table) {
		return 0
	}
	for j, k := range table {
		if int(k) != j/run {
			return 0
		}
	}
	return run
}

// wholeOf returns size if the elements of a view are those of a whole value of that size in order, over and over, else
// 0.
func wholeOf(table []int32, size int) int {
	for j, k := range table {
		if int(k) != j%size {
			return 0
		}
	}
	if len(table)%size != 0 {
		return 0
	}
	return size
}

func (l *lowered) bind() binding {
	b := &bound{lowered: l, shared: make([][]float32, len(l.values)), transposed: map[filter][]float32{}}
	for id, t := range l.tables {
		b.shared[id] = make([]float32, len(t))
	}
	for _, f := range l.filters {
		b.transposed[f] = make([]float32, f.outputs*f.patch)
	}
	return b
}

func (l *lowered) widths() []int {
	widths := make([]int, len(l.Params))
	for _, r := range l.reductions {
		if r.Rule == compile.OfRows {
			widths[r.Param] = r.K
		}
	}
	return widths
}

func (l *lowered) workspace() workspace {
	return &block{
		lowered:  l,
		memory:   newMemory(l),
		factors:  make([]float32, l.samples),
		position: make([]float32, l.scratch),
		first:    make([]int32, l.rows),
	}
}
