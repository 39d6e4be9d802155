package ledger

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/accountant"
)

// Releases for units add up only with releases for the same column and number of rows, and survive the file.
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
	for _, other := range []Release{release("c", "", 0), release("c", "patient", 2), release("c", "visit", 3)} {
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
