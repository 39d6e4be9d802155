package cpu

import (
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
)

// oneByOne runs a program that fell back: every sample by itself, with Gorgonia's own gradient.
type oneByOne struct {
	program *compile.Program
	ref     *compile.Reference
}

func lowerOpaque(p *compile.Program) (executable, error) {
	if p.Fallback == nil {
		return nil, &engine.UnsupportedError{Operation: "compiled"}
	}
	return &oneByOne{program: p, ref: p.Fallback.Reference()}, nil
}

// graphParams are one run's parameters in the graph's own form.
type graphParams struct {
	ref    *compile.Reference
	params compile.Bound
}

func (g *graphParams) set(params [][]float32) (err error) {
	g.params, err = g.ref.Bind(params)
	return err
}

func (o *oneByOne) bind() binding        { return &graphParams{ref: o.ref} }
func (o *oneByOne) workspace() workspace { return o }

// row returns a sample's inputs; zeros for a column that isn't there, which only labels can be.
func (o *oneByOne) row(data *engine.Data, sample int) [][]float32 {
	var out [][]float32
	for i, in := range o.program.Inputs {
		if data.Columns[i].Len() == 0 {
			out = append(out, make([]float32, in.Size))
			continue
		}
		out = append(out, data.Columns[i].Floats[sample*in.Size:(sample+1)*in.Size])
	}
	return out
}

func (o *oneByOne) clipped(on binding, data *engine.Data, samples []int32, clip float64, sum [][]float32, squared []float64) error {
	for k, s := range samples {
		grads, err := o.ref.Gradient(on.(*graphParams).params, o.row(data, int(s)))
		if err != nil {
			return err
		}
		squared[k] = 0
		for _, g := range grads {
			for _, v := range g {
				squared[k] += v * v
			}
		}
		c := float64(engine.ClipFactor(squared[k], clip))
		if c == 0 {
			continue
		}
		for i, g := range grads {
			for j, v := range g {
				sum[i][j] += float32(c * v)
			}
		}
	}
	return nil
}

func (o *oneByOne) predict(on binding, data *engine.Data, from, to int, out []float32) error {
	for s := from; s < to; s++ {
		y, err := o.ref.Output(on.(*graphParams).params, o.row(data, s))
		if err != nil {
			return err
		}
		copy(out[(s-from)*len(y):], y)
	}
	return nil
}
