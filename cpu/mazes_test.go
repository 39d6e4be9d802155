package cpu_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Random graphs are refused by name or compiled right: the sum of the samples' gradients is that of the whole batch's
// cost, by central differences. As an engine takes the samples one by one, a cost that mixes them would differ.
func TestMazes(t *testing.T) {
	long.SkipRace(t, "no concurrency")
	seeds := uint64(600 * long.Times())
	right, refused := 0, 0
	for seed := range seeds {
		m, src, err := mazeOf(enginetest.NewG, seed)
		if err != nil {
			continue // Gorgonia's own
		}
		p, err := compile.Compile(src)
		var mixes *compile.MixError
		var refuses *compile.RefusedError
		switch {
		case errors.As(err, &mixes), errors.As(err, &refuses), err != nil && slices.ContainsFunc(others, func(s string) bool { return strings.Contains(err.Error(), s) }):
			refused++
		case err != nil:
			t.Errorf("seed %d: %v\n%s", seed, err, strings.Join(m.log, "\n"))
		default:
			_, double, err := mazeOf(enginetest.NewDouble, seed)
			if err != nil {
				t.Fatal(err)
			}
			ok, err := suite(compiled).WholeBatch(t, p, double, m.mean, seed)
			if err != nil {
				t.Errorf("seed %d, batch %d: %v\n%s", seed, m.g.Batch, err, strings.Join(m.log, "\n"))
			}
			if ok {
				right++
			}
		}
	}
	if right < int(seeds)*5/12 || refused < int(seeds)/6 {
		t.Errorf("%d graphs are right and %d refused: the test shows too little", right, refused)
	}
}

// others are refusals without a type.
var others = []string{"depend on any parameter", "isn't a sum over", "where a softmax may be meant", "where its logarithm may be meant", "doesn't fit into the"}

// maze is a random graph of values of random shapes. Its lengths are small, so that many of them equal the batch's or
// multiples of it, and its operations include those that mix samples, which the compiler must refuse.
type maze struct {
	g     *enginetest.G
	r     *rand.Rand
	ids   *gorgonia.Node
	made  int // parameters and constants
	nodes []*gorgonia.Node
	of    map[*gorgonia.Node]int // what a node depends on: 1 samples, 2 parameters, 3 both
	mean  bool                   // the cost is one over the batch
	log   []string
}

// mazeOf builds the maze of a seed on a graph for a batch.
func mazeOf(graph func(batch int, seed uint64) *enginetest.G, seed uint64) (m *maze, src compile.Source, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	r := rand.New(rand.NewPCG(seed, 77))
	g := graph(1+r.IntN(4), seed)
	m = &maze{g: g, r: r, ids: g.Ids("ids", 2), of: map[*gorgonia.Node]int{}}
	x := g.In("x", m.shape(1+r.IntN(3))...)
	m.of[x], m.of[m.ids] = 1, 1
	m.add("x", x, x)
	rows := m.do(gorgonia.Reshape(x, tensor.Shape{x.Shape().TotalSize() / last(x), last(x)}))
	w := m.weight(last(x), m.length())
	h := m.do(gorgonia.Mul(rows, w))
	m.add("first", m.do(gorgonia.Reshape(h, append(x.Shape().Clone()[:x.Dims()-1], last(h)))), x, w)
	for range 5 + r.IntN(9) {
		m.step(passages[r.IntN(len(passages))])
	}
	end := func() *gorgonia.Node {
		for _, n := range slices.Backward(m.nodes[:len(m.nodes)-r.IntN(2)]) {
			if m.of[n] == 3 {
				return m.do(gorgonia.Tanh(n))
			}
		}
		panic("nothing depends on both")
	}
	sum := gorgonia.Sum
	if m.mean = r.IntN(3) == 0; m.mean {
		sum = gorgonia.Mean
	}
	cost := m.do(gorgonia.Sub(m.do(gorgonia.Mul(g.Number(1.5), m.do(sum(end())))), m.do(sum(end()))))
	src, err = g.Done(nil, cost)
	return m, src, err
}

// step takes one passage, unless Gorgonia refuses it.
func (m *maze) step(p passage) {
	defer func() { _ = recover() }()
	p(m, m.pick(func(*gorgonia.Node) bool { return true }))
}

func (m *maze) do(n *gorgonia.Node, err error) *gorgonia.Node {
	if err != nil {
		panic(err)
	}
	return n
}

// add adds a node that is computed from others. It leaves out large ones and scalars.
func (m *maze) add(what string, n *gorgonia.Node, from ...*gorgonia.Node) *gorgonia.Node {
	for _, c := range from {
		m.of[n] |= m.of[c]
	}
	if s := n.Shape(); len(s) > 0 && len(s) < 6 && slices.Min(s) > 0 && s.TotalSize() <= 600 {
		m.nodes = append(m.nodes, n)
		m.log = append(m.log, fmt.Sprintf("%s %v", what, s))
	}
	return n
}

// pick returns a node that fits, more often than not one that depends on samples and parameters.
func (m *maze) pick(fits func(n *gorgonia.Node) bool) *gorgonia.Node {
	var some, best []*gorgonia.Node
	for _, n := range m.nodes {
		if fits(n) {
			some = append(some, n)
			if m.of[n] == 3 {
				best = append(best, n)
			}
		}
	}
	if len(best) > 0 && m.r.IntN(4) > 0 {
		some = best
	}
	return some[m.r.IntN(len(some))] // panics if none does
}

func (m *maze) like(n *gorgonia.Node) *gorgonia.Node {
	return m.pick(func(o *gorgonia.Node) bool { return o.Shape().Eq(n.Shape()) })
}

func (m *maze) length() int { return []int{1, 2, 3, m.g.Batch, m.g.Batch, 2 * m.g.Batch}[m.r.IntN(6)] }

func (m *maze) shape(axes int) (s []int) {
	for range axes {
		s = append(s, m.length())
	}
	return s
}

// weight returns a parameter, an earlier one of the shape, a product of two or a constant, which may repeat along the
// batch.
func (m *maze) weight(shape ...int) *gorgonia.Node {
	var same []*gorgonia.Node
	for _, p := range m.nodes {
		if m.of[p] == 2 && p.Shape().Eq(tensor.Shape(shape)) {
			same = append(same, p)
		}
	}
	switch k := m.r.IntN(6); {
	case k == 0 && len(same) > 0:
		return same[m.r.IntN(len(same))]
	case k == 1 && len(shape) == 2 && len(m.nodes) > 0:
		p := m.weight(shape[0], m.length())
		q := m.weight(last(p), shape[1])
		return m.add("product", m.do(gorgonia.Mul(p, q)), p, q)
	case k == 2 && len(m.nodes) > 0:
		v := make([]float32, tensor.Shape(shape).TotalSize())
		for i := range v {
			v[i] = float32(m.r.IntN(9)-4) / 4
			if each := len(v) / m.g.Batch; i >= each && shape[0]%m.g.Batch == 0 && len(m.nodes)%2 == 0 {
				v[i] = v[i-each]
			}
		}
		m.made++
		return m.add("constant", m.g.Constant(fmt.Sprint("c", m.made), v, shape...))
	}
	m.made++
	p := m.g.Param(fmt.Sprint("p", m.made), shape...)
	m.of[p] = 2
	return m.add("parameter", p)
}

// factors returns a shape of a number of elements, whose first axis is often the batch or a multiple of it.
func (m *maze) factors(size int) (s tensor.Shape) {
	if k := size / m.g.Batch; size%m.g.Batch == 0 && m.r.IntN(3) > 0 {
		first := m.g.Batch
		if k%2 == 0 && m.r.IntN(2) == 0 {
			first *= 2
		}
		s, size = append(s, first), size/first
	}
	for range 1 + m.r.IntN(3) {
		d := 1 + m.r.IntN(size)
		for size%d != 0 {
			d--
		}
		s, size = append(s, d), size/d
	}
	return append(s, size)
}

// axis returns an axis of n, seldom the first.
func (m *maze) axis(n *gorgonia.Node) int {
	if a := m.r.IntN(n.Dims()); a > 0 || m.r.IntN(4) == 0 {
		return a
	}
	return n.Dims() - 1
}

func last(x *gorgonia.Node) int { return x.Shape()[x.Dims()-1] }

// passage adds nodes computed from n. It panics if it can't.
type passage func(m *maze, n *gorgonia.Node)

type two = func(a, b *gorgonia.Node) (*gorgonia.Node, error)

var passages = []passage{
	func(m *maze, n *gorgonia.Node) {
		f := []func(*gorgonia.Node) (*gorgonia.Node, error){gorgonia.Tanh, gorgonia.Neg, gorgonia.Square, gorgonia.Sigmoid}
		m.add("function", m.do(f[m.r.IntN(len(f))](n)), n)
	},
	func(m *maze, n *gorgonia.Node) {
		o := m.like(n)
		f := []two{gorgonia.Add, gorgonia.Sub, gorgonia.HadamardProd, gorgonia.MaxBetween, gorgonia.MinBetween}
		m.add("two", m.do(f[m.r.IntN(len(f))](n, o)), n, o)
	},
	func(m *maze, n *gorgonia.Node) {
		o := m.like(n)
		m.add("quotient", m.do(gorgonia.HadamardDiv(n, m.do(gorgonia.Exp(m.do(gorgonia.Tanh(o)))))), n, o)
	},
	broadcast, broadcast, broadcast,
	times, times,
	func(m *maze, n *gorgonia.Node) { // a product of stacks, or of matrices
		s, turnN, turnO := n.Shape().Clone(), m.r.IntN(2) == 0, m.r.IntN(2) == 0
		d := len(s)
		in := s[d-1]
		if turnN {
			in = s[d-2]
		}
		s[d-2], s[d-1] = in, m.length()
		if turnO {
			s[d-2], s[d-1] = s[d-1], s[d-2]
		}
		o := m.weight(s...)
		if m.r.IntN(2) == 0 {
			o = m.pick(func(o *gorgonia.Node) bool { return o.Dims() == d })
		}
		m.add("stacks", m.do(gorgonia.BatchedMatMul(n, o, turnN, turnO)), n, o)
	},
	reshaped, reshaped, reshaped,
	func(m *maze, n *gorgonia.Node) {
		p := m.r.Perm(n.Dims())
		if i := slices.Index(p, 0); m.r.IntN(4) > 0 {
			p[0], p[i] = p[i], p[0]
		}
		m.add("turned", m.do(gorgonia.Transpose(n, p...)), n)
	},
	func(m *maze, n *gorgonia.Node) {
		a := m.axis(n)
		cut := make([]tensor.Slice, a+1)
		from := m.r.IntN(n.Shape()[a])
		cut[a] = gorgonia.S(from, from+1+m.r.IntN(n.Shape()[a]-from), 1+m.r.IntN(2))
		m.add("slice", m.do(gorgonia.Slice(n, cut...)), n)
	},
	func(m *maze, n *gorgonia.Node) {
		o := m.pick(func(o *gorgonia.Node) bool { return o.Dims() == n.Dims() })
		m.add("joined", m.do(gorgonia.Concat(m.axis(n), n, o)), n, o)
	},
	func(m *maze, n *gorgonia.Node) {
		f := []func(*gorgonia.Node, ...int) (*gorgonia.Node, error){gorgonia.Sum, gorgonia.Mean, gorgonia.Max}
		m.add("along", m.do(f[m.r.IntN(3)](n, m.axis(n))), n)
	},
	func(m *maze, n *gorgonia.Node) { m.add("softmax", m.do(gorgonia.SoftMax(n, m.axis(n))), n) },
	func(m *maze, n *gorgonia.Node) { // a cross-entropy and an entropy
		a, o := m.axis(n), m.like(n)
		l := m.do(gorgonia.LogSoftMax(n, a))
		weighed := m.do(gorgonia.HadamardProd(l, m.do(gorgonia.Sigmoid(o))))
		m.add("entropies", m.do(gorgonia.Sum(m.do(gorgonia.Add(weighed, m.do(gorgonia.HadamardProd(l, m.do(gorgonia.Exp(l)))))), a)), n, o)
	},
	func(m *maze, n *gorgonia.Node) { // images
		x := m.do(gorgonia.Reshape(n, m.image(n)))
		s := x.Shape()
		window := tensor.Shape{min(1+m.r.IntN(2), s[2]), min(1+m.r.IntN(2), s[3])}
		pad, stride := []int{m.r.IntN(window[0]), m.r.IntN(window[1])}, []int{1 + m.r.IntN(2), 1}
		switch m.r.IntN(5) {
		case 0, 1:
			f := m.weight(m.length(), s[1], window[0], window[1])
			m.add("convolution", m.do(gorgonia.Conv2d(x, f, window, pad, stride, []int{1, 1 + m.r.IntN(2)})), n, f)
		case 2:
			m.add("pooling", m.do(gorgonia.MaxPool2D(x, window, pad, stride)), n)
		case 3:
			m.add("upsampling", m.do(gorgonia.Upsample2D(x, 2)), n)
		case 4:
			a, b := m.weight(1, s[1], 1, 1), m.weight(1, s[1], 1, 1)
			m.add("normalisation", m.do(gorgonia.GroupNorm(x, a, b, 1, s[1], 0.1)), n, a, b)
		}
	},
	func(m *maze, n *gorgonia.Node) { // what Conv2d consists of, sometimes across samples
		x := m.do(gorgonia.Reshape(n, m.image(n)))
		c := m.do(gorgonia.Im2Col(x, tensor.Shape{1, min(2, last(x))}, tensor.Shape{0, 0}, tensor.Shape{1, 1}, tensor.Shape{1, 1}))
		s, turn := c.Shape(), m.r.IntN(2) == 0
		rows := tensor.Shape{s.TotalSize() / s[3], s[3]}
		if turn {
			slices.Reverse(rows)
		}
		f := m.weight(m.length(), s[3])
		h := m.do(gorgonia.BatchedMatMul(m.do(gorgonia.Reshape(c, rows)), f, turn, true))
		m.add("windows", m.do(gorgonia.Transpose(m.do(gorgonia.Reshape(h, tensor.Shape{s[0], s[1], s[2], f.Shape()[0]})), 0, 3, 1, 2)), n, f)
	},
	func(m *maze, n *gorgonia.Node) { // layer normalisation, or something like it
		of, squared := n, m.r.IntN(3) > 0
		if m.r.IntN(4) == 0 {
			of = m.like(n)
		}
		kept := n.Shape().Clone()
		kept[len(kept)-1] = 1
		along := []byte{byte(n.Dims() - 1)}
		mean := func(x *gorgonia.Node) *gorgonia.Node {
			return m.do(gorgonia.Reshape(m.do(gorgonia.Mean(x, n.Dims()-1)), kept))
		}
		d := m.do(gorgonia.BroadcastSub(n, mean(of), nil, along))
		q := m.do(gorgonia.Square(d))
		if !squared {
			q = m.do(gorgonia.Square(m.like(n)))
		}
		root := m.do(gorgonia.Sqrt(m.do(gorgonia.Add(mean(q), m.g.Number(0.125)))))
		m.add("normalised", m.do(gorgonia.BroadcastHadamardDiv(d, root, nil, along)), n, of)
	},
	func(m *maze, n *gorgonia.Node) {
		t := m.weight(3, m.length())
		m.add("rows", m.do(gorgonia.ByIndices(t, m.do(gorgonia.Reshape(m.ids, tensor.Shape{m.ids.Shape().TotalSize()})), 0)), m.ids, t)
	},
	func(m *maze, n *gorgonia.Node) { m.weight(m.g.Batch*(1+m.r.IntN(2)), m.length()) },
	func(m *maze, n *gorgonia.Node) {
		m.add("times a length", m.do(gorgonia.Mul(n, m.do(gorgonia.SizeOf(m.axis(n), n)))), n)
	},
}

func (m *maze) image(n *gorgonia.Node) tensor.Shape {
	if n.Dims() == 4 {
		return n.Shape()
	}
	s := append(m.factors(n.Shape().TotalSize()), 1, 1, 1)
	return append(s[:3:3], s[3:].TotalSize())
}

// broadcast combines n with a leaf, or another node, of some axes of length one.
func broadcast(m *maze, n *gorgonia.Node) {
	s := n.Shape().Clone()
	var along []byte
	for a := range s {
		if m.r.IntN(2) == 0 || a == 0 && m.r.IntN(2) == 0 {
			s[a], along = 1, append(along, byte(a))
		}
	}
	o := m.weight(s...)
	if m.r.IntN(3) == 0 {
		o = m.pick(func(o *gorgonia.Node) bool { return o.Shape().Eq(s) })
	}
	f := []func(a, b *gorgonia.Node, l, r []byte) (*gorgonia.Node, error){gorgonia.BroadcastAdd, gorgonia.BroadcastSub, gorgonia.BroadcastHadamardProd}[m.r.IntN(3)]
	if m.r.IntN(2) == 0 {
		m.add("broadcast", m.do(f(n, o, nil, along)), n, o)
	} else {
		m.add("broadcast left", m.do(f(o, n, along, nil)), n, o)
	}
}

// times multiplies two matrices or vectors.
func times(m *maze, n *gorgonia.Node) {
	s := n.Shape()
	o := m.weight(s[len(s)-1], m.length())
	if m.r.IntN(3) == 0 {
		o = m.pick(func(o *gorgonia.Node) bool { return o.Shape()[0] == s[len(s)-1] })
	}
	m.add("product", m.do(gorgonia.Mul(n, o)), n, o)
}

func reshaped(m *maze, n *gorgonia.Node) {
	m.add("reshaped", m.do(gorgonia.Reshape(n, m.factors(n.Shape().TotalSize()))), n)
}
