package enginetest

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Handmade is a step program that no graph compiles to, with values for its parameters.
type Handmade struct {
	Program *compile.Program
	Params  [][]float32
}

// Handmades returns, by name, new programs that have each instruction which hardly a graph of [Zoo] compiles to.
func Handmades(t TB) map[string]Handmade {
	t.Helper()
	out := map[string]Handmade{}
	for name, of := range map[string]func(*assembly){
		"products": products, "normalised rows": normalised, "dropout": droppedOut, "maxima and minima": maxima, "copies": copies,
		"added positions": scatters, "derived values": derivedValues, "uses of derived values": derivedUses,
	} {
		a := assemble(3)
		of(a)
		out[name] = Handmade{a.done(t), a.params}
	}
	return out
}

// instructions checks programs by hand against the interpreter, and that they silence what isn't finite.
func instructions(t TB, s Suite) {
	for name, h := range Handmades(t) {
		s.interpreted(t, name, h.Program, h.Params)
	}
	silentRows(t, s)
}

// interpreted compares clipped sums, norms and outputs of a few samples with the interpreter's, once with gradients
// that all are clipped and once with some that aren't.
func (s Suite) interpreted(t TB, name string, p *compile.Program, params [][]float32) {
	t.Helper()
	n := interpretation(p, params)
	data, j, samples, step := n.data, n.job, n.data.Samples, n.step
	var gradients [][][]float64
	var norms, roundings []float64
	var outputs []float64
	for i := range samples {
		g, rounding := n.gradient(i)
		norm := 0.0
		for _, part := range g {
			norm = math.Hypot(norm, distance(part, make([]float64, len(part))))
		}
		gradients, norms, roundings = append(gradients, g), append(norms, norm), append(roundings, rounding)
		if p.Output.Value != compile.None {
			outputs = append(outputs, n.output(i)...)
		}
	}
	for _, clip := range []float64{max(norms[0]/2, 1e-2), max(norms[1], 1e-2)} {
		j.Mechanism.ClippingNorm = clip
		runs, done := s.start(t, p, data, j)
		if err := runs.Restore(0, engine.State{Step: step, Params: j.Initial}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sum, squared := s.clippedSum(t, runs, 0, allOf(samples))
		for i, got := range squared {
			if want := norms[i] * norms[i]; !s.near(got, want, want) {
				t.Errorf("%s: squared norm of sample %d is %v, interpreted %v", name, i, got, want)
			}
		}
		rounded := float64(samples) * j.Mechanism.Grid(samples).Fine / 2
		for i, rounding := range roundings {
			rounded += rounding * math.Min(1, clipTo(j, samples)/norms[i])
		}
		for k, part := range split(p, sum) {
			s.compareSum(t, fmt.Sprintf("%s, clipped to %.3g, parameter %d", name, clip, k), part, rounded, func(at int) float64 {
				want := 0.0
				for i, g := range gradients {
					if g[k] != nil {
						want += g[k][at] * math.Min(1, clipTo(j, samples)/norms[i])
					}
				}
				return want
			})
		}
		if len(outputs) > 0 {
			out, err := runs.Predict(context.Background(), data, 0)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, got := range out[0] {
				if !s.near(float64(got), outputs[i], outputs[i]) && !s.near(float64(got), outputs[i], 1) {
					t.Errorf("%s: output %d is %v, interpreted %v", name, i, got, outputs[i])
					break
				}
			}
		}
		done()
	}
}

// interpretation returns an interpreter of a program on a few samples whose values are quarters: some are equal.
func interpretation(p *compile.Program, params [][]float32) *interpreter {
	data := RandomData(p, 5, 8)
	for _, c := range data.Columns {
		for i, v := range c.Floats {
			c.Floats[i] = float32(math.Round(4*float64(v)) / 4)
		}
	}
	j := plain(p, 1)
	j.Initial = engine.LayoutOf(p).Join(params)
	return &interpreter{program: p, params: params, data: data, job: j, step: 3}
}

// compareSum reports the first element of a parameter's sum that isn't as wanted, within the tolerance times the
// largest that is wanted there.
func (s Suite) compareSum(t TB, what string, got []float64, rounded float64, want func(at int) float64) {
	t.Helper()
	wanted, scale := make([]float64, len(got)), 0.0
	for at := range got {
		wanted[at] = want(at)
		scale = math.Max(scale, math.Abs(wanted[at]))
	}
	for at, v := range got {
		if !(math.Abs(v-wanted[at]) <= s.Tolerance*(scale+0.01)+rounded) {
			t.Errorf("%s: element %d of the clipped sum is %v, interpreted %v", what, at, v, wanted[at])
			return
		}
	}
}

// products tries matrices of odd sizes, in groups and transposed, and a value times itself.
func products(a *assembly) {
	for k, c := range [][4]int{{1, 1, 1, 1}, {7, 1, 7, 33}, {1, 33, 1, 7}, {2, 7, 33, 1}, {3, 7, 7, 7}, {1, 33, 33, 33}, {2, 16, 24, 16}} {
		groups, rows, depth, columns := c[0], c[1], c[2], c[3]
		x, y := a.input(groups, rows, depth), a.input(groups, depth, columns)
		if k%2 == 1 {
			y = a.forward(a.whole(y), groups, depth, columns) // a value that is computed
			a.p.Predict = append(a.p.Predict, a.p.Forward[len(a.p.Forward)-1])
		}
		for _, trans := range [][2]bool{{}, {true}, {false, true}, {true, true}} {
			a.try(compile.Instruction{
				Op: compile.Product, In: []compile.ID{x, y}, Groups: groups, Rows: rows, K: depth, N: columns, TransA: trans[0], TransB: trans[1],
			}, true, groups, rows, columns)
		}
		a.try(compile.Instruction{Op: compile.Product, In: []compile.ID{x, x}, Groups: groups, Rows: rows, K: depth, N: rows, TransB: true}, true, groups, rows, rows)
	}
}

// normalised tries rows of odd lengths, far from 0 too.
func normalised(a *assembly) {
	for _, c := range [][2]int{{3, 7}, {7, 1}, {1, 33}, {5, 16}, {2, 300}} {
		rows, k := c[0], c[1]
		x := a.input(rows, k)
		far := a.forward(compile.Instruction{Op: compile.BinaryScalar, Func: compile.Add, In: []compile.ID{x}, Scalar: 300}, rows, k)
		a.p.Predict = append(a.p.Predict, a.p.Forward[len(a.p.Forward)-1])
		for _, from := range []compile.ID{x, far} {
			a.try(compile.Instruction{Op: compile.Normalize, In: []compile.ID{from}, Rows: rows, K: k, Scalar: 0.5}, false, rows, k)
			a.try(compile.Instruction{Op: compile.NormalizeBack, In: []compile.ID{a.input(rows, k), from}, Rows: rows, K: k, Scalar: 0.1}, true, rows, k)
		}
		if k > 7 {
			a.try(compile.Instruction{Op: compile.Normalize, In: []compile.ID{x}, Rows: rows, K: k}, false, rows, k)
		}
	}
}

// droppedOut tries several instructions that share draws, and some that don't.
func droppedOut(a *assembly) {
	for _, size := range []int{1, 7, 33, 600} {
		x := a.input(size)
		for _, keep := range []float32{1, 0.5, 0.9, 0x1p-5} {
			a.try(compile.Instruction{Op: compile.Dropout, In: []compile.ID{x}, Draw: a.p.Draws, Scalar: keep}, true, size)
			a.p.Draws += (size + compile.DrawsMultiple - 1) / compile.DrawsMultiple * compile.DrawsMultiple
		}
	}
	// Draws of two others, in part.
	a.try(compile.Instruction{Op: compile.Dropout, In: []compile.ID{a.input(40)}, Draw: 2 * compile.DrawsMultiple, Scalar: 0.3}, true, 40)
}

// maxima tries functions of two operands, some of them equal.
func maxima(a *assembly) {
	for _, size := range []int{1, 7, 33, 70} {
		x, y, dz := a.input(size), a.input(size), a.input(size)
		bias := a.shared(a.constant(2), compile.View{Offset: 1, Shape: []int{size}, Strides: []int{0}})
		for _, f := range []compile.Func{compile.Maximum, compile.Minimum} {
			for _, second := range []compile.ID{y, bias} {
				for _, in := range [][]compile.ID{{x, second}, {second, x}} {
					z := a.try(compile.Instruction{Op: compile.Binary, Func: f, In: in}, false, size)
					for side := range 2 {
						a.released(compile.Instruction{Op: compile.BinaryBack, Func: f, In: []compile.ID{dz, in[0], in[1], z}, Side: side}, size)
						added := a.released(a.whole(y), size)
						a.p.Backward = append(a.p.Backward, compile.Instruction{
							Op: compile.BinaryBack, Func: f, In: []compile.ID{dz, in[0], in[1], z}, Side: side, Out: added, Where: compile.None, Accumulate: true,
						})
					}
				}
			}
			for _, swap := range []bool{false, true} {
				z := a.try(compile.Instruction{Op: compile.BinaryScalar, Func: f, In: []compile.ID{x}, Scalar: 0.25, Swap: swap}, false, size)
				a.released(compile.Instruction{Op: compile.ScalarBack, Func: f, In: []compile.ID{dz, x, z}, Scalar: 0.25, Swap: swap}, size)
			}
		}
	}
}

// copies tries views of what is the same for all samples.
func copies(a *assembly) {
	derived := func(shape ...int) compile.ID {
		return a.derive(compile.Instruction{Op: compile.Unary, Func: compile.Tanh, In: []compile.ID{a.param(shape...)}}, shape...)
	}
	for _, x := range []compile.ID{a.param(7, 33), a.constant(7, 33), derived(7, 33)} {
		for _, v := range []compile.View{
			compile.ViewOf([]int{7, 33}),
			{Shape: []int{33, 7}, Strides: []int{1, 33}},                  // transposed
			{Shape: []int{7, 33, 3}, Strides: []int{33, 1, 0}},            // each element repeated
			{Shape: []int{2, 7, 33}, Strides: []int{0, 33, 1}},            // the whole repeated
			{Offset: 34, Shape: []int{3, 1, 7}, Strides: []int{66, 5, 4}}, // a part
		} {
			a.try(compile.Instruction{Op: compile.Gather, In: []compile.ID{x}, View: v}, true, v.Shape...)
		}
	}
}

// scatters adds elements to values of the forward pass.
func scatters(a *assembly) {
	for _, to := range []int{1, 7, 33} {
		for _, v := range []compile.View{
			{Shape: []int{to}, Strides: []int{1}},
			{Shape: []int{3, to}, Strides: []int{0, 1}}, // sums over an axis
			{Shape: []int{to, 3}, Strides: []int{1, 0}},
			{Offset: to / 2, Shape: []int{7}, Strides: []int{0}}, // all to one
		} {
			in := compile.Instruction{Op: compile.Scatter, In: []compile.ID{a.input(v.Shape...)}, View: v}
			z := a.try(in, true, to)
			sum := a.forward(a.whole(z), to)
			in.Out, in.Where, in.Accumulate = sum, compile.None, true
			a.p.Forward = append(a.p.Forward, in)
			a.observe(sum)
		}
	}
}
