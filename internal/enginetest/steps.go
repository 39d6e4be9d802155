package enginetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// draws checks a step's minibatch: member k of the list is in if word k of the step's minibatch stream is below the
// sampling probability times 2⁶⁴. Samples are unit vectors, so that the sum shows the members.
func draws(t TB, s Suite) {
	const samples = 150
	p := inner(t, samples)
	column := make([]float32, samples*samples)
	for i := range samples {
		column[i*samples+i] = 1
	}
	data := &engine.Data{Samples: samples, Columns: engine.Floats(column)}
	var third []int32
	for i := int32(1); i < samples; i += 3 {
		third = append(third, i)
	}
	for _, members := range [][]int32{nil, third, {}, {samples - 1}} {
		for _, probability := range []float64{0, 0x1p-70, 0.02, 0.3, 0.9, 1 - 0x1p-53, 1} {
			j := job(p, samples)
			j.Members, j.Trial = members, 7
			j.Mechanism = engine.Mechanism{SamplingProbability: probability, ClippingNorm: 2, ExpectedBatchSize: 1}
			j.Optimizer = engine.Optimizer{Method: engine.SGD, LearningRate: 1}
			clear(j.Initial)
			runs, done := s.start(t, p, data, j)
			want := make([]float32, len(j.Initial))
			for step := range 3 {
				advance(t, runs, 1)
				stream := j.Key.Stream(random.ID{Purpose: random.Minibatch, Trial: j.Trial, Step: uint32(step)})
				list := members
				if list == nil {
					list = allOf(samples)
				}
				for _, i := range random.SamplerOf(probability).Sample(stream, list, nil) {
					want[i]--
				}
				if got := runs.State(0); !sameBits(got.Params, want) || got.Step != step+1 {
					t.Fatalf("%d members at probability %v: after step %d the parameters are %v, want %v", len(list), probability, step+1, got.Params, want)
				}
			}
			done()
		}
	}
}

// noise checks the noise of steps with an empty batch: its mean and variance, that it is the key's own stream to the
// bit, and that coordinates and steps differ.
//
// With 3 × 1,203 coordinates the mean's z value exceeds 5 with probability 6e-7, and the variance's with about the
// same; the key is fixed.
func noise(t TB, s Suite) {
	p := MLP(t, 20, 50, 3) // one parameter has an odd number of values
	j := job(p, 10)
	j.Mechanism = engine.Mechanism{SamplingProbability: 0, NoiseMultiplier: 3, ClippingNorm: 2, ExpectedBatchSize: 4}
	j.Optimizer.LearningRate = 1
	runs, done := s.start(t, p, RandomData(p, 10, 5), j)
	defer done()
	const deviation = 3 * 2.0
	grid := j.Mechanism.Grid(10)
	n, sum, squares := 0.0, 0.0, 0.0
	var last []float64
	for step := range 3 {
		before := runs.State(0)
		advance(t, runs, 1)
		after := runs.State(0)
		var moved []float64
		word := 0 // parameters follow one another in the stream, each from an even word
		for i, param := range p.Params {
			at := engine.LayoutOf(p).Offsets[i]
			stream := j.Key.Stream(random.ID{Purpose: random.Noise, Trial: j.Trial, Step: uint32(step)})
			stream.Seek(uint64(word))
			word += (param.Size + 1) / 2 * 2
			z := make([]float64, param.Size)
			stream.Normals(z)
			for k := range z {
				was, is := before.Params[at+k], after.Params[at+k]
				mean := math.RoundToEven(math.RoundToEven(z[k]*deviation/grid.Fine)*grid.Fine/grid.Coarse) * grid.Coarse / 4
				if want := float32(float64(was) - mean); is != want {
					t.Fatalf("step %d: noise takes parameter %d[%d] to %v, want %v", step, i, k, is, want)
				}
				m := float64(was) - float64(is)
				moved = append(moved, m)
				n++
				sum += m
				squares += m * m
			}
		}
		if slices.Equal(moved, last) {
			t.Errorf("two steps had the same noise")
		}
		last = moved
	}
	const std = deviation / 4
	if z := sum / n / (std / math.Sqrt(n)); math.Abs(z) > 5 {
		t.Errorf("mean of the noise is %v, %v standard errors from 0", sum/n, z)
	}
	if z := (squares/n/(std*std) - 1) / math.Sqrt(2/n); math.Abs(z) > 5 {
		t.Errorf("variance of the noise is %v, want %v (%v standard errors)", squares/n, std*std, z)
	}
}

// release checks whole steps to the bit, given the sum: minibatch, grids, noise, division, optimizer.
func release(t TB, s Suite) {
	p := MLP(t, 6, 5, 3)
	const samples = 200
	data := RandomData(p, samples, 5)
	var jobs []engine.Job
	for i, c := range []struct{ noise, clip, batch float64 }{
		{1.1, 0.5, 60}, {0, 1, 60}, {0.02, 3, 7.3}, {50, 1e-9, 1}, {1e3, 1e9, 1e5}, {3, 1, 1e-3},
	} {
		j := job(p, samples)
		j.Trial = uint32(i)
		j.Mechanism = engine.Mechanism{SamplingProbability: 0.4, NoiseMultiplier: c.noise, ClippingNorm: c.clip, ExpectedBatchSize: c.batch}
		jobs = append(jobs, j, adam(j))
		other := adam(j)
		other.Optimizer = engine.Optimizer{Method: engine.Adam, LearningRate: -3, Beta1: 0, Beta2: 0.5, Epsilon: 0.25}
		jobs = append(jobs, other)
	}
	for _, j := range jobs {
		what := fmt.Sprintf("%+v, %+v", j.Mechanism, j.Optimizer)
		runs, done := s.start(t, p, data, j)
		for step := range 3 {
			want := runs.State(0)
			if err := j.CheckState(want, engine.LayoutOf(p)); err != nil {
				t.Fatalf("%s: the state at step %d: %v", what, step, err)
			}
			sum, _ := s.clippedSum(t, runs, 0, j.Minibatch(step, allOf(samples), nil))
			if d := difference(runs.State(0), want); d != "" {
				t.Fatalf("%s: looking at a sum changed %s", what, d)
			}
			After(p, j, &want, sum, samples)
			advance(t, runs, 1)
			if d := difference(runs.State(0), want); d != "" {
				t.Fatalf("%s: step %d doesn't take %s where it should", what, step+1, d)
			}
		}
		done()
	}
}

// After takes one step of a run from its clipped sum, by the functions of package engine alone, and updates its state.
func After(p *compile.Program, j engine.Job, state *engine.State, sum []float64, samples int) {
	l, m := engine.LayoutOf(p), j.Mechanism
	grid := m.Grid(samples)
	for i, from := range l.Offsets {
		to := from + l.Lengths[i]
		mean := make([]float64, to-from)
		j.Normals(state.Step, from, mean)
		grid.Release(sum[from:to], mean, m.NoiseDeviation(), m.ExpectedBatchSize)
		part := func(v []float32) []float32 {
			if v == nil {
				return nil
			}
			return v[from:to]
		}
		j.Optimizer.Update(state.Step+1, state.Params[from:to], part(state.First), part(state.Second), mean)
	}
	state.Step++
}

// coarse checks that a released sum is a multiple of the coarse grid, the power of two below a sixty-fourth of the
// noise's standard deviation. Parameters that begin at 0 and move at rate 1 show it.
func coarse(t TB, s Suite) {
	p := MLP(t, 6, 5, 3)
	for _, m := range []engine.Mechanism{
		{SamplingProbability: 0.5, NoiseMultiplier: 1.1, ClippingNorm: 0.7, ExpectedBatchSize: 1},
		{SamplingProbability: 0.5, NoiseMultiplier: 40, ClippingNorm: 1e-6, ExpectedBatchSize: 1},
		{SamplingProbability: 0, NoiseMultiplier: 0.3, ClippingNorm: 1e6, ExpectedBatchSize: 1},
	} {
		j := job(p, 50)
		j.Mechanism, j.Optimizer.LearningRate = m, 1
		clear(j.Initial)
		runs, done := s.start(t, p, RandomData(p, 50, 5), j)
		grid := math.Exp2(math.Floor(math.Log2(m.NoiseMultiplier*m.ClippingNorm)) - 6)
		advance(t, runs, 1)
		moved := 0
		for k, v := range runs.State(0).Params {
			if n := float64(v) / grid; n != math.Trunc(n) {
				t.Fatalf("%+v: coordinate %d moved by %v times the coarse grid", m, k, n)
			}
			if v != 0 {
				moved++
			}
		}
		if moved < 20 {
			t.Errorf("%+v: only %d parameters moved", m, moved)
		}
		done()
	}
}

// emptyBatch checks that a step without samples counts, and moves by noise alone.
func emptyBatch(t TB, s Suite) {
	p := MLP(t, 4, 3)
	j := job(p, 5)
	j.Members, j.Mechanism.SamplingProbability = []int32{}, 1
	runs, done := s.start(t, p, RandomData(p, 5, 5), j)
	defer done()
	want := runs.State(0)
	After(p, j, &want, make([]float64, len(j.Initial)), 5)
	advance(t, runs, 1)
	if d := difference(runs.State(0), want); d != "" || sameBits(want.Params, j.Initial) {
		t.Errorf("an empty batch doesn't take %s where noise alone does", d)
	}
}
