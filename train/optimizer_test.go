package train

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/engine"
)

func TestOptimizerDefaults(t *testing.T) {
	// Kingma and Ba, "Adam: a method for stochastic optimization" (2015), Algorithm 1.
	want := engine.Optimizer{Method: engine.Adam, LearningRate: 0.01, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	if got := Adam(0.01).engine(); got != want {
		t.Errorf("Adam: %+v, want %+v", got, want)
	}
	for _, o := range []Optimizer{SGD(0.5), Adam(0.01)} {
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// unnamed is a rule whose name leaves out its setting.
type unnamed struct{ Keep float64 }

func (unnamed) Name() string       { return "mine" }
func (unnamed) State([]int) []int  { return nil }
func (unnamed) Move(*Update) error { return nil }

type renamed struct{ unnamed }

// scaling is a rule whose learning rate grows with the data.
type scaling struct{ unnamed }

func (scaling) ScalesWithData() bool { return true }

// misnamed, sized and closed are unusable rules.
type misnamed struct {
	unnamed
	Text string
}

func (m misnamed) Name() string { return m.Text }

type sized struct {
	unnamed
	Lengths []int
}

func (s sized) State([]int) []int { return s.Lengths }

type closed struct {
	unnamed
	F func() // a setting that isn't data
}

type panicky struct{ unnamed }

func (panicky) State(lengths []int) []int { return lengths[9:] }

func TestOptimizerRefuses(t *testing.T) {
	with := func(o Optimizer, change func(*Optimizer)) Optimizer {
		change(&o)
		return o
	}
	nan, inf := math.NaN(), math.Inf(1)
	for i, c := range []struct {
		o    Optimizer
		want string
	}{
		{Optimizer{}, "learning rate is 0"},
		{SGD(0), "learning rate is 0"}, {SGD(-1), "learning rate is -1"}, {SGD(nan), "learning rate is NaN"}, {SGD(inf), "learning rate is +Inf"},
		{Optimizer{Method: "sgd", LearningRate: 1}, "optimizer is sgd: want dp-sgd, dp-momentum, dp-nesterov, dp-adam or dp-adamw"},
		{with(Adam(1), func(o *Optimizer) { o.Beta1 = 1 }), "beta1 is 1"},
		{with(Adam(1), func(o *Optimizer) { o.Beta2 = -0.1 }), "beta2 is -0.1"},
		{with(Adam(1), func(o *Optimizer) { o.Beta2 = nan }), "beta2 is NaN"},
		{with(AdamW(1, 0), func(o *Optimizer) { o.Epsilon = 0 }), "epsilon of Adam is 0"},
		{with(SGD(1), func(o *Optimizer) { o.Beta1 = nan }), "want finite numbers"},
		{with(SGD(1), func(o *Optimizer) { o.Beta2 = inf }), "want finite numbers"},
		{with(SGD(1), func(o *Optimizer) { o.Epsilon = -inf }), "want finite numbers"},
		{Momentum(1, 1), "momentum is 1"}, {Momentum(1, -0.1), "momentum is -0.1"}, {Nesterov(1, nan), "want finite numbers"},
		{with(SGD(1), func(o *Optimizer) { o.Momentum = 0.9 }), "dp-momentum or dp-nesterov; this one, dp-sgd, has none"},
		{AdamW(1, -1), "weight decay is -1"}, {AdamW(1, nan), "weight decay is NaN"}, {AdamW(1, inf), "weight decay is +Inf"},
		{with(Adam(1), func(o *Optimizer) { o.WeightDecay = 0.1 }), "choose dp-adamw"},
		{with(SGD(1), func(o *Optimizer) { o.Accumulate = -1 }), "accumulate is -1"},
		{with(SGD(1), func(o *Optimizer) { o.Average = 1.5 }), "average is 1.5"}, {with(SGD(1), func(o *Optimizer) { o.Average = nan }), "average is NaN"},
		{with(SGD(1), func(o *Optimizer) { o.Schedule = Linear(-1) }), "end of the linear schedule is -1"},
		{with(SGD(1), func(o *Optimizer) { o.Schedule = Cosine(nan) }), "end of the cosine schedule is NaN"},
		{with(SGD(1), func(o *Optimizer) { o.Schedule = Warmup(1, nil) }), "warm-up of the schedule is 1"},
		{with(SGD(1), func(o *Optimizer) { o.Schedule = Warmup(0.1, Cosine(-2)) }), "end of the cosine schedule is -2"},
		{with(SGD(1), func(o *Optimizer) { o.Schedule = ScheduleFunc("", func(int, int) float64 { return 1 }) }), "name of the schedule"},
		{with(SGD(1), func(o *Optimizer) { o.Schedule = ScheduleFunc("a\nb", func(int, int) float64 { return 1 }) }), "name of the schedule"},
		{with(SGD(1), func(o *Optimizer) { o.Schedule = ScheduleFunc("f", nil) }), "function of the schedule is missing"},
		{with(SGD(1), func(o *Optimizer) { o.Schedule = (*pointed)(nil) }), "schedule is a *train.pointed"},
		{OptimizerOf(unnamed{}, 0), "learning rate is 0"},
		{OptimizerOf(nil, 1), "optimizer is missing: want dp-sgd"},
		{OptimizerOf(misnamed{Text: " "}, 1), "name of the optimizer's rule"},
		{OptimizerOf(misnamed{Text: "dp-sgd"}, 1), "want a name of its own"},
		{OptimizerOf(misnamed{Text: strings.Repeat("x", 201)}, 1), "at most 200 bytes"},
		{OptimizerOf(unnamed{nan}, 1), "exported fields that encode as JSON"},
		{OptimizerOf(closed{}, 1), "exported fields that encode as JSON"},
		{with(OptimizerOf(unnamed{}, 1), func(o *Optimizer) { o.Method = DPSGD }), "the name of its rule"},
		{with(OptimizerOf(unnamed{}, 1), func(o *Optimizer) { o.Beta1 = 0.9 }), "rule has settings of its own"},
		{with(OptimizerOf(unnamed{}, 1), func(o *Optimizer) { o.Momentum = 0.9 }), "this one, mine, has none"},
	} {
		var wrong *SettingError
		if err := c.o.Validate(); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: error %v, want %q", i, err, c.want)
		}
	}
}

// pointed is a schedule whose nil pointer panics.
type pointed struct{ name string }

func (p *pointed) Name() string            { return p.name }
func (p *pointed) Factor(int, int) float64 { return 1 }

// Some faults show when a run starts.
func TestStartRefusesOptimizers(t *testing.T) {
	loaded, err := Load(cpu.New(cpu.Options{Workers: 1}), logistic(t, rand.NewPCG(3, 4)), threeClouds(t, 60).Data)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	by := func(factor float64) Optimizer {
		o := SGD(1)
		o.Schedule = ScheduleFunc("mine", func(step, steps int) float64 {
			if step == steps {
				return factor
			}
			return 1
		})
		return o
	}
	long := SGD(1)
	long.Schedule = Linear(0)
	panics := SGD(1)
	panics.Schedule = ScheduleFunc("mine", func(int, int) float64 { panic("reason") })
	for _, c := range []struct {
		o     Optimizer
		steps int
		want  string
	}{
		{by(math.NaN()), 5, "schedule mine has factor NaN"}, {by(-1), 5, "factor -1"}, {by(math.Inf(1)), 5, "factor +Inf"},
		{panics, 5, "schedule mine panicked: reason"},
		{long, 1<<20 + 1, "at most 1048576 with a schedule"},
		{OptimizerOf(sized{Lengths: []int{3, -1}}, 1), 5, "state of optimizer mine"},
		{OptimizerOf(sized{Lengths: []int{math.MaxInt32, 1}}, 1), 5, "state of optimizer mine"},
		{OptimizerOf(sized{Lengths: []int{math.MaxInt, math.MaxInt}}, 1), 5, "state of optimizer mine"},
		{OptimizerOf(panicky{}, 1), 5, "State panicked"},
	} {
		s := settings()
		s.Optimizer, s.Privacy.Steps = c.o, c.steps
		_, err := loaded.Start(s)
		var wrong *SettingError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// The factors were computed by hand. A run of 4 steps with a warm-up of a half rises over 2 of them.
func TestSchedules(t *testing.T) {
	for name, c := range map[string]struct {
		s    Schedule
		want []float64
	}{
		"linear to 0":                          {Linear(0), []float64{1, 0.75, 0.5, 0.25}},
		"linear to 0.2":                        {Linear(0.2), []float64{1, 0.8, 0.6, 0.4}},
		"cosine to 0":                          {Cosine(0), []float64{1, 0.5 + math.Sqrt2/4, 0.5, 0.5 - math.Sqrt2/4}},
		"cosine to 0.5":                        {Cosine(0.5), []float64{1, 0.75 + math.Sqrt2/8, 0.75, 0.75 - math.Sqrt2/8}},
		"warm-up of 0.5":                       {Warmup(0.5, nil), []float64{1. / 3, 2. / 3, 1, 1}},
		"warm-up of 0.5, then linear to 0":     {Warmup(0.5, Linear(0)), []float64{1. / 3, 2. / 3, 1, 0.5}},
		"warm-up of 0":                         {Warmup(0, nil), []float64{1, 1, 1, 1}},
		"warm-up of 0.9, then cosine to 0.125": {Warmup(0.9, Cosine(0.125)), []float64{0.25, 0.5, 0.75, 1}},
	} {
		if c.s.Name() != name {
			t.Errorf("%s is named %s", name, c.s.Name())
		}
		got, err := factors(c.s, 4)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if math.Abs(got[i]-want) > 1e-12 {
				t.Errorf("%s: factors %v, want %v", name, got, c.want)
			}
		}
	}
	if got, err := factors(Linear(0), 0); err != nil || len(got) != 0 {
		t.Errorf("a run of no steps: %v, %v", got, err)
	}
}

// Released texts name every setting.
func TestOptimizerText(t *testing.T) {
	o := AdamW(0.1, 0.01)
	o.Beta2, o.Schedule, o.Accumulate, o.Average = 0.99, Warmup(0.1, Cosine(0)), 4, 0.999
	inGroups := Nesterov(1, 0.5)
	inGroups.Groups = twoGroups()
	for want, o := range map[string]Optimizer{
		"dp-sgd": SGD(1), "dp-adam": Adam(1), "dp-momentum 0.9": Momentum(1, 0.9), "dp-nesterov 0.5": Nesterov(1, 0.5),
		"dp-adamw, weight decay 0.01": AdamW(1, 0.01), "dp-nesterov 0.5, group of 2 (rate × 0.25, decay × 3), group of 1 (rate × 2, decay × 0)": inGroups, "mine": OptimizerOf(unnamed{0.3}, 1),
		"dp-adamw (beta1 0.9, beta2 0.99, epsilon 1e-08), weight decay 0.01, warm-up of 0.1, then cosine to 0, 4 noisy means to an update, average 0.999": o,
	} {
		if got := fmt.Sprint(o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestScalesWithData(t *testing.T) {
	for _, c := range []struct {
		o    Optimizer
		want bool
	}{{SGD(1), true}, {Momentum(1, 0.9), true}, {Nesterov(1, 0.9), true}, {Adam(1), false}, {AdamW(1, 0), false}, {OptimizerOf(unnamed{}, 1), false}, {OptimizerOf(scaling{}, 1), true}} {
		if got := c.o.ScalesWithData(); got != c.want {
			t.Errorf("%s: %v", c.o, got)
		}
	}
}

// The encoding of a plain SGD or Adam is hashed into the identity of a run, which names its noise: golden results of
// earlier versions stay. encoding/json wrote the texts for the struct of version 0.
func TestPlainOptimizersAreEncodedAsBefore(t *testing.T) {
	for want, o := range map[string]Optimizer{
		`{"Method":"dp-sgd","LearningRate":0.5,"Beta1":0,"Beta2":0,"Epsilon":0}`:            SGD(0.5),
		`{"Method":"dp-adam","LearningRate":0.01,"Beta1":0.9,"Beta2":0.999,"Epsilon":1e-8}`: Adam(0.01),
	} {
		if got := string(must(o.MarshalJSON())); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
