package enginetest

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// interpreter evaluates a step program for one sample at a time, in float64 and in plain loops, by the comments of
// [compile.Op] alone: the reference of engines for programs that no graph compiles to. It reads checked programs.
type interpreter struct {
	program *compile.Program
	params  [][]float32
	data    *engine.Data
	job     engine.Job // whose key and trial name the draws
	step    int        // counted from 0

	sample int
	values map[compile.ID][]float64
	where  map[compile.ID][]int // the positions that MaxPool writes
}

// gradient returns a sample's gradient by parameter, laid out as the parameters are: nil for one without a reduction.
// Its rounding is what an engine in single precision may leave where the terms of a sum cancel, as they do before a
// layer normalisation of equal values: 64 roundings of the largest value of the backward pass.
func (n *interpreter) gradient(sample int) (out [][]float64, rounding float64) {
	n.begin(sample)
	n.list(n.program.Forward)
	n.list(n.program.Backward)
	for _, in := range n.program.Backward {
		for _, v := range n.values[in.Out] {
			rounding = math.Max(rounding, math.Abs(v)*64/(1<<24))
		}
	}
	out = make([][]float64, len(n.program.Params))
	for _, r := range n.program.Reductions {
		out[r.Param] = n.reduced(r)
	}
	return out, rounding
}

// output returns a sample's output.
func (n *interpreter) output(sample int) []float64 {
	n.begin(sample)
	n.list(n.program.Predict)
	return n.floats(n.program.Output.Value)
}

// begin forgets the sample before and computes the derived values.
func (n *interpreter) begin(sample int) {
	n.sample, n.values, n.where = sample, map[compile.ID][]float64{}, map[compile.ID][]int{}
	n.list(n.program.Prepare)
}

func (n *interpreter) list(code []compile.Instruction) {
	for i := range code {
		in := &code[i]
		z := n.result(in)
		if in.Accumulate {
			for j, old := range n.values[in.Out] {
				z[j] += old
			}
		}
		if len(z) != n.program.Values[in.Out].Size {
			panic(fmt.Sprintf("%v makes %d values of %d", in, len(z), n.program.Values[in.Out].Size))
		}
		n.values[in.Out] = z
	}
}

// floats returns a value of floats: the sample's row, or what is the same for all samples.
func (n *interpreter) floats(id compile.ID) []float64 {
	switch v := n.program.Values[id]; v.Kind {
	case compile.Input:
		return floats64(n.data.Columns[v.Index].Floats[n.sample*v.Size : (n.sample+1)*v.Size])
	case compile.Param:
		return floats64(n.params[v.Index])
	case compile.Const:
		return floats64(v.Data)
	case compile.Shared:
		var out []float64
		source := n.floats(v.Source)
		for _, at := range positionsOf(v.View) {
			out = append(out, source[at])
		}
		return out
	}
	v, ok := n.values[id]
	if !ok {
		panic(fmt.Sprintf("value %d is read and not written", id))
	}
	return v
}

// integers returns the sample's row of an input of integers.
func (n *interpreter) integers(id compile.ID) []int32 {
	v := n.program.Values[id]
	return n.data.Columns[v.Index].Ints[n.sample*v.Size : (n.sample+1)*v.Size]
}

// kept reports whether draw d of the sample keeps an element with the given probability: whether half of word
// (sample·draws + d)/2 of the step's stream, the low half if d is even, is below the probability times 2³².
func (n *interpreter) kept(d int, keep float32) bool {
	s := n.job.Key.Stream(random.ID{Purpose: random.Dropout, Trial: n.job.Trial, Step: uint32(n.step)})
	s.Seek((uint64(n.sample)*uint64(n.program.Draws) + uint64(d)) / 2)
	word := s.Uint64()
	half := word % (1 << 32)
	if d%2 == 1 {
		half = word / (1 << 32)
	}
	return float64(half) < float64(keep)*(1<<32) // both sides are exact
}

// reduced returns the gradient that a reduction describes.
func (n *interpreter) reduced(r compile.Reduction) []float64 {
	switch r.Rule {
	case compile.RankOne:
		return outerProduct(n.floats(r.X), n.floats(r.Delta), 1, r.K, r.N, r.TransB)
	case compile.OfConv:
		return filterGradient(n.floats(r.Delta), n.floats(r.X), r.Window)
	case compile.OfRows:
		return addedRows(n.floats(r.Delta), n.integers(r.X), r.N, r.K)
	}
	return n.floats(r.G)
}

// positionsOf returns the position of each element of a view, from its last axis to its first.
func positionsOf(v compile.View) []int {
	size := 1
	for _, s := range v.Shape {
		size *= s
	}
	out := make([]int, size)
	for j := range out {
		at, rest := v.Offset, j
		for d := len(v.Shape) - 1; d >= 0; d-- {
			at += rest % v.Shape[d] * v.Strides[d]
			rest /= v.Shape[d]
		}
		out[j] = at
	}
	return out
}
