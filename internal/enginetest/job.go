package enginetest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
	"gorgonia.org/gorgonia"
)

// derived returns a program of two layers, of which the first one's weights are computed of a parameter.
func derived(t TB) *compile.Program {
	t.Helper()
	g := NewG(1, 9)
	x, y := g.In("x", 6), g.In("y", 3)
	h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, g.Do(gorgonia.Tanh(g.Param("w", 6, 5)))))))
	h = g.Do(gorgonia.Mul(h, g.Param("v", 5, 3)))
	return g.program(t, h, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(g.Do(gorgonia.Sub(h, y)))))))
}

// inner returns a program whose cost is the inner product of its parameter, of the given size, with the sample: a
// sample is its own gradient, so that tests can choose gradients.
func inner(t TB, size int) *compile.Program {
	t.Helper()
	g := NewG(1, 9)
	return g.program(t, nil, g.Do(gorgonia.Sum(g.Do(gorgonia.BroadcastHadamardProd(g.In("x", size), g.Param("w", 1, size), nil, []byte{0})))))
}

// product returns a program whose gradient is the outer product of two inputs.
func product(t TB, in, out int) *compile.Program {
	t.Helper()
	g := NewG(1, 9)
	x, y, w := g.In("x", in), g.In("y", out), g.Param("w", in, out)
	return g.program(t, nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Mul(x, w)), y)))))
}

// job returns a valid job, which tests change as they need.
func job(p *compile.Program, samples int) engine.Job {
	return engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 0.3, NoiseMultiplier: 1.1, ClippingNorm: 0.5, ExpectedBatchSize: 0.3 * float64(samples)},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.2},
		Key:       random.InsecureKey(6), Trial: 2,
		Initial: engine.LayoutOf(p).Join(p.Initial()),
	}
}

// adam returns a job with DP-Adam as its optimizer.
func adam(j engine.Job) engine.Job {
	j.Optimizer = engine.Optimizer{Method: engine.Adam, LearningRate: 0.05, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	return j
}

// plain returns a job without noise, for tests of sums.
func plain(p *compile.Program, clip float64) engine.Job {
	j := job(p, 1)
	j.Mechanism = engine.Mechanism{SamplingProbability: 1, ClippingNorm: clip, ExpectedBatchSize: 1}
	return j
}

// byBothRules returns plain jobs with each of the clipping norms, by both rules of clipping.
func byBothRules(p *compile.Program, clips ...float64) (jobs []engine.Job) {
	for _, clip := range clips {
		fixed, automatic := plain(p, clip), plain(p, clip)
		automatic.Mechanism.Automatic = true
		jobs = append(jobs, fixed, automatic)
	}
	return jobs
}

// clipTo returns the norm that a job's gradients are clipped to.
func clipTo(j engine.Job, samples int) float64 {
	return j.Mechanism.ClipTo(j.Mechanism.Grid(samples), len(j.Initial))
}

func allOf(samples int) []int32 {
	all := make([]int32, samples)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// drawn returns n different samples, drawn from a number of them, in ascending order.
func drawn(r *rand.Rand, samples, n int) []int32 {
	batch := converted[int32](r.Perm(samples)[:n])
	slices.Sort(batch)
	return batch
}

// split returns each parameter's part of a vector.
func split(p *compile.Program, vector []float64) [][]float64 {
	l := engine.LayoutOf(p)
	var out [][]float64
	for i, at := range l.Offsets {
		out = append(out, vector[at:at+l.Lengths[i]])
	}
	return out
}

// distance returns the L2 norm of a-b.
func distance(a, b []float64) float64 {
	squared := 0.0
	for i := range a {
		squared += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(squared)
}

// sameBits reports whether two vectors are equal to the bit, except for the bits of NaNs.
func sameBits(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) && (a[i] == a[i] || b[i] == b[i]) {
			return false
		}
	}
	return true
}

// difference names the first difference of two states, or returns "".
func difference(got, want engine.State) string {
	switch {
	case got.Step != want.Step:
		return "the number of steps"
	case !sameBits(got.Params, want.Params):
		return "the parameters"
	case !sameBits(got.First, want.First):
		return "the first moments"
	case !sameBits(got.Second, want.Second):
		return "the second moments"
	}
	return ""
}
