package enginetest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Conformance runs the whole suite against engines made by start, which is called once a test.
func Conformance(t *testing.T, start func() engine.Engine) {
	t.Run("Graphs", func(t *testing.T) { graphs(t, start()) })
	t.Run("Differences", func(t *testing.T) { differences(t, start()) })
	t.Run("RandomGraphs", func(t *testing.T) { RandomGraphs(t, start()) })
	t.Run("Sampling", func(t *testing.T) { sampling(t, start()) })
	t.Run("Noise", func(t *testing.T) { noise(t, start()) })
	t.Run("EmptyBatch", func(t *testing.T) { emptyBatch(t, start()) })
	t.Run("Adam", func(t *testing.T) { adam(t, start()) })
	t.Run("Sensitivity", func(t *testing.T) { sensitivity(t, start()) })
	t.Run("NotFinite", func(t *testing.T) { notFinite(t, start()) })
	t.Run("Resume", func(t *testing.T) { resume(t, start()) })
	t.Run("Cancel", func(t *testing.T) { cancel(t, start()) })
	t.Run("BadJobs", func(t *testing.T) { badJobs(t, start()) })
}

// small is a network that every test can afford.
func small(t testing.TB, widths ...int) *compile.Program {
	t.Helper()
	n, err := models.MLP(rand.NewPCG(3, 4), models.Options{}, widths...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(compile.Source(n))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// job is a valid job over random data; tests change what they are about.
func job(p *compile.Program, samples int) engine.Job {
	return engine.Job{
		Program: p, Data: RandomData(p, samples, 5),
		Mechanism: engine.Mechanism{SamplingProbability: 0.3, NoiseMultiplier: 1.1, ClippingNorm: 0.5, ExpectedBatchSize: 0.3 * float64(samples)},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.2, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8},
		Key:       random.InsecureKey(6), Trial: 2,
	}
}

func begin(t testing.TB, e engine.Engine, j engine.Job) engine.Run {
	t.Helper()
	run, err := e.Start(j)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	return run
}

func steps(t testing.TB, run engine.Run, n int) engine.State {
	t.Helper()
	if err := run.Steps(context.Background(), n); err != nil {
		t.Fatal(err)
	}
	return run.State()
}

// sampling checks that a step moves by exactly the clipped sum over the members that the key's
// minibatch stream keeps, divided by the expected batch size.
func sampling(t *testing.T, e engine.Engine) {
	j := job(small(t, 6, 5, 3), 200)
	j.Mechanism.NoiseMultiplier = 0
	for i := int32(0); i < 200; i += 3 {
		j.Members = append(j.Members, i)
	}
	run := begin(t, e, j)
	for step := range 3 {
		before := run.State()
		kept := j.Key.Stream(random.ID{Purpose: random.Minibatch, Trial: j.Trial, Step: uint32(step)}).
			Bernoulli(j.Mechanism.SamplingProbability, j.Members, nil)
		if len(kept) == 0 || len(kept) == len(j.Members) {
			t.Fatalf("step %d draws %d of %d members: the test shows nothing", step, len(kept), len(j.Members))
		}
		sum, _, err := run.PrivateClippedSum(kept)
		if err != nil {
			t.Fatal(err)
		}
		after := steps(t, run, 1)
		if after.Step != step+1 {
			t.Errorf("%d steps done after step %d", after.Step, step)
		}
		for i := range after.Params {
			for k, got := range after.Params[i] {
				want := float64(before.Params[i][k]) - j.Optimizer.LearningRate*float64(sum[i][k])/j.Mechanism.ExpectedBatchSize
				if math.Abs(float64(got)-want) > 1e-6 {
					t.Fatalf("step %d: parameter %d[%d] moved to %v, want %v", step, i, k, got, want)
				}
			}
		}
	}
}

// noise checks the noise of steps in which no sample takes part: its mean and variance, that it is the
// key's own stream, and that coordinates and steps differ.
//
// With 3 × 1,213 coordinates the mean's z value exceeds 5 with probability 6e-7, and so about does that
// of the variance; the key is fixed.
func noise(t *testing.T, e engine.Engine) {
	p := small(t, 20, 50, 3)
	j := job(p, 10)
	j.Mechanism = engine.Mechanism{SamplingProbability: 0, NoiseMultiplier: 3, ClippingNorm: 2, ExpectedBatchSize: 4}
	j.Optimizer.LearningRate = 1
	run := begin(t, e, j)
	const std = 3 * 2 / 4.0
	n, sum, squares := 0.0, 0.0, 0.0
	var last []float64
	for step := range 3 {
		before := run.State()
		after := steps(t, run, 1)
		var moved []float64
		for i := range after.Params {
			stream := j.Key.Stream(random.ID{Purpose: random.Noise, Trial: j.Trial, Step: uint32(step)})
			stream.Seek(wordOf(p, i))
			z := make([]float64, len(after.Params[i]))
			stream.Normals(z)
			for k, v := range after.Params[i] {
				m := float64(before.Params[i][k]) - float64(v)
				// Engines may round to a grid of 2⁻⁶ standard deviations (see package cpu).
				if math.Abs(m-std*z[k]) > std*0x1p-6 {
					t.Fatalf("step %d: noise of parameter %d[%d] is %v, the stream's %v", step, i, k, m, std*z[k])
				}
				moved = append(moved, m)
				n++
				sum += m
				squares += m * m
			}
		}
		if reflect.DeepEqual(moved, last) {
			t.Error("two steps had the same noise")
		}
		last = moved
	}
	if z := sum / n / (std / math.Sqrt(n)); math.Abs(z) > 5 {
		t.Errorf("mean of the noise is %v, %v standard errors from 0", sum/n, z)
	}
	if z := (squares/n/(std*std) - 1) / math.Sqrt(2/n); math.Abs(z) > 5 {
		t.Errorf("variance of the noise is %v, want %v (%v standard errors)", squares/n, std*std, z)
	}
}

// wordOf returns where a parameter's normals begin in a step's noise stream: parameters follow one
// another in order, each from an even word on, because normals come in pairs.
func wordOf(p *compile.Program, param int) uint64 {
	word := 0
	for _, t := range p.Params[:param] {
		word += (t.Size + 1) / 2 * 2
	}
	return uint64(word)
}

// emptyBatch checks that a step without samples still counts, and moves by noise alone.
func emptyBatch(t *testing.T, e engine.Engine) {
	j := job(small(t, 4, 3), 5)
	j.Members = []int32{}
	run := begin(t, e, j)
	before := run.State()
	after := steps(t, run, 1)
	if after.Step != 1 || reflect.DeepEqual(before.Params, after.Params) {
		t.Errorf("an empty batch left the parameters as they were, or the step uncounted (%d)", after.Step)
	}
}

// adam compares two steps with Kingma and Ba's update written out.
func adam(t *testing.T, e engine.Engine) {
	j := job(small(t, 6, 3), 40)
	j.Optimizer.Method = engine.Adam
	j.Mechanism.NoiseMultiplier = 0
	j.Mechanism.SamplingProbability = 1
	run := begin(t, e, j)
	all := make([]int32, 40)
	for i := range all {
		all[i] = int32(i)
	}
	o := j.Optimizer
	theta := run.State().Params
	m, v := map[[2]int]float64{}, map[[2]int]float64{}
	for step := 1; step <= 2; step++ {
		sum, _, err := run.PrivateClippedSum(all)
		if err != nil {
			t.Fatal(err)
		}
		got := steps(t, run, 1).Params
		for i := range got {
			for k := range got[i] {
				g := float64(sum[i][k]) / j.Mechanism.ExpectedBatchSize
				at := [2]int{i, k}
				m[at] = o.Beta1*m[at] + (1-o.Beta1)*g
				v[at] = o.Beta2*v[at] + (1-o.Beta2)*g*g
				hatM := m[at] / (1 - math.Pow(o.Beta1, float64(step)))
				hatV := v[at] / (1 - math.Pow(o.Beta2, float64(step)))
				want := float64(theta[i][k]) - o.LearningRate*hatM/(math.Sqrt(hatV)+o.Epsilon)
				if math.Abs(float64(got[i][k])-want) > 2e-4 {
					t.Fatalf("step %d: parameter %d[%d] is %v, want %v", step, i, k, got[i][k], want)
				}
			}
		}
		theta = got
	}
}

// notFinite checks that a sample whose gradient isn't finite contributes nothing and harms no other.
func notFinite(t *testing.T, e engine.Engine) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32} {
		j := job(small(t, 6, 5, 3), 9)
		for k := range 6 {
			j.Data.Columns[0][4*6+k] = bad
		}
		// Labels of that size make the loss, and so the gradient, overflow for a finite input too.
		for k := range 3 {
			j.Data.Columns[1][4*3+k] = bad
		}
		run := begin(t, e, j)
		with, squared, err := run.PrivateClippedSum([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8})
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(squared[4]) && !math.IsInf(squared[4], 0) {
			t.Errorf("%v: the squared norm is %v", bad, squared[4])
		}
		without, _, err := run.PrivateClippedSum([]int32{0, 1, 2, 3, 5, 6, 7, 8})
		if err != nil {
			t.Fatal(err)
		}
		for i := range with {
			for k := range with[i] {
				if math.Abs(float64(with[i][k]-without[i][k])) > 1e-6 || with[i][k] != with[i][k] {
					t.Fatalf("%v: parameter %d[%d] sums to %v with the bad sample, %v without", bad, i, k, with[i][k], without[i][k])
				}
			}
		}
		if s := steps(t, run, 3); !finite(s.Params) {
			t.Errorf("%v: training on a sample without a finite gradient broke the parameters", bad)
		}
	}
}

// sensitivity checks what the noise is for: one sample alone never contributes more than C, however its
// values were chosen. Rows that nearly cancel, sizes at the ends of single precision and tiny clipping
// norms are where engines go wrong.
func sensitivity(t *testing.T, e engine.Engine) {
	rows := func(batch int) (compile.Source, error) {
		g := NewG(batch, 8)
		x, y, w := g.In("x", 2, 40), g.In("y", 2, 30), g.Param("w", 40, 30)
		h := g.Do(gorgonia.Mul(g.Do(gorgonia.Reshape(x, tensor.Shape{batch * 2, 40})), w))
		return g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Reshape(h, tensor.Shape{batch, 2, 30})), y)))))
	}
	line := func(batch int) (compile.Source, error) {
		g := NewG(batch, 9)
		x, y, w := g.In("x", 100), g.In("y", 20), g.Param("w", 100, 20)
		return g.Done(nil, g.Do(gorgonia.Sum(g.Do(gorgonia.HadamardProd(g.Do(gorgonia.Mul(x, w)), y)))))
	}
	for name, build := range map[string]Builder{"rows": rows, "line": line} {
		src, err := build(1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := compile.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, clip := range []float64{1, 1e-9, 1e9} {
			for _, scale := range [][2]float64{{1, 1}, {1e4, 1}, {1e18, 1e-24}, {1e-24, 1e18}, {1e30, 1e-30}, {1e30, 1e30}, {1e-30, 1e-30}, {3e38, 1e-3}, {1e-44, 3e38}} {
				data := RandomData(p, 1, 4)
				x, y := data.Columns[0], data.Columns[1]
				if name == "rows" { // the second row all but undoes the first
					for k := range 40 {
						x[40+k] = x[k]
					}
					x[40] += 8e-4
					for k := range 30 {
						y[30+k] = -y[k]
					}
				}
				for k := range x {
					x[k] = float32(float64(x[k]) * scale[0])
				}
				for k := range y {
					y[k] = float32(float64(y[k]) * scale[1])
				}
				j := job(p, 1)
				j.Data = data
				j.Mechanism.ClippingNorm = clip
				sum, _, err := begin(t, e, j).PrivateClippedSum([]int32{0})
				if err != nil {
					t.Fatal(err)
				}
				squared := 0.0
				for _, v := range sum[0] {
					squared += float64(v) * float64(v)
				}
				if got := math.Sqrt(squared); !(got <= clip*(1+1e-5)) {
					t.Errorf("%s: a sample of scale %v contributes %v at clipping norm %v", name, scale, got, clip)
				}
			}
		}
	}
}

func finite(tensors [][]float32) bool {
	for _, p := range tensors {
		for _, v := range p {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return false
			}
		}
	}
	return true
}

// resume checks that a run stopped and restored elsewhere ends where an uninterrupted one does, to the
// last bit, for both optimizers.
func resume(t *testing.T, e engine.Engine) {
	for _, method := range []engine.Method{engine.SGD, engine.Adam} {
		j := job(small(t, 6, 5, 3), 50)
		j.Optimizer.Method = method
		want := steps(t, begin(t, e, j), 7)
		half := steps(t, begin(t, e, j), 3)
		other := begin(t, e, j)
		if err := other.Restore(half); err != nil {
			t.Fatal(err)
		}
		if got := steps(t, other, 4); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: a resumed run ends elsewhere", method)
		}
		if half.Step != 3 {
			t.Errorf("%s: the saved state changed with the run", method)
		}
		if err := other.Restore(engine.State{Params: want.Params[:1]}); err == nil {
			t.Errorf("%s: a state of another shape was restored", method)
		}
	}
}

// cancel checks that a cancelled run stops after a whole step and can go on.
func cancel(t *testing.T, e engine.Engine) {
	j := job(small(t, 6, 3), 50)
	run := begin(t, e, j)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := run.Steps(ctx, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled steps returned %v", err)
	}
	done := run.State().Step
	if got := steps(t, run, 5-done); got.Step != 5 {
		t.Errorf("after going on, %d steps are done, want 5", got.Step)
	}
}

// badJobs checks that what can't be run is refused at the start.
func badJobs(t *testing.T, e engine.Engine) {
	p := small(t, 6, 3)
	for name, spoil := range map[string]func(*engine.Job){
		"no program":           func(j *engine.Job) { j.Program = nil },
		"no data":              func(j *engine.Job) { j.Data = nil },
		"probability above 1":  func(j *engine.Job) { j.Mechanism.SamplingProbability = 1.5 },
		"probability NaN":      func(j *engine.Job) { j.Mechanism.SamplingProbability = math.NaN() },
		"negative noise":       func(j *engine.Job) { j.Mechanism.NoiseMultiplier = -1 },
		"no clipping":          func(j *engine.Job) { j.Mechanism.ClippingNorm = 0 },
		"no batch size":        func(j *engine.Job) { j.Mechanism.ExpectedBatchSize = 0 },
		"rate not finite":      func(j *engine.Job) { j.Optimizer.LearningRate = math.Inf(1) },
		"unknown optimizer":    func(j *engine.Job) { j.Optimizer.Method = "adagrad" },
		"missing column":       func(j *engine.Job) { j.Data.Columns = j.Data.Columns[:1] },
		"short column":         func(j *engine.Job) { j.Data.Columns[0] = j.Data.Columns[0][:7] },
		"member out of range":  func(j *engine.Job) { j.Members = []int32{3, 10} },
		"member twice":         func(j *engine.Job) { j.Members = []int32{3, 3} },
		"wrong initial shapes": func(j *engine.Job) { j.Initial = [][]float32{{1}} },
	} {
		j := job(p, 10)
		spoil(&j)
		if run, err := e.Start(j); err == nil {
			run.Close()
			t.Errorf("%s: the job was started", name)
		}
	}
	if _, err := begin(t, e, job(p, 10)).Predict(context.Background(), nil); err == nil {
		t.Error("a prediction was made of no data")
	}
}
