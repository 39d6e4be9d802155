package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/campaign"
	"github.com/dptrain/dptrain/internal/figure"
)

// Table is a table of texts with its name, which is that of its files.
type Table struct {
	Name    string
	Source  string // label of the paper's table; empty for one of ours
	CSVOnly bool   // without a picture, for which it is too long
	figure.TextTable
}

// Tables returns the paper's two tables of hyperparameters, made from the presets, for some data sets.
func Tables(datasets []string) ([]Table, error) {
	fixed, err := fixedTable(datasets)
	if err != nil {
		return nil, err
	}
	grids, err := gridTable(datasets)
	return []Table{fixed, grids}, err
}

// fixedTable is the paper's tab:lr_exp_param.
func fixedTable(datasets []string) (Table, error) {
	t := Table{Name: "lr_exp_param", Source: "tab:lr_exp_param"}
	t.Title = "Tuning the learning rate: what is fixed"
	t.Columns = []string{""}
	rows := [][]string{{"sampling rate *γ*"}, {"epochs"}}
	t.Numbers = [][]string{{"dataset", "sampling_rate", "epochs"}}
	for _, dataset := range datasets {
		w, err := workloadOf(dataset, group{"dp-sgd", campaign.Rate})
		if err != nil {
			return t, err
		}
		t.Columns = append(t.Columns, DatasetName(dataset))
		rows[0] = append(rows[0], number(w.Privacy.SamplingRate))
		rows[1] = append(rows[1], number(w.Privacy.Epochs))
		t.Numbers = append(t.Numbers, []string{dataset, number(w.Privacy.SamplingRate), number(w.Privacy.Epochs)})
	}
	t.Rows = rows
	t.Notes = []string{"*γ* is the expected batch over the size of the tuning set, and the same in the final run. Learning rates are those of the grids."}
	return t, nil
}

// gridTable is the paper's tab:data_sets.
func gridTable(datasets []string) (Table, error) {
	t := Table{Name: "data_sets", Source: "tab:data_sets"}
	t.Title = "Tuning learning rate, batch size and epochs: data sets and grids"
	t.Columns = []string{"", "train/test", "parameters", "*C*", "*B*", "learning rate *η*", "epochs"}
	t.Numbers = [][]string{{"dataset", "train", "test", "parameters", "clipping_norm", "batch_sizes", "learning_rates", "epochs"}}
	for _, dataset := range datasets {
		w, err := workloadOf(dataset, group{"dp-sgd", campaign.All})
		if err != nil {
			return t, err
		}
		parameters, err := w.parameters()
		if err != nil {
			return t, err
		}
		var batches []float64
		for _, b := range w.Tuning.BatchSizes {
			batches = append(batches, float64(b))
		}
		t.Rows = append(t.Rows, []string{
			DatasetName(dataset), grouped(w.info.Train) + "/" + grouped(w.info.Test), grouped(parameters), number(w.Privacy.ClippingNorm),
			list(batches, ", "), powers(w.Tuning.LearningRates), list(w.Tuning.Epochs, ", "),
		})
		t.Numbers = append(t.Numbers, []string{
			dataset, strconv.Itoa(w.info.Train), strconv.Itoa(w.info.Test), strconv.Itoa(parameters), number(w.Privacy.ClippingNorm),
			list(batches, " "), list(w.Tuning.LearningRates, " "), list(w.Tuning.Epochs, " "),
		})
	}
	t.Notes = []string{"*B* is the expected batch in the tuning set; *γ* = *B*/(*qn*) to three digits. The noise multiplier is the smallest for each *γ* and number of epochs."}
	return t, nil
}

// savingsTable compares the gradients that methods compute: expected, and what was drawn.
func (r *results) savingsTable(figures []Figure) (Table, error) {
	t := Table{Name: "savings"}
	t.Title = "Gradients of single samples that were computed, in millions"
	t.Columns = []string{"tuned", "data", "*μ*", "variant 1", "drawn", "variant 2", "drawn", "baseline", "drawn", "baseline /v. 1", "drawn", "baseline /v. 2", "drawn"}
	t.Numbers = [][]string{{
		"tuned", "optimizer", "dataset", "mean_trials", "method", "expected_gradients", "runs", "drawn_gradients_mean", "drawn_gradients_standard_error",
		"expected_ratio", "drawn_ratio", "drawn_ratio_low", "drawn_ratio_high",
	}}
	for _, g := range groups(figures) {
		for _, dataset := range r.Datasets {
			w, err := r.workload(dataset, g)
			if err != nil {
				return t, err
			}
			row := []string{g.String(), DatasetName(dataset), number(w.Privacy.MeanRepetitions)}
			baseline := r.pooled(g, dataset, campaign.Baseline, r.Accountings, gradients)
			var ratios []string
			for _, m := range []campaign.Method{campaign.Variant1, campaign.Variant2, campaign.Baseline} {
				drawn := r.pooled(g, dataset, m, r.Accountings, gradients)
				row = append(row, millions(w.expected(m)), millions(drawn.mean()))
				line := []string{string(g.space), g.optimizer, dataset, number(w.Privacy.MeanRepetitions), string(m), number(w.expected(m)), strconv.Itoa(len(drawn)), number(drawn.mean()), number(drawn.standardError())}
				if m == campaign.Baseline {
					t.Numbers = append(t.Numbers, append(line, "", "", "", ""))
					continue
				}
				expected := w.expected(campaign.Baseline) / w.expected(m)
				seen, interval := ratio(baseline, drawn)
				ratios = append(ratios, fixed(expected, 2), fixed(seen, 2))
				t.Numbers = append(t.Numbers, append(line, number(expected), number(seen), interval.low(), interval.high()))
			}
			t.Rows = append(t.Rows, append(row, ratios...))
		}
	}
	t.Notes = []string{
		"Expected: *E*(*μqn*+(1−*q*)*n*) for variant 1, *E*(*μqn*+*n*) for variant 2, *Eμn* for the baseline, with *E* the epochs, averaged over the grid where they are tuned. Drawn: the mean over all runs, given their numbers of trials and their candidates.",
	}
	return t, nil
}

// timesTable compares the times that training took. They can't be repeated to the byte.
func (r *results) timesTable(figures []Figure) Table {
	t := Table{Name: "times"}
	t.Title = "Seconds of training, summed over trials and final run"
	t.Columns = []string{"tuned", "data", "accounting", "variant 1", "variant 2", "baseline", "single run", "baseline / faster variant", "95 % interval"}
	t.Numbers = [][]string{{"tuned", "optimizer", "dataset", "accounting", "method", "runs", "seconds_mean", "seconds_standard_error", "ratio_of_baseline", "ratio_low", "ratio_high"}}
	for _, g := range groups(figures) {
		for _, dataset := range r.Datasets {
			for _, accounting := range r.Accountings {
				row := []string{g.String(), DatasetName(dataset), accounting}
				s, ok := r.speedup(g, dataset, accounting, seconds)
				for _, m := range []campaign.Method{campaign.Variant1, campaign.Variant2, campaign.Baseline, campaign.Single} {
					times := r.pooled(g, dataset, m, []string{accounting}, seconds)
					row = append(row, digits(times.mean()))
					line := []string{string(g.space), g.optimizer, dataset, accounting, string(m), strconv.Itoa(len(times)), number(times.mean()), number(times.standardError()), "", "", ""}
					if ok && m == s.variant {
						line = append(line[:8], number(s.ratio), s.interval.low(), s.interval.high())
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
	t.Notes = []string{"Means over all epsilons and repetitions. The faster variant is chosen by the same means, which makes the ratio slightly larger. Intervals by Fieller's theorem with Satterthwaite's degrees of freedom."}
	return t
}

// groups returns what some figures train, each once, in their order.
func groups(figures []Figure) []group {
	var all []group
	seen := map[group]bool{}
	for _, f := range figures {
		if g := f.group(); f.Trains() && !seen[g] {
			seen[g] = true
			all = append(all, g)
		}
	}
	return all
}

func (g group) String() string {
	optimizer := map[string]string{"dp-sgd": "DP-SGD", "dp-adam": "DP-Adam"}[g.optimizer]
	if g.space == campaign.All {
		return "all, " + optimizer
	}
	return "rate, " + optimizer
}

// list prints numbers with all digits.
func list(values []float64, between string) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, number(v))
	}
	return strings.Join(texts, between)
}

// powers prints rates as powers of ten whose exponents have equal distances, or else all of them.
func powers(rates []float64) string {
	var exponents []float64
	for _, r := range rates {
		exponents = append(exponents, -math.Round(20*math.Log10(r))/20)
	}
	for i, e := range exponents {
		step := exponents[0] - exponents[min(1, len(exponents)-1)]
		if math.Abs(math.Pow(10, -e)/rates[i]-1) > 1e-12 || math.Abs(exponents[0]-float64(i)*step-e) > 1e-12 {
			return list(rates, ", ")
		}
	}
	if len(exponents) < 4 {
		return list(rates, ", ")
	}
	text := fmt.Sprintf("10^−*i*^, *i* = %s, %s, …, %s", number(exponents[0]), number(exponents[1]), number(exponents[len(exponents)-1]+0))
	return strings.ReplaceAll(text, " -", " −") + fmt.Sprintf(" (%d)", len(rates))
}

// grouped prints a count with commas between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
