package tuner

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// fakeLab makes engines that draw as package engine says and "train" by adding up what they drew, so
// that a result depends on every part of its job. It keeps each job, by trial, and scores as told.
type fakeLab struct {
	accuracy func(engine.Job) float64 // of a finished run; nil: a pseudorandom function of its parameters
	diverge  func(engine.Job) bool    // whether a run ends with a NaN
	fail     func(engine.Job) error   // what a run's first step returns

	mu      sync.Mutex
	jobs    map[uint32]engine.Job // by Trial
	stepped int                   // steps of all runs
	open    int                   // runs not closed yet
	workers []int                 // of each engine made
}

func (l *fakeLab) engine(p train.Performance) (engine.Engine, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.workers = append(l.workers, p.Workers)
	return l, nil
}

func (l *fakeLab) Name() string { return "fake" }

func (l *fakeLab) Start(job engine.Job) (engine.Run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.jobs == nil {
		l.jobs = map[uint32]engine.Job{}
	}
	l.jobs[job.Trial] = job
	l.open++
	r := &fakeRun{lab: l, job: job}
	for _, p := range job.Initial {
		r.state.Params = append(r.state.Params, slices.Clone(p))
	}
	return r, nil
}

type fakeRun struct {
	lab   *fakeLab
	job   engine.Job
	state engine.State
}

func (r *fakeRun) Steps(ctx context.Context, n int) error {
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.lab.fail != nil {
			if err := r.lab.fail(r.job); err != nil {
				return err
			}
		}
		r.step()
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
	sum := 0.0
	for _, i := range r.job.Key.Stream(id).Bernoulli(m.SamplingProbability, members, nil) {
		sum += float64(r.job.Data.Columns[0][i])
	}
	id.Purpose = random.Noise
	noise := r.job.Key.Stream(id)
	for _, p := range r.state.Params {
		normals := make([]float64, len(p))
		noise.Normals(normals)
		for j, z := range normals {
			p[j] -= float32(r.job.Optimizer.LearningRate * (sum + z*m.NoiseMultiplier*m.ClippingNorm) / m.ExpectedBatchSize)
		}
	}
	r.state.Step++
	if r.lab.diverge != nil && r.lab.diverge(r.job) {
		r.state.Params[0][0] = float32(math.NaN())
	}
	r.lab.mu.Lock()
	r.lab.stepped++
	r.lab.mu.Unlock()
}

func (r *fakeRun) State() engine.State {
	s := engine.State{Step: r.state.Step}
	for _, p := range r.state.Params {
		s.Params = append(s.Params, slices.Clone(p))
	}
	return s
}

// Predict gets the wanted share of the labels right, which it reads off the second column.
func (r *fakeRun) Predict(_ context.Context, data *engine.Data) ([]float32, error) {
	right := int(math.Round(r.score() * float64(data.Samples)))
	logits := slices.Clone(data.Columns[1])
	for i := right; i < data.Samples; i++ {
		row := logits[2*i : 2*i+2]
		row[0], row[1] = row[1], row[0]
	}
	return logits, nil
}

func (r *fakeRun) score() float64 {
	if r.lab.accuracy != nil {
		return r.lab.accuracy(r.job)
	}
	_, fraction := math.Modf(math.Abs(float64(r.state.Params[0][0])) * 1000)
	return fraction
}

func (r *fakeRun) Close() error {
	r.lab.mu.Lock()
	defer r.lab.mu.Unlock()
	r.lab.open--
	return nil
}

func (r *fakeRun) Restore(engine.State) error { return errors.New("not needed") }
func (r *fakeRun) PrivateClippedSum([]int32) ([][]float32, []float64, error) {
	return nil, nil, errors.New("not needed")
}

// scores returns an accuracy for each learning rate.
func scores(byRate map[float64]float64) func(engine.Job) float64 {
	return func(job engine.Job) float64 { return byRate[job.Optimizer.LearningRate] }
}

// linear builds a model from one feature to two classes.
func linear(seed rand.Source) (compile.Source, error) {
	g, draw := gorgonia.NewGraph(), rand.New(seed)
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("x"), gorgonia.WithShape(4, 1))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("y"), gorgonia.WithShape(4, 2))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("w"), gorgonia.WithShape(1, 2),
		gorgonia.WithValue(tensor.New(tensor.WithShape(1, 2), tensor.WithBacking([]float32{draw.Float32(), draw.Float32()}))))
	logits := gorgonia.Must(gorgonia.Mul(x, w))
	cost := gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Sum(
		gorgonia.Must(gorgonia.HadamardProd(y, gorgonia.Must(gorgonia.LogSoftMax(logits))))))))
	return compile.Source{Inputs: gorgonia.Nodes{x, y}, Params: gorgonia.Nodes{w}, Output: logits, Cost: cost}, nil
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

// settings tune three learning rates on 200 samples.
func settings(m Method, mean float64) Settings {
	return Settings{
		Method:       m,
		SubsetRate:   0.2,
		Repetitions:  accountant.Poisson{Mean: mean},
		Space:        LearningRates(Candidate{SamplingRate: 0.1, Steps: 10, NoiseMultiplier: 2}, 0.1, 1, 10),
		ClippingNorm: 1,
		Optimizer:    train.Optimizer{Method: engine.SGD},
		Samples:      200,
	}
}

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
		Engine:      l.engine,
		Model:       linear,
		Data:        labelled(t, 200, 1),
		Test:        labelled(t, 1000, 2),
		Performance: train.Performance{Workers: 2},
	}
}
