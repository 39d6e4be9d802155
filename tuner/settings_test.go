package tuner

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/train"
)

func TestExtrapolation(t *testing.T) {
	// The paper's experiments: q = 0.1 turns expected batches of 128 into 1152 and 1280, and scales
	// DP-SGD's learning rate alike.
	tests := []struct {
		method    Method
		optimizer engine.Method
		rate      float64
		batch     float64
	}{
		{Variant1, engine.SGD, 9, 1152},
		{Variant2, engine.SGD, 10, 1280},
		{Baseline, engine.SGD, 1, 1280},
		{Variant1, engine.Adam, 1, 1152},
		{Variant2, engine.Adam, 1, 1280},
		{Baseline, engine.Adam, 1, 1280},
		{Variant1, train.DPMomentum, 9, 1152},
		{Variant2, train.DPNesterov, 10, 1280},
		{Variant2, train.DPAdamW, 1, 1280},
	}
	for _, tt := range tests {
		s := settings(tt.method, 15)
		s.SubsetRate, s.Samples = 0.1, 60000
		s.Optimizer = train.Optimizer{Method: tt.optimizer, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
		s.Space = LearningRates(Candidate{SamplingRate: 128.0 / 6000, Steps: 1878, NoiseMultiplier: 2, ClippingNorm: 1}, 0.01)
		plan := planWith(t, s, 15)
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s, %s: %s is %v, want %v", tt.method, tt.optimizer, what, got, want)
			}
		}
		near("scaled rate", s.FinalLearningRate(0.01), 0.01*tt.rate)
		final, trial := plan.final(plan.First), plan.trial(0)
		near("final rate", final.Optimizer.LearningRate, 0.01*tt.rate)
		near("final batch", final.Privacy.ExpectedBatchSize(), tt.batch)
		near("trial's rate", trial.Optimizer.LearningRate, 0.01)
		if tt.method == Baseline {
			near("trial's batch", trial.Privacy.ExpectedBatchSize(), 1280)
		} else {
			near("trial's batch", trial.Privacy.ExpectedBatchSize(), 128)
		}
		// C, σ, γ and T stay, so a trial and the final run cost the same.
		same := trial.Privacy
		same.NominalSize = final.Privacy.NominalSize
		if same != final.Privacy {
			t.Errorf("%s: a trial costs %+v, the final run %+v", tt.method, trial.Privacy, final.Privacy)
		}
	}
}

func TestEvent(t *testing.T) {
	r := accountant.Poisson{Mean: 15}
	one := accountant.DPSGD(0.1, 2, 10)
	two := accountant.DPSGD(0.2, 3, 20)
	either := accountant.OneOf{Events: []accountant.Event{one, two}, Weights: []float64{2, 3}}
	both := accountant.MaxOver{Events: []accountant.Event{one, two}}
	cheap := Candidate{SamplingRate: 0.1, Steps: 10, NoiseMultiplier: 2}
	dear := Candidate{SamplingRate: 0.2, Steps: 20, NoiseMultiplier: 3}
	mixed := append(LearningRates(cheap, 0.1, 1), LearningRates(dear, 0.1, 1, 10)...)
	tests := []struct {
		method Method
		space  Space
		want   accountant.Event
	}{
		{Baseline, LearningRates(cheap, 0.1, 1, 10), accountant.Baseline(r, one)},
		{Variant1, LearningRates(cheap, 0.1, 1, 10), accountant.Variant1(0.2, r, one)},
		{Variant2, LearningRates(cheap, 0.1, 1, 10), accountant.Variant2(0.2, r, one)},
		{Baseline, mixed, accountant.Baseline(r, either)},
		{Variant1, mixed, accountant.Variant1Of(0.2, r, either, both)},
		{Variant2, mixed, accountant.Variant2Of(0.2, r, either, both)},
		{Variant1, LearningRates(cheap, 0.1).WithNoiseMultiplier(5), accountant.Variant1(0.2, r, accountant.DPSGD(0.1, 5, 10))},
	}
	for _, tt := range tests {
		s := settings(tt.method, 15)
		s.Space = tt.space
		if got := s.Event(); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.method, got, tt.want)
		}
	}
}

func TestWithNoiseMultiplierCopies(t *testing.T) {
	space := grid(settings(Variant1, 1))
	space.WithNoiseMultiplier(99)
	if space[0].NoiseMultiplier != 2 {
		t.Error("it changed the original")
	}
}

func TestSettingsValidate(t *testing.T) {
	tests := []struct {
		change func(*Settings)
		want   string
	}{
		{func(s *Settings) { s.Method = "variant3" }, "tuning method is variant3: want baseline, variant1 or variant2"},
		{func(s *Settings) { s.SubsetRate = 0 }, "subset rate is 0: want a number in (0, 1)"},
		{func(s *Settings) { s.SubsetRate = 1 }, "subset rate is 1: want a number in (0, 1)"},
		{func(s *Settings) { s.SubsetRate = math.NaN() }, "subset rate is NaN"},
		{func(s *Settings) { s.Repetitions = accountant.Poisson{Mean: 0} }, "mean number of trials is 0: want a number in (0, 1e+06]"},
		{func(s *Settings) { s.Repetitions = accountant.Poisson{Mean: math.NaN()} }, "mean number of trials is NaN"},
		{func(s *Settings) { s.Repetitions = accountant.Poisson{Mean: math.Inf(1)} }, "mean number of trials is +Inf"},
		{func(s *Settings) { s.Repetitions = accountant.TruncatedNegativeBinomial{Shape: -0.9, Success: 9e-7} }, "success of the trials' negative binomial is 9e-07: want 1e-06 or more"},
		{func(s *Settings) { s.Repetitions = nil }, "distribution of trials is missing: want accountant.Poisson"},
		{func(s *Settings) { s.Space = nil }, "search space is missing: want a Grid or a Region"},
		{func(s *Settings) { s.Space = Grid{} }, "search space is empty"},
		{func(s *Settings) { grid(*s)[1].LearningRate = 0 }, "candidate 2: learning rate is 0"},
		{func(s *Settings) { grid(*s)[2].SamplingRate = 1.5 }, "candidate 3: sampling rate is 1.5"},
		{func(s *Settings) { grid(*s)[0].NoiseMultiplier = -1 }, "candidate 1: noise multiplier is -1"},
		{func(s *Settings) { grid(*s)[0].Steps = -1 }, "candidate 1: steps is -1"},
		{func(s *Settings) { grid(*s)[0].ClippingNorm = 0 }, "candidate 1: clipping norm is 0"},
		{func(s *Settings) { s.Clipping = "auto" }, "candidate 1: clipping is auto"},
		{func(s *Settings) { s.Clipping, grid(*s)[2].ClippingNorm = train.AutomaticClipping, 2 }, "candidate 3: clipping norm is 2: want 1 as before"},
		{func(s *Settings) { s.Optimizer.Method = "adagrad" }, "optimizer is adagrad"},
		{func(s *Settings) { s.Optimizer.LearningRate = 0.1 }, "learning rate of the optimizer is 0.1: want 0"},
		{func(s *Settings) { s.Samples = 0 }, "number of samples is 0"},
		{func(s *Settings) { s.Samples = math.MaxInt32 + 1 }, "number of samples is 2147483648"},
	}
	for _, tt := range tests {
		s := settings(Variant1, 15)
		tt.change(&s)
		err := s.Validate()
		var setting *train.SettingError
		if !errors.As(err, &setting) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
		if _, err := NewPlan(s, train.InsecureKey(1)); err == nil {
			t.Errorf("there is a plan for: %s", tt.want)
		}
	}
	baseline := settings(Baseline, 15)
	baseline.SubsetRate = 0
	if err := baseline.Validate(); err != nil {
		t.Errorf("the baseline has no subset: %v", err)
	}
}

func TestExpectedWork(t *testing.T) {
	for _, tt := range []struct {
		method  Method
		q, mean float64
		want    float64 // the trials' share of the data, each, plus the final run's
	}{
		{Baseline, 0.1, 15, 15},
		{Variant1, 0.1, 15, 2.4},
		{Variant2, 0.1, 15, 2.5},
		{Variant1, 0.5, 0.25, 0.625},
		{Variant2, 0.5, 0.25, 1.125},
	} {
		if got := tt.method.ExpectedWork(tt.q, tt.mean); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s, q %v, mean %v: %v, want %v", tt.method, tt.q, tt.mean, got, tt.want)
		}
	}
}

// A plan of K trials has the expected work of a mean of K.
func TestWorkIsWhatIsExpected(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		for trials := range 8 {
			s := settings(m, 3)
			plan := planWith(t, s, trials)
			run := float64(s.Samples) * plan.First.SamplingRate * float64(plan.First.Steps)
			want := m.ExpectedWork(s.SubsetRate, float64(trials)) * run
			if got := newMeter(plan, nil).state.Total; math.Abs(got-want) > 1e-9*run {
				t.Errorf("%d trials: %v gradients, expected %v", trials, got, want)
			}
		}
	})
}
