package paper

import (
	"fmt"
	"strconv"

	"github.com/dptrain/dptrain/cmd/internal/release"
)

// claimsTable lists every comparison. The page has them beside the figures.
func claimsTable(outcomes []Outcome) Table {
	t := Table{Name: "claims"}
	t.Numbers = [][]string{{"claim", "figure", "accounting", "verdict_of_claim", "where", "verdict", "value", "low", "high", "runs_a", "runs_b", "p_against"}}
	for _, o := range outcomes {
		for _, f := range o.Findings {
			t.Numbers = append(t.Numbers, []string{
				o.Label, o.Figure, o.Accounting, string(o.Verdict), f.Where, string(f.Verdict), number(f.value),
				f.interval.number(f.interval.Low), f.interval.number(f.interval.High), strconv.Itoa(f.runs[0]), strconv.Itoa(f.runs[1]), f.interval.number(f.against),
			})
		}
	}
	return t
}

// multiplicity returns a note on how many of the intervals are expected to be wrong.
func multiplicity(outcomes []Outcome) string {
	n := 0
	for _, o := range outcomes {
		for _, f := range o.Findings {
			if f.interval.Missing == "" {
				n++
			}
		}
	}
	if n == 0 {
		return "No comparison has an interval."
	}
	wrong := "fewer than one of them is"
	if n >= 20 {
		wrong = "about " + fixed(float64(n)*(1-confidence), 0) + " of them are"
		if n < 30 {
			wrong = "about one of them is"
		}
	}
	return fmt.Sprintf("%s comparisons have an interval of 95 %%, each by itself: %s expected to miss the truth. One that stands out among many others means little.", release.Grouped(n), wrong)
}

// Table is a table of texts, for the page, and of numbers, for a CSV file.
type Table struct {
	Name    string // of the file
	Title   string
	Columns []string
	Texts   int        // how many columns, the first ones, aren't numbers
	Rows    [][]string // each as long as Columns; without them the table isn't on the page
	Note    string     // below the table
	Numbers [][]string // all digits, below a row of column names
}
