package cpu

import (
	"slices"

	"github.com/dptrain/dptrain/internal/arena"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// workspace computes gradients and outputs of a few samples at a time. It belongs to one worker.
type workspace interface {
	// clipped adds the samples' contributions to sum and writes their squared norms to squared.
	clipped(b *bound, data *engine.Data, samples []int32, clip float64, sum *sum, squared []float64) error
	// predict writes the outputs of samples from, …, to-1 to out.
	predict(b *bound, data *engine.Data, from, to int, out []float32) error
}

// cacheFloats bounds the size of a microbatch's buffers: three quarters of the 1 MB of second-level cache of a current
// core.
const cacheFloats = 192 << 10

// maxMicrobatch bounds the number of samples that go through the program together.
const maxMicrobatch = 480

const _ = uint(engine.MostInInt32 - maxMicrobatch) // otherwise sums don't hold a microbatch

// microbatchOf returns the size of a microbatch for buffers of perSample floats a sample and the given number of
// parameters. The buffers stay in the cache if the parameters do. If these don't, each microbatch reads all of them
// from memory, so it has as many samples as make its buffers as large as the parameters.
func microbatchOf(perSample, parameters int) int {
	perSample = max(1, perSample)
	if parameters > cacheFloats {
		return min(maxMicrobatch, max(1, parameters/perSample))
	}
	return min(maxShare, max(1, cacheFloats/perSample))
}

// lowered is a step program in this machine's form: convolutions unroll their images, gradients of filters are
// materialized, and buffers have offsets in memory. It is immutable, and all runs and workers share it.
type lowered struct {
	*compile.Program
	values             []compile.Value // the program's, then the values that lowering added
	prepared           []instruction   // on values common to all samples
	forward, predicted []instruction
	backward           []instruction
	reductions         []compile.Reduction // RankOne, Materialised or OfRows
	rows               int                 // the number of rows of the largest table with an OfRows reduction
	positions          [][]int32           // by Shared value: the position in its source of each element
	filters            []filter
	scratch            int // floats for one sample's convolution
	drawn              []drawn
	words              int // 64-bit words of one sample's draws

	gradient, prediction arena.Layout
	samples              int     // the size of a microbatch
	work                 float64 // about how many nanoseconds a sample takes
}

// instruction is a program's instruction with all that this machine derives from its geometry.
type instruction struct {
	compile.Instruction
	columns   compile.ID // convolutions: the unrolled images, [positions, patch]
	unrolls   bool       // it writes columns, for itself or for the gradient of its filter
	positions []int32    // views: the position of each element
	repeats   int        // GradSpread and Gather: if not 0, how often the view repeats each element of a whole value
	stretch   int        // views: if not 0, the number of elements that are also consecutive in the viewed value
	period    int        // Gather, Scatter and GradSpread: if not 0, the view repeats a whole value of that size
	copies    bool       // Gather: the result is the same for all samples
	draws     int        // Dropout, Normals, Uniforms: the position of its draws in a sample's words
}

// Reads returns the values that the instruction reads on this machine.
func (in instruction) Reads() []compile.ID {
	ids := in.Instruction.Reads()
	if in.Op == compile.GradConv && !in.unrolls {
		ids[1] = in.columns // in place of the images
	}
	return ids
}

// Writes returns the values that the instruction writes on this machine.
func (in instruction) Writes() []compile.ID {
	ids := in.Instruction.Writes()
	if in.unrolls {
		ids = append(ids, in.columns)
	}
	return ids
}

// filter is a convolution's parameter as a matrix, [outputs, patch]. Another convolution may read the same parameter in
// another shape.
type filter struct {
	id             compile.ID
	outputs, patch int
}

func filterOf(in *compile.Instruction) filter {
	return filter{in.In[1], in.Window.OutC, in.Window.Patch()}
}

// lower lowers a checked program for this machine. It returns an [*engine.UnsupportedError] for an instruction that
// this machine doesn't know.
func lower(p *compile.Program) (*lowered, error) {
	values, backward, reductions := p.Formed()
	l := &lowered{Program: p, values: values, reductions: reductions, positions: make([][]int32, len(p.Values))}
	for id, v := range p.Values {
		if v.Kind == compile.Shared {
			l.positions[id] = v.View.Elements()
		}
	}
	for _, list := range []struct {
		from []compile.Instruction
		to   *[]instruction
	}{{p.Prepare, &l.prepared}, {p.Forward, &l.forward}, {backward, &l.backward}, {p.Predict, &l.predicted}} {
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
	perSample, multiplied := l.gradient.Floats+2*l.words, l.multiplied()
	l.samples = microbatchOf(perSample, multiplied)
	l.work = float64(perSample) + 0.05*float64(multiplied) // of which each takes part in six operations
	return l, nil
}

// multiplied returns the number of parameters that every sample's gradient touches: all but tables.
func (l *lowered) multiplied() int {
	n := 0
	for i, width := range l.widths() {
		if width == 0 {
			n += l.Params[i].Size
		}
	}
	return n
}

// instruction lowers one instruction.
func (l *lowered) instruction(in compile.Instruction) (instruction, error) {
	out := instruction{Instruction: in, columns: compile.None}
	switch in.Op {
	case compile.Fill, compile.Unary, compile.Binary, compile.BinaryScalar, compile.MatMul, compile.MaxPool,
		compile.Softmax, compile.LogSoftmax, compile.UnaryBack, compile.BinaryBack, compile.ScalarBack, compile.MatMulBack,
		compile.MaxPoolBack, compile.SoftmaxBack, compile.LogSoftmaxBack, compile.GradMatMul, compile.Lookup, compile.GradLookup,
		compile.Product, compile.Normalize, compile.NormalizeBack:
	case compile.Dropout, compile.Normals, compile.Uniforms:
		out.draws = l.drawnBy(&in)
	case compile.Gather, compile.Scatter:
		viewed := in.In[0]
		if in.Op == compile.Scatter {
			viewed = in.Out
		}
		out.positions = in.View.Elements()
		out.copies = in.Op == compile.Gather && !in.Accumulate && storedKind(l.values[in.In[0]].Kind)
		out.repeats, out.period = repeatsOf(out.positions, l.values[viewed].Size), periodOf(out.positions, l.values[viewed].Size)
		out.stretch = stretchOf(in.View)
	case compile.GradSpread:
		out.positions = in.View.Elements()
		out.repeats, out.period = repeatsOf(out.positions, l.values[in.Out].Size), periodOf(out.positions, l.values[in.Out].Size)
		out.stretch = stretchOf(in.View)
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
	default:
		return out, &engine.UnsupportedError{Operation: in.Op.String()}
	}
	return out, nil
}

// value adds a buffer that the program doesn't have.
func (l *lowered) value(name string, shape ...int) compile.ID {
	v := compile.Value{Name: name, Kind: compile.Buffer, Shape: shape, Size: compile.ViewOf(shape).Size()}
	l.values = append(l.values, v)
	return compile.ID(len(l.values) - 1)
}

// leastStretch is the minimum number of consecutive elements that are moved together.
const leastStretch = 8

// stretchOf returns the number of elements of a view's last axes that follow one another, or 0 if they are few.
func stretchOf(v compile.View) int {
	n := 1
	for d := len(v.Shape) - 1; d >= 0 && (v.Strides[d] == n || v.Shape[d] == 1); d-- {
		n *= v.Shape[d]
	}
	if n < leastStretch {
		return 0
	}
	return n
}

// repeatsOf returns r if a view has the elements of a whole value of the given size, each r times in a row, and 0
// otherwise. The result is 1 for a bias over a vector, and the number of positions for a bias over an image.
func repeatsOf(positions []int32, size int) int {
	repeats := len(positions) / size
	if repeats*size != len(positions) {
		return 0
	}
	for j, k := range positions {
		if int(k) != j/repeats {
			return 0
		}
	}
	return repeats
}

// periodOf returns size if a view repeats a whole value of the given size in order, and 0 otherwise.
func periodOf(positions []int32, size int) int {
	for j, k := range positions {
		if int(k) != j%size {
			return 0
		}
	}
	if len(positions)%size != 0 {
		return 0
	}
	return size
}

// bind allocates one run's parameters in the forms that the program reads.
func (l *lowered) bind() *bound {
	b := &bound{lowered: l, shared: make([][]float32, len(l.values)), transposed: map[filter][]float32{},
		derived: make([][]float32, len(l.values))}
	for id, t := range l.positions {
		b.shared[id] = make([]float32, len(t))
	}
	for id, v := range l.values {
		if v.Kind == compile.Derived {
			b.derived[id] = make([]float32, v.Size)
		}
	}
	b.preparer = &microbatch{lowered: l, bound: b, at: make([]buffer, len(l.values)), n: 1}
	for _, f := range l.filters {
		b.transposed[f] = make([]float32, f.outputs*f.patch)
	}
	return b
}

// widths returns, by parameter, the row length of a table whose per-sample gradients touch few rows, and 0 for all
// others.
func (l *lowered) widths() []int {
	widths := make([]int, len(l.Params))
	for _, r := range l.reductions {
		if r.Rule == compile.OfRows {
			widths[r.Param] = r.K
		}
	}
	return widths
}

// workspace allocates one worker's buffers, which serve one run after another.
func (l *lowered) workspace() workspace {
	indexed := 0
	firsts := make([][][]int32, len(l.reductions))
	for i, r := range l.reductions {
		if r.Rule == compile.OfRows {
			n := l.values[r.X].Size
			indexed = max(indexed, n)
			for range l.samples {
				firsts[i] = append(firsts[i], make([]int32, n))
			}
		}
	}
	return &microbatch{
		lowered:    l,
		memory:     newMemory(l),
		factors:    make([]float32, l.samples),
		squared:    make([]float64, l.samples),
		samplesOf:  make([]int32, l.samples),
		indexOf:    make([]int, l.samples),
		position:   make([]float32, l.scratch),
		first:      make([]int32, l.rows),
		into:       make([]int32, indexed),
		firsts:     firsts,
		drawnWords: make([]uint64, l.samples*l.words),
	}
}

// columnsOf returns the buffer into which a convolution by filter, or by any filter if filter is None, unrolls the
// images. It returns None if there is no such convolution.
func (l *lowered) columnsOf(images compile.ID, w *compile.Window, filter compile.ID) compile.ID {
	for _, in := range l.forward {
		if in.Op == compile.Conv && in.In[0] == images && *in.Window == *w && (filter == compile.None || in.In[1] == filter) {
			return in.columns
		}
	}
	return compile.None
}

// gradConv lowers the gradient of a filter. It reads the images as a convolution has unrolled them, or unrolls them
// itself.
func (l *lowered) gradConv(in compile.Instruction) instruction {
	out := instruction{Instruction: in, columns: l.columnsOf(in.In[1], in.Window, compile.None)}
	if out.columns == compile.None {
		out.unrolls, out.columns = true, l.value("im2col of "+l.values[in.In[1]].Name, in.Window.Positions(), in.Window.Patch())
	}
	return out
}
