package paper

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// Claim is a sentence of the paper that a campaign can confirm or not.
type Claim struct {
	Label    string
	Figure   string // label of the figure that it is about
	Sentence string
	Source   string // section or caption
	Here     string // which numbers are compared, if the sentence leaves it open
}

// rule is a claim with its comparisons.
type rule struct {
	Claim
	note  string
	judge func(r *results, accounting string) []Finding
	// exact reports whether neither accounting nor runs change the compared numbers, so that the claim is judged once.
	exact bool
}

const (
	takeaways = "Experimental Results, Takeaways"
	savings   = "Computational Savings"
	detail    = "caption of the figure"
)

// What several sentences leave open: values of Claim.Here.
const (
	allAccuracies = "the difference of mean accuracies, in the mean over all data sets and ε, which decides, and on each by itself"
	allTimes      = "mean training times of runs at all ε together; of gradients in a campaign with a seed"
)

// rules returns the claims about a figure that needs runs.
func (f Figure) rules() []rule {
	if !f.Trains() {
		return nil // see boundsOutcomes
	}
	tuned := f.tuning()
	var rules []rule
	claim := func(name, sentence, source, here string, judge func(r *results, accounting string) []Finding) *rule {
		rules = append(rules, rule{Claim: Claim{Label: f.Label + "/" + name, Figure: f.Label, Sentence: sentence, Source: source, Here: here}, judge: judge})
		return &rules[len(rules)-1]
	}
	variants := []campaign.Method{campaign.Variant1, campaign.Variant2}
	detailedOnly := f.Detailed && f.Optimizer == "dp-adam" && f.Space == campaign.All // has no summary figure
	if !f.Detailed || detailedOnly {
		for _, m := range variants {
			claim("accuracy_"+string(m)+"_above_baseline", fmt.Sprintf("Overall, %s has a better privacy-utility trade-off than the baseline.", m), takeaways, allAccuracies,
				tuned.ordering(percent, m, campaign.Baseline, " percentage points"))
		}
		for _, m := range variants {
			claim("cost_"+string(m)+"_below_baseline", fmt.Sprintf("Overall, %s has a lower computational cost than the baseline.", m), takeaways, allTimes, tuned.cheaper(m))
		}
		if tuned == (tuning{"dp-sgd", campaign.Rate}) {
			claim("accuracy_v1_above_v2", "Variant 1 has a slightly higher accuracy than variant 2 for DP-SGD.", takeaways, allAccuracies,
				tuned.ordering(percent, campaign.Variant1, campaign.Variant2, " percentage points"))
		}
		if tuned.space == campaign.All {
			source, sentence := takeaways, "Variant 2 has a slightly better privacy-utility trade-off than variant 1 with DP-SGD when all hyperparameters are tuned."
			if detailedOnly {
				source, sentence = detail, "Variant 2 has a slightly higher accuracy than variant 1."
			}
			claim("accuracy_v2_above_v1", sentence, source, allAccuracies,
				tuned.ordering(percent, campaign.Variant2, campaign.Variant1, " percentage points"))
		}
		fewer, mu := 6., "μ = 15"
		if tuned.space == campaign.All {
			fewer, mu = 8, "μ = 45"
		}
		sentence := fmt.Sprintf("With %s and q = 0.1 the baseline requires μ/(μq + 1), about %v, times more gradient evaluations than the paper's method.", mu, fewer)
		claim("gradients_expected", sentence, savings, "expected gradients with these presets; the formula is variant 2's, and variant 1 takes slightly fewer",
			tuned.fewerExpected(fewer)).exact = true
		claim("gradients_drawn", sentence, savings, "gradients that these runs of the baseline and variant 2 computed, by the trials that they drew; the paper speaks of expectations",
			tuned.fewerDrawn(fewer))
		for _, c := range []struct {
			tuned   tuning
			dataset string
			times   float64
		}{{tuning{"dp-sgd", campaign.Rate}, "cifar-10", 6.06}, {tuning{"dp-adam", campaign.Rate}, "fashion-mnist", 9.03}} {
			if c.tuned == tuned {
				claim("time_"+c.dataset, fmt.Sprintf("On %s the baseline's average training time is %v times that of the fastest of the variants.", DatasetName(c.dataset), c.times), detail, "",
					tuned.slower(c.dataset, c.times)).note = timesDiffer
			}
		}
	}
	if f.Detailed {
		for i, m := range variants {
			claim("noise_"+string(m)+"_below_baseline", fmt.Sprintf("Variant %d injects significantly smaller noise than the baseline for all ε regimes.", i+1), detail, "",
				tuned.ordering(noise, campaign.Baseline, m, ""))
		}
		if tuned.space == campaign.Rate {
			claim("noise_v1_below_v2", "The noise multiplier of variant 1 is consistently lower than that of variant 2.", detail, "",
				tuned.ordering(noise, campaign.Variant2, campaign.Variant1, ""))
		}
	}
	if f.Label == "figure_tune_all" {
		claim("noise_above_rate_tuning", "The noise levels are higher than in the figure where the rate alone is tuned (figure_tune_lr_dp_sgd).", takeaways, "mean noise multipliers of each method on each data set at each ε", noisier)
	}
	return rules
}

// timesDiffer explains why ratios of times differ from the paper's.
const timesDiffer = "A ratio of times depends on the hardware: the paper trained two models at a time on each of two kinds of GPU, and says that the baseline takes much more time on the weaker ones. Here trials train in groups, and steps have fixed costs, which weigh more in the small trials of the variants. What no hardware changes is the ratio of gradients."

// ordering compares a quantity of two methods at each epsilon: a should be above b. The paper says this of the noise in
// all cases, and of accuracies overall, so the mean difference of accuracies decides.
func (tuned tuning) ordering(q quantity, a, b campaign.Method, unit string) func(*results, string) []Finding {
	return func(r *results, accounting string) []Finding {
		var found []Finding
		var pairs []pair
		decimals := 2
		// Where the rate alone is tuned, the noise is computed before anything is drawn.
		exact := unit == "" && tuned.space == campaign.Rate
		if unit == "" {
			decimals = 3
		}
		for _, dataset := range r.judged() {
			for _, e := range r.Epsilons {
				cellA, cellB := tuned.cell(dataset, a, accounting, e), tuned.cell(dataset, b, accounting, e)
				valuesA, valuesB := r.of(cellA, q), r.of(cellB, q)
				if exact {
					valuesA, valuesB = r.orPlanned(cellA, valuesA), r.orPlanned(cellB, valuesB)
				}
				pairs = append(pairs, pair{valuesA, valuesB})
				f := above(where(dataset, e), valuesA, valuesB, exact, decimals, unit)
				f.runs = [2]int{len(r.byCell[cellA]), len(r.byCell[cellB])}
				found = append(found, f)
			}
		}
		if unit != "" && len(pairs) > 1 {
			found = append([]Finding{overall(pairs, decimals, unit)}, found...)
		}
		return found
	}
}

// orPlanned returns a cell's noise multiplier from its budget if it has no runs.
func (r *results) orPlanned(c campaign.Cell, values sample) sample {
	if noise, ok := r.planned[c]; ok && len(values) == 0 {
		return sample{noise}
	}
	return values
}

func where(dataset string, epsilon float64) string {
	return DatasetName(dataset) + ", ε = " + number(epsilon)
}

// cheaper compares the cost of training, in the mean over all epsilons: the baseline's over the variant's should be
// above 1.
func (tuned tuning) cheaper(m campaign.Method) func(*results, string) []Finding {
	return func(r *results, accounting string) []Finding {
		q, unit := seconds, " times the time"
		if r.seeded {
			q, unit = gradients, " times the gradients"
		}
		var found []Finding
		for _, dataset := range r.judged() {
			baseline, variant := r.pooled(tuned, dataset, campaign.Baseline, q, accounting), r.pooled(tuned, dataset, m, q, accounting)
			f := quotient(DatasetName(dataset), baseline, variant, unit)
			if f.interval.Missing == "" {
				f.Verdict = beyond(f.interval, 1)
				f.against = tail(baseline, variant, 1, f.value)
			}
			found = append(found, f)
		}
		return found
	}
}

// fewerExpected compares the ratio of gradients, of the baseline to variant 2, with the paper's. It takes no runs.
func (tuned tuning) fewerExpected(paper float64) func(*results, string) []Finding {
	return func(r *results, _ string) []Finding {
		var found []Finding
		for _, dataset := range r.judged() {
			w, err := r.workload(dataset, tuned)
			if err != nil {
				continue // a data set without a preset has no expectation
			}
			exact := w.expected(campaign.Baseline) / w.expected(campaign.Variant2)
			f := Finding{Where: DatasetName(dataset), value: exact, Seen: fixed(exact, 2) + " times, exactly", Verdict: NotSeen, interval: Interval{Missing: "exact"}}
			if math.Abs(exact/paper-1) <= margin {
				f.Verdict = Seen
			}
			found = append(found, r.smaller(f))
		}
		return found
	}
}

// fewerDrawn compares the same ratio of the gradients that runs computed.
func (tuned tuning) fewerDrawn(paper float64) func(*results, string) []Finding {
	return func(r *results, accounting string) []Finding {
		var found []Finding
		for _, dataset := range r.judged() {
			baseline, variant := r.pooled(tuned, dataset, campaign.Baseline, gradients, accounting), r.pooled(tuned, dataset, campaign.Variant2, gradients, accounting)
			found = append(found, r.smaller(about(DatasetName(dataset), baseline, variant, paper)))
		}
		return found
	}
}

// slower compares a ratio of times with the paper's.
func (tuned tuning) slower(dataset string, paper float64) func(*results, string) []Finding {
	return func(r *results, accounting string) []Finding {
		s, ok := r.speedup(tuned, dataset, accounting, seconds)
		if !ok {
			return []Finding{Finding{Where: DatasetName(dataset)}.without()}
		}
		if r.seeded {
			return []Finding{{Where: DatasetName(dataset), Seen: "times are in tables/times alone: they can't be repeated, as a seeded campaign's page must be", Verdict: Open, value: math.NaN(), interval: Interval{Missing: "in tables/times"}}}
		}
		baseline, variant := r.pooled(tuned, dataset, campaign.Baseline, seconds, accounting), r.pooled(tuned, dataset, s.variant, seconds, accounting)
		return []Finding{r.smaller(about(DatasetName(dataset), baseline, variant, paper))}
	}
}

// smaller leaves a finding open if runs are smaller than the paper's: its numbers don't hold for fewer trials.
func (r *results) smaller(f Finding) Finding {
	if !r.full() && f.Verdict != NoRuns {
		f.Verdict = Open
		f.Seen += "; runs are smaller than the paper's"
	}
	return f
}

// noisier compares the noise multipliers of tuning all and of tuning the rate alone, by DP-SGD.
func noisier(r *results, accounting string) []Finding {
	all, rate := tuning{"dp-sgd", campaign.All}, tuning{"dp-sgd", campaign.Rate}
	var found []Finding
	for _, dataset := range r.judged() {
		for _, m := range []campaign.Method{campaign.Variant1, campaign.Variant2, campaign.Baseline} {
			for _, e := range r.Epsilons {
				found = append(found, above(where(dataset, e)+", "+m.String(), r.of(all.cell(dataset, m, accounting, e), noise), r.of(rate.cell(dataset, m, accounting, e), noise), false, 3, ""))
			}
		}
	}
	return found
}

// outcomes judges all claims about a figure.
func (r *results) outcomes(f Figure) []Outcome {
	var all []Outcome
	for _, rule := range f.rules() {
		accountings := r.Accountings
		if rule.exact {
			accountings = []string{"any"}
		}
		for _, accounting := range accountings {
			o := Outcome{Claim: rule.Claim, Accounting: accounting, Findings: rule.judge(r, accounting), Note: rule.note}
			all = append(all, o.judge())
		}
	}
	return all
}
