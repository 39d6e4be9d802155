package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/internal/random"
)

// hand makes programs by hand whose gradients show chosen values: each is the gradient of a parameter of its own.
type hand struct {
	generator
	forward, back []compile.Instruction
}

func newHand(seed uint64) *hand {
	return &hand{generator: generator{r: rand.New(rand.NewPCG(seed, 3)), p: &compile.Program{Output: compile.Tensor{Value: compile.None}}}}
}

func (h *hand) input(n int) compile.ID {
	k := len(h.p.Inputs)
	id := h.value(compile.Value{Name: fmt.Sprint("in", k), Kind: compile.Input, Shape: []int{n}, Size: n, Index: k})
	h.p.Inputs = append(h.p.Inputs, compile.Tensor{Name: fmt.Sprint("in", k), Shape: []int{n}, Size: n, Value: id})
	return id
}

func (h *hand) integers(n int) compile.ID {
	k := len(h.p.Inputs)
	id := h.value(compile.Value{Name: fmt.Sprint("in", k), Kind: compile.Input, Type: compile.Int32, Shape: []int{n}, Size: n, Index: k})
	h.p.Inputs = append(h.p.Inputs, compile.Tensor{Name: fmt.Sprint("in", k), Type: compile.Int32, Shape: []int{n}, Size: n, Value: id})
	return id
}

// parameter returns a new parameter.
func (h *hand) parameter(n int) compile.ID {
	k := len(h.p.Params)
	id := h.value(compile.Value{Name: fmt.Sprint("p", k), Kind: compile.Param, Shape: []int{n}, Size: n, Index: k})
	h.p.Params = append(h.p.Params, compile.Tensor{Name: fmt.Sprint("p", k), Shape: []int{n}, Size: n, Value: id})
	return id
}

// rows returns n numbers of a sample: an input, or a copy of one in a buffer.
func (h *hand) rows(n int) compile.ID {
	x := h.input(n)
	if h.r.IntN(2) == 0 {
		return x
	}
	return h.do(n, compile.Instruction{Op: compile.BinaryScalar, Func: compile.Add, In: []compile.ID{x}, Scalar: 0.5})
}

// do adds an instruction to the forward pass, and returns its result of n numbers.
func (h *hand) do(n int, in compile.Instruction) compile.ID {
	in.Out, in.Where = h.buffer(n), compile.None
	h.forward = append(h.forward, in)
	return in.Out
}

// add adds an instruction that adds to an earlier result.
func (h *hand) add(to compile.ID, in compile.Instruction) {
	in.Out, in.Where, in.Accumulate = to, compile.None, true
	h.forward = append(h.forward, in)
}

// prepare adds an instruction that computes a derived value of n numbers.
func (h *hand) prepare(n int, in compile.Instruction) compile.ID {
	in.Out, in.Where = h.value(compile.Value{Name: "d", Kind: compile.Derived, Shape: []int{n}, Size: n}), compile.None
	h.p.Prepare = append(h.p.Prepare, in)
	return in.Out
}

// doBack adds an instruction to the way back, which may then be added to again.
func (h *hand) doBack(n int, in compile.Instruction) compile.ID {
	in.Out, in.Where = h.buffer(n), compile.None
	h.back = append(h.back, in)
	return in.Out
}

// again repeats the last instruction of the way back, which now adds to its result.
func (h *hand) again() {
	in := h.back[len(h.back)-1]
	in.Accumulate = true
	h.back = append(h.back, in)
}

// show makes a value a parameter's gradient.
func (h *hand) show(id compile.ID) {
	n := h.size(id)
	g := h.doBack(n, compile.Instruction{Op: compile.Gather, In: []compile.ID{id}, View: compile.View{Shape: []int{n}, Strides: []int{1}}})
	h.parameter(n)
	h.p.Reductions = append(h.p.Reductions, compile.Reduction{
		Param: len(h.p.Params) - 1, Rule: compile.Materialised, X: compile.None, Delta: compile.None, G: g,
	})
}

// done returns the program. Its output is the last result of the forward pass.
func (h *hand) done(predicts bool) *compile.Program {
	h.p.Forward, h.p.Backward = h.forward, h.back
	if predicts {
		h.p.Predict = h.forward
		out := h.forward[len(h.forward)-1].Out
		h.p.Output = compile.Tensor{Name: "out", Shape: []int{h.size(out)}, Size: h.size(out), Value: out}
	}
	return h.p
}

var oddSizes = []int{1, 2, 7, 8, 33}

func (h *hand) odd() int { return oddSizes[h.r.IntN(len(oddSizes))] }

// handMade are the instructions' programs, at sizes that a seed draws.
var handMade = map[string]func(h *hand) *compile.Program{
	"maximum and minimum": func(h *hand) *compile.Program {
		n := h.odd()
		x, y, dz := h.input(n), h.rows(n), h.rows(n)
		if h.r.IntN(3) == 0 {
			y = h.shared(n)
		}
		for _, f := range []compile.Func{compile.Maximum, compile.Minimum} {
			z := h.do(n, compile.Instruction{Op: compile.Binary, Func: f, In: []compile.ID{x, y}})
			h.show(z)
			for side := range 2 {
				dx := h.doBack(n, compile.Instruction{Op: compile.BinaryBack, Func: f, Side: side, In: []compile.ID{dz, x, y, z}})
				h.again()
				h.show(dx)
			}
			limit := h.do(n, compile.Instruction{Op: compile.BinaryScalar, Func: f, Scalar: 0.25, Swap: h.r.IntN(2) == 0, In: []compile.ID{x}})
			h.show(limit)
			swapped := h.forward[len(h.forward)-1].Swap
			h.show(h.doBack(n, compile.Instruction{Op: compile.ScalarBack, Func: f, Scalar: 0.25, Swap: swapped, In: []compile.ID{dz, x, limit}}))
		}
		return h.done(true)
	},
	"products": func(h *hand) *compile.Program {
		in := compile.Instruction{
			Op: compile.Product, Groups: 1 + h.r.IntN(3), Rows: h.odd(), K: []int{1, 7, 4, 12, 20}[h.r.IntN(5)], N: h.odd(),
		}
		n := in.Groups * in.Rows * in.N
		x := h.rows(in.Groups * in.Rows * in.K)
		h.show(h.input(1)) // the next column begins anywhere
		in.In = []compile.ID{x, h.rows(in.Groups * in.K * in.N)}
		for _, in.TransA = range []bool{false, true} {
			for _, in.TransB = range []bool{false, true} {
				h.show(h.do(n, in))
			}
		}
		in.TransA, in.TransB = h.r.IntN(2) == 0, h.r.IntN(2) == 0
		back := h.doBack(n, in)
		h.again()
		h.show(back)
		return h.done(true)
	},
	"a product with itself": func(h *hand) *compile.Program {
		g, n, k := 1+h.r.IntN(3), h.odd(), h.odd()
		x := h.rows(g * n * k)
		in := compile.Instruction{Op: compile.Product, Groups: g, Rows: n, K: k, N: n, TransB: true, In: []compile.ID{x, x}}
		if h.r.IntN(2) == 0 {
			in.TransA, in.TransB = true, false
		}
		h.show(h.do(g*n*n, in))
		return h.done(true)
	},
	"normalized rows": func(h *hand) *compile.Program {
		rows, k := 1+h.r.IntN(5), []int{2, 7, 32, 33, 100}[h.r.IntN(5)]
		x, dz := h.rows(rows*k), h.rows(rows*k)
		in := compile.Instruction{Op: compile.Normalize, Rows: rows, K: k, Scalar: 1e-3, In: []compile.ID{x}}
		h.show(h.do(rows*k, in))
		in.Op, in.In = compile.NormalizeBack, []compile.ID{dz, x}
		dx := h.doBack(rows*k, in)
		h.again()
		h.show(dx)
		return h.done(true)
	},
	"dropout": func(h *hand) *compile.Program {
		n, m := []int{1, 7, 16, 33, 48, 530}[h.r.IntN(6)], h.odd()
		round := func(n int) int {
			return (n + compile.DrawsMultiple - 1) / compile.DrawsMultiple * compile.DrawsMultiple
		}
		between := 16 * h.r.IntN(3)
		h.p.Draws = round(n) + between + round(m)
		x, y, dz := h.rows(n), h.rows(m), h.rows(n)
		share := []float32{0.5, 0.9, 0.25, 1}[h.r.IntN(4)]
		h.show(h.do(n, compile.Instruction{Op: compile.Dropout, Scalar: share, In: []compile.ID{x}}))
		h.show(h.do(m, compile.Instruction{Op: compile.Dropout, Scalar: 0.3, Draw: round(n) + between, In: []compile.ID{y}}))
		dx := h.doBack(n, compile.Instruction{Op: compile.Dropout, Scalar: share, In: []compile.ID{dz}})
		h.again()
		h.show(dx)
		return h.done(false)
	},
	"copies of what is stored": func(h *hand) *compile.Program {
		m, n := h.odd(), h.odd()
		derived := h.prepare(m, compile.Instruction{Op: compile.Unary, Func: compile.Tanh, In: []compile.ID{h.parameter(m)}})
		x := h.input(2)
		h.show(x)
		for _, from := range []compile.ID{h.parameter(m), h.constant(m), derived} {
			in := compile.Instruction{Op: compile.Gather, In: []compile.ID{from}, View: h.view(n, m)}
			h.show(h.do(n, in))
			back := h.doBack(n, in)
			h.again()
			h.show(back)
		}
		return h.done(true)
	},
	"rows that are joined": func(h *hand) *compile.Program {
		a, b := h.odd(), h.odd()
		x, y := h.rows(a), h.rows(b)
		z := h.do(a+b, compile.Instruction{Op: compile.Scatter, In: []compile.ID{x}, View: compile.View{Shape: []int{a}, Strides: []int{1}}})
		h.add(z, compile.Instruction{Op: compile.Scatter, In: []compile.ID{y}, View: compile.View{Offset: a, Shape: []int{b}, Strides: []int{1}}})
		h.add(z, compile.Instruction{Op: compile.Scatter, In: []compile.ID{y}, View: compile.View{Offset: a / 2, Shape: []int{b}, Strides: []int{0}}})
		h.show(z)
		return h.done(true)
	},
	"derived factors": func(h *hand) *compile.Program {
		rows, k, n := 1+h.r.IntN(3), h.odd(), h.odd()
		w := h.parameter(k * n)
		// A chain, whose steps overwrite one another, and two values that are kept.
		a := h.prepare(k*n, compile.Instruction{Op: compile.BinaryScalar, Func: compile.Mul, Scalar: 0.5, In: []compile.ID{w}})
		b := h.prepare(k*n, compile.Instruction{Op: compile.Unary, Func: compile.Tanh, In: []compile.ID{a}})
		c := h.prepare(k*n, compile.Instruction{Op: compile.Binary, Func: compile.Add, In: []compile.ID{b, h.constant(k * n)}})
		d := h.prepare(k*n, compile.Instruction{Op: compile.Softmax, Rows: n, K: k, In: []compile.ID{c}})
		e := h.prepare(n*n, compile.Instruction{Op: compile.Product, Groups: 1, Rows: n, K: k, N: n, TransA: true, In: []compile.ID{w, c}})
		f := h.prepare(n*n, compile.Instruction{Op: compile.Softmax, Rows: n, K: n, In: []compile.ID{e}})
		joined := h.prepare(2*n*n, compile.Instruction{Op: compile.Scatter, In: []compile.ID{f}, View: compile.View{Shape: []int{n * n}, Strides: []int{2}}})
		h.p.Prepare = append(h.p.Prepare, compile.Instruction{
			Op: compile.Scatter, In: []compile.ID{e}, Out: joined, Where: compile.None, Accumulate: true,
			View: compile.View{Offset: 1, Shape: []int{n * n}, Strides: []int{2}},
		})
		x := h.rows(rows * k)
		y := h.do(rows*n, compile.Instruction{Op: compile.MatMul, Rows: rows, K: k, N: n, TransB: h.r.IntN(2) == 0, In: []compile.ID{x, d}})
		h.show(y)
		h.show(h.doBack(rows*k, compile.Instruction{Op: compile.MatMulBack, Rows: rows, K: k, N: n, In: []compile.ID{y, d}}))
		seen := h.value(compile.Value{Name: "s", Kind: compile.Shared, Shape: []int{rows * n}, Size: rows * n, Source: joined, View: h.view(rows*n, 2*n*n)})
		h.show(h.do(rows*n, compile.Instruction{Op: compile.Binary, Func: compile.Mul, In: []compile.ID{seen, y}}))
		return h.done(true)
	},
	"derived filters": func(h *hand) *compile.Program {
		w := h.window(60, false)
		for w == nil {
			w = h.window(60, false)
		}
		n := w.OutC * w.C * w.KH * w.KW
		filters := h.prepare(n, compile.Instruction{Op: compile.Unary, Func: compile.Sin, In: []compile.ID{h.parameter(n)}})
		h.show(h.do(w.OutC*w.OutH*w.OutW, compile.Instruction{Op: compile.Conv, Window: w, In: []compile.ID{h.rows(60), filters}}))
		return h.done(true)
	},
	"a derived table": func(h *hand) *compile.Program {
		rows, n, k := h.odd(), h.odd(), h.odd()
		table := h.prepare(n*k, compile.Instruction{Op: compile.Unary, Func: compile.Cos, In: []compile.ID{h.parameter(n * k)}})
		h.show(h.input(1))
		h.show(h.do(rows*k, compile.Instruction{Op: compile.Lookup, Rows: rows, N: n, K: k, In: []compile.ID{h.integers(rows), table}}))
		return h.done(true)
	},
}

// shownJob is a job whose sums show gradients: without noise, and hardly clipped.
func shownJob(initial []float32) engine.Job {
	return engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 0.7, ClippingNorm: 256, ExpectedBatchSize: 1},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1e-2},
		Key:       random.InsecureKey(11), Trial: 5, Initial: initial,
	}
}

// Each instruction computes what its definition says, for each sample and whatever the machine, to the same bit; and a
// prediction the same.
func TestHandMadePrograms(t *testing.T) {
	open := on(kernelsOrSkip(t))
	for name := range handMade {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(2 * long.Times()) {
				handMadeOf(t, open, name, seed)
			}
		})
	}
}

func handMadeOf(t enginetest.TB, open opener, name string, seed uint64) {
	t.Helper()
	h := newHand(seed)
	p := handMade[name](h)
	if err := p.Check(); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	samples := []int{1, 3, 33}[h.r.IntN(3)]
	data, initial := randomData(p, samples, h.r.IntN(4) == 0, seed)
	other := shownJob(slices.Clone(initial))
	for k, at := range engine.LayoutOf(p).Offsets {
		for i := range p.Params[k].Size {
			other.Initial[at+i] = h.r.Float32()*2 - 1
		}
	}
	other.Trial++
	jobs := []engine.Job{shownJob(initial), other}
	step := h.r.IntN(9)
	layout := engine.LayoutOf(p)
	clip := jobs[0].Mechanism.ClipTo(jobs[0].Mechanism.Grid(samples), layout.Size)
	fine := jobs[0].Mechanism.Grid(samples).Fine
	var first [][]float64   // the sums on the first machine
	var ends []engine.State // after three steps there, of both runs in each launch
	ctx := context.Background()
	for machine, m := range []struct{ blocks, threads int }{{1, 64}, {3, 256}} {
		d, err := open(seeds.Add(1))
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine([]driver.Device{sized{Device: d, multiprocessors: m.blocks, free: new(int)}}, "cuda, emulated", m.threads, nil)
		loaded, err := e.Load(p, data)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		runs, err := loaded.Start(jobs...)
		if err != nil {
			t.Fatal(err)
		}
		for run, job := range jobs {
			if err := runs.Restore(run, engine.State{Step: step, Params: job.Initial}); err != nil {
				t.Fatal(err)
			}
			total := make([]float64, layout.Size)
			var each []int32
			for s := range samples {
				each = append(each, int32(s))
				if machine > 0 {
					continue
				}
				sum, norms, err := inspect(runs).ClippedSum(run, []int32{int32(s)})
				if err != nil {
					t.Fatal(err)
				}
				for j, v := range sum {
					total[j] += v
				}
				values := plainly(p, data, job, step, s, false)
				want, squared := make([]float64, layout.Size), 0.0
				for _, r := range p.Reductions {
					for j, v := range values[r.G] {
						want[layout.Offsets[r.Param]+j] = v
						squared += v * v
					}
				}
				factor := math.Min(1, clip/math.Sqrt(squared))
				if !(math.Abs(norms[0]-squared) <= 1e-3*(1+squared)) {
					t.Errorf("seed %d, run %d, sample %d: squared norm %v, want %v", seed, run, s, norms[0], squared)
				}
				for j, v := range want {
					if !(math.Abs(sum[j]-factor*v) <= fine+3e-4*math.Max(1, math.Abs(v))) {
						t.Fatalf("seed %d, run %d, sample %d: coordinate %d is %v, want %v", seed, run, s, j, sum[j], factor*v)
					}
				}
			}
			sum, _, err := inspect(runs).ClippedSum(run, each)
			if err != nil {
				t.Fatal(err)
			}
			if machine == 0 && !slices.Equal(sum, total) {
				t.Errorf("seed %d, run %d: the sum isn't that of its samples", seed, run)
			}
			if machine == 0 {
				first = append(first, sum)
			} else if !slices.Equal(sum, first[run]) {
				t.Errorf("seed %d, run %d: %d threads and %d blocks have other bits", seed, run, m.threads, m.blocks)
			}
		}
		if p.Output.Value != compile.None {
			out, err := runs.Predict(ctx, data, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			for k, job := range []engine.Job{jobs[1], jobs[0]} {
				for s := range samples {
					for j, v := range plainly(p, data, job, step, s, true)[p.Output.Value] {
						if got := float64(out[k][s*p.Output.Size+j]); !(math.Abs(got-v) <= 3e-4*math.Max(1, math.Abs(v))) {
							t.Fatalf("seed %d: sample %d's output %d is %v, want %v", seed, s, j, got, v)
						}
					}
				}
			}
		}
		if machine == 0 {
			err = runs.Steps(ctx, 3, 3)
			ends = append(ends, runs.State(0), runs.State(1))
		}
		for run := range ends[:2*machine] {
			alone, err := loaded.Start(jobs[run])
			if err != nil {
				t.Fatal(err)
			}
			err = alone.Restore(0, engine.State{Step: step, Params: jobs[run].Initial})
			for range 3 {
				err = errors.Join(err, alone.Steps(ctx, 1))
			}
			if end := alone.State(0); !reflect.DeepEqual(end, ends[run]) {
				t.Errorf("seed %d: run %d ends elsewhere by itself, step by step", seed, run)
			}
			if err := errors.Join(err, alone.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(err, runs.Close(), loaded.Close(), e.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
