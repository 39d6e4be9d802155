package page

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/runs"
)

// described returns a run with a manifest that has an event.
func described(t *testing.T, event accountant.Event) Run {
	t.Helper()
	text, err := accountant.MarshalEvent(event)
	if err != nil {
		t.Fatal(err)
	}
	return Run{Privacy: aRelease().Privacy, Manifest: &runs.Manifest{Event: text}}
}

// Curves are shown only for an event with the stated epsilon.
func TestNoCurvesOfAnotherRun(t *testing.T) {
	plan := accountant.Variant1(0.1, accountant.Poisson{Mean: 15}, accountant.DPSGD(0.0213, 1.4830747, 1878))
	if _, err := described(t, plan).event(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Run){
		"the statement has":          func(r *Run) { r.Privacy.Epsilon *= 1 + 1e-5 },
		"and the statement has 3.99": func(r *Run) { r.Privacy.Accounting = "paper" },
		"invalid mode":               func(r *Run) { r.Privacy.Accounting = "<b>" },
		"decode event":               func(r *Run) { r.Manifest.Event = []byte("{}") },
		"run.json":                   func(r *Run) { r.Manifest.Event = nil },
		"isn’t beside":               func(r *Run) { r.Manifest = nil },
	} {
		r := described(t, plan)
		change(&r)
		a, err := Account(context.Background(), r, nil)
		if err != nil || !strings.Contains(a.Missing, want) || a.ByDelta != nil {
			t.Errorf("%s: %+v, %v", want, a, err)
		}
	}
}

// The curves have the accountant's values at hand-picked points.
func TestAccount(t *testing.T) {
	r := described(t, accountant.DPSGD(0.05, 1.5, 64))
	r.Privacy.Epsilon, r.Privacy.Delta, r.Privacy.Samples, r.Privacy.Accounting = 0, 1e-5, 1000, "tight"
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

// A plan of a line has no steps, so the page shows delta over epsilon instead.
func TestAccountOfALine(t *testing.T) {
	line := accountant.SelectBest{Event: accountant.RDPLine{Slope: 0.01, Orders: accountant.Orders{Low: 2, High: 40}}, Repetitions: accountant.Poisson{Mean: 3}}
	g, err := accountant.Epsilon(line, 1e-5, accountant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := described(t, line)
	r.Privacy.Epsilon = g.Epsilon
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
