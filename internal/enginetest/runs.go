package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"gorgonia.org/gorgonia"
)

// assorted returns jobs that differ in every field, and a number of steps for each.
func assorted(p *compile.Program, samples int) ([]engine.Job, []int) {
	base := job(p, samples)
	quiet, few, none, other, big := base, base, adam(base), adam(base), base
	quiet.Mechanism.NoiseMultiplier = 0
	quiet.Mechanism.SamplingProbability = 1
	few.Members, few.Trial = []int32{3, 4, 5, 20}, 3
	none.Members, none.Trial = []int32{}, 4
	other.Key[0]++
	big.Initial = slices.Clone(base.Initial)
	big.Initial[1] = 9
	big.Mechanism.ClippingNorm, big.Mechanism.Automatic, big.Optimizer.LearningRate = 7, true, 0.01
	big.Members = []int32{60, 61, 62, 70} // as many as few has
	return []engine.Job{base, quiet, few, none, other, big, adam(base), base}, []int{5, 12, 1, 0, 7, 9, 3, 2}
}

// groups checks that a run in any group equals, to the bit, the run alone, however long the others are and however the
// steps are divided among calls.
func groups(t TB, s Suite) {
	p := derived(t)
	const samples = 90
	data := RandomData(p, samples, 5)
	jobs, steps := assorted(p, samples)
	want := make([]engine.State, len(jobs))
	for i, j := range jobs {
		runs, done := s.start(t, p, data, j)
		advance(t, runs, steps[i])
		want[i] = runs.State(0)
		done()
	}
	hold := func(what string, runs engine.Runs, of []int) {
		t.Helper()
		for k, i := range of {
			if d := difference(runs.State(k), want[i]); d != "" {
				t.Errorf("%s: run %d differs from itself alone in %s", what, i, d)
			}
		}
	}
	all, done := s.start(t, p, data, jobs...)
	advance(t, all, steps...)
	hold("all at once", all, []int{0, 1, 2, 3, 4, 5, 6, 7})
	done()

	order := []int{4, 1, 7, 0, 2}
	some, done := s.start(t, p, data, jobs[4], jobs[1], jobs[7], jobs[0], jobs[2])
	for _, part := range [][]int{{1, 0, 2, 0, 0}, {6, 3, 0, 5, 1}, {0, 9, 0, 0, 0}} {
		advance(t, some, part...)
	}
	hold("in parts", some, order)
	if got := some.Done(); !slices.Equal(got, []int{7, 12, 2, 5, 1}) {
		t.Errorf("done are %v", got)
	}
	done()

	// Each job has one member, which every step draws: the smallest batch that isn't empty.
	single := make([]engine.Job, 5)
	for i := range single {
		single[i] = jobs[0]
		single[i].Members, single[i].Mechanism.SamplingProbability = []int32{int32(11 * i)}, 1
	}
	each, done := s.start(t, p, data, single...)
	advance(t, each, 2, 2, 2, 2, 2)
	for i, j := range single {
		alone, done := s.start(t, p, data, j)
		advance(t, alone, 2)
		if d := difference(each.State(i), alone.State(0)); d != "" {
			t.Errorf("of runs with one member each number %d differs from itself alone in %s", i, d)
		}
		done()
	}
	done()

	two, done := s.start(t, p, data, jobs[0], jobs[1])
	defer done()
	for _, steps := range [][]int{{1}, {1, 1, 1}, {1, -1}, {}, {1, math.MaxInt32 + 1}, {math.MaxInt, 1}} {
		if err := two.Steps(context.Background(), steps...); err == nil {
			t.Errorf("steps %v were taken of two runs", steps)
		}
	}
	if got := two.Done(); !slices.Equal(got, []int{0, 0}) {
		t.Errorf("steps that were refused were taken: %v", got)
	}
	// The number of steps has a maximum, and the last step before it is like all others.
	late := two.State(0)
	late.Step = math.MaxInt32 - 1
	restore(t, two, 0, late)
	if err := two.Steps(context.Background(), 2, 1); err == nil {
		t.Errorf("a run takes more steps than are counted")
	}
	advance(t, two, 1, 0)
	if got := two.State(0); got.Step != math.MaxInt32 || sameBits(got.Params, late.Params) {
		t.Errorf("the last step that is counted: the run has done %d", got.Step)
	}
	if err := two.Restore(0, two.State(0)); err != nil {
		t.Errorf("after the last step: %v", err)
	}
}

// together checks that two engines, and two groups on one engine, don't disturb each other.
func together(t TB, s Suite) {
	p := MLP(t, 6, 5, 3)
	const samples = 90
	data := RandomData(p, samples, 5)
	jobs, steps := assorted(p, samples)
	runs, done := s.start(t, p, data, jobs...)
	advance(t, runs, steps...)
	var want []engine.State
	for i := range jobs {
		want = append(want, runs.State(i))
	}
	done()

	first, err := s.Engine().Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Engine().Load(p, RandomData(p, samples, 5))
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	faults := make([]error, 3)
	for k, on := range []engine.Loaded{first, first, second} {
		wait.Go(func() {
			faults[k] = func() error {
				runs, err := on.Start(jobs...)
				if err != nil {
					return err
				}
				if err := runs.Steps(context.Background(), steps...); err != nil {
					return err
				}
				for i := range jobs {
					if d := difference(runs.State(i), want[i]); d != "" {
						return fmt.Errorf("run %d differs from itself alone in %s", i, d)
					}
				}
				return runs.Close()
			}()
		})
	}
	wait.Wait()
	if err := errors.Join(append(faults, first.Close(), second.Close())...); err != nil {
		t.Errorf("side by side: %v", err)
	}
}

// progress checks that Done counts steps during Steps.
func progress(t TB, s Suite) {
	p := MLP(t, 6, 5, 3)
	j := job(p, 90)
	runs, done := s.start(t, p, RandomData(p, 90, 5), j, adam(j))
	defer done()
	want := []int{100, 60}
	ended := make(chan error)
	go func() { ended <- runs.Steps(context.Background(), want...) }()
	last := []int{0, 0}
	for {
		at := runs.Done()
		if len(at) != 2 || at[0] < last[0] || at[1] < last[1] || at[0] > want[0] || at[1] > want[1] {
			<-ended
			t.Fatalf("done are %v after %v of %v", at, last, want)
		}
		last = at
		select {
		case err := <-ended:
			if at := runs.Done(); err != nil || !slices.Equal(at, want) {
				t.Errorf("ended with %v after %v of %v", err, at, want)
			}
			return
		default:
		}
	}
}

// resume checks that a run that is stopped and restored elsewhere ends like an uninterrupted one, to the last bit, with
// both optimizers.
func resume(t TB, s Suite) {
	p := MLP(t, 6, 5, 3)
	data := RandomData(p, 50, 5)
	for _, j := range []engine.Job{job(p, 50), adam(job(p, 50))} {
		mine := j
		mine.Initial = slices.Clone(j.Initial)
		runs, done := s.start(t, p, data, j, j, mine)
		if clear(mine.Initial); !sameBits(runs.State(2).Params, j.Initial) {
			t.Errorf("%s: a run begins where its job was changed to", j.Optimizer.Method)
		}
		advance(t, runs, 7, 3, 0)
		want, half := runs.State(0), runs.State(1)
		restore(t, runs, 2, half)
		advance(t, runs, 0, 1, 4)
		if d := difference(runs.State(2), want); d != "" {
			t.Errorf("%s: a resumed run ends elsewhere in %s", j.Optimizer.Method, d)
		}
		if half.Step != 3 || difference(half, runs.State(1)) == "" {
			t.Errorf("%s: the saved state changed with the run", j.Optimizer.Method)
		}
		// States are copies.
		for range 2 {
			mine := runs.State(1)
			clear(mine.Params)
			clear(mine.First)
			clear(mine.Second)
		}
		if sameBits(runs.State(1).Params, make([]float32, len(half.Params))) {
			t.Errorf("%s: a run's state is what somebody made of a copy", j.Optimizer.Method)
		}
		// A run uses the restored parameters, and keeps a copy.
		moved := runs.State(2)
		for k := range moved.Params {
			moved.Params[k] *= 2
		}
		sum, _ := s.clippedSum(t, runs, 2, allOf(50))
		restore(t, runs, 2, moved)
		if other, _ := s.clippedSum(t, runs, 2, allOf(50)); slices.Equal(sum, other) {
			t.Errorf("%s: gradients after a restore are those of the parameters before", j.Optimizer.Method)
		}
		if done := runs.Done(); done[2] != moved.Step {
			t.Errorf("%s: after a restore to step %d %d are done", j.Optimizer.Method, moved.Step, done[2])
		}
		clear(moved.Params)
		if d := difference(runs.State(2), moved); d == "" {
			t.Errorf("%s: a run goes on with the slices that it was restored from", j.Optimizer.Method)
		}
		for field, spoil := range map[string]func(*engine.State){
			"Params": func(s *engine.State) { s.Params = s.Params[1:] },
			"First":  func(s *engine.State) { s.First = append(s.First, 1) },
			"Second": func(s *engine.State) { s.Second = append(s.Second, 1) },
			"Step":   func(s *engine.State) { s.Step = -1 },
		} {
			state := runs.State(0)
			spoil(&state)
			var fault *engine.FieldError
			if err := runs.Restore(0, state); !errors.As(err, &fault) || fault.Field != field {
				t.Errorf("%s: a state with a wrong %s: %v", j.Optimizer.Method, field, err)
			}
		}
		if d := difference(runs.State(0), want); d != "" {
			t.Errorf("%s: a state that was refused changed %s", j.Optimizer.Method, d)
		}
		done()
	}
}

// cancel checks that cancelled runs stop soon, after a whole step, and can continue.
func cancel(t TB, s Suite) {
	p := MLP(t, 6, 3)
	data := RandomData(p, 50, 5)
	j := job(p, 50)
	whole, done := s.start(t, p, data, j)
	advance(t, whole, 5)
	want := whole.State(0)
	done()
	runs, done := s.start(t, p, data, j, adam(j))
	defer done()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := runs.Steps(ctx, 5, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled steps returned %v", err)
	}
	at := runs.Done()
	advance(t, runs, 5-at[0], 0)
	if d := difference(runs.State(0), want); d != "" {
		t.Errorf("a cancelled run that went on ends elsewhere in %s", d)
	}

	// Cancel in the middle of more steps than a test could wait for.
	ctx, stop = context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runs.Steps(ctx, 1<<30, 1<<30) }()
	for at = runs.Done(); at[0]+at[1] < 40; at = runs.Done() {
		select {
		case err := <-ended:
			t.Fatalf("steps ended with %v at %v", err, runs.Done())
		case <-time.After(time.Millisecond):
		}
	}
	stop()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("steps cancelled in the middle returned %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("steps that were cancelled go on")
	}
	at = runs.Done()
	again, done2 := s.start(t, p, data, j, adam(j))
	defer done2()
	advance(t, again, at...)
	for i := range at {
		if d := difference(runs.State(i), again.State(i)); d != "" {
			t.Errorf("run %d, cancelled after %d steps, isn't where they lead in %s", i, at[i], d)
		}
	}
}

// predict checks that every run predicts by its own parameters, several runs at once as each alone, and that a column
// that a prediction doesn't read may be missing.
func predict(t TB, s Suite) {
	p := derived(t)
	j := job(p, 90)
	runs, done := s.start(t, p, RandomData(p, 90, 5), j, adam(j), j)
	defer done()
	advance(t, runs, 3, 5, 0)
	test := RandomData(p, 131, 8)
	test.Columns[1] = engine.Column{}
	ctx := context.Background()
	out, err := runs.Predict(ctx, test, 2, 0, 1)
	if err != nil || len(out) != 3 {
		t.Fatalf("%d predictions of 3 runs, %v", len(out), err)
	}
	for k, i := range []int{2, 0, 1} {
		if one := predicted(t, runs, test, i); !sameBits(out[k], one) || len(one) != 131*3 {
			t.Errorf("run %d predicts other values among others", i)
		}
		if k > 0 && sameBits(out[k], out[0]) {
			t.Errorf("two runs predict the same")
		}
	}
	cancelled, stop := context.WithCancel(ctx)
	stop()
	if _, err := runs.Predict(cancelled, test, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a prediction that was cancelled returns %v", err)
	}
	if none, err := runs.Predict(ctx, RandomData(p, 0, 8), 0); err != nil || len(none[0]) != 0 {
		t.Errorf("no samples: %v, %v", none, err)
	}
	short := RandomData(p, 131, 8)
	short.Columns[0].Floats = short.Columns[0].Floats[1:]
	labelsFirst(t, s)
	watched(t, s)
	silent := inner(t, 4)
	none, done := s.start(t, silent, RandomData(silent, 5, 5), plain(silent, 1))
	defer done()
	if _, err := none.Predict(ctx, RandomData(silent, 5, 5), 0); err == nil || errors.Is(err, engine.ErrLost) {
		t.Errorf("a graph without an output predicts: %v", err)
	}
	for name, data := range map[string]*engine.Data{"no data": nil, "a short column": short, "no columns": {Samples: 3}} {
		var fault *engine.FieldError
		if _, err := runs.Predict(ctx, data, 0); !errors.As(err, &fault) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// watched checks that looking at runs between steps changes no bit of them: predictions, of more samples and of fewer
// than are trained on, also one that is cancelled, copies of states, and steps that are cancelled.
func watched(t TB, s Suite) {
	ctx := context.Background()
	cancelled, stop := context.WithCancel(ctx)
	stop()
	for name, p := range map[string]*compile.Program{"layers": MLP(t, 6, 5, 3), "a table": gathering(t, 3, 7, 4)} {
		data, j := RandomData(p, 60, 5), job(p, 60)
		alone, done := s.start(t, p, data, j, adam(j))
		advance(t, alone, 4, 6)
		want := []engine.State{alone.State(0), alone.State(1)}
		done()
		runs, done := s.start(t, p, data, j, adam(j))
		for _, samples := range []int{200, 1, 0, 60} {
			advance(t, runs, 1, 1)
			if _, err := runs.Predict(ctx, RandomData(p, samples, 8), 1, 0); err != nil {
				t.Fatal(err)
			}
			if _, err := runs.Predict(cancelled, RandomData(p, 60, 9), 0); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: a prediction that was cancelled returns %v", name, err)
			}
			if err := runs.Steps(cancelled, 2, 2); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: cancelled steps returned %v", name, err)
			}
			at := runs.Done() // an engine may take a step all the same
			if _, err := runs.Predict(ctx, data, 1); err != nil {
				t.Fatal(err)
			}
			if runs.State(0).Step != at[0] {
				t.Errorf("%s: a prediction takes steps", name)
			}
		}
		at := runs.Done()
		if at[0] > 4 || at[1] > 6 {
			t.Errorf("%s: runs that are stopped are at steps %v", name, at)
		} else {
			advance(t, runs, 4-at[0], 6-at[1])
		}
		for i := range want {
			if d := difference(runs.State(i), want[i]); d != "" {
				t.Errorf("%s: run %d, looked at between its steps, ends elsewhere in %s", name, i, d)
			}
		}
		done()
	}
}

// labelsFirst checks that a missing column before a column that is read doesn't move that.
func labelsFirst(t TB, s Suite) {
	g := NewG(1, 9)
	y, x := g.In("y", 3), g.In("x", 5)
	h := g.Do(gorgonia.Tanh(g.Do(gorgonia.Mul(x, g.Param("w", 5, 3)))))
	p := g.program(t, h, g.Do(gorgonia.Sum(g.Do(gorgonia.Square(g.Do(gorgonia.Sub(h, y)))))))
	data := RandomData(p, 20, 5)
	runs, done := s.start(t, p, data, plain(p, 1))
	defer done()
	unlabelled := &engine.Data{Samples: 20, Columns: []engine.Column{{}, data.Columns[1]}}
	if !sameBits(predicted(t, runs, data, 0), predicted(t, runs, unlabelled, 0)) {
		t.Errorf("without its labels a sample has another output")
	}
}

// outputs checks that a sample's output doesn't depend on the samples that are predicted with it.
func outputs(t TB, s Suite) {
	for name, z := range Zoo() {
		if p := z.Program(t, 1); p.Output.Name != "" && !(s.Short && name == "cnn") {
			outputsOf(t, s, name, p, 150, 30)
		}
	}
	outputsOf(t, s, "many samples", MLP(t, 1, 2), 1<<15+3, 1<<13) // more than an engine takes at once
}

func outputsOf(t TB, s Suite, name string, p *compile.Program, samples, few int) {
	t.Helper()
	data := RandomData(p, samples, 7)
	runs, done := s.start(t, p, data, plain(p, 1))
	all, err := runs.Predict(context.Background(), data, 0)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for from := 0; from < samples; from += few {
		n := min(few, samples-from)
		those := &engine.Data{Samples: n}
		for k, in := range p.Inputs {
			those.Columns = append(those.Columns, part(data.Columns[k], from*in.Size, (from+n)*in.Size))
		}
		one, err := runs.Predict(context.Background(), those, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for k, got := range all[0][from*p.Output.Size : (from+n)*p.Output.Size] {
			if want := float64(one[0][k]); !s.near(float64(got), want, want) {
				t.Fatalf("%s: output %d of samples from %d on is %v among others, %v among few", name, k, from, got, want)
			}
		}
	}
	done()
}
