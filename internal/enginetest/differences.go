package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/long"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// mistaken lists the graphs whose gradient Gorgonia v0.9.18 gets wrong: it inverts ln 2 in that of log2, and returns an
// unrelated number for that of the inverse square root; or that it can't differentiate. Their reference gradient isn't
// checked.
var mistaken = map[string]bool{
	"function log2": true, "function inverse sqrt": true, "averaged globally": true, "several images averaged globally": true, "normalised in groups": true,
	"a weight where another is positive": true,
}

// CheckDifferences checks the gradients of the engine and of [Reference] against central differences of the
// cost, in up to 48 coordinates of each parameter and in one random direction over all. Gorgonia's own machine
// evaluates the cost in double precision, each time on a new graph, so that the differences share nothing with package
// compile. If mistaken is set, Gorgonia's gradient is known to be wrong and isn't checked.
func (s Suite) CheckDifferences(t TB, z Graph, mistaken bool) {
	t.Helper()
	p := z.Program(t, 1)
	data := RandomData(p, 1, 3)
	runs, done := s.start(t, p, data, plain(p, 1))
	_, squared := s.clippedSum(t, runs, 0, []int32{0})
	done()
	// A norm that is just not clipped to, so that the grid is as fine as it can be.
	runs, done = s.start(t, p, data, plain(p, min(max(1e-12, 1.25*math.Sqrt(squared[0])), 1e12)))
	defer done()
	sum, _ := s.clippedSum(t, runs, 0, []int32{0})
	opinions := []opinion{{"the engine's", split(p, sum), 1.5 * s.Tolerance}}
	if !mistaken {
		opinions = append(opinions, opinion{"the reference's", doubleGradient(t, z, p, data), 1e-6})
	}
	compareSlopes(t, z, p, floats(data), opinions)
}

// opinion is one way's gradient and its tolerance relative to the gradient's size.
type opinion struct {
	whose     string
	gradient  [][]float64
	tolerance float64
}

// doubleGradient returns the reference's gradient of the graph in double precision.
func doubleGradient(t TB, z Graph, p *compile.Program, data *engine.Data) [][]float64 {
	t.Helper()
	src, err := z.Double()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := NewReference(src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ref.Gradient(p.Initial(), floats(data))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func compareSlopes(t TB, z Graph, p *compile.Program, inputs [][]float32, opinions []opinion) {
	t.Helper()
	params := p.Initial()
	limit := 48
	if long.Race { // the race detector makes each evaluation ten times slower
		limit = 2
	}
	check := func(where string, direction [][]float64) {
		want := slope(t, z, params, inputs, direction)
		for _, o := range opinions {
			got, largest, all := 0.0, 0.0, 0.0
			for i, g := range o.gradient {
				for k, v := range g {
					got += v * direction[i][k]
					all += math.Abs(v * direction[i][k])
					largest = math.Max(largest, math.Abs(v))
				}
			}
			if !(math.Abs(got-want) <= o.tolerance*(all+largest+0.1)) {
				t.Errorf("%s slope along %s is %v, by differences %v", o.whose, where, got, want)
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	everywhere := zeros(params)
	for i, param := range params {
		for k := range param {
			everywhere[i][k] = r.Float64()*2 - 1
		}
		for n, k := range r.Perm(len(param)) {
			if n == limit {
				break
			}
			one := zeros(params)
			one[i][k] = 1
			check(fmt.Sprintf("%q[%d]", p.Params[i].Name, k), one)
		}
	}
	check("all parameters", everywhere)
}

func zeros(like [][]float32) [][]float64 {
	var out [][]float64
	for _, p := range like {
		out = append(out, make([]float64, len(p)))
	}
	return out
}

// slope returns the central difference of the cost along a direction in parameter space.
func slope(t TB, z Graph, params, inputs [][]float32, direction [][]float64) float64 {
	t.Helper()
	length := 0.0
	for _, d := range direction {
		for _, v := range d {
			length += v * v
		}
	}
	h := 1e-5 / math.Max(1, math.Sqrt(length))
	return (machineCost(t, z, params, inputs, direction, h) - machineCost(t, z, params, inputs, direction, -h)) / (2 * h)
}

// machineCost evaluates the cost at params + h·direction by Gorgonia's machine, on a new subgraph, whose index isn't
// stale.
func machineCost(t TB, z Graph, params, inputs [][]float32, direction [][]float64, h float64) float64 {
	t.Helper()
	src, err := z.Double()
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range src.Inputs {
		bindDoubles(t, n, inputs[i], nil, 0)
	}
	for i, n := range src.Params {
		bindDoubles(t, n, params[i], direction[i], h)
	}
	m := gorgonia.NewLispMachine(src.Cost.Graph().SubgraphRoots(src.Cost), gorgonia.ExecuteFwdOnly())
	defer m.Close()
	if err := m.RunAll(); err != nil {
		t.Fatalf("Gorgonia's machine: %v", err)
	}
	return src.Cost.Value().Data().(float64)
}

func bindDoubles(t TB, n *gorgonia.Node, values []float32, direction []float64, h float64) {
	t.Helper()
	wide := converted[float64](values)
	for k, d := range direction {
		wide[k] += h * d
	}
	var v any = wide[0]
	switch {
	case n.Dtype() == tensor.Int:
		v = tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(converted[int](wide)))
	case !n.IsScalar():
		v = tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(wide))
	}
	if err := gorgonia.Let(n, v); err != nil {
		t.Fatal(err)
	}
}

// floats returns the columns of data as floating-point numbers, integers too.
func floats(data *engine.Data) [][]float32 {
	var out [][]float32
	for _, c := range data.Columns {
		out = append(out, numbers(c))
	}
	return out
}

// differences checks graphs that drop nothing against central differences; a short suite only those that graphs skips.
func (s Suite) differences(t *testing.T, zoo map[string]Graph) {
	for name, z := range zoo {
		if s.Short && !mistaken[name] || z.Program(t, 1).Draws > 0 {
			continue // Gorgonia's machine has draws of its own
		}
		t.Run(name, func(t *testing.T) { s.CheckDifferences(t, z, mistaken[name]) })
	}
}

// equals returns samples whose values are all one number: 0, 1 and -1, and for integers the minimum, the maximum and
// one between. Functions have their corner cases there, and compared operands are equal.
func equals(p *compile.Program) *engine.Data {
	d := &engine.Data{Samples: 3}
	for k, in := range p.Inputs {
		if in.Type == compile.Int32 {
			minimum, maximum := p.Range(k)
			d.Columns = append(d.Columns, engine.Column{Ints: slices.Concat(
				slices.Repeat([]int32{minimum}, in.Size), slices.Repeat([]int32{maximum}, in.Size), slices.Repeat([]int32{maximum / 2}, in.Size))})
			continue
		}
		d.Columns = append(d.Columns, engine.Column{Floats: slices.Concat(
			slices.Repeat([]float32{0}, in.Size), slices.Repeat([]float32{1}, in.Size), slices.Repeat([]float32{-1}, in.Size))})
	}
	return d
}

// graphs checks every graph of the zoo and both models against Gorgonia's differentiation, for several batch sizes.
func (s Suite) graphs(t *testing.T) {
	for name, z := range Zoo() {
		if mistaken[name] {
			continue // differences checks it
		}
		// Some samples exceed the clipping norm and some don't.
		t.Run(name, func(t *testing.T) {
			s.CheckGraph(t, z.Build, 2, nil)
			if long.Race {
				return // the race detector sees all threads in one run
			}
			if name != "normalised within a sample" { // 0/0 is NaN, whose tanh is 1 to Gorgonia
				s.CheckGraph(t, z.Build, 2, equals(z.Program(t, 1)))
			}
		})
	}
}
