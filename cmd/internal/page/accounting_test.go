package page

import (
	"context"
	"errors"
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
	epsilon := func(delta float64, mode accountant.Mode) float64 {
		g, err := accountant.Epsilon(accountant.DPSGD(0.05, 1.5, 64), delta, accountant.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		return g.Epsilon
	}
	r.Privacy.Epsilon = epsilon(1e-5, accountant.Tight)
	var reports int
	a, err := Account(context.Background(), r, func(done, total int) {
		if reports++; done != reports {
			t.Errorf("report %d says %d of %d", reports, done, total)
		}
	})
	if err != nil || a.Missing != "" || reports != 3*len(a.ByDelta) {
		t.Fatalf("%+v, %v, %d reports", a, err, reports)
	}
	for i, mode := range []accountant.Mode{accountant.Best, accountant.Tight, accountant.Paper} {
		first, last := a.ByDelta[0], a.ByDelta[len(a.ByDelta)-1]
		if first.Delta != 1e-10 || last.Delta != 1e-2 || first.Epsilon[i] != epsilon(1e-10, mode) || last.Epsilon[i] != epsilon(1e-2, mode) {
			t.Errorf("%s over delta: %v to %v", mode, first, last)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Account(ctx, r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
