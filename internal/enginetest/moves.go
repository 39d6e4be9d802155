package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// moves checks jobs whose caller moves the parameters: see [engine.Job].Move.
func moves(t TB, s Suite) {
	movesByMean(t, s)
	movesTogether(t, s)
	movesFail(t, s)
	movesResume(t, s)
}

// calls records the calls of a Move, which may come from any goroutine.
type calls struct {
	mu    sync.Mutex
	steps []int
	means [][]float32
}

// descend returns a Move that takes plain steps in single precision, and records them.
func (c *calls) descend(rate float32) func(int, []float32, []float32) error {
	return func(step int, params, gradient []float32) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.steps, c.means = append(c.steps, step), append(c.means, slices.Clone(gradient))
		for j, g := range gradient {
			params[j] = params[j] - float32(rate*g)
		}
		return nil
	}
}

// moved returns a job that moves by a function.
func moved(j engine.Job, move func(int, []float32, []float32) error) engine.Job {
	j.Optimizer, j.Move = engine.Optimizer{}, move
	return j
}

// meanOf returns the noisy mean gradient of a step, given its sum, rounded to floats, and 0 in the padding.
func meanOf(p *compile.Program, j engine.Job, step int, sum []float64, samples int) []float32 {
	l := engine.LayoutOf(p)
	out := make([]float32, l.Size)
	for i, from := range l.Offsets {
		mean := make([]float64, l.Lengths[i])
		j.Normals(step, from, mean)
		j.Mechanism.Grid(samples).Release(sum[from:from+len(mean)], mean, j.Mechanism.NoiseDeviation(), j.Mechanism.ExpectedBatchSize)
		for k, v := range mean {
			out[from+k] = float32(v)
		}
	}
	return out
}

// movesByMean checks to the bit what Move is handed, that it is called once for each step, and that the parameters are
// what it makes of them. The mechanisms are those of the check of releases: the mean that Move gets is the rounded one
// that an optimizer would have used.
func movesByMean(t TB, s Suite) {
	const samples, rate = 120, 0.3
	p := MLP(t, 6, 5, 3) // some parameters have an odd number of values, and so padding
	data := RandomData(p, samples, 5)
	for _, c := range []struct{ noise, clip, batch float64 }{{1.1, 0.5, 60}, {0, 1, 60}, {0.02, 3, 7.3}, {3, 1, 1e-3}} {
		seen := &calls{}
		j := moved(job(p, samples), seen.descend(rate))
		j.Mechanism = engine.Mechanism{SamplingProbability: 0.4, NoiseMultiplier: c.noise, ClippingNorm: c.clip, ExpectedBatchSize: c.batch}
		what := fmt.Sprintf("%+v", j.Mechanism)
		runs, done := s.start(t, p, data, j)
		if len(seen.steps) > 0 {
			t.Errorf("%s: Move is called before the first step", what)
		}
		for step := range 3 {
			want := runs.State(0)
			if err := j.CheckState(want, engine.LayoutOf(p)); err != nil {
				t.Fatalf("%s: the state at step %d: %v", what, step, err)
			}
			sum, _ := s.clippedSum(t, runs, 0, j.Minibatch(step, allOf(samples), nil))
			mean := meanOf(p, j, step, sum, samples)
			for k, g := range mean {
				want.Params[k] = want.Params[k] - float32(rate*g)
			}
			want.Step++
			advance(t, runs, 1)
			if len(seen.steps) != step+1 || seen.steps[step] != step+1 {
				t.Fatalf("%s: after step %d Move has been called for steps %v", what, step+1, seen.steps)
			}
			if !sameBits(seen.means[step], mean) {
				t.Fatalf("%s: at step %d Move gets another gradient than the rounded noisy mean", what, step+1)
			}
			if d := difference(runs.State(0), want); d != "" {
				t.Fatalf("%s: step %d doesn't take %s where Move does", what, step+1, d)
			}
		}
		checkPadding(t, p, runs.State(0).Params)
		done()
	}
}

// checkPadding checks that the elements between parameters are 0.
func checkPadding(t TB, p *compile.Program, vector []float32) {
	t.Helper()
	l, k := engine.LayoutOf(p), 0
	for i, from := range l.Offsets {
		for ; k < from; k++ {
			if math.Float32bits(vector[k]) != 0 {
				t.Errorf("padding at %d is %v", k, vector[k])
			}
		}
		k = from + l.Lengths[i]
	}
}

// movesTogether checks that runs with a Move and runs without one go side by side, each as it would alone, and that
// predictions are by the parameters that Move made.
func movesTogether(t TB, s Suite) {
	const samples = 60
	p := MLP(t, 6, 5, 3)
	data := RandomData(p, samples, 5)
	jobs := func() (all []engine.Job, seen []*calls) {
		for i := range 4 {
			j := job(p, samples)
			j.Trial = uint32(i + 3)
			c := &calls{}
			if i%2 == 1 {
				j = moved(j, c.descend(float32(i)/8))
			}
			all, seen = append(all, j), append(seen, c)
		}
		return all, seen
	}
	together, seen := jobs()
	runs, done := s.start(t, p, data, together...)
	defer done()
	advance(t, runs, 5, 4, 0, 6)
	for i, steps := range []int{5, 4, 0, 6} {
		alone, _ := jobs()
		single, closed := s.start(t, p, data, alone[i])
		advance(t, single, steps)
		if d := difference(runs.State(i), single.State(0)); d != "" {
			t.Errorf("run %d beside others differs in %s", i, d)
		}
		if want := steps * (i % 2); len(seen[i].steps) != want {
			t.Errorf("run %d of %d steps calls Move %d times, want %d", i, steps, len(seen[i].steps), want)
		}
		if !sameBits(predicted(t, runs, data, i), predicted(t, single, data, 0)) {
			t.Errorf("run %d predicts something else beside others", i)
		}
		closed()
	}
}

// movesFail checks that an error of Move stops its run alone, and is the error of the run.
func movesFail(t TB, s Suite) {
	const samples = 40
	p := MLP(t, 4, 3)
	data := RandomData(p, samples, 5)
	refused := errors.New("refused by the test")
	good, bad := &calls{}, &calls{}
	descend := bad.descend(0.1)
	jobs := []engine.Job{
		moved(job(p, samples), good.descend(0.1)),
		moved(job(p, samples), func(step int, params, gradient []float32) error {
			if step == 3 {
				return refused
			}
			return descend(step, params, gradient)
		}),
		job(p, samples),
	}
	for i := range jobs {
		jobs[i].Trial = uint32(i)
	}
	runs, done := s.start(t, p, data, jobs...)
	defer done()
	advance(t, runs, 2, 2, 2)
	saved := runs.State(1)
	err := runs.Steps(context.Background(), 3, 3, 3)
	var failed engine.RunErrors
	if !errors.As(err, &failed) || len(failed) != 3 || failed[0] != nil || failed[2] != nil || !errors.Is(failed[1], refused) {
		t.Fatalf("an error of run 1's Move: %v", err)
	}
	if got := runs.Done(); !slices.Equal(got, []int{5, 2, 5}) {
		t.Errorf("steps done after an error at step 3 of run 1: %v", got)
	}
	if err := runs.Steps(context.Background(), 0, 1, 0); err == nil {
		t.Errorf("a run whose Move failed takes a step again")
	}
	restore(t, runs, 1, saved)
	if d := difference(runs.State(1), saved); d != "" {
		t.Errorf("a run that failed is restored, but for %s", d)
	}
}

// movesResume checks that a run with a Move goes on from a state to the same bits.
func movesResume(t TB, s Suite) {
	const samples = 60
	p := MLP(t, 6, 5, 3)
	data := RandomData(p, samples, 5)
	whole, part := &calls{}, &calls{}
	runs, done := s.start(t, p, data, moved(job(p, samples), whole.descend(0.2)))
	defer done()
	advance(t, runs, 3)
	saved := runs.State(0)
	advance(t, runs, 3)
	again, closed := s.start(t, p, data, moved(job(p, samples), part.descend(0.2)))
	defer closed()
	restore(t, again, 0, saved)
	advance(t, again, 3)
	if d := difference(again.State(0), runs.State(0)); d != "" {
		t.Errorf("a resumed run with a Move ends elsewhere in %s", d)
	}
	if !slices.Equal(part.steps, []int{4, 5, 6}) {
		t.Errorf("a run that goes on after step 3 calls Move for steps %v", part.steps)
	}
}
