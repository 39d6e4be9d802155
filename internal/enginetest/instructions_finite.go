package enginetest

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// silentRows checks that a sample is silenced whose row to normalise, or gradient of it, isn't finite, or so large that
// its sum isn't, whatever else its gradient holds; and that the other samples' sum doesn't change.
func silentRows(t TB, s Suite) {
	const samples, bad, k = 9, 4, 7
	for _, op := range []compile.Op{compile.Normalize, compile.NormalizeBack} {
		a := assemble(5)
		x, dz := a.input(k), a.input(k)
		in := compile.Instruction{Op: op, In: []compile.ID{x}, Rows: 1, K: k, Scalar: 1e-3}
		if op == compile.NormalizeBack {
			in.In = []compile.ID{dz, x}
		}
		a.released(in, k)
		p := a.done(t)
		for column := range len(in.In) {
			for _, v := range [][]float64{{math.NaN()}, {math.Inf(1)}, {math.Inf(-1)}, {math.Inf(1), math.Inf(-1)}, slices.Repeat([]float64{3e38}, k)} {
				data := RandomData(p, samples, 5)
				for j, v := range v {
					data.Columns[column].Floats[bad*k+j] = float32(v)
				}
				job := plain(p, 1)
				job.Initial = engine.LayoutOf(p).Join(a.params)
				runs, done := s.start(t, p, data, job)
				with, squared := s.clippedSum(t, runs, 0, allOf(samples))
				if n := squared[bad]; n-n == 0 {
					t.Errorf("%v of a row of %v: the squared norm is %v", op, v, n)
				}
				others := slices.Delete(allOf(samples), bad, bad+1)
				if without, _ := s.clippedSum(t, runs, 0, others); !slices.Equal(with, without) {
					t.Errorf("%v of a row of %v: the sum with the sample isn't the one without", op, v)
				}
				done()
			}
		}
	}
}
