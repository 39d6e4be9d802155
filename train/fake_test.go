package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fakeEngine trains by the rules of package engine on gradients of its own: element j of a parameter has the gradient
// θ_j − x_i[j mod size], the gradient of a mean. It keeps its last arguments.
type fakeEngine struct {
	program    *compile.Program
	data       *engine.Data
	jobs       []engine.Job
	job        engine.Job          // the last of jobs
	fail       error               // the error of Start
	broken     func(run int) error // unless nil, the error of a run's first step
	steps      []int               // the first run's numbers of steps, call by call
	after      func(step int)      // unless nil, called after each step
	closed     int                 // the number of calls of Close
	arithmetic string
}

func (e *fakeEngine) Name() string { return "fake" }

func (e *fakeEngine) Load(p *compile.Program, d *engine.Data) (engine.Loaded, error) {
	e.program, e.data = p, d
	return e, nil
}

func (e *fakeEngine) Start(jobs ...engine.Job) (engine.Runs, error) {
	if e.fail != nil {
		return nil, e.fail
	}
	e.jobs, e.job = jobs, jobs[len(jobs)-1]
	g := &fakeRuns{fakeEngine: e}
	for _, job := range jobs {
		g.runs = append(g.runs, &fakeRun{engine: e, job: job, state: engine.State{Params: slices.Clone(job.Initial), First: make([]float32, len(job.Initial))}})
	}
	return g, nil
}

func (e *fakeEngine) Close() error { e.closed++; return nil }

func (e *fakeEngine) Arithmetic() string { return e.arithmetic }

type fakeRuns struct {
	*fakeEngine
	runs []*fakeRun
}

func (g *fakeRuns) Steps(ctx context.Context, steps ...int) error {
	g.steps = append(g.steps, steps[0])
	failed := make(engine.RunErrors, len(steps))
	for i, n := range steps {
		for range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if g.broken != nil && g.broken(i) != nil {
				failed[i] = g.broken(i)
				break
			}
			g.runs[i].step()
			if g.after != nil {
				g.after(g.runs[i].state.Step)
			}
		}
	}
	return failed.Or()
}

func (g *fakeRuns) Done() []int {
	var out []int
	for _, r := range g.runs {
		out = append(out, int(r.done.Load()))
	}
	return out
}

func (g *fakeRuns) State(i int) engine.State {
	s := g.runs[i].state
	return engine.State{Step: s.Step, Params: slices.Clone(s.Params), First: slices.Clone(s.First)}
}

func (g *fakeRuns) Restore(i int, s engine.State) error {
	r := g.runs[i]
	if len(s.Params) != len(r.state.Params) || len(s.First) != len(r.state.First) {
		return fmt.Errorf("%d parameters and %d moments", len(s.Params), len(s.First))
	}
	r.state = engine.State{Step: s.Step, Params: slices.Clone(s.Params), First: slices.Clone(s.First)}
	r.done.Store(int64(s.Step))
	return nil
}

// Predict returns the first column's values, repeated or cut to the output's size.
func (g *fakeRuns) Predict(_ context.Context, data *engine.Data, runs ...int) ([][]float32, error) {
	size, out := g.program.Inputs[0].Size, g.program.Output.Size
	logits := make([]float32, 0, data.Samples*out)
	for i := range data.Samples {
		for j := range out {
			logits = append(logits, data.Columns[0].Floats[i*size+j%size])
		}
	}
	return slices.Repeat([][]float32{logits}, len(runs)), nil
}

type fakeRun struct {
	engine *fakeEngine
	job    engine.Job
	state  engine.State
	done   atomic.Int64
}

func (r *fakeRun) step() {
	m, id := r.job.Mechanism, random.ID{Trial: r.job.Trial, Step: uint32(r.state.Step)}
	members := r.job.Members
	if members == nil {
		for i := range int32(r.engine.data.Samples) {
			members = append(members, i)
		}
	}
	id.Purpose = random.Minibatch
	sum := r.clippedSum(random.SamplerOf(m.SamplingProbability).Sample(r.job.Key.Stream(id), members, nil))
	id.Purpose = random.Noise
	normals := make([]float64, len(sum))
	r.job.Key.Stream(id).Normals(normals)
	for j, z := range normals {
		g := (float64(sum[j]) + z*m.NoiseMultiplier*m.ClippingNorm) / m.ExpectedBatchSize
		first := 0.5*r.state.First[j] + float32(g) // a moment, so that resuming has something to lose
		r.state.First[j] = first
		r.state.Params[j] -= float32(r.job.Optimizer.LearningRate) * first
	}
	// Padding stays 0.
	l := engine.LayoutOf(r.engine.program)
	r.state.Params, r.state.First = l.Join(l.Split(r.state.Params)), l.Join(l.Split(r.state.First))
	r.state.Step++
	r.done.Add(1)
}

func (r *fakeRun) clippedSum(samples []int32) []float32 {
	sum := make([]float32, len(r.state.Params))
	size := r.engine.program.Inputs[0].Size
	for _, sample := range samples {
		x := r.engine.data.Columns[0].Floats[int(sample)*size:][:size]
		g := slices.Clone(r.state.Params)
		norm := 0.0
		for j := range g {
			g[j] -= x[j%size]
			norm += float64(g[j]) * float64(g[j])
		}
		factor := float32(min(1, r.job.Mechanism.ClippingNorm/math.Sqrt(norm)))
		for j := range g {
			sum[j] += factor * g[j]
		}
	}
	return sum
}

// logistic returns the graph of a logistic regression from two features to three classes.
func logistic(t testing.TB, seed rand.Source) Model {
	t.Helper()
	g := gorgonia.NewGraph()
	draw := rand.New(seed)
	parameter := func(name string, shape ...int) *gorgonia.Node {
		values := make([]float32, tensor.Shape(shape).TotalSize())
		for i := range values {
			values[i] = draw.Float32() - 0.5
		}
		return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(shape...),
			gorgonia.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(values))))
	}
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("x"), gorgonia.WithShape(4, 2))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("y"), gorgonia.WithShape(4, 3))
	w, b := parameter("w", 2, 3), parameter("b", 1, 3)
	logits := gorgonia.Must(gorgonia.BroadcastAdd(gorgonia.Must(gorgonia.Mul(x, w)), b, nil, []byte{0}))
	cost := gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Sum(
		gorgonia.Must(gorgonia.HadamardProd(y, gorgonia.Must(gorgonia.LogSoftMax(logits))))))))
	return Model{Inputs: gorgonia.Nodes{x, y}, Parameters: gorgonia.Nodes{w, b}, Output: logits, Cost: cost}
}

// threeClouds returns n points around three centres that a linear model can tell apart.
func threeClouds(t testing.TB, n int) *Classification {
	t.Helper()
	draw := rand.New(rand.NewPCG(1, 2))
	samples, labels := make([]float32, 2*n), make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % 3)
		angle := float64(labels[i]) * 2 * math.Pi / 3
		samples[2*i] = float32(2*math.Cos(angle) + 0.3*draw.NormFloat64())
		samples[2*i+1] = float32(2*math.Sin(angle) + 0.3*draw.NormFloat64())
	}
	data, err := NewClassification(samples, labels, 3)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// settings returns good settings for 60 samples.
func settings() Settings {
	return Settings{
		Privacy:   Privacy{SamplingRate: 0.25, NoiseMultiplier: 1, ClippingNorm: 2, Steps: 50, NominalSize: 60},
		Optimizer: SGD(0.1),
		Key:       InsecureKey(7),
	}
}

// start makes a trainer of the logistic regression on a fake engine.
func start(t testing.TB, s Settings) (*Trainer, *fakeEngine) {
	t.Helper()
	e := &fakeEngine{}
	trainer, err := New(e, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data, s)
	if err != nil {
		t.Fatal(err)
	}
	return trainer, e
}

// must is for calls whose errors other tests check.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
