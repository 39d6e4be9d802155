package ledger

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/show"
)

// Budget is a standing budget: all releases of a data set together may cost Epsilon at Delta.
type Budget struct {
	Data    Data
	Epsilon float64
	Delta   float64
}

// Standing is a budget and the amount spent. A budget may be below the amount spent; it then refuses every release.
type Standing struct {
	Budget
	Spent Total // of the recorded releases, at the budget's delta
	With  Total // of these and the planned ones
}

// Left returns the rest of the budget's epsilon, at least 0. By composition a release of a somewhat larger epsilon may
// fit.
func (s Standing) Left() float64 { return max(0, s.Epsilon-s.Spent.Epsilon) }

// Refusal returns the [*BudgetError] of a standing budget that refuses the planned releases, or nil.
func (a Account) Refusal() error {
	for _, s := range a.Budgets {
		if s.With.Void > s.Spent.Void || s.With.Epsilon > s.Epsilon {
			e := &BudgetError{Standing: s}
			if i := slices.IndexFunc(a.Releases, func(r Release) bool { return !r.Void }); i >= 0 && !s.Spent.Apart() {
				e.addsUp = a.Releases[i].flag()
			}
			return e
		}
	}
	if len(a.near) > 0 && (a.capped || len(a.Budgets) > 0) {
		return &BudgetError{near: a.Near()}
	}
	return nil
}

// BudgetError reports a release that a standing budget refuses. Its text is private, like the ledger.
type BudgetError struct {
	Standing
	addsUp string // how a run is given the unit of the earlier ones; "" if they have several
	near   string // what to decide first; the other fields are then zero
}

func (e *BudgetError) Error() string {
	if e.near != "" {
		return "a standing budget needs to know whose data these are: " + e.near
	}
	name := show.Printable(e.Data.Name)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the standing budget of epsilon %s at delta %v refuses this run: ", name, down(e.Epsilon), e.Delta)
	if e.Spent.Releases == 0 {
		b.WriteString("nothing is spent")
	} else if !e.Spent.Apart() {
		fmt.Fprintf(&b, "%s spent epsilon %s", have(e.Spent.Releases), up(e.Spent.Epsilon))
	} else {
		b.WriteString("the earlier releases are " + e.Spent.Bound)
	}
	if e.Spent.Void > 0 {
		fmt.Fprintf(&b, " (and %d more have no guarantee)", e.Spent.Void)
	}
	switch {
	case e.With.Void > e.Spent.Void:
		b.WriteString(", and this one has no guarantee, so no budget covers it; run it without a fixed seed and with noise")
	case e.Spent.Apart():
		b.WriteString(", so no run fits; train on other data")
	case e.With.Apart():
		fmt.Fprintf(&b, ", and this one is %s; run it %s, as the earlier ones", e.With.Bound, e.addsUp)
	default:
		fmt.Fprintf(&b, ", this one would make it %s, and %s is left", up(e.With.Epsilon), down(e.Left()))
		if e.Left() > 0 {
			b.WriteString("; give it a smaller --epsilon, which may be above what is left, since releases compose")
		} else {
			b.WriteString("; train on other data")
		}
	}
	fmt.Fprintf(&b, ", or decide on another budget by dptrain ledger budget")
	return b.String()
}

func have(releases int) string {
	if releases == 1 {
		return "1 release has"
	}
	return fmt.Sprintf("%d releases have", releases)
}

func (b Budget) check() error {
	if err := b.Data.check(); err != nil {
		return err
	}
	if !(b.Epsilon > 0) || math.IsInf(b.Epsilon, 1) || !(b.Delta > 0 && b.Delta < 1) {
		return fmt.Errorf("a budget of epsilon %v at delta %v: want a finite epsilon above 0, and a delta between 0 and 1", b.Epsilon, b.Delta)
	}
	return nil
}
