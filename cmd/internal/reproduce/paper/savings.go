package paper

import (
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// savingsTable compares the numbers of gradients that methods compute: expected, and in runs.
func (r *results) savingsTable(figures []Figure) (Table, error) {
	t := Table{Name: "savings", Texts: 2}
	t.Title = "Gradients of single samples that were computed, in millions"
	t.Columns = []string{"tuned", "data", "μ", "variant 1", "drawn", "variant 2", "drawn", "baseline", "drawn", "baseline /v. 1", "drawn", "baseline /v. 2", "drawn"}
	t.Numbers = [][]string{{
		"tuned", "optimizer", "dataset", "mean_trials", "method", "expected_gradients", "runs", "drawn_gradients_mean", "drawn_gradients_standard_error",
		"expected_ratio", "drawn_ratio", "drawn_ratio_low", "drawn_ratio_high",
	}}
	for _, tuned := range tunings(figures) {
		for _, dataset := range r.Datasets {
			w, err := r.workload(dataset, tuned)
			if err != nil {
				return t, err
			}
			row := []string{tuned.String(), DatasetName(dataset), number(w.Privacy.MeanRepetitions)}
			baseline := r.pooled(tuned, dataset, campaign.Baseline, gradients, r.Accountings...)
			var ratios []string
			for _, m := range []campaign.Method{campaign.Variant1, campaign.Variant2, campaign.Baseline} {
				drawn := r.pooled(tuned, dataset, m, gradients, r.Accountings...)
				row = append(row, millions(w.expected(m)), millions(drawn.mean()))
				line := []string{string(tuned.space), tuned.optimizer, dataset, number(w.Privacy.MeanRepetitions), string(m), number(w.expected(m)), strconv.Itoa(len(drawn)), number(drawn.mean()), number(drawn.standardError())}
				if m == campaign.Baseline {
					t.Numbers = append(t.Numbers, append(line, "", "", "", ""))
					continue
				}
				expected := w.expected(campaign.Baseline) / w.expected(m)
				seen, interval := ratio(baseline, drawn)
				ratios = append(ratios, fixed(expected, 2), fixed(seen, 2))
				t.Numbers = append(t.Numbers, append(line, number(expected), number(seen), interval.number(interval.Low), interval.number(interval.High)))
			}
			t.Rows = append(t.Rows, append(row, ratios...))
		}
	}
	t.Note = "Expected: E(μqn+(1−q)n) for variant 1, E(μqn+n) for variant 2, Eμn for the baseline, with E the epochs, averaged over the grid where they are tuned, also for the final run, which has those of its best trial. Drawn: the mean over all runs, given their numbers of trials and their candidates."
	return t, nil
}

// timesTable compares the times that training took. They can't be repeated to the byte.
func (r *results) timesTable(figures []Figure) Table {
	t := Table{Name: "times", Texts: 3}
	t.Title = "Seconds of training, summed over trials and final run"
	t.Columns = []string{"tuned", "data", "accounting", "variant 1", "variant 2", "baseline", "single run", "baseline / faster variant", "95 % interval"}
	t.Numbers = [][]string{{"tuned", "optimizer", "dataset", "accounting", "method", "runs", "seconds_mean", "seconds_standard_error", "ratio_of_baseline", "ratio_low", "ratio_high"}}
	for _, tuned := range tunings(figures) {
		for _, dataset := range r.Datasets {
			for _, accounting := range r.Accountings {
				row := []string{tuned.String(), DatasetName(dataset), accounting}
				s, ok := r.speedup(tuned, dataset, accounting, seconds)
				for _, m := range []campaign.Method{campaign.Variant1, campaign.Variant2, campaign.Baseline, campaign.Single} {
					times := r.pooled(tuned, dataset, m, seconds, accounting)
					row = append(row, digits(times.mean()))
					line := []string{string(tuned.space), tuned.optimizer, dataset, accounting, string(m), strconv.Itoa(len(times)), number(times.mean()), number(times.standardError()), "", "", ""}
					if ok && m == s.variant {
						line = append(line[:8], number(s.ratio), s.interval.number(s.interval.Low), s.interval.number(s.interval.High))
					}
					t.Numbers = append(t.Numbers, line)
				}
				if ok {
					row = append(row, fixed(s.ratio, 2), s.interval.text(2))
				} else {
					row = append(row, "", "")
				}
				t.Rows = append(t.Rows, row)
			}
		}
	}
	t.Note = "Means over all epsilons and repetitions. The faster variant is chosen by the same means, which makes the ratio slightly larger. Intervals by Fieller's theorem with Satterthwaite's degrees of freedom."
	return t
}

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
