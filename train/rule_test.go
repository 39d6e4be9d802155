package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// bowl returns the model with cost (θ - x)²/2 for one parameter and samples x, whose gradient is θ - x.
func bowl(t testing.TB) Model {
	t.Helper()
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("x"), gorgonia.WithShape(2, 1))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("w"), gorgonia.WithShape(1, 1),
		gorgonia.WithValue(tensor.New(tensor.WithShape(1, 1), tensor.WithBacking([]float32{1}))))
	error := gorgonia.Must(gorgonia.BroadcastSub(w, x, []byte{0}, nil))
	cost := gorgonia.Must(gorgonia.Mul(gorgonia.NewConstant(float32(0.5)), gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(error))))))
	return Model{Inputs: gorgonia.Nodes{x}, Parameters: gorgonia.Nodes{w}, Output: error, Cost: cost}
}

// inBowl returns the parameter after each step of a run without noise on one sample at 0, from 1: its gradient is θ.
func inBowl(t testing.TB, o Optimizer, steps int) []float64 {
	t.Helper()
	data := must(NewData(1, []float32{0}))
	trainer, err := New(cpu.New(cpu.Options{Workers: 1}), bowl(t), data, Settings{
		Privacy:   Privacy{SamplingRate: 1, ClippingNorm: 100, Steps: steps, NominalSize: 1},
		Optimizer: o, Key: InsecureKey(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	var path []float64
	for range steps {
		if err := trainer.group.runs.Steps(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		path = append(path, float64(must(trainer.State()).inner.Params[0][0]))
	}
	return path
}

// On θ²/2 from θ = 1 the gradient is θ. The values were computed by hand from the definitions, in fractions.
func TestOptimizersOnAQuadratic(t *testing.T) {
	half := ScheduleFunc("1, 1/2, 1/4", func(step, _ int) float64 { return math.Pow(0.5, float64(step-1)) })
	for name, c := range map[string]struct {
		o    Optimizer
		want []float64
	}{
		"sgd":      {SGD(0.25), []float64{0.75, 0.5625, 0.421875}},
		"momentum": {Momentum(0.25, 0.5), []float64{0.75, 0.4375, 0.171875}},       // v: 1, 1.25, 1.0625
		"nesterov": {Nesterov(0.25, 0.5), []float64{0.625, 0.328125, 0.134765625}}, // v: 1, 1.125, 0.890625
		// The first step of Adam is the learning rate times the sign of the gradient, whatever the gradient is.
		"adam": {Adam(0.25), []float64{0.75}},
		// θ ← θ(1 - 0.25·0.5), then the same step.
		"adamw":    {AdamW(0.25, 0.5), []float64{0.625}},
		"decay":    {Optimizer{Method: DPSGD, LearningRate: 0.25, WeightDecay: 1}, []float64{0.5, 0.25, 0.125}},
		"schedule": {Optimizer{Method: DPSGD, LearningRate: 0.5, Schedule: half}, []float64{0.5, 0.375, 0.328125}},
		// Gradients 1, 1: their mean 1. Then 0.5, 0.5. The fifth step is the last and an update of its own.
		"accumulate": {Optimizer{Method: DPSGD, LearningRate: 0.5, Accumulate: 2}, []float64{1, 0.5, 0.5, 0.25, 0.125}},
	} {
		got := inBowl(t, c.o, len(c.want))
		for i, want := range c.want {
			if math.Abs(got[i]-want) > 2e-6 { // contributions are rounded to C/2²²
				t.Errorf("%s: step %d leads to %v, want %v", name, i+1, got[i], want)
			}
		}
	}
}

// The average of θ: with 1 the mean of all updates, with 1/2 the mean of two and then half of each new value. On θ²/2
// at rate 1/2 the values are 1/2, 1/4, 1/8, 1/16.
func TestAverages(t *testing.T) {
	for _, c := range []struct {
		average    float64
		accumulate int
		want       []float64
	}{
		{1, 0, []float64{0.5, 0.375, 0.875 / 3, 0.9375 / 4}},
		{0.5, 0, []float64{0.5, 0.375, 0.25, 0.15625}},
		{1, 2, []float64{1, 0.5, 0.5, 0.375}}, // updates at steps 2 and 4, to 1/2 and 1/4
	} {
		data := must(NewData(1, []float32{0}))
		o := SGD(0.5)
		o.Average, o.Accumulate = c.average, c.accumulate
		trainer, err := New(cpu.New(cpu.Options{Workers: 1}), bowl(t), data, Settings{
			Privacy:   Privacy{SamplingRate: 1, ClippingNorm: 100, Steps: len(c.want), NominalSize: 1},
			Optimizer: o, Key: InsecureKey(1),
		})
		if err != nil {
			t.Fatal(err)
		}
		at := func(step int, want float64) {
			t.Helper()
			out := must(trainer.Predict(context.Background(), data)) // θ - 0
			if math.Abs(float64(out[0])-want) > 1e-4 {
				t.Errorf("average %v, accumulate %v: after step %d predictions are by %v, want %v", c.average, c.accumulate, step, out[0], want)
			}
		}
		at(0, 1)
		for i, want := range c.want {
			if err := trainer.group.runs.Steps(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			at(i+1, want)
		}
		result := must(trainer.Train(context.Background(), nil))
		if got, want := float64(result.Parameters[0].Values[0]), c.want[len(c.want)-1]; math.Abs(got-want) > 1e-4 {
			t.Errorf("average %v: released %v, want %v", c.average, got, want)
		}
		if err := trainer.Close(); err != nil {
			t.Error(err)
		}
	}
}

// layoutOfOne is the layout of one parameter of one value.
var layoutOfOne = engine.Layout{Offsets: []int{0}, Lengths: []int{1}, Size: 2}

// reference is an optimizer in a few lines of float64, written from the papers.
type reference struct{ v, m, s float64 }

func (r *reference) step(o Optimizer, t int, rate, θ, g float64) float64 {
	θ -= rate * o.WeightDecay * θ
	switch o.Method {
	case DPSGD:
		return θ - rate*g
	case DPMomentum:
		r.v = o.Momentum*r.v + g
		return θ - rate*r.v
	case DPNesterov:
		r.v = o.Momentum*r.v + g
		return θ - rate*(g+o.Momentum*r.v)
	}
	r.m = o.Beta1*r.m + (1-o.Beta1)*g
	r.s = o.Beta2*r.s + (1-o.Beta2)*g*g
	m, s := r.m/(1-math.Pow(o.Beta1, float64(t))), r.s/(1-math.Pow(o.Beta2, float64(t)))
	return θ - rate*m/(math.Sqrt(s)+o.Epsilon)
}

// Any optimizer with any settings moves like its definition in float64, within single precision.
func TestOptimizersAgreeWithTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom([]Optimizer{SGD(0.1), Momentum(0.03, 0.9), Nesterov(0.03, 0.8), Adam(0.05), AdamW(0.05, 0.1)}).Draw(t, "optimizer")
		if o.Method != DPAdam {
			o.WeightDecay = rapid.SampledFrom([]float64{0, 0.01, 0.5}).Draw(t, "decay")
		}
		o.Schedule = rapid.SampledFrom([]Schedule{nil, Linear(0), Cosine(0.1), Warmup(0.3, nil), Warmup(0.25, Cosine(0))}).Draw(t, "schedule")
		o.Accumulate = rapid.IntRange(0, 4).Draw(t, "accumulate")
		o.Average = rapid.SampledFrom([]float64{0, 0.5, 0.9, 1}).Draw(t, "average")
		steps := rapid.IntRange(1, 20).Draw(t, "steps")
		layout := layoutOfOne
		m, err := newMover(o, must(factors(o.Schedule, steps)), nil, []string{"w"}, layout, steps, false)
		if err != nil {
			t.Fatal(err)
		}
		if m == nil { // engines have it
			o.Accumulate, o.Average = 0, 1
			m = must(newMover(o, nil, nil, []string{"w"}, layout, steps, false))
		}
		params, θ, average, sum, updates, r := []float32{0.7, 0}, 0.7, 0.0, 0.0, 0, reference{}
		n := max(1, o.Accumulate)
		for step := 1; step <= steps; step++ {
			// Multiples of 1/64 add up exactly: where gradients nearly cancel, Adam's step has the sign of their sum's
			// rounding error.
			g := float64(rapid.IntRange(-128, 128).Draw(t, "g")) / 64
			if err := m.move(step, params, []float32{float32(g), 0}); err != nil {
				t.Fatal(err)
			}
			sum += g
			if step%n == 0 || step == steps {
				count := float64(step - updates*n)
				updates++
				rate := o.LearningRate
				if o.Schedule != nil {
					rate *= o.Schedule.Factor(step, steps)
				}
				θ = r.step(o, updates, rate, θ, sum/count)
				sum = 0
				keep := min(o.Average, float64(updates-1)/float64(updates))
				average = keep*average + (1-keep)*θ
			}
			want := θ
			if o.Average > 0 && updates > 0 {
				want = average
			}
			if got := float64(m.released(params)[0]); math.Abs(got-want) > 1e-4 {
				t.Fatalf("%s: step %d of %d leads to %v, want %v", o, step, steps, got, want)
			}
			if params[1] != 0 {
				t.Fatalf("%s: padding is %v", o, params[1])
			}
		}
	})
}

// As rules, SGD and Adam take the same step as an engine's: to the last bit if the noisy mean has an exact float32, as
// with a batch size that is a power of two and noise that outweighs gradients; otherwise within the rounding of that
// mean.
func TestRulesAreThoseOfEngines(t *testing.T) {
	for _, o := range []Optimizer{SGD(0.5), Adam(0.02)} {
		for _, exact := range []bool{true, false} {
			s := cpuSettings(o)
			s.Privacy.Steps = 40
			if exact {
				s.Privacy.SamplingRate, s.Privacy.NominalSize = 0.125, 512 // batches of 64
			}
			fused := must(onCPU(t, 2, s).Train(context.Background(), nil))
			trainer := onCPU(t, 2, s)
			group := asRule(t, trainer, s)
			if err := group.Train(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			ruled := must(group.Result(0))
			for i, p := range fused.Parameters {
				for j, v := range p.Values {
					w := ruled.Parameters[i].Values[j]
					if exact && v != w || math.Abs(float64(v-w)) > 1e-4 {
						t.Fatalf("%s (exact %v): parameter %d[%d] is %v fused and %v as a rule", o, exact, i, j, v, w)
					}
				}
			}
		}
	}
}

// With a schedule an engine that takes rates moves like the rule, within the rounding of the mean. An engine of the
// same arithmetic that takes no rates uses the rule.
func TestScheduledRatesAreThoseOfTheRule(t *testing.T) {
	for _, o := range []Optimizer{SGD(0.5), Adam(0.02)} {
		o.Schedule = Warmup(0.2, Cosine(0))
		s := cpuSettings(o)
		s.Privacy.Steps = 40
		trainer := onCPU(t, 2, s)
		if trainer.group.settings[0].mover != nil {
			t.Fatalf("%s: the CPU doesn't take its rates", o)
		}
		fused := must(trainer.Train(context.Background(), nil))
		hidden := must(New(unscheduled{cpu.New(cpu.Options{Workers: 2})}, logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 600).Data, s))
		defer hidden.Close()
		if hidden.group.settings[0].mover == nil {
			t.Fatalf("%s: an engine that takes no rates is given them", o)
		}
		ruled := must(hidden.Train(context.Background(), nil))
		for i, p := range fused.Parameters {
			for j, v := range p.Values {
				if w := ruled.Parameters[i].Values[j]; math.Abs(float64(v-w)) > 1e-4 {
					t.Fatalf("%s: parameter %d[%d] is %v fused and %v as a rule", o, i, j, v, w)
				}
			}
		}
	}
}

// unscheduled is an engine that takes no rates.
type unscheduled struct{ Engine }

func (u unscheduled) Load(p *compile.Program, d *engine.Data) (engine.Loaded, error) {
	l, err := u.Engine.Load(p, d)
	return struct{ engine.Loaded }{l}, err
}

// asRule starts a run of a trainer's settings again, with its optimizer as a rule and the same noise.
func asRule(t *testing.T, trainer *Trainer, s Settings) *Group {
	t.Helper()
	l := trainer.group.model
	ready, err := l.prepare(s)
	if err != nil {
		t.Fatal(err)
	}
	ready.factors = nil
	ready.mover = &mover{optimizer: s.Optimizer, rule: s.Optimizer.rule(), groups: must(s.Optimizer.groupsOf([]string{"w", "b"})), layout: l.layout, steps: s.Privacy.Steps}
	for _, n := range must(stateLengths(ready.mover.rule, l.layout)) {
		ready.mover.state = append(ready.mover.state, make([]float32, n))
	}
	g, err := l.start([]prepared{ready})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.runs.Close() })
	return g
}

// all are optimizers that engines don't have built in.
func all() []Optimizer {
	averaged, accumulated, everything := SGD(0.5), Adam(0.02), AdamW(0.02, 0.01)
	averaged.Average = 0.9
	accumulated.Accumulate = 4
	everything.Schedule, everything.Accumulate, everything.Average = Warmup(0.1, Cosine(0)), 3, 1
	scheduled := SGD(0.5)
	scheduled.Schedule = Linear(0)
	return []Optimizer{Momentum(0.05, 0.9), Nesterov(0.05, 0.9), AdamW(0.02, 0.01), averaged, accumulated, scheduled, everything, OptimizerOf(sign{Keep: 0.9}, 0.01)}
}

// sign is a rule of a user: it moves by the sign of an average gradient.
type sign struct{ Keep float64 }

func (s sign) Name() string              { return fmt.Sprintf("sign %v", s.Keep) }
func (s sign) State(lengths []int) []int { return append(slices.Clone(lengths), 1) }

func (s sign) Move(u *Update) error {
	u.State[len(u.State)-1][0]++ // a counter
	if int(u.State[len(u.State)-1][0]) != u.Step {
		return fmt.Errorf("the counter is %v at step %d", u.State[len(u.State)-1][0], u.Step)
	}
	for i, p := range u.Parameters {
		for j := range p {
			m := float32(s.Keep)*u.State[i][j] + float32(1-s.Keep)*u.Gradient[i][j]
			u.State[i][j] = m
			p[j] -= float32(u.LearningRate) * float32(math.Copysign(1, float64(m)))
		}
	}
	return nil
}

// Every optimizer learns, on any number of workers to the same bits, and a run that is stopped and resumed in the
// middle of an accumulation ends in the same bytes.
func TestOptimizersLearnAndResume(t *testing.T) {
	for _, o := range all() {
		s := cpuSettings(o)
		want, err := onCPU(t, 1, s).Train(context.Background(), nil)
		if err != nil {
			t.Fatalf("%s: %v", o, err)
		}
		if got := stopAndResume(t, s, 137); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the resumed run ends elsewhere", o)
		}
		two := onCPU(t, 2, s)
		if got := must(two.Train(context.Background(), nil)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: 2 workers give another result", o)
		}
		if accuracy := must(two.Score(context.Background(), threeClouds(t, 300))); accuracy < 0.97 {
			t.Errorf("%s: accuracy %v on clouds that a linear model can tell apart", o, accuracy)
		}
	}
}

// A score belongs to the released model: a predictor with the result's parameters computes the same outputs.
func TestScoresAreOfTheReleasedModel(t *testing.T) {
	test := threeClouds(t, 50)
	averaged := SGD(0.5)
	averaged.Average = 1
	loaded, err := Load(cpu.New(cpu.Options{Workers: 2}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 600).Data)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	var settings []Settings
	for i, o := range []Optimizer{averaged, SGD(0.5), averaged} {
		s := cpuSettings(o)
		s.Privacy.Steps, s.Trial = 20*i, uint32(i)
		settings = append(settings, s)
	}
	group, err := loaded.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	if err := group.Train(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	outputs := must(group.Predict(context.Background(), test.Data, 2, 0, 1, 2))
	for k, run := range []int{2, 0, 1, 2} {
		var values [][]float32
		for _, p := range must(group.Result(run)).Parameters {
			values = append(values, p.Values)
		}
		predictor, err := NewPredictor(cpu.New(cpu.Options{Workers: 1}), logistic(t, rand.NewPCG(3, 4)), values)
		if err != nil {
			t.Fatal(err)
		}
		if want := must(predictor.Predict(context.Background(), test.Data)); !slices.Equal(outputs[k], want) {
			t.Errorf("run %d predicts by other parameters than it releases", run)
		}
		if err := predictor.Close(); err != nil {
			t.Error(err)
		}
	}
	raw := must(group.State(2)).inner.Params[0]
	if released := must(group.Result(2)).Parameters[0].Values; slices.Equal(raw, released) {
		t.Error("an averaged run releases its last parameters")
	}
}

// faulty is a rule with a fault at step 3.
type faulty struct {
	What string
	do   func(u *Update) error
}

func (f faulty) Name() string              { return "faulty: " + f.What }
func (f faulty) State(lengths []int) []int { return lengths }

func (f faulty) Move(u *Update) error {
	u.Parameters[0][0]++ // a step that fails must undo this
	u.State[0][0]++
	if u.Step == 3 {
		return f.do(u)
	}
	return nil
}

// A rule that fails, panics or replaces slices stops its own run alone, with an error that names it, and leaves the
// state of the step before.
func TestFaultyRules(t *testing.T) {
	broken := errors.New("broken")
	for what, do := range map[string]func(u *Update) error{
		"error":                    func(*Update) error { return broken },
		"panic":                    func(u *Update) error { panic("some\nreason") },
		"index":                    func(u *Update) error { u.Gradient[7][0] = 1; return nil },
		"shorter":                  func(u *Update) error { u.Parameters[1] = u.Parameters[1][:1]; return nil },
		"other slice":              func(u *Update) error { u.Parameters[0] = slices.Clone(u.Parameters[0]); return nil },
		"no slices":                func(u *Update) error { u.Parameters = nil; return nil },
		"another slice of state":   func(u *Update) error { u.State[0] = make([]float32, 6); return nil },
		"a longer slice by append": func(u *Update) error { u.State = append(u.State, nil); return nil },
	} {
		loaded, err := Load(cpu.New(cpu.Options{Workers: 2}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data)
		if err != nil {
			t.Fatal(err)
		}
		good, bad := settings(), settings()
		good.Trial, bad.Optimizer = 1, OptimizerOf(faulty{what, do}, 1)
		group, err := loaded.Start(good, bad)
		if err != nil {
			t.Fatal(err)
		}
		if err := group.runs.Steps(context.Background(), 2, 2); err != nil {
			t.Fatal(err)
		}
		before := encode(t, must(group.State(1)))
		err = group.Train(context.Background(), nil)
		var failed RunErrors
		if !errors.As(err, &failed) || failed[0] != nil || failed[1] == nil {
			t.Fatalf("%s: %v", what, err)
		}
		if text := failed[1].Error(); !strings.Contains(text, "faulty: "+what) || !strings.Contains(text, "step 3") || strings.Contains(text, "\n") {
			t.Errorf("%s: error %q", what, text)
		}
		if what == "error" && !errors.Is(failed[1], broken) {
			t.Errorf("the rule's error is lost in %v", failed[1])
		}
		if !slices.Equal(encode(t, must(group.State(1))), before) {
			t.Errorf("%s: a step that failed changed the state", what)
		}
		if _, err := group.Result(0); err != nil {
			t.Errorf("%s: the other run: %v", what, err)
		}
		if err := errors.Join(group.Close(), loaded.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A step that fails also leaves accumulated and averaged values and counts as they were, and taking it again ends as if
// it hadn't failed: with other values the same noise would be added to other sums.
func TestFaultyStepIsTakenAgain(t *testing.T) {
	o := OptimizerOf(faulty{"error", func(u *Update) error { clear(u.Gradient[0]); return errors.New("broken") }}, 1)
	o.Accumulate, o.Average, o.WeightDecay = 2, 0.9, 0.1
	well := o
	well.Rule = faulty{"error", func(*Update) error { return nil }}
	make := func(o Optimizer) *mover {
		return must(newMover(o, nil, []float64{0.3}, []string{"w"}, layoutOfOne, 9, false))
	}
	want, got := make(well), make(o)
	wanted, params := []float32{1, 0}, []float32{1, 0}
	for step := 1; step <= 9; step++ {
		gradient := func() []float32 { return []float32{float32(step) / 8, 0} }
		if err := want.move(step, wanted, gradient()); err != nil {
			t.Fatal(err)
		}
		if err := got.move(step, params, gradient()); (err != nil) != (step == 6) { // the third update
			t.Fatalf("step %d: %v", step, err)
		} else if err != nil {
			got.rule = well.Rule
			if err := got.move(step, params, gradient()); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(params, wanted) || !reflect.DeepEqual(got.save(), want.save()) || got.updates != want.updates || got.held != want.held {
			t.Errorf("step %d ends in %v and %v, want %v and %v", step, params, got.save(), wanted, want.save())
		}
	}
}

// A rule that makes NaNs gives a result that has diverged, averaged or not.
func TestRuleOfNaN(t *testing.T) {
	for _, average := range []float64{0, 0.9} {
		s := settings()
		s.Optimizer = OptimizerOf(faulty{"NaN", func(u *Update) error { u.Parameters[1][2] = float32(math.NaN()); return nil }}, 1)
		s.Optimizer.Average = average
		trainer := onCPU(t, 1, s)
		if result, err := trainer.Train(context.Background(), nil); err != nil || !result.Diverged() {
			t.Errorf("average %v: %v, diverged %v", average, err, result.Diverged())
		}
	}
}
