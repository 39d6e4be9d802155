package tuner

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
	"pgregory.net/rapid"
)

// region returns a region of four ranges.
func region() Region {
	return Region{
		LearningRate: Between(1e-4, 1),
		SamplingRate: Between(0.01, 0.05),
		Epochs:       Between(5, 20),
		ClippingNorm: Between(0.1, 10),
	}
}

// searching returns settings with the region and the line for total epsilon 4.
func searching(t testing.TB, m Method, r Region) Settings {
	t.Helper()
	s := settings(m, 15)
	s.Space = r
	s, g, err := Calibrate(s, 4, 1e-5, accountant.Options{Mode: accountant.Tight})
	if err != nil {
		t.Fatal(err)
	}
	if !(g.Epsilon <= 4 && g.Epsilon > 4*(1-1e-6)) {
		t.Errorf("guarantee %+v", g)
	}
	return s
}

// Every drawn candidate is in its ranges and below the line, at every order of the line, with the smallest noise: with
// less noise it would be above. A plan is charged for the line.
func TestDrawnCandidatesAreBelowTheLine(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	methods(t, func(t *testing.T, m Method) {
		s := searching(t, m, region())
		line := s.Space.(Region).Line
		build := map[Method]func(accountant.Event) accountant.Event{
			Baseline: func(e accountant.Event) accountant.Event { return accountant.Baseline(s.Repetitions, e) },
			Variant1: func(e accountant.Event) accountant.Event { return accountant.Variant1(0.2, s.Repetitions, e) },
			Variant2: func(e accountant.Event) accountant.Event { return accountant.Variant2(0.2, s.Repetitions, e) },
		}
		if want := build[m](line); !reflect.DeepEqual(s.Event(), want) {
			t.Errorf("charged for %+v, want %+v", s.Event(), want)
		}
		seen := 0
		for seed := range uint64(4) {
			plan := mustPlan(t, s, seed)
			for _, trial := range plan.Private.Trials {
				seen++
				c := trial.Candidate
				if c.LearningRate < 1e-4 || c.LearningRate > 1 || c.SamplingRate < 0.01 || c.SamplingRate > 0.05 || c.ClippingNorm < 0.1 || c.ClippingNorm > 10 {
					t.Errorf("%+v lies outside", c)
				}
				if epochs := float64(c.Steps) * c.SamplingRate; epochs < 5-c.SamplingRate || epochs > 20+c.SamplingRate {
					t.Errorf("%+v has %v epochs", c, epochs)
				}
				if above := orderAbove(t, c.run(), line); above != 0 {
					t.Errorf("%+v lies above the line at order %d", c, above)
				}
				r := c.run()
				r.NoiseMultiplier *= 1 - 1e-6
				if orderAbove(t, r, line) == 0 {
					t.Errorf("%+v could have less noise", c)
				}
			}
			if first := plan.First; orderAbove(t, first.run(), line) != 0 || first.LearningRate != 0.01 {
				t.Errorf("first %+v", first)
			}
		}
		if seen < 20 {
			t.Errorf("%d trials tell little", seen)
		}
	})
}

// orderAbove returns an order at which a run's divergence is above the line, or 0.
func orderAbove(t *testing.T, r Run, line accountant.RDPLine) int {
	t.Helper()
	curve, err := accountant.RDP(r.event(), accountant.Options{Mode: accountant.Paper, Orders: line.Orders})
	if err != nil {
		t.Fatal(err)
	}
	for a := line.Orders.Low; a <= line.Orders.High; a++ {
		if curve[a] > line.Slope*float64(a) {
			return a
		}
	}
	return 0
}

// With given noise, candidates have the largest number of steps that fits.
func TestRegionOfFixedNoise(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	r := region()
	r.NoiseMultiplier, r.Epochs = 2, Values{}
	s := searching(t, Variant1, r)
	line := s.Space.(Region).Line
	for _, trial := range mustPlan(t, s, 3).Private.Trials {
		run := trial.Candidate.run()
		more := run
		more.Steps++
		if run.NoiseMultiplier != 2 || orderAbove(t, run, line) != 0 || orderAbove(t, more, line) == 0 {
			t.Errorf("%+v doesn't fit the line", run)
		}
	}
	again, _, err := CalibrateSteps(s, 4, 1e-5, accountant.Options{Mode: accountant.Tight})
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("%+v, %v, want %+v", again, err, s)
	}
	r.NoiseMultiplier = 0.1
	s.Space = r
	if s, _, err := Calibrate(s, 0.5, 1e-5, accountant.Options{Mode: accountant.Paper}); !errors.Is(err, accountant.ErrInfeasible) {
		t.Errorf("with too little noise: %+v, %v", s.Space, err)
	}
}

// Ranges of learning rate and clipping norm need no line: the noise is the grid's.
func TestRegionOfOneRunCostsThatRun(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	for _, noise := range []float64{0, 2} {
		s := mnist(Variant1)
		r := Region{LearningRate: Between(1e-4, 1), SamplingRate: Values{List: []float64{0.0213, 0.0427}}, ClippingNorm: Between(1, 3), NoiseMultiplier: noise}
		calibrate := CalibrateSteps
		if noise == 0 {
			r.Epochs, calibrate = Values{List: []float64{10, 40}}, Calibrate
		}
		kinds, finite, err := r.kinds()
		if err != nil || !finite {
			t.Fatal(err)
		}
		s.Space = kinds
		want, wantGuarantee, err := calibrate(s, 4, 1e-5, accountant.Options{Mode: accountant.Paper})
		if err != nil {
			t.Fatal(err)
		}
		s.Space = r
		got, g, err := Calibrate(s, 4, 1e-5, accountant.Options{Mode: accountant.Paper})
		if err != nil {
			t.Fatal(err)
		}
		if g != wantGuarantee || !slices.Equal(got.Space.(Region).Runs, grid(want).Runs()) || !reflect.DeepEqual(got.Event(), want.Event()) {
			t.Errorf("noise %v: %+v, guarantee %+v, want %+v, %+v", noise, got.Space, g, want.Space, wantGuarantee)
		}
		for _, trial := range mustPlan(t, got, 1).Private.Trials {
			if !slices.Contains(grid(want).Runs(), trial.Candidate.run()) {
				t.Errorf("%+v is none of %v", trial.Candidate, grid(want).Runs())
			}
		}
	}
}

// Draws are log-uniform. The seeds are fixed; by Kolmogorov's bound as Massart sharpened it, P(sup |F_n - F| > d) is at
// most 2 e^{-2 n d^2}, a new choice of seeds would fail with probability below 1e-6 for each of the four; rounding to
// six digits moves the distribution by less than 1e-5.
func TestDrawsAreLogUniform(t *testing.T) {
	r := region()
	const n = 20000
	limit := math.Sqrt(math.Log(2/1e-6)/2/n) + 1e-5
	for _, p := range r.Parameters() {
		draws := make([]float64, n)
		for seed := range draws {
			stream := train.InsecureKey(uint64(seed)).Stream(random.ID{Purpose: random.Candidate, Trial: 7})
			draws[seed] = p.Values.draw(stream)
		}
		slices.Sort(draws)
		for i, x := range draws {
			share := math.Log(x/p.Values.Low) / math.Log(p.Values.High/p.Values.Low)
			if d := math.Max(math.Abs(share-float64(i)/n), math.Abs(share-float64(i+1)/n)); d > limit {
				t.Fatalf("%s: a share of %v lies below %v, want %v", p.Name, float64(i)/n, x, share)
			}
		}
	}
}

// A draw doesn't depend on the values of other hyperparameters, and plans are redrawn to the last bit.
func TestRegionIsRedrawn(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	s := searching(t, Variant1, region())
	plan := mustPlan(t, s, 11)
	again, err := plan.redraw()
	if err != nil || !reflect.DeepEqual(again, plan) {
		t.Fatalf("%+v, %v", again, err)
	}
	for _, change := range []func(*Plan){
		func(p *Plan) { p.First.LearningRate *= 2 },
		func(p *Plan) { p.Private.Trials[0].Candidate.NoiseMultiplier *= 0.5 },
		func(p *Plan) { p.Private.Trials = p.Private.Trials[1:] },
	} {
		p := mustPlan(t, s, 11)
		change(&p)
		if _, err := p.redraw(); err == nil {
			t.Error("a changed plan is carried out")
		}
	}
	lists := region()
	lists.LearningRate = Values{List: []float64{0.1, 0.01}}
	s.Space = lists
	s, _, err = Calibrate(s, 4, 1e-5, accountant.Options{Mode: accountant.Paper})
	if err != nil {
		t.Fatal(err)
	}
	for i, trial := range mustPlan(t, s, 11).Private.Trials {
		if was := plan.Private.Trials[i].Candidate; !slices.Contains(lists.LearningRate.List, trial.Candidate.LearningRate) || trial.Candidate.SamplingRate != was.SamplingRate {
			t.Errorf("trial %d draws %+v, with a range of rates %+v", i, trial.Candidate, was)
		}
	}
}

// Ranges of width zero and of the maximum width.
func TestEndsOfRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := math.Exp(rapid.Float64Range(-600, 600).Draw(t, "log low"))
		high := low * math.Exp(rapid.Float64Range(0, 90).Draw(t, "log width"))
		v := Between(low, high)
		if err := v.validate("x"); err != nil {
			t.Fatal(err)
		}
		for _, share := range []float64{0, rapid.Float64Range(0, 1).Draw(t, "share"), 1 - 0x1p-53} {
			if x := v.at(share); !(x >= low && x <= high) {
				t.Fatalf("%v of %v to %v is %v", share, low, high, x)
			}
		}
	})
	for _, v := range []Values{{}, {Low: 1}, {Low: 2, High: 1}, {Low: math.NaN(), High: 1}, {Low: 1, High: math.Inf(1)}, {List: []float64{1, 0}}, {List: []float64{-1}}} {
		if v.validate("x") == nil {
			t.Errorf("%+v can be drawn from", v)
		}
	}
}

func TestRegionValidate(t *testing.T) {
	good := searching(t, Variant1, region())
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	automatic := good
	automatic.Clipping = train.AutomaticClipping
	if err := automatic.Validate(); err == nil || !strings.Contains(err.Error(), "needs no search") {
		t.Errorf("a range of clipping norms: %v", err)
	}
	for name, change := range map[string]func(*Region){
		"learning rate": func(r *Region) { r.LearningRate.Low = 0 },
		"sampling rate": func(r *Region) { r.SamplingRate.High = 2 },
		"epochs":        func(r *Region) { r.Epochs = Values{} },
		"clipping norm": func(r *Region) { r.ClippingNorm.High = 1e10 },
		"no line":       func(r *Region) { r.Line = accountant.RDPLine{} },
		"few epochs":    func(r *Region) { r.Epochs.Low = 1e-9 },
		"other runs":    func(r *Region) { r.Runs = []Run{{0.1, 10, 2}} },
	} {
		s := good
		r := s.Space.(Region)
		change(&r)
		s.Space = r
		if err := s.Validate(); err == nil {
			t.Errorf("%s: %+v is valid", name, r)
		}
		if _, err := NewPlan(s, train.InsecureKey(1)); err == nil {
			t.Errorf("%s: there is a plan", name)
		}
	}
}

// A region that isn't calibrated has no guarantee, rather than the small one of a line of slope 0.
func TestUnsettledRegionHasNoGuarantee(t *testing.T) {
	methods(t, func(t *testing.T, m Method) {
		s := settings(m, 15)
		s.Space = region()
		if g, err := s.Guarantee(1e-5, accountant.Options{Mode: accountant.Paper}); !errors.Is(err, accountant.ErrInvalid) {
			t.Errorf("guarantee %+v, %v", g, err)
		}
	})
}

// A plan of a million trials is refused where each has to be fitted below a line.
func TestRegionOfManyTrials(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	s := searching(t, Variant1, region())
	s.Repetitions = accountant.Poisson{Mean: 1e5}
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "mean number of trials is 100000: want at most 10000") {
		t.Errorf("got %v", err)
	}
	r := region()
	r.SamplingRate, r.Epochs, r.Runs = Values{List: []float64{0.1}}, Values{List: []float64{5}}, []Run{{0.1, 50, 2}}
	s.Space = r
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

// Mode best charges a line too, at the orders of the line alone.
func TestLineIsChargedInEveryMode(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	for _, mode := range []accountant.Mode{accountant.Paper, accountant.Tight, accountant.Best} {
		s := settings(Variant1, 15)
		s.Space = region()
		o := accountant.Options{Mode: mode}
		got, g, err := Calibrate(s, 2, 1e-5, o)
		if err != nil {
			t.Fatal(err)
		}
		checkGuarantee(t, got, g, 2, 1e-5, o)
		if g.Order > got.Space.(Region).Line.Orders.High {
			t.Errorf("%s: epsilon is from order %d, the line ends at %d", mode, g.Order, got.Space.(Region).Line.Orders.High)
		}
	}
}
