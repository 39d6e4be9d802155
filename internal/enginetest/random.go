package enginetest

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// Random adds a copy of a random node, with a name.
func (g *G) Random(name string, n *gorgonia.Node) *gorgonia.Node {
	return gorgonia.NewUniqueNode(gorgonia.WithType(n.Type()), gorgonia.WithOp(n.Op()), gorgonia.In(g.Graph),
		gorgonia.WithShape(n.Shape()...), gorgonia.WithName(name))
}

// normals and uniforms add the random nodes of noisy. Odd numbers of elements end within a pair and within a word.
func (g *G) normals(name string) *gorgonia.Node {
	return g.Random(name, gorgonia.GaussianRandomNode(gorgonia.NewGraph(), g.dtype, 0.25, 1.5, g.Batch, 3, 7))
}

func (g *G) uniforms(name string) *gorgonia.Node {
	return g.Random(name, gorgonia.UniformRandomNode(gorgonia.NewGraph(), g.dtype, -1, 2, g.Batch, 3, 7))
}

// noisy returns a graph with numbers a and b, each [batch, 3, 7], beside its samples: a is added, and coins are thrown
// by b. The output has them too.
func (g *G) noisy(a, b *gorgonia.Node) (compile.Source, error) {
	h := g.Do(gorgonia.Add(g.In("x", 3, 7), a))
	coins := g.Do(gorgonia.Lt(b, g.Number(0.5), true))
	h = g.Do(gorgonia.HadamardProd(h, coins))
	h = g.Do(gorgonia.Reshape(g.Do(gorgonia.Sub(h, b)), []int{g.Batch * 3, 7}))
	return g.rows(g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(h, g.Param("w", 7, 2))))), 6)
}

// randoms checks that random nodes have the numbers of the step's stream, to the bit, beside any other samples: the
// norms are those of a program that reads the same numbers from its data, and so are the sums, but for the side that
// each sample is rounded to, which may depend on its data. Outputs must be those of the nodes' means.
func randoms(t TB, s Suite) {
	const samples = 29
	drawn, given := NewG(1, 77), NewG(1, 77)
	nodes := gorgonia.Nodes{drawn.normals("a"), drawn.uniforms("b")}
	src, err := drawn.noisy(nodes[0], nodes[1])
	p := compiled(t, src, err)
	src, err = given.noisy(given.In("a", 3, 7), given.In("b", 3, 7))
	twin := compiled(t, src, err)
	data := RandomData(p, samples, 3)
	j := plain(p, 2)
	other := j
	other.Trial++

	numbersOf := func(j engine.Job, step int) *engine.Data {
		columns := []engine.Column{{}, {}, data.Columns[0]}
		for i := range samples {
			draws := drawsOf(p, j, step, i)
			for k, n := range nodes {
				if step < 0 {
					draws = nil
				}
				columns[k].Floats = append(columns[k].Floats, randomNode{n, graph.FieldsOf(n.Op()), 48 * k}.numbers(draws)...)
			}
		}
		return &engine.Data{Samples: samples, Columns: columns}
	}
	runs, done := s.start(t, p, data, j, other)
	defer done()
	for _, c := range []struct{ run, step int }{{0, 0}, {0, 1}, {0, 258}, {1, 1}} {
		job := []engine.Job{j, other}[c.run]
		twins, done := s.start(t, twin, numbersOf(job, c.step), job)
		for _, members := range [][]int32{allOf(samples), {0, 7, 8, 21, 28}, {28}} {
			at := engine.State{Step: c.step, Params: j.Initial}
			restore(t, runs, c.run, at)
			restore(t, twins, 0, at)
			got, gotNorms := s.clippedSum(t, runs, c.run, members)
			want, wantNorms := s.clippedSum(t, twins, 0, members)
			rounded := float64(len(members)) * math.Sqrt(float64(len(got))) * job.Mechanism.Grid(samples).Fine
			if !slices.Equal(gotNorms, wantNorms) || distance(got, want) > rounded {
				t.Errorf("run %d, step %d, samples %v: random nodes haven't the numbers of the stream", c.run, c.step, members)
			}
		}
		done()
	}

	means := numbersOf(j, -1)
	twins, twinsDone := s.start(t, twin, means, j)
	defer twinsDone()
	restore(t, runs, 0, engine.State{Params: j.Initial})
	if !sameBits(predicted(t, runs, data, 0), predicted(t, twins, means, 0)) {
		t.Errorf("a prediction hasn't the means of random nodes")
	}
}
