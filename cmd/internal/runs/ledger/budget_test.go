package ledger

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

func setBudget(t testing.TB, l *Ledger, d Data, epsilon, delta float64) {
	t.Helper()
	if err := l.SetBudget(t.Context(), d, epsilon, delta); err != nil {
		t.Fatal(err)
	}
}

// A budget allows releases as long as all together meet it, and no more.
func TestStandingBudget(t *testing.T) {
	l, d := open(t, t.TempDir()), rows("a.csv", span(0, 100)...)
	setBudget(t, l, d, 3, 1e-5)
	// n mechanisms of noise 4 are one of noise 4/sqrt(n).
	fit := 0
	for exactGaussian(4/math.Sqrt(float64(fit+1)), 1e-5) <= 3 {
		fit++
	}
	for i := range fit {
		record(t, l, gaussian(t, fmt.Sprint(i), d, 4, 1e-5))
	}
	var refused *BudgetError
	_, err := l.Record(t.Context(), gaussian(t, "more", d, 4, 1e-5))
	if !errors.As(err, &refused) || refused.Spent.Releases != fit || refused.With.Epsilon <= 3 || refused.Spent.Epsilon > 3 {
		t.Fatalf("after %d releases: %v, want a refusal", fit, err)
	}
	if all, _ := l.Releases(); len(all) != fit {
		t.Errorf("%d releases are recorded, want %d", len(all), fit)
	}
	for _, part := range []string{
		"a.csv: the standing budget of epsilon 3 at delta 1e-05 refuses this run", fmt.Sprintf("%d releases have spent epsilon %s", fit, up(refused.Spent.Epsilon)),
		"this one would make it " + up(refused.With.Epsilon), down(3-refused.Spent.Epsilon) + " is left", "smaller --epsilon", "dptrain ledger budget",
	} {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	record(t, l, gaussian(t, "0", d, 4, 1e-5)) // resumed, it isn't another release
	setBudget(t, l, d, 0.1, 1e-5)
	record(t, l, gaussian(t, "0", d, 4, 1e-5)) // nor is it refused if the budget is below the amount spent
	setBudget(t, l, d, 3, 1e-5)
	// A release of other data isn't refused, nor one that costs almost nothing.
	record(t, l, gaussian(t, "other", rows("b.csv", span(500, 600)...), 0.5, 1e-5), gaussian(t, "small", d, 1e4, 1e-5))

	void := gaussian(t, "void", d, 1e6, 1e-5)
	void.Void = true
	if _, err := l.Record(t.Context(), void); !errors.As(err, &refused) || !strings.Contains(err.Error(), "no guarantee") {
		t.Errorf("void: %v", err)
	}
	if removed, err := l.RemoveBudget(t.Context(), d); err != nil || !removed {
		t.Fatal(removed, err)
	}
	record(t, l, void, gaussian(t, "more", d, 4, 1e-5))
	if removed, err := l.RemoveBudget(t.Context(), d); err != nil || removed {
		t.Error(removed, err)
	}
}

// A budget is at its own delta, for any deltas of the releases: a smaller delta takes a larger epsilon.
func TestBudgetOfASmallerDelta(t *testing.T) {
	l, d := open(t, t.TempDir()), Named("mnist", 60000)
	r := gaussian(t, "1", d, 4, 1e-5)
	r.Epsilon = exactGaussian(4, 1e-5)
	setBudget(t, l, d, (exactGaussian(4, 1e-5)+exactGaussian(4, 1e-6))/2, 1e-6)
	var refused *BudgetError
	if _, err := l.Record(t.Context(), r); !errors.As(err, &refused) || refused.With.Delta != 1e-6 || refused.With.Epsilon < exactGaussian(4, 1e-6) {
		t.Errorf("%v, want a refusal at delta 1e-6", err)
	}
}

// A release fits into a budget of exactly its own epsilon at the budget's delta.
func TestBudgetOfOneRelease(t *testing.T) {
	d := Named("mnist", 60000)
	event := accountant.Variant1(0.1, accountant.Poisson{Mean: 3}, accountant.DPSGD(0.05, 2, 100))
	g, err := accountant.Epsilon(event, 1e-5, accountant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := open(t, t.TempDir())
	setBudget(t, l, d, g.Epsilon, 1e-5)
	record(t, l, Release{Run: "1", Data: d, Event: event, Epsilon: g.Epsilon, Delta: 1e-5})
}

// Whatever was recorded earlier, a budget counts all data that the new release connects.
func TestBudgetsOfConnectedData(t *testing.T) {
	a, b, bridge := rows("a.csv", span(0, 100)...), rows("b.csv", span(200, 300)...), rows("bridge.csv", span(50, 250)...)
	l := open(t, t.TempDir())
	record(t, l, gaussian(t, "a", a, 2, 1e-5))
	both := exactGaussian(2/math.Sqrt2, 1e-5)
	setBudget(t, l, b, (exactGaussian(2, 1e-5)+both)/2, 1e-5)
	record(t, l, gaussian(t, "b", b, 2, 1e-5))
	var refused *BudgetError
	if _, err := l.Record(t.Context(), gaussian(t, "bridge", bridge, 1e3, 1e-5)); !errors.As(err, &refused) || refused.Spent.Releases != 2 {
		t.Fatalf("%v, want a refusal that counts both", err)
	}
	// A budget for one data set is a budget for all connected ones.
	setBudget(t, l, bridge, 1.01*exactGaussian(1/math.Sqrt(0.5+1e-6), 1e-5), 1e-5)
	record(t, l, gaussian(t, "bridge", bridge, 1e3, 1e-5))
	if b, err := l.store.read(); err != nil || len(b.budgets) != 2 || b.budgets[0].Epsilon != b.budgets[1].Epsilon {
		t.Errorf("%+v, %v", b, err)
	}
}

// A new budget for a part of the data doesn't free the rest of an earlier one.
func TestBudgetOfAPart(t *testing.T) {
	whole, half, rest := rows("whole.csv", span(0, 200)...), rows("half.csv", span(0, 100)...), rows("rest.csv", span(100, 200)...)
	l := open(t, t.TempDir())
	setBudget(t, l, whole, 8, 1e-5)
	setBudget(t, l, Named("mnist", 1), 3, 1e-5)
	setBudget(t, l, half, 2, 1e-6)
	setBudget(t, l, half, 1, 1e-6)
	for _, d := range []Data{whole, half, rest} {
		if a := account(t, l, d); len(a.Budgets) != 2 || a.Budgets[0].Epsilon != 1 || a.Budgets[0].Delta != 1e-6 || a.Budgets[1].Delta != 1e-6 {
			t.Errorf("%s: budgets %+v", d.Name, a.Budgets)
		}
	}
	if removed, err := l.RemoveBudget(t.Context(), rest); err != nil || !removed {
		t.Error(removed, err)
	}
	if b, err := l.store.read(); err != nil || len(b.budgets) != 1 || b.budgets[0].Data.Name != "mnist" {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestBudgetBelowWhatIsSpent(t *testing.T) {
	l, d := open(t, t.TempDir()), Named("mnist", 10)
	record(t, l, gaussian(t, "1", d, 1, 1e-5))
	setBudget(t, l, d, 0.5, 1e-7)
	a := account(t, l, d)
	if len(a.Budgets) != 1 || a.Budgets[0].Left() != 0 || a.Budgets[0].Spent.Epsilon < exactGaussian(1, 1e-7) || a.Budgets[0].Spent.Delta != 1e-7 {
		t.Errorf("%+v", a.Budgets)
	}
	var refused *BudgetError
	if _, err := l.Record(t.Context(), gaussian(t, "2", d, 1e9, 1e-5)); !errors.As(err, &refused) || !strings.Contains(err.Error(), "0 is left; train on other data") {
		t.Errorf("%v", err)
	}
}

func TestBudgetsThatCannotBeSet(t *testing.T) {
	l := open(t, t.TempDir())
	for _, c := range [][2]float64{{0, 1e-5}, {-1, 1e-5}, {math.Inf(1), 1e-5}, {math.NaN(), 1e-5}, {1, 0}, {1, 1}, {1, math.NaN()}} {
		if err := l.SetBudget(t.Context(), Named("mnist", 1), c[0], c[1]); err == nil {
			t.Errorf("%v is set", c)
		}
	}
	if err := l.SetBudget(t.Context(), Data{}, 1, 1e-5); err == nil {
		t.Error("a budget for nothing is set")
	}
}
