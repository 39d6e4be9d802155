package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fakeEngine trains by the rules of package engine on gradients of its own: element j of a parameter
// has the gradient θ_j − x_i[j mod size], that of a mean. It keeps the last job it was handed.
type fakeEngine struct {
	job   engine.Job
	fail  error          // what Start returns
	steps []int          // sizes of the calls of Steps
	after func(step int) // unless nil, called after each step
}

func (e *fakeEngine) Name() string { return "fake" }

func (e *fakeEngine) Start(job engine.Job) (engine.Run, error) {
	if e.fail != nil {
		return nil, e.fail
	}
	e.job = job
	r := &fakeRun{engine: e, job: job}
	r.state = engine.State{Params: clone(job.Initial), First: clone(job.Initial)}
	for _, m := range r.state.First {
		clear(m)
	}
	return r, nil
}

type fakeRun struct {
	engine *fakeEngine
	job    engine.Job
	state  engine.State
	closed bool
}

func clone(group [][]float32) [][]float32 {
	out := make([][]float32, len(group))
	for i := range group {
		out[i] = slices.Clone(group[i])
	}
	return out
}

func (r *fakeRun) Steps(ctx context.Context, n int) error {
	r.engine.steps = append(r.engine.steps, n)
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.step()
		if r.engine.after != nil {
			r.engine.after(r.state.Step)
		}
	}
	return nil
}

func (r *fakeRun) step() {
	m, id := r.job.Mechanism, random.ID{Trial: r.job.Trial, Step: uint32(r.state.Step)}
	members := r.job.Members
	if members == nil {
		for i := range int32(r.job.Data.Samples) {
			members = append(members, i)
		}
	}
	id.Purpose = random.Minibatch
	batch := r.job.Key.Stream(id).Bernoulli(m.SamplingProbability, members, nil)
	sum, _, _ := r.PrivateClippedSum(batch)
	id.Purpose = random.Noise
	noise := r.job.Key.Stream(id)
	for p := range sum {
		normals := make([]float64, len(sum[p]))
		noise.Normals(normals)
		for j, z := range normals {
			g := (float64(sum[p][j]) + z*m.NoiseMultiplier*m.ClippingNorm) / m.ExpectedBatchSize
			first := 0.5*r.state.First[p][j] + float32(g) // a moment, so that resuming has something to lose
			r.state.First[p][j] = first
			r.state.Params[p][j] -= float32(r.job.Optimizer.LearningRate) * first
		}
	}
	r.state.Step++
}

func (r *fakeRun) PrivateClippedSum(samples []int32) ([][]float32, []float64, error) {
	sum, norms := clone(r.state.Params), make([]float64, len(samples))
	for p := range sum {
		clear(sum[p])
	}
	size := r.job.Program.Inputs[0].Size
	for i, sample := range samples {
		x := r.job.Data.Columns[0][int(sample)*size:][:size]
		g := clone(r.state.Params)
		for p := range g {
			for j := range g[p] {
				g[p][j] -= x[j%size]
				norms[i] += float64(g[p][j]) * float64(g[p][j])
			}
		}
		factor := float32(min(1, r.job.Mechanism.ClippingNorm/math.Sqrt(norms[i])))
		for p := range g {
			for j := range g[p] {
				sum[p][j] += factor * g[p][j]
			}
		}
	}
	return sum, norms, nil
}

func (r *fakeRun) State() engine.State {
	return engine.State{Step: r.state.Step, Params: clone(r.state.Params), First: clone(r.state.First)}
}

func (r *fakeRun) Restore(s engine.State) error {
	if len(s.Params) != len(r.state.Params) || len(s.First) != len(r.state.First) {
		return fmt.Errorf("%d parameters and %d moments", len(s.Params), len(s.First))
	}
	r.state = engine.State{Step: s.Step, Params: clone(s.Params), First: clone(s.First)}
	return nil
}

// Predict returns the first column's values, repeated or cut to the output's size.
func (r *fakeRun) Predict(_ context.Context, data *engine.Data) ([]float32, error) {
	size, out := r.job.Program.Inputs[0].Size, r.job.Program.Output.Size
	logits := make([]float32, 0, data.Samples*out)
	for i := range data.Samples {
		for j := range out {
			logits = append(logits, data.Columns[0][i*size+j%size])
		}
	}
	return logits, nil
}

func (r *fakeRun) Close() error { r.closed = true; return nil }

// logistic returns the graph of a logistic regression from two features to three classes.
func logistic(t testing.TB, seed rand.Source) compile.Source {
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
	return compile.Source{Inputs: gorgonia.Nodes{x, y}, Params: gorgonia.Nodes{w, b}, Output: logits, Cost: cost}
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

// settings are good ones for 60 samples.
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
