package paper

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// results has the results of a selection by cell, in the order of repetitions.
type results struct {
	Selection
	byCell map[campaign.Cell][]campaign.Result
	all    []campaign.Result
	size   string // of runs: full or quick

	planned map[campaign.Cell]float64 // noise multipliers of tunings, by their budget
}

func collect(s Selection, given []campaign.Result) *results {
	r := &results{Selection: s, byCell: map[campaign.Cell][]campaign.Result{}, all: given, size: "full"}
	for _, result := range given {
		r.byCell[result.Cell] = append(r.byCell[result.Cell], result)
	}
	for _, list := range r.byCell {
		slices.SortFunc(list, func(a, b campaign.Result) int { return a.Repetition - b.Repetition })
	}
	return r
}

// quantity is a number of a result.
type quantity func(campaign.Result) float64

// The quantities of figures.
var (
	percent      quantity = func(r campaign.Result) float64 { return 100 * r.Accuracy }
	epsilon      quantity = func(r campaign.Result) float64 { return r.Epsilon }
	noise        quantity = func(r campaign.Result) float64 { return r.NoiseMultiplier }
	learningRate quantity = func(r campaign.Result) float64 { return r.LearningRate }
	samplingRate quantity = func(r campaign.Result) float64 { return r.SamplingRate }
)

// of returns a quantity of a cell's runs.
func (r *results) of(c campaign.Cell, q quantity) sample {
	var s sample
	for _, result := range r.byCell[c] {
		s = append(s, q(result))
	}
	return s
}

// runs returns the results of a figure's cells.
func (r *results) runs(f Figure) []campaign.Result {
	var all []campaign.Result
	for _, c := range r.cells(f, r.Datasets...) {
		all = append(all, r.byCell[c]...)
	}
	return all
}

// cells returns the cells of a figure on some data sets.
func (r *results) cells(f Figure, datasets ...string) []campaign.Cell {
	s := r.Selection
	s.Datasets, s.Repetitions = datasets, 1
	var all []campaign.Cell
	for _, j := range f.Jobs(s) {
		all = append(all, j.Cell)
	}
	return all
}

// note says in a panel how many runs its points have, of which size, and by which accounting if there is one.
func (r *results) note(f Figure, dataset string) string {
	least, most := r.Repetitions, 0
	for _, c := range r.cells(f, dataset) {
		least, most = min(least, len(r.byCell[c])), max(most, len(r.byCell[c]))
	}
	text := "no runs"
	switch {
	case least == 1 && most == 1:
		text = "one " + r.size + " run a point"
	case least == most && most > 0:
		text = fmt.Sprintf("%d %s runs a point", most, r.size)
	case most > 0:
		text = fmt.Sprintf("%d to %d %s runs a point", least, most, r.size)
	}
	if len(r.Accountings) == 1 {
		text += "; " + r.Accountings[0] + " accounting"
	}
	return text
}
