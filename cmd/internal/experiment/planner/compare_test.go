package planner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

func poisson(mean float64) (accountant.Repetitions, error) {
	return accountant.Poisson{Mean: mean}, nil
}

func shaped(shape float64) func(float64) (accountant.Repetitions, error) {
	return func(mean float64) (accountant.Repetitions, error) { return accountant.NegativeBinomial(shape, mean) }
}

var families = []Family{
	{"poisson", poisson},
	{"truncated-poisson", func(mean float64) (accountant.Repetitions, error) { return accountant.TruncatedPoissonWithMean(mean) }},
	{"geometric", shaped(1)},
	{"wide", shaped(0.5)},
	{"narrow", shaped(4)},
	{"logarithmic", shaped(0)},
}

// A run of these plans is a short one, so that bounds take little time.
const rate, steps = 0.1, 50

func small() Settings {
	return Settings{
		Plan: tuner.Settings{
			Optimizer: train.SGD(0),
			Samples:   1000,
		},
		Grid:        tuner.LearningRates(tuner.Candidate{SamplingRate: rate, Steps: steps, ClippingNorm: 1}, 0.1, 0.3, 1, 3),
		Candidates:  4,
		Tried:       0.9,
		Methods:     []tuner.Method{tuner.Variant1, tuner.Variant2, tuner.Baseline},
		SubsetRates: []float64{0.05, 0.2},
		Families:    families,
		Epsilon:     2,
		Delta:       1e-5,
		Accounting:  accountant.Options{Mode: accountant.Tight},
		MinRate:     0.1,
	}
}

// geometricMissed is E (1-1/m)^K in closed form.
func geometricMissed(mean float64, m int) float64 {
	success, z := 1/mean, 1-1/float64(m)
	return success * z / (1 - (1-success)*z)
}

func TestTrialsAreTheFewest(t *testing.T) {
	for _, m := range []int{1, 2, 9, 72} {
		for _, tried := range []float64{0.3, 0.9, 0.95, 0.999} {
			s := small()
			s.Candidates, s.Tried = m, tried
			got := s.trials(families[0])
			want := math.Ceil(-100*float64(m)*math.Log(1-tried)*(1-1e-12)) / 100
			if got.Mean != want || got.Repetitions != (accountant.Poisson{Mean: want}) {
				t.Errorf("%d candidates, %v: Poisson mean %v, want %v", m, tried, got.Mean, want)
			}
			if !(got.Tried >= tried && math.Abs(got.Tried-(1-math.Exp(-want/float64(m)))) < 1e-12) {
				t.Errorf("%d candidates, %v: tried %v", m, tried, got.Tried)
			}
			got = s.trials(families[2])
			less := math.Max(1, got.Mean-0.01) // at a rounding of the threshold either will do
			if 1-geometricMissed(got.Mean, m) < tried-1e-9 || got.Mean > 1 && 1-geometricMissed(less, m) > tried+1e-9 {
				t.Errorf("%d candidates, %v: geometric mean %v tries %v, and %v with less", m, tried, got.Mean, 1-geometricMissed(got.Mean, m), 1-geometricMissed(less, m))
			}
		}
	}
	// Half of its draws are of one trial or so, whatever its mean: to try nine with probability 0.95 it takes tails
	// beyond any plan.
	s := small()
	s.Candidates, s.Tried = 9, 0.95
	if got := s.trials(families[5]); got.Repetitions != nil || got.Family != "logarithmic" {
		t.Errorf("logarithmic trials of mean %v, want none", got.Mean)
	}
}

// event puts the plan of an option together by the accountant's own constructors.
func event(o Option) accountant.Event {
	run := accountant.DPSGD(rate, o.NoiseMultiplier, steps)
	switch o.Method {
	case tuner.Variant1:
		return accountant.Variant1(o.SubsetRate, o.Repetitions, run)
	case tuner.Variant2:
		return accountant.Variant2(o.SubsetRate, o.Repetitions, run)
	}
	return accountant.Baseline(o.Repetitions, run)
}

func TestOptionsMeetTheBudget(t *testing.T) {
	for _, mode := range []accountant.Mode{accountant.Paper, accountant.Tight, accountant.Best} {
		t.Run(string(mode), func(t *testing.T) {
			s := small()
			s.Accounting.Mode = mode
			unused := 1e-6 // of epsilon
			if mode == accountant.Best {
				s.Families, s.SubsetRates, unused = s.Families[2:3], []float64{0.2}, Within
			}
			told := 0
			trials, options, err := Compare(context.Background(), s, func(done, total int) {
				if told++; done != told || done > total {
					t.Errorf("progress %d of %d in call %d", done, total, told)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			reached := 0
			for _, tr := range trials {
				if tr.Repetitions != nil {
					reached++
				}
			}
			if want := reached * (2*len(s.SubsetRates) + 1); len(trials) != len(s.Families) || told != want || len(options) < want {
				t.Errorf("%d options and %d calls of progress, want %d", len(options), told, want)
			}
			for i, o := range options {
				name := fmt.Sprintf("%s, q %v, %s", o.Method, o.SubsetRate, o.Family)
				g, err := accountant.Epsilon(event(o), s.Delta, s.Accounting)
				if err != nil || !(g.Epsilon <= s.Epsilon && g.Epsilon >= s.Epsilon*(1-unused)) {
					t.Errorf("%s: noise %v costs %v, %v", name, o.NoiseMultiplier, g.Epsilon, err)
				}
				mean, work := o.Repetitions.Expected(), 0.
				switch o.Method {
				case tuner.Variant1:
					work = mean*o.SubsetRate + 1 - o.SubsetRate
				case tuner.Variant2:
					work = mean*o.SubsetRate + 1
				case tuner.Baseline:
					work = mean
				}
				if math.Abs(o.Work-work) > 1e-9*work || o.Tried < s.Tried || math.Abs(o.Mean-mean) > 1e-6*mean {
					t.Errorf("%s: %+v, want work %v", name, o, work)
				}
				if i > 0 {
					before := options[i-1]
					if a, b := slices.Index(s.Methods, before.Method), slices.Index(s.Methods, o.Method); a > b || a == b && before.SubsetRate > o.SubsetRate {
						t.Errorf("%s stands after %s, q %v", name, before.Method, before.SubsetRate)
					}
				}
			}
			least, ok := s.Recommended(options)
			if !ok || least.SubsetRate != 0 && least.SubsetRate < s.MinRate {
				t.Errorf("least noise by %+v, %v", least, ok)
			}
		})
	}
}

func TestNoPlanMeetsTheBudget(t *testing.T) {
	s := small()
	s.Epsilon = 0.001 // below what the orders allow
	_, options, err := Compare(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range options {
		if !math.IsInf(o.NoiseMultiplier, 1) {
			t.Errorf("%+v has noise", o)
		}
	}
	if o, ok := s.Recommended(options); ok || len(options) == 0 {
		t.Errorf("%d options, the best is %+v", len(options), o)
	}
}

func TestCompareStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, _, err := Compare(ctx, small(), func(int, int) {
		calls++
		cancel()
	})
	if !errors.Is(err, context.Canceled) || calls > 64 {
		t.Errorf("%v after %d options", err, calls)
	}
	s := small()
	s.Grid = nil
	var setting *train.SettingError
	if _, _, err := Compare(context.Background(), s, nil); !errors.As(err, &setting) {
		t.Errorf("a space without candidates: %v, want a setting's error", err)
	}
	s = small()
	s.Delta = 2
	if _, _, err := Compare(context.Background(), s, nil); !errors.Is(err, accountant.ErrInvalid) {
		t.Errorf("delta 2: %v", err)
	}
}

func TestLeastKeepsToItsLimits(t *testing.T) {
	option := func(m tuner.Method, q, noise, work float64) Option {
		return Option{Method: m, SubsetRate: q, NoiseMultiplier: noise, Work: work}
	}
	options := []Option{
		option(tuner.Variant1, 0.05, 1, 2),
		option(tuner.Variant1, 0.1, 1.204, 4),
		option(tuner.Variant1, 0.1, 1.2, 8),
		option(tuner.Variant2, 0.1, 1.3, 1),
		option(tuner.Variant2, 0.2, math.Inf(1), 0.5),
		option(tuner.Baseline, 0, 1.5, 0.9),
	}
	for _, c := range []struct {
		rate, work float64
		want       int
	}{
		{0, 0, 0}, {0.1, 0, 1} /* half as much work */, {0.1, 3, 3}, {0.2, 0, 5}, {0.1, 0.95, 5}, {0.1, 0.8, -1},
	} {
		s := Settings{MinRate: c.rate, MaxWork: c.work}
		got, ok := s.Recommended(options)
		if ok != (c.want >= 0) || ok && got != options[c.want] {
			t.Errorf("q from %v, work to %v: %+v, %v, want option %d", c.rate, c.work, got, ok, c.want)
		}
	}
}

// Noise that is a parabola over log q has its lowest point found.
func TestFinerFindsTheLowestPoint(t *testing.T) {
	l := &line{method: tuner.Variant1, rates: []float64{0.02, 0.1, 0.3}}
	for _, q := range l.rates {
		x := math.Log(q / 0.12)
		l.options = append(l.options, Option{Method: tuner.Variant1, SubsetRate: q, NoiseMultiplier: 1 + x*x})
	}
	s := Settings{}
	if finer := s.finer(tuner.Variant1, []*line{l}); finer == nil || finer.rates[0] != 0.12 {
		t.Errorf("%+v, want q 0.12", finer)
	}
	s.MinRate = 0.1 // what is left of it shows the slope all the same
	if finer := s.finer(tuner.Variant1, []*line{l}); finer == nil || finer.rates[0] != 0.12 {
		t.Errorf("%+v, want q 0.12", finer)
	}
	s.MinRate = 0.15 // then 0.3 is the best, at the end
	if finer := s.finer(tuner.Variant1, []*line{l}); finer != nil {
		t.Errorf("%+v beside the least rate", finer)
	}
	l.options[1].NoiseMultiplier, s.MinRate = 1.5, 0.1 // lowest at less than 0.1
	l.options[0].NoiseMultiplier, l.options[2].NoiseMultiplier = 1.51, 3
	if finer := s.finer(tuner.Variant1, []*line{l}); finer != nil {
		t.Errorf("%+v below the least rate", finer)
	}
	if finer := s.finer(tuner.Variant2, []*line{l}); finer != nil {
		t.Errorf("%+v of another method", finer)
	}
	l.options[2].NoiseMultiplier = math.Inf(1)
	s.MinRate = 0
	if finer := s.finer(tuner.Variant1, []*line{l}); finer != nil && !(finer.rates[0] > 0.02 && finer.rates[0] < 0.3) {
		t.Errorf("%+v beside no noise at all", finer)
	}
}

func TestSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		power := rapid.Float64Range(0.3, 4).Draw(t, "power")
		bend := rapid.Float64Range(0, 3).Draw(t, "bend")
		scale := math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log scale"))
		target := math.Exp(rapid.Float64Range(-4, 4).Draw(t, "log target"))
		guess := math.Exp(rapid.Float64Range(-6, 6).Draw(t, "log guess"))
		jump := rapid.Float64Range(1, 1.5).Draw(t, "jump")
		calls, enough := 0, map[float64]bool{}
		epsilonAt := func(noise float64) (float64, error) {
			calls++
			x := noise / scale
			e := math.Pow(x, -power) * (1 + bend/(1+x))
			if e > target {
				e *= jump
			}
			if e > 1e6 {
				e = math.Inf(1)
			}
			enough[noise] = e <= target
			return e, nil
		}
		noise, err := search(target, guess, epsilonAt)
		if err != nil || !enough[noise] {
			t.Fatalf("noise %v, %v is not known to be enough", noise, err)
		}
		if e, _ := epsilonAt(noise); e < target*(1-Within) {
			if less, _ := epsilonAt(noise * (1 - 1e-3)); less <= target {
				t.Errorf("epsilon %v at noise %v, less would do for %v", e, noise, target)
			}
		}
		if calls > 60 {
			t.Errorf("%d evaluations", calls)
		}
	})
	flat := func(float64) (float64, error) { return 3, nil }
	if _, err := search(2, 1, flat); !errors.Is(err, accountant.ErrInfeasible) {
		t.Errorf("epsilon 3 with any noise: %v, want ErrInfeasible", err)
	}
	if _, err := search(4, 1, flat); !errors.Is(err, accountant.ErrUnbounded) {
		t.Errorf("epsilon 3 for a target of 4: %v, want ErrUnbounded", err)
	}
}
