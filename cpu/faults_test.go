package cpu_test

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
)

// fault is the CPU engine with a fault. Every field may be nil.
type fault struct {
	job     func(*engine.Job)
	sums    func(sum, norms []float64)
	steps   func([]int)
	state   func(run int) int
	deaf    bool // Steps ignores a cancelled context
	idle    bool // Restore does nothing
	uncount bool // Done returns zeros
	program func(*compile.Program) *compile.Program
	outputs func([]float32)
	data    func(*engine.Data) *engine.Data
	samples func([]int32) []int32
	restore func(*engine.State)
}

// in returns a fault that changes an operation's instructions before the program is loaded.
func in(op compile.Op, change func(*compile.Instruction)) fault {
	return fault{program: func(p *compile.Program) *compile.Program {
		if p == nil {
			return nil
		}
		out := *p
		for _, list := range []*[]compile.Instruction{&out.Prepare, &out.Predict, &out.Forward, &out.Backward} {
			*list = slices.Clone(*list)
			for i := range *list {
				if in := &(*list)[i]; in.Op == op {
					change(in)
				}
			}
		}
		return &out
	}}
}

type faultyEngine struct {
	engine.Engine
	fault
}

func (e faultyEngine) Load(p *compile.Program, d *engine.Data) (engine.Loaded, error) {
	if e.program != nil {
		p = e.program(p)
	}
	l, err := e.Engine.Load(p, e.seen(d))
	return faultyLoaded{l, e.fault}, err
}

// seen returns the data as the faulty engine reads them.
func (f fault) seen(d *engine.Data) *engine.Data {
	if f.data == nil || d == nil {
		return d
	}
	out := &engine.Data{Samples: d.Samples, Columns: slices.Clone(d.Columns)}
	for k, c := range out.Columns {
		out.Columns[k].Ints = slices.Clone(c.Ints)
	}
	return f.data(out)
}

type faultyLoaded struct {
	engine.Loaded
	fault
}

func (l faultyLoaded) Start(jobs ...engine.Job) (engine.Runs, error) {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		if l.job != nil {
			l.job(&jobs[i])
		}
	}
	r, err := l.Loaded.Start(jobs...)
	return faultyRuns{r, l.fault}, err
}

type faultyRuns struct {
	engine.Runs
	fault
}

func (r faultyRuns) Steps(ctx context.Context, steps ...int) error {
	if r.deaf {
		for i := range steps {
			steps[i] = min(steps[i], 1000)
		}
		ctx = context.Background()
	}
	if r.steps != nil {
		steps = slices.Clone(steps)
		r.steps(steps)
	}
	return r.Runs.Steps(ctx, steps...)
}

func (r faultyRuns) State(i int) engine.State {
	if r.state != nil {
		i = r.state(i)
	}
	return r.Runs.State(i)
}

func (r faultyRuns) Predict(ctx context.Context, data *engine.Data, runs ...int) ([][]float32, error) {
	if r.state != nil {
		for k := range runs {
			runs[k] = r.state(runs[k])
		}
	}
	out, err := r.Runs.Predict(ctx, r.seen(data), runs...)
	if r.outputs != nil {
		for _, o := range out {
			r.outputs(o)
		}
	}
	return out, err
}

func (r faultyRuns) Restore(i int, s engine.State) error {
	if r.idle {
		return nil
	}
	if r.restore != nil {
		r.restore(&s)
	}
	return r.Runs.Restore(i, s)
}

func (r faultyRuns) Done() []int {
	done := r.Runs.Done()
	if r.uncount {
		clear(done)
	}
	return done
}

type faultySums struct {
	enginetest.Inspector
	fault
}

func (s faultySums) ClippedSum(run int, samples []int32) ([]float64, []float64, error) {
	if s.samples != nil {
		samples = s.samples(samples)
	}
	sum, norms, err := s.Inspector.ClippedSum(run, samples)
	if s.sums != nil && err == nil {
		s.sums(sum, norms)
	}
	return sum, norms, err
}

// suite returns the suite for the faulty engine.
func (f fault) suite() enginetest.Suite {
	return enginetest.Suite{
		Engine:    func() engine.Engine { return faultyEngine{cpu.New(cpu.Options{}), f} },
		Inspect:   func(r engine.Runs) enginetest.Inspector { return faultySums{cpu.Inspect(r.(faultyRuns).Runs), f} },
		Tolerance: 2e-4, Directed: true, Short: true,
	}
}

// Every check of the suite must be able to fail, and none may fail a right engine.
func TestSuiteFindsFaults(t *testing.T) {
	long.SkipRace(t, "TestSuite runs the same checks of the same engine")
	caught := map[string]bool{}
	var started atomic.Uint32
	var left []float64 // of the previous step
	checks, zoo := enginetest.Checks(), enginetest.Zoo()
	simple := zoo["an identity"].Program(t, 1)
	for name, c := range map[string]struct {
		fault
		by []string // the checks that must find it, and graphs of the zoo
	}{
		"none":                           {fault{}, nil},
		"sums between the grid's points": {fault{sums: func(sum, _ []float64) { sum[0] = math.Nextafter(sum[0], 1) }}, []string{"Exact", "Rounding"}},
		"sums depend on their number":    {fault{sums: func(sum, norms []float64) { sum[0] += float64(len(norms)) * 1e-9 }}, []string{"Additive"}},
		"a little more than C":           {fault{sums: func(sum, _ []float64) { scale(sum, 1+0x1p-14) }}, []string{"Neighbours", "Scales", "Clipping", "Tables"}},
		"norms depend on their number":   {fault{sums: func(_, norms []float64) { scale(norms, 1+1e-9*float64(len(norms))) }}, []string{"Alone"}},
		"a sample less": {fault{sums: func(sum, norms []float64) {
			if len(norms) > 60 {
				scale(sum, 0.99)
			}
		}}, []string{"Alone", "Additive"}},
		"norms a little too short": {fault{sums: func(_, norms []float64) { scale(norms, 1-1e-4) }}, []string{"Wide", "Tables"}},
		"indices beyond a table taken for its last": {fault{data: func(d *engine.Data) *engine.Data {
			for _, c := range d.Columns {
				for k := range c.Ints {
					c.Ints[k] = max(0, min(c.Ints[k], 6))
				}
			}
			return d
		}}, []string{"Tables"}},
		"the rows of another sample": {fault{data: func(d *engine.Data) *engine.Data {
			for _, c := range d.Columns {
				slices.Reverse(c.Ints)
			}
			return d
		}}, []string{"Tables"}},
		"rows left of the batch before": {fault{sums: func(sum, _ []float64) {
			now := slices.Clone(sum)
			if len(left) == len(sum) {
				sum[len(sum)/2] += left[len(sum)/2]
			}
			left = now
		}}, []string{"Tables"}},
		"runs another program": {fault{program: func(p *compile.Program) *compile.Program {
			if p != nil && len(p.Forward) > 0 && p.Forward[0].Op == 200 {
				return simple
			}
			return p
		}}, []string{"Unknown"}},
		"gradients go to another element": {fault{sums: func(sum, norms []float64) {
			if len(norms) == 1 {
				sum[0], sum[1] = sum[1], sum[0]
			}
		}}, []string{"Ties", "Alone"}},
		"NaN in the sum": {fault{sums: func(sum, norms []float64) {
			if len(norms) == 9 {
				sum[0] = math.NaN()
			}
		}}, []string{"NotFinite"}},
		"everybody is a member": {fault{job: func(j *engine.Job) { j.Members = nil }}, []string{"Draws", "EmptyBatch", "Refusals"}},
		"another trial's draws": {fault{job: func(j *engine.Job) { j.Trial++ }}, []string{"Draws", "Noise", "Release"}},
		"half the noise":        {fault{job: func(j *engine.Job) { j.Mechanism.NoiseMultiplier /= 2 }}, []string{"Noise", "Release", "EmptyBatch"}},
		"a grid off by a third": {fault{job: func(j *engine.Job) { j.Mechanism.NoiseMultiplier *= 3; j.Mechanism.ExpectedBatchSize *= 3 }}, []string{"Coarse"}},
		"another learning rate": {fault{job: func(j *engine.Job) { j.Optimizer.LearningRate *= 1 + 1e-7 }}, []string{"Release"}},
		"SGD for Adam":          {fault{job: func(j *engine.Job) { j.Optimizer.Method = engine.SGD }}, []string{"Release", "Refusals"}},
		"Move gets a little more than the mean": {fault{job: func(j *engine.Job) {
			if move := j.Move; move != nil {
				j.Move = func(step int, params, gradient []float32) error {
					gradient[0] = math.Nextafter32(gradient[0], 1)
					return move(step, params, gradient)
				}
			}
		}}, []string{"Moves"}},
		"steps of Move count from 0": {fault{job: func(j *engine.Job) {
			if move := j.Move; move != nil {
				j.Move = func(step int, params, gradient []float32) error { return move(step-1, params, gradient) }
			}
		}}, []string{"Moves"}},
		"errors of Move are lost": {fault{job: func(j *engine.Job) {
			if move := j.Move; move != nil {
				j.Move = func(step int, params, gradient []float32) error { _ = move(step, params, gradient); return nil }
			}
		}}, []string{"Moves"}},
		"a step too many": {fault{steps: func(steps []int) {
			if len(steps) > 0 {
				steps[0]++
			}
		}}, []string{"Groups", "Progress", "Draws"}},
		"the first run's state":             {fault{state: func(int) int { return 0 }}, []string{"Groups", "Resume", "Predict"}},
		"outputs of the first samples only": {fault{outputs: func(out []float32) { clear(out[len(out)*3/4:]) }}, []string{"Outputs", "Dropout"}},
		"square matrices transposed":        {in(compile.Product, func(in *compile.Instruction) { in.TransA = in.TransA != (in.Rows == in.K) }), []string{"attention of two heads"}},
		"columns for rows": {in(compile.Product, func(in *compile.Instruction) {
			if in.Groups == 1 && in.In[0] == in.In[1] && in.K == in.Rows {
				in.TransB = false
			}
		}), []string{"products of rows of four"}},
		"another number beside the variance": {in(compile.Normalize, func(in *compile.Instruction) { in.Scalar *= 2 }), []string{"normalised rows"}},
		"a gradient for a value": {in(compile.NormalizeBack, func(in *compile.Instruction) {
			in.In = []compile.ID{in.In[1], in.In[0]}
		}), []string{"normalised rows"}},
		"a few more are kept":            {in(compile.Dropout, func(in *compile.Instruction) { in.Scalar = min(1, 1.05*in.Scalar) }), []string{"dropout", "Dropout"}},
		"draws are taken twice":          {in(compile.Dropout, func(in *compile.Instruction) { in.Draw = 0 }), []string{"dropout", "Dropout"}},
		"random nodes share their draws": {in(compile.Uniforms, func(in *compile.Instruction) { in.Draw = 0 }), []string{"random nodes", "Randoms"}},
		"of equals the second":           {in(compile.BinaryBack, func(in *compile.Instruction) { in.Side = 1 - in.Side }), []string{"Ties", "larger and smaller of two"}},
		"the first element for all": {in(compile.Gather, func(in *compile.Instruction) {
			in.View.Strides = make([]int, len(in.View.Strides))
		}), []string{"transposed within a sample"}},
		"all to the first": {in(compile.Scatter, func(in *compile.Instruction) {
			if in.Accumulate {
				in.View.Strides = make([]int, len(in.View.Strides))
			}
		}), []string{"concatenated"}},
		"derived otherwise": {in(compile.Unary, func(in *compile.Instruction) { in.Func = compile.Sin }), []string{"a function of a weight"}},
		"a number above half is none": {in(compile.ScalarBack, func(in *compile.Instruction) {
			in.Swap = !in.Swap
		}), []string{"function div of a number"}},
		"draws by positions in the minibatch": {fault{samples: func(samples []int32) []int32 {
			all := make([]int32, len(samples))
			for i := range all {
				all[i] = int32(i)
			}
			return all
		}}, []string{"Dropout"}},
		"the first step's draws":                {fault{restore: func(s *engine.State) { s.Step = 0 }}, []string{"Dropout", "dropout", "Randoms"}},
		"the draws of a step before":            {fault{restore: func(s *engine.State) { s.Step = max(0, s.Step-1) }}, []string{"dropout"}},
		"one trial's draws":                     {fault{job: func(j *engine.Job) { j.Trial = 0 }}, []string{"Dropout", "dropout", "Randoms"}},
		"deaf to cancelling":                    {fault{deaf: true}, []string{"Cancel"}},
		"restores nothing":                      {fault{idle: true}, []string{"Resume"}},
		"doesn't tell how far":                  {fault{uncount: true}, []string{"Progress", "Groups"}},
		"takes any probability":                 {fault{job: func(j *engine.Job) { j.Mechanism.SamplingProbability = 0.3 }}, []string{"Refusals", "Draws"}},
		"draws depend on how many were started": {fault{job: func(j *engine.Job) { j.Trial += started.Add(1) }}, []string{"Together", "Groups"}},
	} {
		for check, run := range checks {
			must := slices.Contains(c.by, check)
			if c.by != nil && !must {
				continue
			}
			found := enginetest.Reports(func(t enginetest.TB) { run(t, c.suite()) })
			if must != (len(found) > 0) {
				t.Errorf("%s: %s reports %q", name, check, found)
			}
			caught[check] = caught[check] || must
		}
		for _, graph := range c.by {
			if checks[graph] != nil {
				continue
			}
			found := enginetest.Reports(func(t enginetest.TB) { c.suite().CheckGraph(t, zoo[graph].Build, 2, nil) })
			if len(found) == 0 {
				t.Errorf("%s: the graph %q shows nothing", name, graph)
			}
		}
	}
	for check := range checks {
		if !caught[check] {
			t.Errorf("no fault here shows that %s can fail", check)
		}
	}
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

// The checks against differences must be able to fail: they find an engine that is wrong in one element, or trains
// another cost, and accept a right engine.
func TestDifferencesFindFaults(t *testing.T) {
	long.SkipRace(t, "differences have two coordinates of each parameter only")
	zoo := enginetest.Zoo()
	bent := func(at int, by float64) fault {
		return fault{sums: func(sum, _ []float64) { sum[at] += by }}
	}
	other := func(*compile.Program) *compile.Program {
		return zoo["scale by a parameter"].Program(t, 1)
	}
	for name, c := range map[string]struct {
		fault
		graph string
		want  bool
	}{
		"right":                {fault{}, "logistic regression", false},
		"one coordinate wrong": {bent(1, 0.01), "logistic regression", true},
		"one of many wrong":    {bent(1100, 0.5), "two rows within a sample", true},
		"another cost":         {fault{program: other}, "minus a parameter, from the left", true},
	} {
		found := enginetest.Reports(func(t enginetest.TB) { c.suite().CheckDifferences(t, zoo[c.graph], false) })
		if (len(found) > 0) != c.want {
			t.Errorf("%s: reported %q", name, found)
		}
	}
}
