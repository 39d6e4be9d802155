package ledger

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/accountant"
)

// Releases for units add up only with releases for the same column, with any number of rows, and survive the file.
func TestUnitsAddUpAmongThemselves(t *testing.T) {
	release := func(run, unit string, rows int) Release {
		e := accountant.DPSGD(0.05, 2, 20)
		if rows > 1 {
			e = accountant.GroupOf{Event: e, Size: rows}
		}
		g, err := accountant.Epsilon(e, 1e-5, accountant.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return Release{Run: run, Command: "tune", Data: Named("mine", 10), Event: e, Epsilon: g.Epsilon, Delta: 1e-5, Began: time.Unix(0, 0).UTC(), Unit: unit, RowsPerUnit: rows}
	}
	a, b := release("a", "patient", 3), release("b", "patient", 3)
	var c composer
	one, err := c.total([]Release{a}, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	both, err := c.total([]Release{a, b}, 1e-5)
	if err != nil || both.Apart() || !(both.Epsilon > a.Epsilon && both.Epsilon < 2*a.Epsilon) {
		t.Errorf("two of the same units: %+v, %v; one costs %v", both, err, a.Epsilon)
	}
	fewer, err := c.total([]Release{a, release("c", "patient", 2)}, 1e-5)
	if err != nil || fewer.Apart() || !(fewer.Epsilon > a.Epsilon && fewer.Epsilon < both.Epsilon) {
		t.Errorf("units of 3 and of 2 rows: %+v, %v; one costs %v, and two of 3 %v", fewer, err, a.Epsilon, both.Epsilon)
	}
	void := release("c", "", 0)
	void.Void = true
	if total, err := c.total([]Release{a, void}, 1e-5); err != nil || total.Apart() || total.Epsilon != one.Epsilon {
		t.Errorf("beside a release without a guarantee: %+v, %v", total, err)
	}
	for _, other := range []Release{release("c", "", 0), release("c", "visit", 3)} {
		total, err := c.total([]Release{a, other}, 1e-5)
		if err != nil || !math.IsInf(total.Epsilon, 1) || !total.Apart() {
			t.Errorf("%q x %d: %+v, %v", other.Unit, other.RowsPerUnit, total, err)
		}
		if text, err := json.Marshal(total); err != nil || !strings.Contains(string(text), `"epsilon":null`) {
			t.Errorf("%s, %v", text, err)
		}
		account := Account{Releases: []Release{a}, Planned: []Release{other}, Spent: one, With: total}
		if line := account.Line("mine"); !strings.Contains(line, "no common unit") || strings.Contains(line, "infinite") {
			t.Error(line)
		}
	}
	text, err := (&book{releases: []Release{a}}).encode()
	if err != nil {
		t.Fatalf("%s, %v", text, err)
	}
	back, err := parse(text)
	if err != nil || back.releases[0].Unit != "patient" || back.releases[0].RowsPerUnit != 3 {
		t.Errorf("%+v, %v", back, err)
	}
}

// A budget refuses a release of another unit, and says which flag would be allowed.
func TestBudgetsOfOtherUnits(t *testing.T) {
	for _, c := range []struct{ first, then, want string }{
		{"patient", "", "single rows have no common unit; run it with --unit patient, as the earlier ones, or decide"},
		{"", "patient", "units of column patient have no common unit; run it without --unit, as the earlier ones, or decide"},
	} {
		l, d := open(t, t.TempDir()), Named("mine", 10)
		first, then := gaussian(t, "a", d, 4, 1e-5), gaussian(t, "b", d, 4, 1e-5)
		first.Unit, then.Unit = c.first, c.then
		record(t, l, first)
		setBudget(t, l, d, 100, 1e-5)
		_, err := l.Record(t.Context(), then)
		var refused *BudgetError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "smaller") {
			t.Errorf("%v, want %q", err, c.want)
		}
		if removed, err := l.RemoveBudget(t.Context(), d); !removed || err != nil {
			t.Fatal(removed, err)
		}
		record(t, l, then)
		setBudget(t, l, d, 100, 1e-5)
		then.Run = "c"
		if _, err := l.Record(t.Context(), then); err == nil || !strings.Contains(err.Error(), "so no run fits") || strings.Contains(err.Error(), "infinite") {
			t.Errorf("after both: %v", err)
		}
	}
}
