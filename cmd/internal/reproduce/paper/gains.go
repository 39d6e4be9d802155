package paper

import (
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// gainsTable compares accuracies by best accounting and by the paper's, at equal epsilon. False means one is missing.
func (r *results) gainsTable(figures []Figure) (Table, bool) {
	t := Table{Name: "accounting_gains", Texts: 2}
	if !slices.Contains(r.Accountings, "best") || !slices.Contains(r.Accountings, "paper") {
		return t, false
	}
	t.Title = "Test accuracy by best accounting less that by the paper's, in percentage points"
	t.Columns = []string{"tuned", "data", "ε", "variant 1", "variant 2", "baseline"}
	t.Numbers = [][]string{{"tuned", "optimizer", "dataset", "epsilon", "method", "runs_best", "runs_paper", "difference", "low", "high", "noise_best", "noise_paper"}}
	for _, tuned := range tunings(figures) {
		for _, dataset := range r.Datasets {
			for _, e := range r.Epsilons {
				row := []string{tuned.String(), DatasetName(dataset), number(e)}
				for _, m := range []campaign.Method{campaign.Variant1, campaign.Variant2, campaign.Baseline} {
					best, paper := tuned.cell(dataset, m, "best", e), tuned.cell(dataset, m, "paper", e)
					a, b := r.of(best, percent), r.of(paper, percent)
					f := above("", a, b, false, 2, "")
					text := f.Seen
					if f.Verdict == NoRuns {
						text = "–"
					} else if f.interval.Missing != "" {
						text = signed(f.value, 2)
					}
					row = append(row, text)
					t.Numbers = append(t.Numbers, []string{
						string(tuned.space), tuned.optimizer, dataset, number(e), string(m), strconv.Itoa(len(a)), strconv.Itoa(len(b)),
						number(f.value), f.interval.number(f.interval.Low), f.interval.number(f.interval.High), number(r.of(best, noise).mean()), number(r.of(paper, noise).mean()),
					})
				}
				t.Rows = append(t.Rows, row)
			}
		}
	}
	t.Note = "Welch's intervals of 95 %, in brackets, each by itself; none where a cell has one run. Both accountings prove the same epsilon; best needs less noise for it."
	return t, true
}
