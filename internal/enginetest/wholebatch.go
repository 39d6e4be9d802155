package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// WholeBatch checks a program on one batch of the graph it was compiled from: the sum of the samples' gradients is that
// of the batch's cost, along one direction, by central differences of the graph in double precision. mean says that the
// cost is one over the batch. It reports whether the gradient could be told from 0, from rounding and from jumps.
func (s Suite) WholeBatch(t TB, p *compile.Program, double compile.Source, mean bool, seed uint64) (ok bool, err error) {
	batch := double.Inputs[0].Shape()[0]
	e, err := wholeBatch(double)
	if err != nil {
		return false, nil
	}
	data := RandomData(p, batch, seed)
	got, along := 0.0, make([][]float64, len(p.Params))
	r, magnitude := rand.New(rand.NewPCG(seed, 3)), 0.0
	sums := s.unclipped(t, p, data)
	if sums == nil {
		return false, nil
	}
	for i, part := range split(p, sums) {
		for _, v := range part {
			d := 2*r.Float64() - 1
			along[i] = append(along[i], d)
			got, magnitude = got+d*v, magnitude+math.Abs(d*v)
		}
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, h := range []float64{1e-4, 1e-5, 1e-6} {
		var sides [2]float64
		for side, sign := range []float64{1, -1} {
			if sides[side], err = e(p.Initial(), along, sign*h, data); err != nil {
				return false, nil
			}
		}
		want := (sides[0] - sides[1]) / (2 * h)
		if mean { // training divides by the batch
			want *= float64(batch)
		}
		if math.Abs(got-want) <= 1e-3*magnitude+1e-5 {
			return magnitude > 1e-6, nil
		}
		least, most = min(least, want), max(most, want)
	}
	if !(most-least <= 0.1*max(math.Abs(most), math.Abs(least))) {
		return false, nil // a jump
	}
	return false, fmt.Errorf("the slope is %v, differences %v to %v", got, least, most)
}

// unclipped returns the sum of all samples' gradients, or nil if one isn't finite.
func (s Suite) unclipped(t TB, p *compile.Program, data *engine.Data) []float64 {
	clip, all := 1.0, allOf(data.Samples)
	for {
		runs, done := s.start(t, p, data, plain(p, clip))
		sum, squared := s.clippedSum(t, runs, 0, all)
		done()
		switch largest := 1.25 * math.Sqrt(slices.Max(squared)); {
		case largest-largest != 0:
			return nil
		case largest > 1e-12 && (largest > clip*1.25 || largest < clip/1e3):
			clip = min(largest, 1e12)
		default:
			return sum
		}
	}
}

// wholeBatch returns the cost of a batch, by Gorgonia's operations, at parameters moved by h along a direction.
func wholeBatch(src compile.Source) (cost func(params [][]float32, along [][]float64, h float64, data *engine.Data) (float64, error), err error) {
	defer recovered(&err)
	c := newCopier(new([]uint32), src)
	end, err := c.copy(src.Cost)
	return func(params [][]float32, along [][]float64, h float64, data *engine.Data) (v float64, err error) {
		defer recovered(&err)
		values := map[*gorgonia.Node]gorgonia.Value{}
		for n, v := range c.fixed {
			values[n] = v
		}
		for k, n := range src.Inputs {
			if m := c.nodes[n]; m != nil {
				values[m] = valueLike(m, m.Dtype(), converted[float64](numbers(data.Columns[k])))
			}
		}
		for i, n := range src.Params {
			if m := c.nodes[n]; m != nil {
				at := converted[float64](params[i])
				for k := range at {
					at[k] += h * along[i][k]
				}
				values[m] = valueLike(m, m.Dtype(), at)
			}
		}
		if err := evaluate(end, values); err != nil {
			return 0, err
		}
		of, err := graph.Doubles(values[end])
		return of[0], err
	}, err
}
