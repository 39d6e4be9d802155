package cpu

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
)

// executable is a program made ready for this machine. It is immutable: all runs of a program, and all of their
// workers, may share one.
type executable interface {
	// bind makes room for one run's parameters in the forms in which they are read.
	bind() binding
	// workspace makes room for one worker, which may work for one run after another.
	workspace() workspace
}

// binding is one run's parameters. Between two calls of set any number of workers may read it.
type binding interface {
	set(params [][]float32) error
}

// workspace computes gradients and outputs of a few samples at a time. One worker holds it.
type workspace interface {
	// clipped adds to sum the clipped gradients of the given samples and writes their squared norms.
	clipped(b binding, data *engine.Data, samples []int32, clip float64, sum [][]float32, squared []float64) error
	// predict writes the outputs of samples [from, to).
	predict(b binding, data *engine.Data, from, to int, out []float32) error
}

// cacheFloats is the size that a block's buffers should stay below: three quarters of the 1 MB of second
// level cache that a current core has.
const cacheFloats = 192 << 10

// mostSamples is the most samples that go through the program together.
const mostSamples = 32

// lowered is a step program as this machine's cores run it.
type lowered struct {
	*compile.Program
	samples int // that go through the program together: a block
	filters map[compile.ID]filter
}

// filter is the shape of a convolution's parameter: [outputs, patch].
type filter struct{ outputs, patch int }

// lower makes a program ready for this machine.
func lower(p *compile.Program) (*lowered, error) {
	if missing := p.Missing(); missing != nil {
		return nil, fmt.Errorf("lower program: %w", missing)
	}
	l := &lowered{Program: p, filters: map[compile.ID]filter{}}
	l.samples = min(mostSamples, max(1, cacheFloats/max(1, p.GradientPlan.Floats)))
	for _, in := range slices.Concat(p.Forward, p.Predict) {
		if in.Op == compile.Conv {
			l.filters[in.In[1]] = filter{in.Rows, in.K}
		}
	}
	return l, nil
}

func (l *lowered) bind() binding {
	b := &bound{lowered: l, shared: map[compile.ID][]float32{}, transposed: map[compile.ID][]float32{}}
	for id, v := range l.Values {
		if v.Kind == compile.Shared {
			b.shared[compile.ID(id)] = make([]float32, v.Size)
		}
	}
	for id, f := range l.filters {
		b.transposed[id] = make([]float32, f.outputs*f.patch)
	}
	return b
}

func (l *lowered) workspace() workspace {
	floats := max(l.GradientPlan.Floats, l.PredictPlan.Floats)
	indices := max(l.GradientPlan.Indices, l.PredictPlan.Indices)
	b := &block{
		lowered:  l,
		floats:   make([]float32, floats*l.samples),
		indices:  make([]int32, indices*l.samples),
		gradient: make([]buffer, len(l.Values)),
		predicts: make([]buffer, len(l.Values)),
		factors:  make([]float32, l.samples),
	}
	b.layOut(b.gradient, l.GradientPlan)
	b.layOut(b.predicts, l.PredictPlan)
	return b
}
