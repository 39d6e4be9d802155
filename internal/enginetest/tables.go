package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// gathering returns a program whose cost is the inner product of the rows that a sample's indices gather from a table
// [n, width] with the sample's own rows y: the gradient of a row of the table is the sum of the rows of y with its
// index. The output is the gathered rows.
func gathering(t TB, rows, n, width int) *compile.Program {
	t.Helper()
	g := NewG(1, 9)
	ids, y := g.Ids("ids", rows), g.In("y", rows, width)
	h := g.Do(gorgonia.Reshape(g.gather(g.Param("e", n, width), ids, rows), tensor.Shape{1, rows, width}))
	out := g.Do(gorgonia.Reshape(h, tensor.Shape{1, rows * width}))
	return g.program(t, out, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(h, y)))))
}

// tables checks inputs of integers, and tables that they index.
func tables(t TB, s Suite) {
	scattered(t, s)
	merged(t, s)
	gatheredTogether(t, s)
	inLongTexts(t, s)
	gatheredSteps(t, s)
	beyondTables(t, s)
}

// scattered checks gradients and outputs of small whole numbers to the bit: each row is the sum of the rows with its
// index, and holds nothing of another sample or batch.
func scattered(t TB, s Suite) {
	const samples = 150
	for _, c := range []struct{ rows, n, width int }{{5, 7, 3}, {1, 4, 1}, {40, 3, 16}, {3, 1000, 20}, {9, 1, 2}} {
		what := fmt.Sprintf("%d rows of %d×%d", c.rows, c.n, c.width)
		p := gathering(t, c.rows, c.n, c.width)
		data := RandomData(p, samples, 5)
		r := rand.New(rand.NewPCG(3, 4))
		ids, y := data.Columns[0].Ints, data.Columns[1].Floats
		for k := range y {
			y[k] = float32(r.IntN(9) - 4)
		}
		j := plain(p, 1e6)
		runs, done := s.start(t, p, data, j)
		for _, batch := range [][]int32{{0}, {149}, allOf(70), {}, {3}, allOf(samples), {3, 4}} {
			want := make([]float64, len(j.Initial))
			for _, i := range batch {
				for k := range c.rows {
					at := int(i)*c.rows + k
					for x, v := range y[at*c.width:][:c.width] {
						want[int(ids[at])*c.width+x] += float64(v)
					}
				}
			}
			if sum, _ := s.clippedSum(t, runs, 0, batch); !slices.Equal(sum, want) {
				t.Errorf("%s: rows aren't added of %d samples with one index", what, len(batch))
			}
		}
		out, err := runs.Predict(context.Background(), data, 0)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var rows []float32
		for _, v := range ids {
			rows = append(rows, j.Initial[int(v)*c.width:][:c.width]...)
		}
		if !sameBits(out[0], rows) {
			t.Errorf("%s: other rows than those that are gathered are predicted", what)
		}
		done()
	}
}

// merged checks that a sample's rows are measured as they are summed, those with one index together. Two equal rows
// have twice the norm of one, and two that nearly cancel have hardly any.
func merged(t TB, s Suite) {
	const rows, n, width = 6, 5, 40
	p := gathering(t, rows, n, width)
	for name, ids := range map[string][]int32{
		"all of one index": {2, 2, 2, 2, 2, 2}, "of two": {0, 4, 0, 4, 4, 0}, "in pairs": {0, 0, 1, 1, 3, 3}, "of one index but the last": {4, 4, 4, 4, 4, 0},
	} {
		for _, clip := range []float64{1, 1e-9, 1e9} {
			if s.Short && clip == 1e9 {
				continue
			}
			for _, scale := range []float64{1, 1e4, 0x1p59, 1e-24, 1e30, 3e38, 1e-44} {
				for _, cancel := range []bool{false, true} {
					what := fmt.Sprintf("rows %s, of scale %v, cancelling: %v, clipped to %v", name, scale, cancel, clip)
					data := RandomData(p, 1, 4)
					copy(data.Columns[0].Ints, ids)
					y := data.Columns[1].Floats
					for k := range rows {
						row := y[k*width:][:width]
						if k > 0 {
							copy(row, y[:width])
						}
						for x := range row {
							if cancel && k%2 == 1 {
								row[x] = -row[x]
							}
						}
						row[k] *= 1 + 0x1p-12
					}
					for k := range y {
						y[k] = float32(float64(y[k]) * scale)
					}
					j := plain(p, clip)
					runs, done := s.start(t, p, data, j)
					sum, squared := s.clippedSum(t, runs, 0, []int32{0})
					got, norm := distance(sum, make([]float64, len(sum))), math.Sqrt(squared[0])
					limit := clipTo(j, 1)
					off := math.Sqrt(float64(len(sum))) * j.Mechanism.Grid(1).Fine
					switch want := math.Min(norm, limit); {
					case !(got <= clip):
						t.Errorf("%s: a sample contributes %v", what, got)
					case norm-norm != 0 || limit/norm < 0x1p-100:
						if got != 0 {
							t.Errorf("%s: a sample of norm %v contributes %v", what, norm, got)
						}
					case !(math.Abs(got-want) <= 0x1p-17*want+off):
						t.Errorf("%s: a sample of norm %v contributes %v", what, norm, got)
					}
					exact := exactNorm(ids, y, n, width)
					if !cancel && exact > 0x1p61 && norm-norm == 0 {
						t.Errorf("%s: the norm of %v, beyond 2⁶⁰, counts as the finite %v", what, exact, norm)
					}
					if scale <= 1e4 && scale >= 1e-24 && !cancel && !(math.Abs(norm-exact) <= 1e-5*exact) {
						t.Errorf("%s: the norm of %v is measured as %v", what, exact, norm)
					}
					done()
				}
			}
		}
	}
}

// exactNorm returns the norm of a sample's gradient of a table.
func exactNorm(ids []int32, y []float32, n, width int) float64 {
	g := make([]float64, n*width)
	for k, v := range ids {
		for x := range width {
			g[int(v)*width+x] += float64(y[k*width+x])
		}
	}
	return distance(g, make([]float64, len(g)))
}

// gatheredTogether checks that one sample more moves the sum by at most C when all samples index the same rows, and
// that a sample without a finite gradient contributes nothing.
func gatheredTogether(t TB, s Suite) {
	const samples, rows, n, width, clip = 600, 4, 3, 5, 0.7
	p := gathering(t, rows, n, width)
	r := rand.New(rand.NewPCG(5, 6))
	for name, draw := range map[string]func(i int) float64{
		"aligned":            func(int) float64 { return 100 },
		"of any size":        func(int) float64 { return math.Pow(10, r.Float64()*60-30) * (r.Float64() - 0.5) },
		"small beside large": func(i int) float64 { return clip * math.Pow(2, float64(-i%31)) },
		"cancelling":         func(i int) float64 { return clip * float64(1-2*(i%2)) },
		"not finite among others": func(i int) float64 {
			if i%7 == 0 {
				return math.Inf(1)
			}
			return 3
		},
	} {
		data := RandomData(p, samples, 6)
		for i := range samples {
			v := draw(i)
			for k := range rows * width {
				data.Columns[1].Floats[i*rows*width+k] = float32(v)
			}
		}
		runs, done := s.start(t, p, data, plain(p, clip))
		for _, of := range []int{1, 2, 64, 65, 66, 129, samples} {
			batch := drawn(r, samples, of)
			with, squared := s.clippedSum(t, runs, 0, batch)
			for _, x := range []int{0, of / 2, of - 1} {
				without, _ := s.clippedSum(t, runs, 0, slices.Delete(slices.Clone(batch), x, x+1))
				moved := distance(with, without)
				if !(moved <= clip) {
					t.Errorf("%s: of %d samples, number %d moves the sum by %v times the clipping norm", name, of, batch[x], moved/clip)
				}
				if bad := name == "not finite among others" && batch[x]%7 == 0; bad && (moved != 0 || squared[x]-squared[x] == 0) {
					t.Errorf("%s: sample %d, of squared norm %v, moves the sum by %v", name, batch[x], squared[x], moved)
				}
			}
		}
		done()
	}
}

// inLongTexts checks the same for samples with as many indices as a text has, most of them into few rows: of one table,
// of two tables by the same integers, beside other gradients that are added to the rows, and of a table with two uses,
// whose gradient is materialized. Clipping norms are of any size.
func inLongTexts(t TB, s Suite) {
	const samples, rows, n, width = 70, 256, 3, 4
	batches, clips := [][]int32{allOf(samples), allOf(33), allOf(samples)[5:65]}, []float64{1, 1e-9, 1e9}
	if s.Short {
		batches, clips = [][]int32{allOf(40)}, clips[:2]
	}
	for name, p := range map[string]*compile.Program{"a table": gathering(t, rows, n, width), "two tables": gatheringTwo(t, rows, n, width), "one table twice": gatheringTwice(t, rows, n, width)} {
		for values, draw := range map[string]func(r *rand.Rand, i, k int) float64{
			"equal":             func(*rand.Rand, int, int) float64 { return 1 },
			"nearly cancelling": func(r *rand.Rand, _, k int) float64 { return float64(1-2*(k/width%2)) * (1 + r.Float64()*0x1p-20) },
			"of any size":       func(r *rand.Rand, i, _ int) float64 { return r.NormFloat64() * math.Pow(10, float64(i%60-30)) },
			// Times 256 rows of one index.
			"beyond the largest": func(_ *rand.Rand, i, _ int) float64 { return 0x1p53 * float64(1+i%2*31) },
			"not finite in some rows": func(_ *rand.Rand, i, k int) float64 {
				if i%6 == 0 && k%100 == 7 {
					return math.NaN()
				}
				return 3
			},
		} {
			r := rand.New(rand.NewPCG(7, 8))
			data := RandomData(p, samples, 6)
			for c, in := range p.Inputs {
				for i := range samples {
					for k := range in.Size {
						switch column := data.Columns[c]; {
						case in.Name == "y":
							column.Floats[i*in.Size+k] = float32(draw(r, i, k))
						case column.Ints != nil:
							column.Ints[i*in.Size+k] = []int32{0, int32(k % n), int32(r.IntN(n))}[i%3]
						}
					}
				}
			}
			for _, clip := range clips {
				j := plain(p, clip)
				j.Mechanism.NoiseMultiplier = 1
				runs, done := s.start(t, p, data, j)
				for _, batch := range batches {
					with, squared := s.clippedSum(t, runs, 0, batch)
					for _, x := range []int{0, 1, 6, len(batch) - 1} {
						without, _ := s.clippedSum(t, runs, 0, slices.Delete(slices.Clone(batch), x, x+1))
						moved := distance(with, without)
						if !(moved <= clip) {
							t.Errorf("%s, values %s: of %d samples, number %d moves the sum by %v times the clipping norm %v", name, values, len(batch), batch[x], moved/clip, clip)
						}
						// The sample moves the sum by as much as its norm, but for the grid.
						if want := math.Min(math.Sqrt(squared[x]), clipTo(j, samples)); moved < 0.99*want && want/clip > 0.01 && clipTo(j, samples) >= 0x1p-100*math.Sqrt(squared[x]) {
							t.Errorf("%s, values %s: sample %d, of norm %v, moves the sum by %v, clipped to %v", name, values, batch[x], math.Sqrt(squared[x]), moved, clip)
						}
						if usable := squared[x]-squared[x] == 0; usable && squared[x] > 0x1p122 {
							t.Errorf("%s, values %s: sample %d has a norm of %v, beyond 2⁶⁰ for each parameter", name, values, batch[x], math.Sqrt(squared[x]))
						}
					}
				}
				done()
			}
		}
	}
}

// gatheringTwo gathers from two tables by the same integers, and adds a bias and an input.
func gatheringTwo(t TB, rows, n, width int) *compile.Program {
	t.Helper()
	g := NewG(1, 9)
	ids, y, z := g.Ids("ids", rows), g.In("y", rows, width), g.In("z", rows, width)
	shape := tensor.Shape{1, rows, width}
	a := g.Do(gorgonia.Reshape(g.gather(g.Param("e", n, width), ids, rows), shape))
	b := g.Do(gorgonia.Reshape(g.gather(g.Param("f", n+3, width), ids, rows), shape))
	h := g.Do(gorgonia.Sub(g.Do(gorgonia.Add(a, b)), z))
	h = g.Do(gorgonia.BroadcastAdd(h, g.Param("bias", 1, rows, width), nil, []byte{0}))
	return g.program(t, nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(h, y)))))
}

// gatheringTwice gathers from one table by two inputs.
func gatheringTwice(t TB, rows, n, width int) *compile.Program {
	t.Helper()
	g := NewG(1, 9)
	first, second, y := g.Ids("first", rows), g.Ids("second", rows), g.In("y", rows, width)
	e, shape := g.Param("e", n, width), tensor.Shape{1, rows, width}
	a := g.Do(gorgonia.Reshape(g.gather(e, first, rows), shape))
	b := g.Do(gorgonia.Reshape(g.gather(e, second, rows), shape))
	return g.program(t, nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Add(a, b)), y)))))
}

// gatheredSteps checks that steps are those of package engine, with noise on rows without an index, for runs side by
// side as for each alone.
func gatheredSteps(t TB, s Suite) {
	const samples = 90
	p := gathering(t, 3, 1100, 4) // more than gets noise at once
	data := RandomData(p, samples, 5)
	few := job(p, samples)
	few.Members, few.Trial = []int32{3, 4, 5, 20}, 3
	jobs := []engine.Job{job(p, samples), adam(job(p, samples)), few, job(p, samples)}
	jobs[3].Mechanism.NoiseMultiplier = 0
	all, done := s.start(t, p, data, jobs...)
	defer done()
	advance(t, all, 3, 3, 3, 3)
	for i, j := range jobs {
		alone, end := s.start(t, p, data, j)
		members := j.Members
		if members == nil {
			members = allOf(samples)
		}
		for step := range 3 {
			want := alone.State(0)
			sum, _ := s.clippedSum(t, alone, 0, j.Minibatch(step, members, nil))
			After(p, j, &want, sum, samples)
			advance(t, alone, 1)
			if d := difference(alone.State(0), want); d != "" {
				t.Errorf("run %d with lookups: step %d doesn't take %s where it should", i, step+1, d)
			}
		}
		if d := difference(all.State(i), alone.State(0)); d != "" {
			t.Errorf("run %d with lookups differs from itself alone in %s", i, d)
		}
		end()
	}
}

// beyondTables checks that Load and Predict refuse indices beyond their tables, and columns of the wrong type.
func beyondTables(t TB, s Suite) {
	p := gathering(t, 3, 7, 2)
	runs, done := s.start(t, p, RandomData(p, 10, 5), plain(p, 1))
	defer done()
	for name, spoil := range map[string]func(c *engine.Column){
		"one more than there is": func(c *engine.Column) { c.Ints[29] = 7 },
		"the last that there is": func(c *engine.Column) { c.Ints[29] = math.MaxInt32 },
		"one less":               func(c *engine.Column) { c.Ints[0] = -1 },
		"the minimum":            func(c *engine.Column) { c.Ints[4] = math.MinInt32 },
		"floats":                 func(c *engine.Column) { *c = engine.Column{Floats: make([]float32, 30)} },
		"too few":                func(c *engine.Column) { c.Ints = c.Ints[1:] },
	} {
		data := RandomData(p, 10, 5)
		spoil(&data.Columns[0])
		var fault *engine.FieldError
		if _, err := s.Engine().Load(p, data); !errors.As(err, &fault) || fault.Field != "Data.Columns[0]" {
			t.Errorf("%s as an index: %v", name, err)
		}
		if _, err := runs.Predict(context.Background(), data, 0); !errors.As(err, &fault) || fault.Field != "Data.Columns[0]" {
			t.Errorf("%s as an index to predict from: %v", name, err)
		}
	}
}
