package dptrain_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/given"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A handOver passes memory to a function and changes it at one of three times: never, before the call, which shows that
// the outcome depends on the memory, or after the call, which must make no difference.
type handOver int

const (
	unchanged handOver = iota
	changedBefore
	changedAfter
)

func (h handOver) over(change, call func()) {
	if h == changedBefore {
		change()
	}
	call()
	if h == changedAfter {
		change()
	}
}

// must panics on an error, which ends the test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Memory that a caller hands over may change after the call. Each row returns the outcome of the call.
func TestHandedOverMemoryIsCopied(t *testing.T) {
	for name, row := range map[string]func(h handOver) any{
		"NewData": func(h handOver) (out any) {
			x, y := []float32{1, 2, 3, 4}, []float32{1, 0, 0, 1}
			h.over(func() { x[2] = 9 }, func() { out = must(train.NewData(2, x, y)) })
			return released(plain(2), out.(*train.Data), private(1))
		},
		"NewTypedData": func(h handOver) (out any) {
			columns := []train.Column{{Ints: []int32{1, 0}}, {Floats: []float32{1, 2}}, {Floats: []float32{1, 0, 0, 1}}}
			h.over(func() { columns[0].Ints[1], columns[1].Floats[0] = 1, 3 }, func() { out = must(train.NewTypedData(2, columns...)) })
			return released(texts(), out.(*train.Data), private(1))
		},
		"NewClassification: samples": func(h handOver) any {
			x, labels := []float32{1, 2, 3, 4}, []int32{0, 1}
			var c *train.Classification
			h.over(func() { x[2] = 9 }, func() { c = must(train.NewClassification(x, labels, 2)) })
			return released(plain(2), c.Data, private(1))
		},
		"NewClassification: labels": func(h handOver) any {
			labels := []int32{0, 1}
			var c *train.Classification
			h.over(func() { labels[1] = 0 }, func() { c = must(train.NewClassification([]float32{1, 2, 3, 4}, labels, 2)) })
			return released(plain(2), c.Data, private(1))
		},
		"NewTokenClassification": func(h handOver) any {
			ids, weights := []int32{1, 0}, []float32{1, 2}
			var c *train.Classification
			h.over(func() { ids[1], weights[0] = 1, 5 }, func() { c = must(train.NewTokenClassification(ids, []int32{0, 1}, 2, weights)) })
			return released(texts(), c.Data, private(1))
		},
		"NewRegression": func(h handOver) any {
			x, y := []float32{1, 2, 3, 4}, []float32{1, 3}
			var r *train.Regression
			h.over(func() { x[0], y[1] = 7, 9 }, func() { r = must(train.NewRegression(x, y)) })
			return []any{released(plain(1), r.Data, private(1)), must(r.Evaluate([]float32{1, 2}))}
		},
		"ClassificationOf: labels": func(h handOver) any {
			samples, labels := given.Away(train.Column{Floats: []float32{1, 2, 3, 4}}), []int32{0, 1}
			var c *train.Classification
			h.over(func() { labels[1] = 0 }, func() { c = must(train.ClassificationOf(samples, labels, 2)) })
			return released(plain(2), c.Data, private(1))
		},
		"RegressionOf: targets": func(h handOver) any {
			samples, y := given.Away(train.Column{Floats: []float32{1, 2, 3, 4}}), []float32{1, 3}
			var r *train.Regression
			h.over(func() { y[1] = 9 }, func() { r = must(train.RegressionOf(samples, y)) })
			return []any{released(plain(1), r.Data, private(1)), must(r.Evaluate([]float32{1, 2}))}
		},
		"Load: *data": func(h handOver) any {
			data, other := must(train.NewData(1, []float32{1, 2}, []float32{1, 0})), must(train.NewData(1, []float32{3, 4}, []float32{1, 0}))
			var l *train.Loaded
			h.over(func() { *data = *other }, func() { l = must(train.Load(cpu.New(cpu.Options{}), plain(2), data)) })
			return releasedBy(l, private(1))
		},
		"Load: lists and values of the source": func(h handOver) any {
			src := plain(2)
			var l *train.Loaded
			h.over(func() {
				src.Parameters[0].Value().Data().([]float32)[0] = 5
				if h == changedAfter {
					src.Inputs[0], src.Parameters[0] = nil, nil
				}
			}, func() { l = must(train.Load(cpu.New(cpu.Options{}), src, samples())) })
			return releasedBy(l, private(1))
		},
		"Load: lists of a source without rules": func(h handOver) any {
			src, axes := ruleless()
			var l *train.Loaded
			h.over(func() {
				if h == changedAfter {
					axes[1], axes[2] = axes[2], axes[1]
					src.Inputs[0], src.Parameters[0] = nil, nil
					return
				}
				src.Parameters[0].Value().Data().([]float32)[0] = 5
			}, func() {
				l = must(train.Load(cpu.New(cpu.Options{}), src, must(train.NewData(1, []float32{1, 2, 3, 4, 5, 6}))))
			})
			return releasedBy(l, private(1))
		},
		"Load: a constant of a source": func(h handOver) any {
			constant := []float32{1, 2, 3, 4}
			src := plain(2, constant...)
			var l *train.Loaded
			h.over(func() { constant[0] = 5 }, func() { l = must(train.Load(cpu.New(cpu.Options{}), src, samples())) })
			return releasedBy(l, private(1))
		},
		"Start: Members": func(h handOver) any {
			members := []int32{0}
			return startedBy(h, func() { members[0] = 1 }, func(s *train.Settings) { s.Members = members })
		},
		"Start: Initial": func(h handOver) any {
			initial := [][]float32{{1, 2, 3, 4}}
			return startedBy(h, func() { initial[0][1] = 9 }, func(s *train.Settings) { s.Initial = initial })
		},
		"Start: Groups": func(h handOver) any {
			groups := []train.ParameterGroup{{Parameters: []string{"w"}, LearningRate: 2}}
			return startedBy(h, func() { groups[0].LearningRate = 3 }, func(s *train.Settings) { s.Optimizer.Groups = groups })
		},
		"Optimizer.Clone": func(h handOver) (out any) {
			o := train.SGD(1)
			o.Groups = []train.ParameterGroup{{Parameters: []string{"w"}, LearningRate: 2}}
			h.over(func() { o.Groups[0].LearningRate, o.Groups[0].Parameters[0] = 3, "x" }, func() { out = o.Clone() })
			return out
		},
		"NewScored: *data": func(h handOver) any {
			data, other := samples(), must(train.NewData(2, []float32{5, 6, 7, 8}, []float32{1, 0, 0, 1}))
			var m *train.Measured
			h.over(func() { *data = *other }, func() {
				m = must(train.NewScored(data, train.MeasureFunc("mine", func([]float32, train.Labels) float64 { return 0 })))
			})
			return m.Inputs().Digest()
		},
		"NewPredictor": func(h handOver) any {
			values := [][]float32{{1, 2, 3, 4}}
			var p *train.Predictor
			h.over(func() { values[0][3] = 9 }, func() { p = must(train.NewPredictor(cpu.New(cpu.Options{}), plain(2), values)) })
			return must(p.Predict(context.Background(), samples()))
		},
		"State.UnmarshalBinary": func(h handOver) any {
			trainer := must(train.New(cpu.New(cpu.Options{}), plain(2), samples(), private(1)))
			data := must(must(trainer.State()).MarshalBinary())
			var s train.State
			var err error
			h.over(func() { data[len(data)-40]++ }, func() { err = s.UnmarshalBinary(data) })
			return []any{err, must(s.MarshalBinary())}
		},
		"a rule's lengths of state": func(h handOver) any {
			s := private(1)
			rule := &growing{lengths: []int{1}}
			s.Optimizer = train.OptimizerOf(rule, 1)
			l := must(train.Load(cpu.New(cpu.Options{}), plain(2), samples()))
			var g *train.Group
			h.over(func() { rule.lengths[0] = 2 }, func() { g = must(l.Start(s)) })
			return must(must(g.State(0)).MarshalBinary())
		},
		"FirstOf": func(h handOver) any {
			list := []train.Engine{cpu.New(cpu.Options{Workers: 1}), nil}
			var e train.Engine
			h.over(func() { list[1] = list[0] }, func() { e = train.FirstOf(list...) })
			return e.Name()
		},
		"an engine's Start": func(h handOver) any {
			p := program(plain(2))
			l := must(cpu.New(cpu.Options{}).Load(p, &engine.Data{Samples: 2, Columns: engine.Floats([]float32{1, 2, 3, 4}, []float32{1, 0, 0, 1})}))
			job := engine.Job{
				Members:   []int32{0},
				Mechanism: engine.Mechanism{SamplingProbability: 1, ClippingNorm: 1, ExpectedBatchSize: 1},
				Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1},
				Initial:   []float32{1, 2, 3, 4},
			}
			var runs engine.Runs
			h.over(func() { job.Members[0], job.Initial[0] = 1, 7 }, func() { runs = must(l.Start(job)) })
			if err := runs.Steps(context.Background(), 1); err != nil {
				panic(err)
			}
			return runs.State(0)
		},
		"NewPlan: groups of the optimizer": func(h handOver) any {
			s := settings(candidates())
			s.Optimizer.Groups = []train.ParameterGroup{{Parameters: []string{"w"}, LearningRate: 2}}
			var plan tuner.Plan
			h.over(func() { s.Optimizer.Groups[0].LearningRate, s.Optimizer.Groups[0].Parameters[0] = 3, "x" }, func() {
				plan = must(tuner.NewPlan(s, train.InsecureKey(4)))
			})
			return plan.Settings.Optimizer
		},
		"NewPlan: Grid": func(h handOver) any {
			grid := candidates()
			return tuned(h, grid, func() { grid[0].NoiseMultiplier, grid[1].LearningRate = 0, 7 })
		},
		"NewPlan: Region": func(h handOver) any {
			r := tuner.Region{
				LearningRate: tuner.Values{List: []float64{0.1, 1}}, SamplingRate: tuner.Values{List: []float64{0.5}},
				ClippingNorm: tuner.Values{List: []float64{1}}, Epochs: tuner.Values{List: []float64{1}},
				Runs: []tuner.Run{{SamplingRate: 0.5, Steps: 2, NoiseMultiplier: 3}},
			}
			return tuned(h, r, func() { r.Runs[0].NoiseMultiplier, r.LearningRate.List[0] = 0, 7 })
		},
		"Calibrate": func(h handOver) (out any) {
			s, r := calibrated()
			h.over(func() { r.LearningRate.List[0], r.Epochs.List[0] = 0.5, 4 }, func() {
				out = must(calibrate(tuner.Calibrate(s, 1, 1e-5, accountant.Options{Mode: accountant.Paper})))
			})
			return fmt.Sprintf("%+v", out)
		},
		"WithinFinalRate": func(h handOver) (out any) {
			s, r := calibrated()
			h.over(func() { r.Epochs.List[0] = 4 }, func() { out = must(s.WithinFinalRate(10)) })
			return fmt.Sprintf("%+v", out)
		},
		"tuner.LearningRates": func(h handOver) (out any) {
			rates := []float64{1, 2}
			h.over(func() { rates[0] = 3 }, func() { out = tuner.LearningRates(tuner.Candidate{}, rates...) })
			return out
		},
		"Lists.Grid": func(h handOver) (out any) {
			l := tuner.Lists{LearningRates: []float64{1}, SamplingRates: []float64{0.5}, ClippingNorms: []float64{1}}
			h.over(func() { l.LearningRates[0], l.SamplingRates[0] = 3, 0.25 }, func() { out = must(l.Grid()) })
			return out
		},
		"Epsilon and RDP": func(h handOver) any {
			e := accountant.MaxOver{Events: []accountant.Event{accountant.DPSGD(0.01, 2, 100)}}
			var g accountant.Guarantee
			var c accountant.Curve
			h.over(func() { e.Events[0] = accountant.DPSGD(0.01, 1, 100) }, func() {
				g, c = must(accountant.Epsilon(e, 1e-5, accountant.Options{Mode: accountant.Paper})), must(accountant.RDP(e, accountant.Options{Mode: accountant.Paper}))
			})
			return []any{g, c}
		},
		"models.New": func(h handOver) any {
			shape := []int{3, 2}
			var n train.Model
			h.over(func() { shape[0] = 5 }, func() { n = must(models.New("mlp:4", shape, 2, models.Options{})) })
			return n.Initial(rand.NewPCG(1, 2))
		},
		"models.MLP": func(h handOver) any {
			widths := []int{3, 2}
			var n train.Model
			h.over(func() { widths[0] = 5 }, func() { n = must(models.MLP(models.Options{}, widths...)) })
			return n.Initial(rand.NewPCG(1, 2))
		},
		"models.Builder.Constant": func(h handOver) any {
			values := []float32{1, 2}
			m := must(models.Build(1, func(b *models.Builder) (output, cost *gorgonia.Node) {
				x := b.Multiply(b.Input("x", 2), b.Parameter("w", models.Value(3), 1, 2))
				h.over(func() { values[1] = 5 }, func() { output = b.Add(x, b.Constant(values, 1, 2)) })
				return output, b.Do(gorgonia.Sum(output))
			}))
			p := must(train.NewPredictor(cpu.New(cpu.Options{}), m, [][]float32{{1, 2}}))
			return must(p.Predict(context.Background(), must(train.NewData(1, []float32{3, 4}))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := row(unchanged)
			if got := outcome(row, changedAfter); !reflect.DeepEqual(got, want) {
				t.Errorf("a change after the call makes\n%v of\n%v", got, want)
			}
			if got := outcome(row, changedBefore); reflect.DeepEqual(got, want) {
				t.Error("a change before the call makes no difference: the row shows nothing")
			}
		})
	}
}

// outcome returns the outcome of a row, its error included.
func outcome(row func(handOver) any, h handOver) (out any) {
	defer func() {
		if p := recover(); p != nil {
			out = p
		}
	}()
	return row(h)
}

// A caller may change returned memory as well: the test changes each row's result and asks for it again.
func TestReturnedMemoryIsTheCallers(t *testing.T) {
	trainer := must(train.New(cpu.New(cpu.Options{}), plain(2), samples(), private(1)))
	defer trainer.Close()
	must(trainer.Train(context.Background(), nil))
	predictor := must(train.NewPredictor(cpu.New(cpu.Options{}), plain(2), [][]float32{{1, 2, 3, 4}}))
	defer predictor.Close()
	p := program(plain(2))
	event := accountant.DPSGD(0.01, 2, 100)
	_, region := calibrated()
	grid := candidates()
	for name, get := range map[string]func() any{
		"Trainer.Train":        func() any { return must(trainer.Train(context.Background(), nil)).Parameters },
		"Trainer.Predict":      func() any { return must(trainer.Predict(context.Background(), samples())) },
		"State.MarshalBinary":  func() any { return must(must(trainer.State()).MarshalBinary()) },
		"Predictor.Predict":    func() any { return must(predictor.Predict(context.Background(), samples())) },
		"Program.Initial":      func() any { return p.Initial() },
		"LayoutOf":             func() any { return engine.LayoutOf(p).Offsets },
		"RDP":                  func() any { return must(accountant.RDP(event, accountant.Options{Mode: accountant.Paper})) },
		"Bounds":               func() any { return must(accountant.Bounds(event, 1e-5, accountant.Orders{})) },
		"Region.Parameters":    func() any { return region.Parameters() },
		"Grid.Runs":            func() any { return grid.Runs() },
		"WithNoiseMultiplier":  func() any { return grid.WithNoiseMultiplier(2) },
		"WithinFinalRate":      func() any { return must(settings(grid).WithinFinalRate(100)).Space },
		"NewPlan: space":       func() any { return must(tuner.NewPlan(settings(grid), train.InsecureKey(1))).Settings.Space },
		"NewPlan: subset":      func() any { return must(tuner.NewPlan(settings(grid), train.InsecureKey(1))).Private.Subset },
		"models.Names":         func() any { return models.Names() },
		"datasets.Names":       func() any { return datasets.Names() },
		"datasets.Describe":    func() any { return must(datasets.Describe("cifar-10")).ClassNames },
		"datasets.SampleShape": func() any { return must(datasets.Describe("mnist")).SampleShape },
	} {
		t.Run(name, func(t *testing.T) {
			first := get()
			want := fmt.Sprintf("%#v", first)
			if spoil(reflect.ValueOf(first)); fmt.Sprintf("%#v", first) == want {
				t.Fatal("nothing was changed: the row shows nothing")
			}
			if got := fmt.Sprintf("%#v", get()); got != want {
				t.Errorf("after a change of what was returned it is\n%.200s, was\n%.200s", got, want)
			}
		})
	}
}

// spoil changes all memory that can be reached from a value.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			spoil(v.Field(i))
		}
	case reflect.Float32, reflect.Float64:
		if v.CanSet() {
			v.SetFloat(-7)
		}
	case reflect.Int, reflect.Int32:
		if v.CanSet() {
			v.SetInt(-7)
		}
	case reflect.Uint8:
		if v.CanSet() {
			v.SetUint(7)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("changed")
		}
	}
}

// The attack: one buffer for one fold after another, all with one key. A release's noise comes from a hash of its data,
// so two releases of one Data must be the same. If the second one trained on the buffer's later content, the two would
// differ by the clipped gradients alone, with any noise.
func TestChangedBufferCancelsNoNoise(t *testing.T) {
	buffer := []float32{1, 2, 3, 4}
	data := must(train.NewData(2, buffer, []float32{1, 0, 0, 1}))
	first := released(plain(2), data, private(1)).([][]float32)
	copy(buffer, []float32{-5, 1, 2, -3})
	second := released(plain(2), data, private(1)).([][]float32)
	if !reflect.DeepEqual(first, second) {
		var difference []float32
		for i := range first[0] {
			difference = append(difference, first[0][i]-second[0][i])
		}
		t.Errorf("releases of one key with noise multiplier 50 differ by %v: the noise is gone", difference)
	}
	other := released(plain(2), must(train.NewData(2, buffer, []float32{1, 0, 0, 1})), private(1)).([][]float32)
	largest := 0.0
	for i := range first[0] {
		largest = math.Max(largest, math.Abs(float64(first[0][i]-other[0][i])))
	}
	if largest < 5 { // two gradients clipped to 1 differ by less; four differences of noise, by chance 10⁻⁵ of the time
		t.Errorf("releases of other data differ by at most %v: they share noise", largest)
	}
}

// A caller that changes its settings during a plan's execution doesn't change the plan.
func TestSpaceChangedDuringRun(t *testing.T) {
	run := func(change bool) tuner.Released {
		grid := candidates()
		plan := must(tuner.NewPlan(settings(grid), train.InsecureKey(4)))
		x := executor()
		x.Progress = func(tuner.PrivateProgress) {
			if change {
				for i := range grid {
					grid[i].NoiseMultiplier, plan.Settings.Space.(tuner.Grid)[i].NoiseMultiplier = 0, 0
				}
				for i := range plan.Private.Trials {
					plan.Private.Trials[i].Candidate.NoiseMultiplier = 0
				}
				clear(plan.Private.Subset)
				clear(plan.Private.Rest)
			}
		}
		return must(x.Run(context.Background(), plan)).Released
	}
	if got, want := run(true), run(false); !reflect.DeepEqual(got, want) {
		t.Errorf("released is\n%v, want\n%v", got, want)
	}
}

// A model may draw the initial values of one run after another into one buffer.
func TestInitialValuesInOneBuffer(t *testing.T) {
	run := func(reuse bool) tuner.Released {
		buffer := [][]float32{make([]float32, 4)}
		x := executor()
		x.Model.Initial = func(seed rand.Source) [][]float32 {
			to := buffer
			if !reuse {
				to = [][]float32{make([]float32, 4)}
			}
			draw := rand.New(seed)
			for i := range to[0] {
				to[0][i] = draw.Float32()
			}
			return to
		}
		s := settings(candidates())
		s.Method, s.Repetitions = tuner.Baseline, must(accountant.TruncatedPoissonWithMean(6))
		plan := must(tuner.NewPlan(s, train.InsecureKey(5)))
		if len(plan.Private.Trials) < 2 {
			t.Fatal("a plan of one trial shows nothing")
		}
		return must(x.Run(context.Background(), plan)).Released
	}
	if got, want := run(true), run(false); !reflect.DeepEqual(got, want) {
		t.Errorf("released is\n%v, want\n%v", got, want)
	}
}

// Settings charged by value are refused as pointers: through a pointer they could change between draw and charge.
func TestPointersAreRefused(t *testing.T) {
	grid := candidates()
	for name, change := range map[string]func(*tuner.Settings){
		"repetitions":      func(s *tuner.Settings) { s.Repetitions = &accountant.Poisson{Mean: 3} },
		"nil repetitions":  func(s *tuner.Settings) { s.Repetitions = (*accountant.Poisson)(nil) },
		"embedded":         func(s *tuner.Settings) { s.Repetitions = struct{ accountant.Poisson }{accountant.Poisson{Mean: 3}} },
		"search space":     func(s *tuner.Settings) { s.Space = &grid },
		"nil search space": func(s *tuner.Settings) { s.Space = (*tuner.Grid)(nil) },
	} {
		s := settings(grid)
		change(&s)
		if _, err := tuner.NewPlan(s, train.InsecureKey(1)); err == nil {
			t.Errorf("%s: NewPlan takes it", name)
		}
		if _, err := s.Guarantee(1e-5, accountant.Options{Mode: accountant.Paper}); err == nil {
			t.Errorf("%s: Guarantee takes it", name)
		}
	}
}

// growing is a rule that keeps the slice of lengths that it returns.
type growing struct{ lengths []int }

func (g *growing) Name() string             { return "growing" }
func (g *growing) State([]int) []int        { return g.lengths }
func (g *growing) Move(*train.Update) error { return nil }

// plain returns a linear model of two features and some outputs, multiplied by a constant matrix if there is one.
func plain(outputs int, constant ...float32) train.Model {
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, 2), gorgonia.WithName("x"))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, outputs), gorgonia.WithName("y"))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, outputs), gorgonia.WithName("w"),
		gorgonia.WithValue(tensor.New(tensor.WithShape(2, outputs), tensor.WithBacking(make([]float32, 2*outputs)))))
	out := gorgonia.Must(gorgonia.Mul(x, w))
	if constant != nil {
		c := gorgonia.NewConstant(tensor.New(tensor.WithShape(outputs, outputs), tensor.WithBacking(constant)))
		out = gorgonia.Must(gorgonia.Mul(out, c))
	}
	cost := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sub(out, y))))))
	return train.Model{Inputs: gorgonia.Nodes{x, y}, Parameters: gorgonia.Nodes{w}, Output: out, Cost: cost}
}

// program compiles a model.
func program(m train.Model) *compile.Program {
	return must(compile.Compile(compile.Source{Inputs: m.Inputs, Params: m.Parameters, Output: m.Output, Cost: m.Cost}))
}

// texts returns a model of one id and one number, with a table of two rows.
func texts() train.Model {
	g := gorgonia.NewGraph()
	ids := gorgonia.NewMatrix(g, tensor.Int, gorgonia.WithShape(4, 1), gorgonia.WithName("ids"))
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, 1), gorgonia.WithName("x"))
	y := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(4, 2), gorgonia.WithName("y"))
	e := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, 2), gorgonia.WithName("e"), gorgonia.WithInit(gorgonia.Zeroes()))
	row := gorgonia.Must(gorgonia.ByIndices(e, gorgonia.Must(gorgonia.Reshape(ids, tensor.Shape{4})), 0))
	row = gorgonia.Must(gorgonia.BroadcastHadamardProd(row, x, nil, []byte{1}))
	cost := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sub(row, y))))))
	return train.Model{Inputs: gorgonia.Nodes{ids, x, y}, Parameters: gorgonia.Nodes{e}, Output: row, Cost: cost}
}

// ruleless returns a graph with an operation that has no rule, and a list that one of its operations was built with.
func ruleless() (train.Model, []int) {
	g := gorgonia.NewGraph()
	x := gorgonia.NewTensor(g, tensor.Float32, 3, gorgonia.WithShape(1, 2, 3), gorgonia.WithName("x"))
	w := gorgonia.NewTensor(g, tensor.Float32, 3, gorgonia.WithShape(1, 3, 2), gorgonia.WithName("w"),
		gorgonia.WithValue(tensor.New(tensor.WithShape(1, 3, 2), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6}))))
	axes := []int{0, 2, 1}
	turned := gorgonia.Must(gorgonia.HadamardProd(gorgonia.Must(gorgonia.Transpose(x, axes...)), w))
	cost := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Max(turned, 1))))))
	return train.Model{Inputs: gorgonia.Nodes{x}, Parameters: gorgonia.Nodes{w}, Cost: cost}, axes
}

func samples() *train.Data {
	return must(train.NewData(2, []float32{1, 2, 3, 4}, []float32{1, 0, 0, 1}))
}

// private returns settings for the given steps on all samples, with noise that hides two of them.
func private(steps int) train.Settings {
	return train.Settings{
		Privacy:   train.Privacy{SamplingRate: 1, NoiseMultiplier: 50, ClippingNorm: 1, Steps: steps, NominalSize: 1},
		Optimizer: train.SGD(1),
		Key:       train.InsecureKey(3),
	}
}

// released returns the parameters that training releases.
func released(src train.Model, data *train.Data, s train.Settings) any {
	return releasedBy(must(train.Load(cpu.New(cpu.Options{}), src, data)), s)
}

func releasedBy(l *train.Loaded, s train.Settings) any { return result(must(l.Start(s))) }

func result(g *train.Group) any {
	if err := g.Train(context.Background(), nil); err != nil {
		panic(err)
	}
	var out [][]float32
	for _, p := range must(g.Result(0)).Parameters {
		out = append(out, p.Values)
	}
	return out
}

// startedBy returns the release of a run whose settings are handed to Start, and the state to which it can be restored.
func startedBy(h handOver, change func(), with func(*train.Settings)) any {
	l := must(train.Load(cpu.New(cpu.Options{}), plain(2), samples()))
	s := private(1)
	with(&s)
	var g *train.Group
	h.over(change, func() { g = must(l.Start(s)) })
	state := must(must(g.State(0)).MarshalBinary())
	return []any{state, result(g)}
}

func candidates() tuner.Grid {
	return tuner.LearningRates(tuner.Candidate{SamplingRate: 0.5, Steps: 2, NoiseMultiplier: 3, ClippingNorm: 1}, 0.1, 1)
}

func settings(space tuner.Space) tuner.Settings {
	return tuner.Settings{
		Method: tuner.Variant1, SubsetRate: 0.5, Repetitions: accountant.Poisson{Mean: 3}, Space: space,
		Optimizer: train.Optimizer{Method: train.DPSGD}, Samples: 4,
	}
}

func executor() tuner.Executor {
	c := must(train.NewClassification([]float32{1, 2, 3, 4, 5, 6, 7, 8}, []int32{0, 1, 0, 1}, 2))
	return tuner.Executor{Engine: cpu.New(cpu.Options{}), Model: plain(2), Data: c.Data, Test: c}
}

// tuned returns the release and the cost of a plan. Its space is handed to NewPlan.
func tuned(h handOver, space tuner.Space, change func()) any {
	var plan tuner.Plan
	h.over(change, func() { plan = must(tuner.NewPlan(settings(space), train.InsecureKey(4))) })
	return []any{plan.Private.Trials, plan.Settings.Event(), must(executor().Run(context.Background(), plan)).Released}
}

func calibrated() (tuner.Settings, tuner.Region) {
	r := tuner.Region{
		LearningRate: tuner.Values{List: []float64{0.1, 1}}, SamplingRate: tuner.Values{List: []float64{0.5}},
		ClippingNorm: tuner.Values{List: []float64{1}}, Epochs: tuner.Values{List: []float64{1}},
	}
	return settings(r), r
}

func calibrate(s tuner.Settings, _ accountant.Guarantee, err error) (tuner.Settings, error) {
	return s, err
}
