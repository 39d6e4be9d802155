package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/dptrain/dptrain/internal/show"
)

// differ returns why releases have no common epsilon, or "": they add up if their guarantees are of single rows, or of
// the same column's units. A guarantee of rows says nothing about a person with several rows, and a guarantee of one
// column's units nothing about another column's.
//
// The number of rows that a run keeps of each unit may differ. Let D' be D and one unit more, with all its rows, and
// let run i keep at most R_i of each unit. Its choice in a unit depends on its key and on that unit alone. So for every
// key the rows kept of D' are those kept of D and at most R_i more, for which the pair of GroupOf R_i dominates the
// run. A pair that dominates for every key dominates for a random one, since hockey-stick divergences are jointly
// convex and the keys have the same law for D and D'. So each run's pair is for D and D', whatever its R_i is, and
// pairs for the same neighbours compose, adaptively too (Zhu, Dong and Wang, 2022, Theorem 10).
func differ(all []Release) string {
	for _, r := range all {
		if r.Unit != all[0].Unit {
			return fmt.Sprintf(notAdded+"guarantees for %s and for %s have no common unit", all[0].protects(), r.protects())
		}
	}
	return ""
}

// protects returns what the release's guarantee protects.
func (r Release) protects() string {
	if r.Unit == "" {
		return "single rows"
	}
	return "units of column " + show.Printable(r.Unit)
}

// flag returns how a run is given the release's unit.
func (r Release) flag() string {
	if r.Unit == "" {
		return "without --unit"
	}
	return "with --unit " + show.Printable(r.Unit)
}

// Apart reports whether the releases have no common epsilon: Epsilon is then infinite, and Bound says why.
func (t Total) Apart() bool { return strings.HasPrefix(t.Bound, notAdded) }

const notAdded = "not added up: "

// MarshalJSON writes an infinite epsilon as null.
func (t Total) MarshalJSON() ([]byte, error) {
	type plain Total
	finite := func(v float64) *float64 {
		if math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	out := struct {
		plain
		Epsilon    *float64 `json:"epsilon"`
		SumEpsilon *float64 `json:"sum_epsilon"`
	}{plain(t), finite(t.Epsilon), finite(t.SumEpsilon)}
	return json.Marshal(out)
}
