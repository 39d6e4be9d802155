package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// differ returns why releases have no common epsilon, or "": they add up if their guarantees are of the same unit with
// the same number of rows. A guarantee of rows says nothing about a person with several rows, and a guarantee of one
// column's units nothing about another column's.
func differ(all []Release) string {
	for _, r := range all {
		if r.Unit != all[0].Unit || r.RowsPerUnit != all[0].RowsPerUnit {
			return fmt.Sprintf(notAdded+"guarantees for %s and for %s have no common unit", all[0].protects(), r.protects())
		}
	}
	return ""
}

// protects returns the unit that the release's guarantee protects.
func (r Release) protects() string {
	if r.Unit == "" {
		return "single rows"
	}
	return fmt.Sprintf("units of column %s with at most %d rows", printable(r.Unit), r.RowsPerUnit)
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
