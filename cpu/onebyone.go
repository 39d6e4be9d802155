package cpu

import (
	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// oneByOne runs an opaque program: Gorgonia computes each sample's gradient by itself.
type oneByOne struct {
	program *compile.Program
	ref     *compile.Reference
}

// lowerOpaque lowers an [compile.Opaque] program, and refuses every other.
func lowerOpaque(p *compile.Program) (executable, error) {
	if p.Missing() == nil {
		return nil, &engine.UnsupportedError{Operation: p.Forward[0].Op.String(), Why: "it evaluates whole graphs"}
	}
	return &oneByOne{program: p, ref: p.Reference()}, nil
}

func (o *oneByOne) bind() binding { return &inGraph{ref: o.ref} }

func (o *oneByOne) workspace() workspace { return o }

func (o *oneByOne) widths() []int { return nil }

// inGraph is one run's parameters in the graph's own form.
type inGraph struct {
	ref    *compile.Reference
	params compile.Bound
}

func (g *inGraph) set(params [][]float32) (err error) {
	g.params, err = g.ref.Bind(params)
	return err
}

// at has nothing to do: no graph of an opaque program draws.
func (g *inGraph) at(*engine.Job, int) {}

// paramsOf returns a run's parameters in the graph's own form.
func (o *oneByOne) paramsOf(run binding) (compile.Bound, error) {
	g, ok := run.(*inGraph)
	if !ok || g.ref != o.ref {
		return nil, errOtherProgram
	}
	return g.params, nil
}

// row returns a sample's inputs, with zeros for a missing column: only labels can be missing.
func (o *oneByOne) row(data *engine.Data, sample int) [][]float32 {
	var out [][]float32
	for i, in := range o.program.Inputs {
		from, to := sample*in.Size, (sample+1)*in.Size
		switch c := data.Columns[i]; {
		case c.Floats != nil:
			out = append(out, c.Floats[from:to])
		case c.Ints != nil:
			row := make([]float32, in.Size)
			for k, v := range c.Ints[from:to] {
				row[k] = float32(v)
			}
			out = append(out, row)
		default:
			out = append(out, make([]float32, in.Size))
		}
	}
	return out
}

// clipped computes one gradient after another. A gradient that isn't finite adds nothing. Gradients are measured as
// they are added, in single precision.
func (o *oneByOne) clipped(run binding, data *engine.Data, samples []int32, clip float64, sum *sum, squared []float64) error {
	params, err := o.paramsOf(run)
	if err != nil {
		return err
	}
	for k, s := range samples {
		grads, err := o.ref.Gradient(params, o.row(data, int(s)))
		if err != nil {
			return err
		}
		rounded := make([][]float32, len(grads))
		squared[k] = 0
		for i, g := range grads {
			for _, v := range g {
				rounded[i] = append(rounded[i], float32(v))
			}
			squared[k] += usable(kernel.SumSquares(rounded[i]))
		}
		factor := engine.ClipFactor(squared[k], clip)
		if factor == 0 {
			continue
		}
		sum.reserve(1)
		for i, g := range rounded {
			kernel.AddOuter(sum.parts[i], []float32{factor}, 1, g, len(g), 1, sum.fine)
		}
	}
	return nil
}

// predict evaluates the output of one sample after another.
func (o *oneByOne) predict(run binding, data *engine.Data, from, to int, out []float32) error {
	params, err := o.paramsOf(run)
	if err != nil {
		return err
	}
	for s := from; s < to; s++ {
		y, err := o.ref.Output(params, o.row(data, s))
		if err != nil {
			return err
		}
		copy(out[(s-from)*len(y):], y)
	}
	return nil
}
