package tuner

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fakeLab is an engine that draws by the rules of package engine and "trains" by adding up what it drew, so that a
// result depends on every part of its job. It keeps each job, by trial, and scores by accuracy.
type fakeLab struct {
	accuracy func(engine.Job) float64       // of a finished run; nil: a pseudorandom function of its parameters
	diverge  func(engine.Job) bool          // whether a run ends with a NaN
	fail     func(engine.Job) error         // the error of a run's first step
	after    func(job engine.Job, step int) // unless nil, called after each step
	refuse   func(jobs []engine.Job) error  // the error of Start

	data    *engine.Data
	jobs    map[uint32]engine.Job // by Trial
	groups  []int                 // the number of jobs of each Start
	loads   int
	stepped int // steps of all runs
	open    int // loads and groups not closed yet
}

func (l *fakeLab) Name() string { return "fake" }

func (l *fakeLab) Load(_ *compile.Program, data *engine.Data) (engine.Loaded, error) {
	l.data = data
	l.loads++
	l.open++
	return l, nil
}

func (l *fakeLab) Start(jobs ...engine.Job) (engine.Runs, error) {
	if l.refuse != nil {
		if err := l.refuse(jobs); err != nil {
			return nil, err
		}
	}
	if l.jobs == nil {
		l.jobs = map[uint32]engine.Job{}
	}
	l.open++
	l.groups = append(l.groups, len(jobs))
	g := &fakeRuns{lab: l}
	for _, job := range jobs {
		l.jobs[job.Trial] = job
		g.runs = append(g.runs, &fakeRun{lab: l, job: job, params: slices.Clone(job.Initial)})
	}
	return g, nil
}

func (l *fakeLab) Close() error       { l.open--; return nil }
func (l *fakeLab) Arithmetic() string { return "none" }

type fakeRuns struct {
	lab  *fakeLab
	runs []*fakeRun
}

// Steps takes the runs in turns, one step each.
func (g *fakeRuns) Steps(ctx context.Context, steps ...int) error {
	failed := make(engine.RunErrors, len(steps))
	for step := range slices.Max(steps) {
		for i, r := range g.runs {
			if err := ctx.Err(); err != nil {
				if failed.Or() != nil { // as a group on several GPUs does
					return failed
				}
				return err
			}
			if step >= steps[i] || failed[i] != nil {
				continue
			}
			if g.lab.fail != nil {
				failed[i] = g.lab.fail(r.job)
			}
			if failed[i] == nil {
				r.step()
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
	r := g.runs[i]
	return engine.State{Step: int(r.done.Load()), Params: slices.Clone(r.params)}
}

// Predict returns logits with the wanted accuracy. It reads the labels from the second column.
func (g *fakeRuns) Predict(_ context.Context, data *engine.Data, runs ...int) ([][]float32, error) {
	var out [][]float32
	for _, i := range runs {
		right := int(math.Round(g.runs[i].score() * float64(data.Samples)))
		logits := slices.Clone(data.Columns[1].Floats)
		for i := right; i < data.Samples; i++ {
			row := logits[2*i : 2*i+2]
			row[0], row[1] = row[1], row[0]
		}
		out = append(out, logits)
	}
	return out, nil
}

func (g *fakeRuns) Close() error                    { g.lab.open--; return nil }
func (g *fakeRuns) Restore(int, engine.State) error { return errors.New("not needed") }

type fakeRun struct {
	lab    *fakeLab
	job    engine.Job
	params []float32
	done   atomic.Int64
}

func (r *fakeRun) step() {
	m, id := r.job.Mechanism, random.ID{Trial: r.job.Trial, Step: uint32(r.done.Load())}
	members := r.job.Members
	if members == nil {
		for i := range int32(r.lab.data.Samples) {
			members = append(members, i)
		}
	}
	id.Purpose = random.Minibatch
	sum := 0.0
	for _, i := range random.SamplerOf(m.SamplingProbability).Sample(r.job.Key.Stream(id), members, nil) {
		sum += float64(r.lab.data.Columns[0].Floats[i])
	}
	id.Purpose = random.Noise
	normals := make([]float64, len(r.params))
	r.job.Key.Stream(id).Normals(normals)
	for j, z := range normals {
		r.params[j] -= float32(r.job.Optimizer.LearningRate * (sum + z*m.NoiseMultiplier*m.ClippingNorm) / m.ExpectedBatchSize)
	}
	done := r.done.Add(1)
	if r.lab.diverge != nil && r.lab.diverge(r.job) {
		r.params[0] = float32(math.NaN())
	}
	r.lab.stepped++
	if r.lab.after != nil {
		r.lab.after(r.job, int(done))
	}
}

func (r *fakeRun) score() float64 {
	if r.lab.accuracy != nil {
		return r.lab.accuracy(r.job)
	}
	_, fraction := math.Modf(math.Abs(float64(r.params[0])) * 1000)
	return fraction
}

// scores returns an accuracy function of the learning rate.
func scores(byRate map[float64]float64) func(engine.Job) float64 {
	return func(job engine.Job) float64 { return byRate[job.Optimizer.LearningRate] }
}

// linear returns a model from one feature to two classes.
func linear() train.Model {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("x"), gorgonia.WithShape(4, 1))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("y"), gorgonia.WithShape(4, 2))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("w"), gorgonia.WithShape(1, 2), gorgonia.WithInit(gorgonia.Zeroes()))
	logits := gorgonia.Must(gorgonia.Mul(x, w))
	cost := gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Sum(
		gorgonia.Must(gorgonia.HadamardProd(y, gorgonia.Must(gorgonia.LogSoftMax(logits))))))))
	return train.Model{
		Inputs: gorgonia.Nodes{x, y}, Parameters: gorgonia.Nodes{w}, Output: logits, Cost: cost,
		Initial: drawn,
	}
}

// biased is another model: linear with a learned constant.
func biased() train.Model {
	m := linear()
	b := gorgonia.NewMatrix(m.Cost.Graph(), tensor.Float32, gorgonia.WithName("b"), gorgonia.WithShape(1, 2), gorgonia.WithInit(gorgonia.Zeroes()))
	logits := gorgonia.Must(gorgonia.BroadcastAdd(m.Output, b, nil, []byte{0}))
	m.Parameters = append(m.Parameters, b)
	m.Output = logits
	m.Cost = gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Sum(
		gorgonia.Must(gorgonia.HadamardProd(m.Inputs[1], gorgonia.Must(gorgonia.LogSoftMax(logits))))))))
	m.Initial = func(seed rand.Source) [][]float32 { return append(drawn(seed), []float32{0, 0}) }
	return m
}

func drawn(seed rand.Source) [][]float32 {
	draw := rand.New(seed)
	return [][]float32{{draw.Float32(), draw.Float32()}}
}

// labelled returns n samples of one feature, by its sign in one of two classes.
func labelled(t testing.TB, n int, seed uint64) *train.Classification {
	t.Helper()
	draw := rand.New(rand.NewPCG(seed, 0))
	samples, labels := make([]float32, n), make([]int32, n)
	for i := range samples {
		samples[i] = float32(draw.NormFloat64())
		if samples[i] > 0 {
			labels[i] = 1
		}
	}
	c, err := train.NewClassification(samples, labels, 2)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// settings returns settings that tune three learning rates on 200 samples.
func settings(m Method, mean float64) Settings {
	return Settings{
		Method:      m,
		SubsetRate:  0.2,
		Repetitions: accountant.Poisson{Mean: mean},
		Space:       LearningRates(Candidate{SamplingRate: 0.1, Steps: 10, NoiseMultiplier: 2, ClippingNorm: 1}, 0.1, 1, 10),
		Optimizer:   train.Optimizer{Method: engine.SGD},
		Samples:     200,
	}
}

// grid returns the candidates of settings that have a grid.
func grid(s Settings) Grid { return s.Space.(Grid) }

func mustPlan(t testing.TB, s Settings, seed uint64) Plan {
	t.Helper()
	plan, err := NewPlan(s, train.InsecureKey(seed))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// planWith returns a plan with the given number of trials.
func planWith(t testing.TB, s Settings, trials int) Plan {
	t.Helper()
	for seed := range uint64(10000) {
		if plan := mustPlan(t, s, seed); len(plan.Private.Trials) == trials {
			return plan
		}
	}
	t.Fatalf("no seed gives %d trials", trials)
	return Plan{}
}

func (l *fakeLab) executor(t testing.TB) Executor {
	return Executor{
		Engine: l,
		Model:  linear(),
		Data:   labelled(t, 200, 1).Data,
		Test:   labelled(t, 1000, 2),
	}
}
