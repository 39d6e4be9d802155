package cuda

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// generator makes random programs that pass [compile.Program.Check], most of which no graph compiles to: engines take
// whatever passes. In exact ones all numbers are small integers, so that sums are the same in every order and nothing
// hides behind a tolerance.
type generator struct {
	r     *rand.Rand
	p     *compile.Program
	exact bool
	ready []compile.ID                   // rows of floats that can be read
	ids   []compile.ID                   // inputs of integers
	where map[compile.ID]*compile.Window // the windows of what poolings have found
}

func (g *generator) value(v compile.Value) compile.ID {
	g.p.Values = append(g.p.Values, v)
	return compile.ID(len(g.p.Values) - 1)
}
func (g *generator) buffer(n int) compile.ID {
	return g.value(compile.Value{Name: "b", Kind: compile.Buffer, Shape: []int{n}, Size: n})
}
func (g *generator) size(id compile.ID) int { return g.p.Values[id].Size }
func (g *generator) pick() compile.ID       { return g.ready[g.r.IntN(len(g.ready))] }
func (g *generator) number() float32 {
	if g.exact {
		return float32(g.r.IntN(3) - 1)
	}
	return g.r.Float32()*2 - 1
}

// param returns a new parameter of n values or, sometimes, an old one.
func (g *generator) param(n int) compile.ID {
	for id, v := range g.p.Values {
		if v.Kind == compile.Param && v.Size == n && g.r.IntN(3) == 0 {
			return compile.ID(id)
		}
	}
	id := g.value(compile.Value{Name: fmt.Sprint("p", len(g.p.Params)), Kind: compile.Param, Shape: []int{n}, Size: n, Index: len(g.p.Params)})
	g.p.Params = append(g.p.Params, compile.Tensor{Name: fmt.Sprint("p", len(g.p.Params)), Shape: []int{n}, Size: n, Value: id})
	return id
}
func (g *generator) constant(n int) compile.ID {
	d := make([]float32, n)
	for i := range d {
		d[i] = g.number()
	}
	return g.value(compile.Value{Name: "c", Kind: compile.Const, Shape: []int{n}, Size: n, Data: d})
}
func (g *generator) stored(n int) compile.ID {
	if g.r.IntN(3) == 0 {
		return g.constant(n)
	}
	return g.param(n)
}

// view returns one of n elements of a value of some size.
func (g *generator) view(n, whole int) compile.View {
	var shape []int
	rest := n
	for rest > 1 {
		var ds []int
		for d := 2; d <= rest; d++ {
			if rest%d == 0 {
				ds = append(ds, d)
			}
		}
		d := ds[g.r.IntN(len(ds))]
		shape = append(shape, d)
		rest /= d
		if g.r.IntN(5) == 0 {
			shape = append(shape, 1)
		}
	}
	if len(shape) == 0 && g.r.IntN(2) == 0 {
		shape = []int{1}
	}
	v := compile.View{Shape: shape, Strides: make([]int, len(shape))}
	room := whole - 1
	for _, d := range g.r.Perm(len(shape)) {
		if shape[d] == 1 {
			v.Strides[d] = g.r.IntN(7)
			continue
		}
		m := room / (shape[d] - 1)
		if g.r.IntN(3) > 0 {
			v.Strides[d] = g.r.IntN(m + 1)
		}
		room -= v.Strides[d] * (shape[d] - 1)
	}
	v.Offset = g.r.IntN(room + 1)
	return v
}
func (g *generator) shared(n int) compile.ID {
	m := 1 + g.r.IntN(12)
	src := g.stored(m)
	v := g.view(n, m)
	return g.value(compile.Value{Name: "s", Kind: compile.Shared, Shape: []int{n}, Size: n, Source: src, View: v})
}

// either returns a row of n values, or what is the same for all samples.
func (g *generator) either(n int) compile.ID {
	if id := g.rows(n); id != compile.None && g.r.IntN(2) == 0 {
		return id
	}
	return g.shared(n)
}

// rows returns a row of n values for each sample, or None.
func (g *generator) rows(n int) compile.ID {
	var same []compile.ID
	for _, id := range g.ready {
		if g.size(id) == n {
			same = append(same, id)
		}
	}
	if len(same) == 0 {
		return compile.None
	}
	return same[g.r.IntN(len(same))]
}

func divisors(n int) []int {
	var out []int
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			out = append(out, d)
		}
	}
	return out
}
func (g *generator) divisor(n int) int { d := divisors(n); return d[g.r.IntN(len(d))] }

// window returns one over an image of n values, or nil.
func (g *generator) window(n int, pool bool) *compile.Window {
	for range 20 {
		c := g.divisor(n)
		h := g.divisor(n / c)
		w := n / c / h
		x := &compile.Window{C: c, H: h, W: w, DilationH: 1, DilationW: 1}
		side := func(im int) (k, pad, stride, dil, out int) {
			k = 1 + g.r.IntN(4)
			pad = g.r.IntN(3)
			stride = 1 + g.r.IntN(5)
			dil = 1
			if !pool {
				dil = 1 + g.r.IntN(4)
				if g.r.IntN(4) == 0 {
					pad += g.r.IntN(4)
				}
			}
			room := im + 2*pad - dil*(k-1) - 1
			if room < 0 || pool && pad >= k {
				return 0, 0, 0, 0, 0
			}
			return k, pad, stride, dil, room/stride + 1
		}
		x.KH, x.PadH, x.StrideH, x.DilationH, x.OutH = side(h)
		x.KW, x.PadW, x.StrideW, x.DilationW, x.OutW = side(w)
		if x.KH == 0 || x.KW == 0 {
			continue
		}
		x.OutC = c
		if !pool {
			x.OutC = 1 + g.r.IntN(10)
		}
		if x.OutC*x.OutH*x.OutW > 400 || x.OutC*c*x.KH*x.KW > 400 {
			continue
		}
		return x
	}
	return nil
}

var exactUnary = []compile.Func{compile.Abs, compile.Sign, compile.Ceil, compile.Floor, compile.Neg, compile.SquareOf, compile.Sign, compile.Sign}
var smoothUnary = []compile.Func{compile.Sin, compile.Cos, compile.Neg, compile.Tanh, compile.Sigmoid, compile.Softplus, compile.Tanh, compile.Tanh, compile.SquareOf}
var exactBinary = []compile.Func{compile.Add, compile.Sub, compile.Mul, compile.Lt, compile.Gt, compile.Lte, compile.Gte, compile.Eq, compile.Ne}
var smoothBinary = []compile.Func{compile.Add, compile.Sub, compile.Mul}

func (g *generator) functions() (one, two []compile.Func) {
	if g.exact {
		return exactUnary, exactBinary
	}
	return smoothUnary, smoothBinary
}

// out returns the result for a backward instruction: a new buffer, or an old one to add to.
func (g *generator) out(n int, in []compile.ID, adds bool, backward map[compile.ID]bool) (compile.ID, bool) {
	if adds && backward != nil && g.r.IntN(2) == 0 {
		var c []compile.ID
		for id := range g.p.Values {
			id := compile.ID(id)
			if backward[id] && g.size(id) == n {
				ok := true
				for _, i := range in {
					ok = ok && i != id
				}
				if ok {
					c = append(c, id)
				}
			}
		}
		if len(c) > 0 {
			return c[g.r.IntN(len(c))], true
		}
	}
	return g.buffer(n), false
}

// instruction makes one, or none: then ok is false. backward is what its list has written so far; nil of other lists,
// which add to nothing.
func (g *generator) instruction(backward map[compile.ID]bool) (in compile.Instruction, ok bool) {
	in = compile.Instruction{Out: compile.None, Where: compile.None}
	if len(g.ids) > 0 && g.r.IntN(6) == 0 {
		return g.lookup(in, backward)
	}
	one, two := g.functions()
	x := g.pick()
	n := g.size(x)
	kinds := 10
	if backward != nil {
		kinds = 22
	}
	adds := true
	size := n
	switch k := g.r.IntN(kinds); k {
	case 0:
		in.Op, in.Func, in.In, adds = compile.Unary, one[g.r.IntN(len(one))], []compile.ID{x}, false
	case 1:
		in.Op, in.Func, adds = compile.Binary, two[g.r.IntN(len(two))], false
		in.In = []compile.ID{x, g.either(n)}
		if g.r.IntN(2) == 0 {
			in.In[0], in.In[1] = in.In[1], in.In[0]
		}
	case 2:
		in.Op, in.Func, in.In, adds = compile.BinaryScalar, two[g.r.IntN(len(two))], []compile.ID{x}, false
		in.Scalar, in.Swap = g.number(), g.r.IntN(2) == 0
	case 3:
		in.Op, adds = compile.MatMul, false
		in.K = g.divisor(n)
		in.Rows, in.N, in.TransB = n/in.K, 1+g.r.IntN(12), g.r.IntN(2) == 0
		if in.Rows*in.N > 400 {
			return in, false
		}
		in.In = []compile.ID{x, g.stored(in.K * in.N)}
		size = in.Rows * in.N
	case 4, 5:
		in.Op, adds = compile.Conv, false
		if k == 5 {
			in.Op = compile.MaxPool
		}
		if in.Window = g.window(n, k == 5); in.Window == nil {
			return in, false
		}
		w := in.Window
		in.In = []compile.ID{x}
		size = w.OutC * w.OutH * w.OutW
		if k == 4 {
			in.In = append(in.In, g.stored(w.OutC*w.Patch()))
		} else {
			in.Where = g.value(compile.Value{Name: "w", Kind: compile.Buffer, Type: compile.Int32, Shape: []int{size}, Size: size})
			g.where[in.Where] = w
		}
	case 6:
		in.Op, in.In = compile.Gather, []compile.ID{x}
		size = 1 + g.r.IntN(60)
		in.View = g.view(size, n)
	case 7:
		in.Op, in.In = compile.Scatter, []compile.ID{x}
		size = 1 + g.r.IntN(30)
		if g.r.IntN(3) == 0 {
			size = 1 + g.r.IntN(2)
		}
		in.View = g.view(n, size)
	case 8:
		if g.exact {
			return in, false
		}
		in.Op, in.In, adds = []compile.Op{compile.Softmax, compile.LogSoftmax}[g.r.IntN(2)], []compile.ID{x}, false
		in.K = g.divisor(n)
		in.Rows = n / in.K
	case 9:
		in.Op, in.Scalar, adds = compile.Fill, g.number(), false
		size = 1 + g.r.IntN(40)
	case 10:
		in.Op, in.Func = compile.UnaryBack, one[g.r.IntN(len(one))]
		a, b := g.rows(n), g.rows(n)
		in.In = []compile.ID{x, a, b}
	case 11:
		in.Op, in.Func, in.Side = compile.BinaryBack, two[g.r.IntN(3)], g.r.IntN(2)
		in.In = []compile.ID{x, g.either(n), g.either(n), g.rows(n)}
	case 12:
		in.Op, in.Func = compile.ScalarBack, two[g.r.IntN(3)]
		in.In = []compile.ID{x, g.rows(n), g.rows(n)}
		in.Scalar, in.Swap = g.number(), g.r.IntN(2) == 0
	case 13:
		in.Op = compile.MatMulBack
		in.N = g.divisor(n)
		in.Rows, in.K, in.TransB = n/in.N, 1+g.r.IntN(12), g.r.IntN(2) == 0
		size = in.Rows * in.K
		in.In = []compile.ID{x, g.stored(in.K * in.N)}
	case 14, 15: // the window is one that fits some image, and gives what is there
		for range 30 {
			im := 1 + g.r.IntN(60)
			w := g.window(im, k == 15)
			if w == nil {
				continue
			}
			if d := g.rows(w.OutC * w.OutH * w.OutW); d != compile.None && k == 14 {
				in.Op, in.Window, in.In, size = compile.ConvBack, w, []compile.ID{d, g.stored(w.OutC * w.Patch())}, im
				break
			}
		}
		if k == 15 {
			for id := range g.p.Values {
				id := compile.ID(id)
				if w := g.where[id]; w != nil && g.r.IntN(2) == 0 {
					if d := g.rows(g.size(id)); d != compile.None {
						in.Op, in.Window, in.In, size = compile.MaxPoolBack, w, []compile.ID{d, id}, w.C*w.H*w.W
					}
				}
			}
		}
		if in.In == nil {
			return in, false
		}
	case 16:
		if g.exact {
			return in, false
		}
		in.Op, in.In = []compile.Op{compile.SoftmaxBack, compile.LogSoftmaxBack}[g.r.IntN(2)], []compile.ID{x, g.rows(n)}
		in.K = g.divisor(n)
		in.Rows = n / in.K
	case 17, 18:
		in.Op = compile.GradMatMul
		in.Rows = g.divisor(n)
		in.N, in.TransB = n/in.Rows, g.r.IntN(2) == 0
		for range 20 {
			y := g.pick()
			if g.size(y)%in.Rows == 0 && g.size(y)/in.Rows*in.N <= 400 {
				in.K = g.size(y) / in.Rows
				in.In = []compile.ID{x, y}
				break
			}
		}
		if in.In == nil {
			return in, false
		}
		size = in.K * in.N
	case 19, 20:
		for range 30 {
			y := g.pick()
			w := g.window(g.size(y), false)
			if w == nil {
				continue
			}
			if d := g.rows(w.OutC * w.OutH * w.OutW); d != compile.None {
				in.Op, in.Window, in.In, size = compile.GradConv, w, []compile.ID{d, y}, w.OutC*w.Patch()
				break
			}
		}
		if in.In == nil {
			return in, false
		}
	case 21:
		in.Op, in.In = compile.GradSpread, []compile.ID{x}
		size = 1 + g.r.IntN(30)
		in.View = g.view(n, size)
	}
	in.Out, in.Accumulate = g.out(size, in.In, adds, backward)
	return in, true
}

// lookup picks rows of a table, or adds up what comes back from them.
func (g *generator) lookup(in compile.Instruction, backward map[compile.ID]bool) (_ compile.Instruction, ok bool) {
	ids := g.ids[g.r.IntN(len(g.ids))]
	in.Rows, in.N, in.K = g.size(ids), 1+g.r.IntN(7), 1+g.r.IntN(9)
	if backward == nil || g.r.IntN(2) == 0 {
		in.Op, in.In = compile.Lookup, []compile.ID{ids, g.stored(in.N * in.K)}
		in.Out = g.buffer(in.Rows * in.K)
		return in, true
	}
	x := g.pick()
	if g.size(x)%in.Rows != 0 || g.size(x)/in.Rows*in.N > 400 {
		return in, false
	}
	in.Op, in.In, in.K = compile.GradLookup, []compile.ID{x, ids}, g.size(x)/in.Rows
	in.Out, in.Accumulate = g.out(in.K*in.N, in.In, true, backward)
	return in, true
}

// list makes n instructions, one after another.
func (g *generator) list(n int, backward map[compile.ID]bool) []compile.Instruction {
	var out []compile.Instruction
	for len(out) < n {
		in, ok := g.instruction(backward)
		if !ok {
			continue
		}
		out = append(out, in)
		if !in.Accumulate {
			g.ready = append(g.ready, in.Out)
		}
		if backward != nil {
			backward[in.Out] = true
		}
	}
	return out
}

func randomProgram(seed uint64, exact bool) *compile.Program {
	g := &generator{r: rand.New(rand.NewPCG(seed, 77)), p: &compile.Program{}, exact: exact, where: map[compile.ID]*compile.Window{}}
	for k := range 1 + g.r.IntN(3) {
		n := 1 + g.r.IntN(48)
		id := g.value(compile.Value{Name: fmt.Sprint("in", k), Kind: compile.Input, Shape: []int{n}, Size: n, Index: k})
		g.p.Inputs = append(g.p.Inputs, compile.Tensor{Name: fmt.Sprint("in", k), Shape: []int{n}, Size: n, Value: id})
		g.ready = append(g.ready, id)
	}
	inputs := append([]compile.ID(nil), g.ready...)
	for range g.r.IntN(3) {
		k, n := len(g.p.Inputs), 1+g.r.IntN(12)
		id := g.value(compile.Value{Name: fmt.Sprint("in", k), Kind: compile.Input, Type: compile.Int32, Shape: []int{n}, Size: n, Index: k})
		g.p.Inputs = append(g.p.Inputs, compile.Tensor{Name: fmt.Sprint("in", k), Type: compile.Int32, Shape: []int{n}, Size: n, Value: id})
		g.ids = append(g.ids, id)
	}
	if g.r.IntN(4) == 0 {
		g.param(1 + g.r.IntN(5)) // not used, perhaps
	}
	g.p.Predict = g.list(g.r.IntN(8), nil)
	out := g.pick()
	n := g.size(out)
	g.p.Output = compile.Tensor{Name: "out", Shape: []int{n}, Size: n, Value: out}
	g.ready = append([]compile.ID(nil), inputs...)
	g.where = map[compile.ID]*compile.Window{}
	g.p.Forward = g.list(g.r.IntN(9), nil)
	backward := map[compile.ID]bool{}
	g.p.Backward = g.list(1+g.r.IntN(14), backward)
	g.reductions(backward)
	return g.p
}

// reductions makes parameters' gradients of what backward wrote, each once; x is anything that nobody may scale.
func (g *generator) reductions(backward map[compile.ID]bool) {
	scaled, asX := map[compile.ID]bool{}, map[compile.ID]bool{}
	have := map[int]bool{}
	var written []compile.ID
	for id := range g.p.Values {
		if backward[compile.ID(id)] {
			written = append(written, compile.ID(id))
		}
	}
	g.r.Shuffle(len(written), func(i, j int) { written[i], written[j] = written[j], written[i] })
	for _, d := range written {
		if scaled[d] || asX[d] || g.p.Values[d].Type != compile.Float32 {
			continue
		}
		n := g.size(d)
		r := compile.Reduction{X: compile.None, Delta: compile.None, G: compile.None}
		size := n
		switch g.r.IntN(6) {
		case 0, 1:
			r.Rule, r.G = compile.Materialised, d
		case 2:
			x := g.pick()
			if x == d || scaled[x] || g.size(x)*n > 500 {
				continue
			}
			r.Rule, r.X, r.Delta, r.K, r.N, r.TransB = compile.RankOne, x, d, g.size(x), n, g.r.IntN(2) == 0
			size = r.K * r.N
		case 3:
			for range 50 {
				x := g.pick()
				if x == d || scaled[x] {
					continue
				}
				if w := g.window(g.size(x), false); w != nil && w.OutC*w.OutH*w.OutW == n {
					r.Rule, r.X, r.Delta, r.Window = compile.OfConv, x, d, w
					size = w.OutC * w.Patch()
					break
				}
			}
			if r.Window == nil {
				continue
			}
		default:
			i := slices.IndexFunc(g.ids, func(x compile.ID) bool { return n%g.size(x) == 0 })
			if i < 0 {
				continue
			}
			r.Rule, r.X, r.Delta, r.Rows, r.N = compile.OfRows, g.ids[i], d, g.size(g.ids[i]), 1+g.r.IntN(7)
			r.K = n / r.Rows
			size = r.N * r.K
		}
		if r.X != compile.None {
			asX[r.X] = true
		}
		scaled[d] = true
		param := -1
		for i, t := range g.p.Params {
			if t.Size == size && !have[i] {
				param = i
			}
		}
		if param < 0 {
			id := g.value(compile.Value{Name: fmt.Sprint("p", len(g.p.Params)), Kind: compile.Param, Shape: []int{size}, Size: size, Index: len(g.p.Params)})
			param = len(g.p.Params)
			g.p.Params = append(g.p.Params, compile.Tensor{Name: fmt.Sprint("p", param), Shape: []int{size}, Size: size, Value: id})
		}
		have[param] = true
		r.Param = param
		if g.p.Reductions = append(g.p.Reductions, r); len(g.p.Reductions) > 5 {
			break
		}
	}
}

// randomData returns samples and initial parameters.
func randomData(p *compile.Program, samples int, exact bool, seed uint64) (*engine.Data, []float32) {
	r := rand.New(rand.NewPCG(seed, 5))
	num := func() float32 {
		if exact {
			return float32(r.IntN(3) - 1)
		}
		return r.Float32()*2 - 1
	}
	d := &engine.Data{Samples: samples}
	for k, in := range p.Inputs {
		if in.Type == compile.Int32 {
			least, most := p.Range(k)
			c := make([]int32, samples*in.Size)
			for i := range c {
				c[i] = int32(int64(least) + r.Int64N(int64(most)-int64(least)+1))
			}
			d.Columns = append(d.Columns, engine.Column{Ints: c})
			continue
		}
		c := make([]float32, samples*in.Size)
		for i := range c {
			c[i] = num()
		}
		d.Columns = append(d.Columns, engine.Column{Floats: c})
	}
	l := engine.LayoutOf(p)
	init := make([]float32, l.Size)
	for k, at := range l.Offsets {
		for i := range l.Lengths[k] {
			init[at+i] = num()
		}
	}
	return d, init
}
