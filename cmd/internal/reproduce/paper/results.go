package paper

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// results has the results of a selection by cell, in the order of repetitions.
type results struct {
	Selection
	byCell map[campaign.Cell][]campaign.Result
	all    []campaign.Result
	seeded bool
	epochs float64 // shares of the paper's that runs have
	trials float64

	planned map[campaign.Cell]float64 // noise multipliers of tunings, by their budget
}

// judged returns the selected data sets that the paper has, and says something about.
func (r *results) judged() []string {
	return slices.DeleteFunc(slices.Clone(r.Datasets), func(d string) bool { return !slices.Contains(Datasets(), d) })
}

// full reports whether runs have the paper's size.
func (r *results) full() bool { return r.epochs == 1 && r.trials == 1 }

func collect(s Selection, given []campaign.Result) *results {
	r := &results{Selection: s, byCell: map[campaign.Cell][]campaign.Result{}, all: given, epochs: 1, trials: 1}
	for _, result := range given {
		r.byCell[result.Cell] = append(r.byCell[result.Cell], result)
	}
	for _, list := range r.byCell {
		slices.SortFunc(list, func(a, b campaign.Result) int { return a.Repetition - b.Repetition })
	}
	return r
}

// tuning is an optimizer and a space, which a figure tunes on each data set.
type tuning struct {
	optimizer string
	space     campaign.Space
}

func (f Figure) tuning() tuning { return tuning{f.Optimizer, f.Space} }

// cell returns a cell of the tuning.
func (tuned tuning) cell(dataset string, m campaign.Method, accounting string, epsilon float64) campaign.Cell {
	return campaign.Cell{Dataset: dataset, Optimizer: tuned.optimizer, Space: tuned.space, Method: m, Accounting: accounting, Epsilon: epsilon}
}

// quantity is a number of a result.
type quantity func(campaign.Result) float64

// The quantities of figures and tables.
var (
	accuracy     quantity = func(r campaign.Result) float64 { return r.Accuracy }
	percent      quantity = func(r campaign.Result) float64 { return 100 * r.Accuracy }
	epsilon      quantity = func(r campaign.Result) float64 { return r.Epsilon }
	noise        quantity = func(r campaign.Result) float64 { return r.NoiseMultiplier }
	learningRate quantity = func(r campaign.Result) float64 { return r.LearningRate }
	tunedRate    quantity = func(r campaign.Result) float64 { return r.TunedLearningRate }
	samplingRate quantity = func(r campaign.Result) float64 { return r.SamplingRate }
	steps        quantity = func(r campaign.Result) float64 { return float64(r.Steps) }
	trials       quantity = func(r campaign.Result) float64 { return float64(r.Trials) }
	seconds      quantity = func(r campaign.Result) float64 { return r.Seconds }
	gradients    quantity = func(r campaign.Result) float64 { return r.Gradients }
)

// quantities has the columns of CSV files, but for times, which can't be repeated.
var quantities = []struct {
	name string
	of   quantity
}{
	{"own_epsilon", epsilon}, {"accuracy", accuracy}, {"noise_multiplier", noise}, {"learning_rate", learningRate},
	{"tuned_learning_rate", tunedRate}, {"sampling_rate", samplingRate}, {"steps", steps}, {"trials", trials}, {"gradients", gradients},
}

// resultsTable returns a table with a row for each run. Rows of other campaigns can be appended to it.
func (r *results) resultsTable() Table {
	t := Table{Name: "results"}
	header := []string{"dataset", "optimizer", "tuned", "method", "accounting", "epsilon", "repetition", "made_by", "machine"}
	for _, q := range quantities {
		header = append(header, q.name)
	}
	t.Numbers = [][]string{header}
	all := slices.SortedFunc(slices.Values(r.all), func(a, b campaign.Result) int { return strings.Compare(a.Name(), b.Name()) })
	for _, run := range all {
		row := []string{
			run.Dataset, run.Optimizer, string(run.Space), string(run.Method), run.Accounting, number(run.Job.Epsilon),
			strconv.Itoa(run.Repetition), run.MadeBy, run.Machine,
		}
		for _, q := range quantities {
			row = append(row, number(q.of(run)))
		}
		t.Numbers = append(t.Numbers, row)
	}
	return t
}

// of returns a quantity of a cell's runs.
func (r *results) of(c campaign.Cell, q quantity) sample {
	var s sample
	for _, result := range r.byCell[c] {
		s = append(s, q(result))
	}
	return s
}

// pooled returns a quantity of a method's runs at all epsilons. The cost of training hardly depends on epsilon: neither
// the number of trials nor their candidates do. The epochs of the final run may, if they are tuned, which widens the
// intervals.
func (r *results) pooled(tuned tuning, dataset string, m campaign.Method, q quantity, accountings ...string) sample {
	var s sample
	for _, accounting := range accountings {
		for _, e := range r.Epsilons {
			s = append(s, r.of(tuned.cell(dataset, m, accounting, e), q)...)
		}
	}
	return s
}

// speedup compares the baseline with the faster variant, the one whose mean is smaller.
type speedup struct {
	ratio    float64
	interval Interval
	variant  campaign.Method
}

// speedup returns how many times more of a quantity the baseline takes than the faster variant. It reports false
// without runs of both.
func (r *results) speedup(tuned tuning, dataset, accounting string, q quantity) (speedup, bool) {
	best := speedup{}
	baseline := r.pooled(tuned, dataset, campaign.Baseline, q, accounting)
	for _, m := range []campaign.Method{campaign.Variant1, campaign.Variant2} {
		s := speedup{variant: m}
		s.ratio, s.interval = ratio(baseline, r.pooled(tuned, dataset, m, q, accounting))
		if s.ratio > best.ratio && !math.IsInf(s.ratio, 0) { // NaN isn't
			best = s
		}
	}
	return best, best.ratio > 0
}

// tunings returns the tunings of some figures, each once, in their order.
func tunings(figures []Figure) []tuning {
	var all []tuning
	seen := map[tuning]bool{}
	for _, f := range figures {
		if tuned := f.tuning(); f.Trains() && !seen[tuned] {
			seen[tuned] = true
			all = append(all, tuned)
		}
	}
	return all
}

func (tuned tuning) String() string {
	optimizer := map[string]string{"dp-sgd": "DP-SGD", "dp-adam": "DP-Adam"}[tuned.optimizer]
	if tuned.space == campaign.All {
		return "all, " + optimizer
	}
	return "rate, " + optimizer
}
