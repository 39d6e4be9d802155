package enginetest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// TB receives a check's reports: a *testing.T or a *rapid.T.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// Builder builds the graph under test for a batch size, with the same values of parameters each time.
type Builder func(batch int) (compile.Source, error)

// The samples that CheckGraph draws, and the step in which it takes their gradients.
const (
	graphSamples = 11
	graphSeed    = 1
	graphStep    = 3
)

// CheckGraph compiles a graph built with several batch sizes and compares the engine's clipped sum, squared norms and
// outputs with Gorgonia's on single samples. Batches of several samples are clipped automatically. Samples are standard
// normal unless data is given.
func (s Suite) CheckGraph(t TB, build Builder, clip float64, data *engine.Data) {
	t.Helper()
	single, err := build(1)
	if err != nil {
		t.Fatalf("build with a batch of one: %v", err)
	}
	oracle := newOracle(t, single)
	if data == nil {
		data = RandomData(oracle.p, graphSamples, graphSeed)
	}
	want := oracle.run(data, clip)
	for _, batch := range []int{1, 4} {
		src, err := build(batch)
		if err != nil {
			t.Fatalf("build with a batch of %d: %v", batch, err)
		}
		p, err := compile.Compile(src)
		if err != nil {
			t.Fatalf("compile with a batch of %d: %v", batch, err)
		}
		s.compare(t, p, data, clip, want, batch)
	}
}

// compare runs one program over all of data and compares the results with the oracle's.
func (s Suite) compare(t TB, p *compile.Program, data *engine.Data, clip float64, want oracleResult, batch int) {
	t.Helper()
	j, wanted := plain(p, clip), want.sum
	slack := float64(data.Samples) * j.Mechanism.Grid(data.Samples).Fine / s.Tolerance
	if batch > 1 {
		j.Mechanism.Automatic, wanted = true, want.automatic
		slack += clip // of gradients near 0, whose errors it multiplies by up to 100 clip
	}
	runs, done := s.start(t, p, data, j)
	defer done()
	restore(t, runs, 0, engine.State{Step: graphStep, Params: j.Initial})
	sums, squared := s.clippedSum(t, runs, 0, allOf(data.Samples))
	sum := split(p, sums)
	for i, got := range squared {
		if !s.near(got, want.squared[i], want.squared[i]) {
			t.Errorf("batch %d: squared norm of sample %d is %v, Gorgonia's %v", batch, i, got, want.squared[i])
		}
	}
	for i, tensor := range sum {
		scale := 0.0
		for _, v := range wanted[i] {
			scale = math.Max(scale, math.Abs(v))
		}
		for j, got := range tensor {
			if !s.near(got, wanted[i][j], scale+slack) {
				t.Fatalf("batch %d: clipped sum of %q[%d] is %v, Gorgonia's %v", batch, p.Params[i].Name, j, got, wanted[i][j])
			}
		}
	}
	if p.Output.Name == "" {
		return
	}
	out, err := runs.Predict(context.Background(), data, 0)
	if err != nil {
		t.Fatalf("batch %d: %v", batch, err)
	}
	for i, got := range out[0] {
		if !s.near(float64(got), want.output[i], 1) {
			t.Fatalf("batch %d: output %d is %v, Gorgonia's %v", batch, i, got, want.output[i])
		}
	}
}

// near reports whether two numbers agree within the tolerance times scale.
func (s Suite) near(got, want, scale float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return math.IsNaN(got) || math.IsInf(got, 0)
	}
	return math.Abs(got-want) <= s.Tolerance*(math.Abs(scale)+0.01)
}

// RandomData returns samples for a program's inputs: standard normal values, and integers. Every second integer is one
// of the first three of its range, so that samples have equal ones.
func RandomData(p *compile.Program, samples int, seed uint64) *engine.Data {
	stream := random.InsecureKey(seed).Stream(random.ID{Purpose: random.Initialisation})
	r := rand.New(stream)
	d := &engine.Data{Samples: samples}
	for k, in := range p.Inputs {
		if in.Type == compile.Int32 {
			d.Columns = append(d.Columns, engine.Column{Ints: randomInts(r, p, k, samples*in.Size)})
			continue
		}
		column := make([]float32, samples*in.Size)
		for i := range column {
			column[i] = float32(r.NormFloat64())
		}
		d.Columns = append(d.Columns, engine.Column{Floats: column})
	}
	return d
}

func randomInts(r *rand.Rand, p *compile.Program, input, n int) []int32 {
	minimum, maximum := p.Range(input)
	values := int64(maximum) - int64(minimum) + 1
	out := make([]int32, n)
	for i := range out {
		among := values
		if r.IntN(2) == 0 {
			among = min(3, values)
		}
		out[i] = int32(int64(minimum) + r.Int64N(among))
	}
	return out
}

// part returns values from, …, to-1 of a column.
func part(c engine.Column, from, to int) engine.Column {
	if c.Ints != nil {
		return engine.Column{Ints: c.Ints[from:to]}
	}
	return engine.Column{Floats: c.Floats[from:to]}
}

// Sample returns one sample's inputs in the form that [Reference] takes.
func Sample(data *engine.Data, i int) [][]float32 {
	var row [][]float32
	for _, c := range data.Columns {
		size := c.Len() / data.Samples
		row = append(row, numbers(part(c, i*size, (i+1)*size)))
	}
	return row
}

// numbers returns a column's values in the form of [Reference].
func numbers(c engine.Column) []float32 {
	return append(slices.Clone(c.Floats), converted[float32](c.Ints)...)
}

type oracle struct {
	t   TB
	ref *Reference
	p   *compile.Program // whose parameters and draws they are
	at  [][]float32      // parameters
	src compile.Source
}

type oracleResult struct {
	sum, automatic [][]float64 // by the two rules of clipping
	squared        []float64
	output         []float64
}

func newOracle(t TB, src compile.Source) *oracle {
	t.Helper()
	ref, err := NewReference(src)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	return &oracle{t, ref, p, p.Initial(), src}
}

func (o *oracle) run(data *engine.Data, norm float64) oracleResult {
	o.t.Helper()
	j := plain(o.p, norm)
	clip := clipTo(j, data.Samples)
	var res oracleResult
	for _, p := range o.src.Params {
		size := max(1, p.Shape().TotalSize())
		res.sum, res.automatic = append(res.sum, make([]float64, size)), append(res.automatic, make([]float64, size))
	}
	for s := range data.Samples {
		row := Sample(data, s)
		o.ref.Draw(o.p, j, graphStep, s)
		grads, err := o.ref.Gradient(o.at, row)
		if err != nil {
			o.t.Fatal(err)
		}
		squared := 0.0
		for _, g := range grads {
			for _, v := range g {
				squared += v * v
			}
		}
		res.squared = append(res.squared, squared)
		if factor := clip / math.Sqrt(squared); factor > 0 { // else a gradient that isn't finite
			for i, g := range grads {
				for j, v := range g {
					res.sum[i][j] += min(1, factor) * v
					res.automatic[i][j] += clip / (math.Sqrt(squared) + 0.01) * v
				}
			}
		}
		if o.src.Output == nil {
			continue
		}
		out, err := o.ref.Output(o.at, row)
		if err != nil {
			o.t.Fatal(err)
		}
		for _, v := range out {
			res.output = append(res.output, float64(v))
		}
	}
	return res
}
