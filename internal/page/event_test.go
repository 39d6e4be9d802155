package page

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/tuner"
)

func TestEventIsRebuilt(t *testing.T) {
	step := func(rate, noise float64) accountant.Event {
		return accountant.PoissonSampled{SamplingProbability: rate, Event: accountant.Gaussian{NoiseMultiplier: noise}}
	}
	run := accountant.SelfComposed{Event: step(0.0213, 1.4830747), Count: 1878}
	long := accountant.SelfComposed{Event: step(0.05, 2), Count: 7}
	best := func(base accountant.Event) accountant.Event {
		return accountant.SelectBest{Event: base, Repetitions: accountant.Poisson{Mean: 15}}
	}
	for name, c := range map[string]struct {
		change func(*report.Tuning)
		want   accountant.Event
	}{
		"variant 1": {func(*report.Tuning) {}, accountant.SubsetThenRest{SamplingProbability: 0.1, Tune: best(run), Base: run}},
		"variant 2": {func(u *report.Tuning) { u.Method = "variant 2" },
			accountant.Composed{Events: []accountant.Event{accountant.PoissonSampled{SamplingProbability: 0.1, Event: best(run)}, run}}},
		"baseline": {func(u *report.Tuning) { u.Method = "baseline" }, best(run)},
		"grid": {func(u *report.Tuning) {
			u.Method, u.Space.Runs = "baseline", append(u.Space.Runs, tuner.Run{SamplingRate: 0.05, Steps: 7, NoiseMultiplier: 2})
		}, best(accountant.MaxOver{Events: []accountant.Event{run, long}})},
		"drawn": {func(u *report.Tuning) {
			u.Method, u.Space.Runs = "variant 2", append(u.Space.Runs, tuner.Run{SamplingRate: 0.05, Steps: 7, NoiseMultiplier: 2})
			u.Space.RunProbabilities = []float64{0.75, 0.25}
		}, accountant.Variant2Of(0.1, accountant.Poisson{Mean: 15},
			accountant.OneOf{Events: []accountant.Event{run, long}, Weights: []float64{0.75, 0.25}}, accountant.MaxOver{Events: []accountant.Event{run, long}})},
		"line": {func(u *report.Tuning) {
			u.Method, u.Space.Runs, u.Space.Line = "baseline", nil, &report.Line{Slope: 0.15, Order: 12}
		}, best(accountant.RDPLine{Slope: 0.15, Orders: accountant.Orders{Low: 2, High: 12}})},
	} {
		p := release().Privacy
		c.change(p.Tuning)
		if got, err := eventOf(p); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
	shape := -0.5
	for name, want := range map[string]float64{"geometric": 1, "logarithmic": 0, "negative-binomial": -0.5} {
		u := report.Tuning{Repetitions: name, Shape: &shape, MeanRepetitions: 4}
		got, err := repetitionsOf(&u)
		if law, ok := got.(accountant.TruncatedNegativeBinomial); err != nil || !ok || law.Shape != want || math.Abs(law.Expected()-4) > 1e-9 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	u := report.Tuning{Repetitions: "truncated-poisson", MeanRepetitions: 1 / (1 - math.Exp(-1))}
	if got, err := repetitionsOf(&u); err != nil || math.Abs(got.(accountant.TruncatedPoisson).Rate-1) > 1e-9 {
		t.Errorf("truncated Poisson: %+v, %v", got, err)
	}
	single := release().Privacy
	single.Tuning = nil
	if got, err := eventOf(single); err != nil || !reflect.DeepEqual(got, accountant.Event(run)) {
		t.Errorf("one run: %+v, %v", got, err)
	}
	for name, change := range map[string]func(*report.Tuning){
		"method":       func(u *report.Tuning) { u.Method = "variant 3" },
		"distribution": func(u *report.Tuning) { u.Repetitions = "uniform" },
		"shape":        func(u *report.Tuning) { u.Repetitions = "negative-binomial" },
		"mean":         func(u *report.Tuning) { u.Repetitions, u.MeanRepetitions = "geometric", 0.5 },
		"no runs":      func(u *report.Tuning) { u.Space.Runs = nil },
	} {
		p := release().Privacy
		change(p.Tuning)
		if got, err := eventOf(p); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Curves are shown only of an event that has the stated epsilon.
func TestNoCurvesOfAnotherRun(t *testing.T) {
	r := Run{Privacy: release().Privacy}
	if _, err := r.event(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*report.Privacy){
		"epsilon":   func(p *report.Privacy) { p.Epsilon *= 1 + 1e-5 },
		"steps":     func(p *report.Privacy) { p.Tuning.Space.Runs[0].Steps++ },
		"subset":    func(p *report.Privacy) { p.Tuning.SubsetRate *= 1.001 },
		"mode":      func(p *report.Privacy) { p.Accounting = "paper" },
		"no mode":   func(p *report.Privacy) { p.Accounting = "<b>" },
		"no noise":  func(p *report.Privacy) { p.Tuning.Space.Runs[0].NoiseMultiplier = 0 },
		"huge rate": func(p *report.Privacy) { p.Tuning.Space.Runs[0].SamplingRate = 1e300 },
	} {
		r := Run{Privacy: release().Privacy}
		change(&r.Privacy)
		a, err := Account(context.Background(), r, nil)
		if err != nil || a.Missing == "" || a.ByDelta != nil {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// The event of a manifest takes the place of the rebuilt one, and is checked against the stated epsilon as well.
func TestManifestEvent(t *testing.T) {
	event, err := eventOf(release().Privacy)
	if err != nil {
		t.Fatal(err)
	}
	right, err := accountant.MarshalEvent(event)
	if err != nil {
		t.Fatal(err)
	}
	other, err := accountant.MarshalEvent(accountant.DPSGD(0.1, 1, 10))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{string(right): "", string(other): "the statement has", `{}`: "decode event"} {
		r := Run{Privacy: release().Privacy, Manifest: &Manifest{Event: []byte(text)}}
		r.Privacy.Tuning.Method = "unknown" // can't be rebuilt
		if _, err := r.event(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The curves are those of the accountant, at hand-picked points.
func TestAccount(t *testing.T) {
	r := Run{}
	r.Privacy.Epsilon, r.Privacy.Delta, r.Privacy.Samples, r.Privacy.Accounting = 0, 1e-5, 1000, "tight"
	r.Privacy.SamplingRate, r.Privacy.NoiseMultiplier, r.Privacy.Steps = 0.05, 1.5, 64
	epsilon := func(steps int, delta float64, mode accountant.Mode) float64 {
		g, err := accountant.Epsilon(accountant.DPSGD(0.05, 1.5, steps), delta, accountant.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		return g.Epsilon
	}
	r.Privacy.Epsilon = epsilon(64, 1e-5, accountant.Tight)
	var reports int
	a, err := Account(context.Background(), r, func(done, total int) {
		if reports++; done != reports {
			t.Errorf("report %d says %d of %d", reports, done, total)
		}
	})
	if err != nil || a.Missing != "" || a.Steps != 64 || a.ByEpsilon != nil || reports != 3*(len(a.ByDelta)+len(a.BySteps)) {
		t.Fatalf("%+v, %v, %d reports", a, err, reports)
	}
	for i, mode := range []accountant.Mode{accountant.Best, accountant.Tight, accountant.Paper} {
		first, last := a.ByDelta[0], a.ByDelta[len(a.ByDelta)-1]
		if first.X != 1e-10 || last.X != 1e-2 || first.Y[i] != epsilon(64, 1e-10, mode) || last.Y[i] != epsilon(64, 1e-2, mode) {
			t.Errorf("%s over delta: %v to %v", mode, first, last)
		}
		short, twice := a.BySteps[0], a.BySteps[len(a.BySteps)-1]
		if short.X != 16 || twice.X != 128 || short.Y[i] != epsilon(16, 1e-5, mode) || twice.Y[i] != epsilon(128, 1e-5, mode) {
			t.Errorf("%s over steps: %v to %v", mode, short, twice)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Account(ctx, r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A plan of a line has no steps, so that delta over epsilon is shown instead.
func TestAccountOfALine(t *testing.T) {
	line := accountant.SelectBest{Event: accountant.RDPLine{Slope: 0.01, Orders: accountant.Orders{Low: 2, High: 40}}, Repetitions: accountant.Poisson{Mean: 3}}
	g, err := accountant.Epsilon(line, 1e-5, accountant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Privacy: release().Privacy}
	r.Privacy.Epsilon, r.Privacy.Tuning.MeanRepetitions, r.Privacy.Tuning.Method = g.Epsilon, 3, "baseline"
	r.Privacy.Tuning.Space.Runs, r.Privacy.Tuning.Space.Line = nil, &report.Line{Slope: 0.01, Order: 40}
	a, err := Account(context.Background(), r, nil)
	if err != nil || a.Missing != "" || a.BySteps != nil || len(a.ByEpsilon) == 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, c := range a.ByEpsilon {
		if math.Abs(c.X-g.Epsilon) < 1e-9*g.Epsilon && !(c.Y[0] <= 1e-5*(1+1e-6)) {
			t.Errorf("delta %v at the stated epsilon", c.Y[0])
		}
	}
}

func TestScaledEvents(t *testing.T) {
	base := accountant.DPSGD(0.1, 1, 10)
	want := accountant.DPSGD(0.1, 1, 5)
	k := accountant.Poisson{Mean: 2}
	for name, make := range map[string]func(accountant.Event) accountant.Event{
		"run":       func(e accountant.Event) accountant.Event { return e },
		"variant 1": func(e accountant.Event) accountant.Event { return accountant.Variant1(0.1, k, e) },
		"variant 2": func(e accountant.Event) accountant.Event { return accountant.Variant2(0.1, k, e) },
		"baseline":  func(e accountant.Event) accountant.Event { return accountant.Baseline(k, e) },
		"parallel": func(e accountant.Event) accountant.Event {
			return accountant.Parallel{Events: []accountant.Event{e, e}}
		},
		"repeated": func(e accountant.Event) accountant.Event {
			return accountant.SelfComposed{Event: accountant.MaxOver{Events: []accountant.Event{e}}, Count: 3}
		},
	} {
		e := make(base)
		if got := scaled(e, 0.5); !reflect.DeepEqual(got, make(want)) {
			t.Errorf("%s: %+v", name, got)
		}
		if !reflect.DeepEqual(e, make(base)) {
			t.Errorf("%s: the event has changed", name)
		}
		if steps, ok := stepsOf(e); !ok || common(steps) != 10 {
			t.Errorf("%s: %v, %v", name, steps, ok)
		}
	}
	mixed := accountant.MaxOver{Events: []accountant.Event{base, accountant.RDPLine{Slope: 1}}}
	if _, ok := stepsOf(mixed); ok || scaled(mixed, 0.5) != nil {
		t.Error("a line has steps")
	}
	if got := scaled(accountant.DPSGD(0.1, 1, 3), 0.01); !reflect.DeepEqual(got, accountant.DPSGD(0.1, 1, 1)) {
		t.Errorf("less than one step: %+v", got)
	}
	if common([]int{3, 4}) != 0 || common([]int{3, 3}) != 3 {
		t.Error("common steps")
	}
}
